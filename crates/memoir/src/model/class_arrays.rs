//! The names of the classes as a model file holds them.

use super::TensorSource;
use super::container::Container;
use crate::Result;
use crate::dataset::ClassNames;

/// The class names as arrays.
pub(super) struct ClassArrays {
    /// All names, one after the other.
    pub(super) names: Vec<u8>,
    /// End of each in `names`.
    pub(super) ends: Vec<u64>,
}

impl ClassArrays {
    pub(super) fn new(classes: &ClassNames) -> Self {
        let mut names = Vec::new();
        let mut ends = Vec::with_capacity(classes.len());
        for name in classes.iter() {
            names.extend_from_slice(name.as_bytes());
            ends.push(names.len() as u64);
        }
        Self { names, ends }
    }
}

/// The class names in a file, which declares `count` of them.
pub(super) fn load_classes(container: &Container, count: usize) -> Result<ClassNames> {
    let names = container.u8("classes.names")?;
    let ends = container.u64("classes.ends")?;
    let invalid = |message: String| Err(container.invalid(message));
    if ends.len() != count {
        return invalid(format!(
            "`classes.ends` has {} elements for {count} classes",
            ends.len()
        ));
    }
    let Ok(names) = std::str::from_utf8(&names) else {
        return invalid("`classes.names` is not UTF-8 text".to_owned());
    };
    if ends.last().map_or(0, |&end| end) != names.len() as u64 {
        return invalid("`classes.ends` does not end where `classes.names` does".to_owned());
    }
    let mut classes = ClassNames::new();
    let mut start = 0;
    for (number, &end) in ends.iter().enumerate() {
        let Some(name) = names.get(start as usize..end as usize) else {
            return invalid(format!(
                "the name of class {number} does not lie in `classes.names`"
            ));
        };
        if classes.intern(name) as usize != number {
            return invalid(format!("two of its classes are called `{name}`"));
        }
        start = end;
    }
    Ok(classes)
}
