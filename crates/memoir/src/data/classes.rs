//! The names of the classes, numbered in the order in which they were first seen.

use rustc_hash::FxHashMap;

/// Class names with stable numbers: the first name seen is class 0, the next new one class 1, and so on.
#[derive(Debug, Clone, Default)]
pub struct ClassNames {
    /// All names, one after the other.
    text: String,
    /// End of each name in `text`.
    ends: Vec<usize>,
    /// Numbers by name.
    numbers: FxHashMap<Box<str>, u32>,
}

impl PartialEq for ClassNames {
    fn eq(&self, other: &Self) -> bool {
        self.ends == other.ends && self.text == other.text
    }
}

impl ClassNames {
    /// No classes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the class called `name`, which is new or known.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        self.numbers.insert(name.into(), number);
        number
    }

    /// The number of the class called `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The name of class `number`.
    pub fn name(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|number| self.name(number as u32))
    }
}

impl<S: AsRef<str>> FromIterator<S> for ClassNames {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut classes = Self::new();
        for name in names {
            classes.intern(name.as_ref());
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_appearance() {
        let classes: ClassNames = ["b", "a", "b", ""].into_iter().collect();
        assert_eq!(classes.iter().collect::<Vec<_>>(), ["b", "a", ""]);
        assert_eq!((classes.find("a"), classes.find("c")), (Some(1), None));
    }
}
