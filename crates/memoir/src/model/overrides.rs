//! Texts that always get a given class, whatever the weights say: the dictionary that people who code have.

use super::{Model, NewNumbers, Tensor, TensorSource};
use crate::dataset::{ColumnKind, column_parts};
use crate::sparse::{Scored, Storage};
use crate::text::{Vocabulary, fold};
use crate::{Error, Result};

/// Texts that always get a given class. Capital letters and white space do not matter.
#[derive(Debug)]
pub struct Overrides {
    /// The texts in their normal form.
    texts: Vocabulary,
    /// The class of each.
    classes: Storage<u32>,
}

/// The form in which texts are compared: each word in NFKC and lower case, one space between words. Of a row
/// of several columns, the text columns.
fn normal_form(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let is_text = |kind: Option<ColumnKind>| kind.is_none_or(|kind| kind == ColumnKind::Text);
    for part in column_parts(text).filter(|part| is_text(part.column.map(|column| column.kind))) {
        for word in part.content.split_whitespace() {
            if !normal.is_empty() {
                normal.push(' ');
            }
            fold(word, &mut normal);
        }
    }
    normal
}

impl Overrides {
    /// Each text gets its class. Fails if a text is blank or has two classes.
    pub fn new<'t>(pairs: impl IntoIterator<Item = (&'t str, u32)>) -> Result<Self> {
        let mut texts: Vec<String> = Vec::new();
        let mut classes: Vec<u32> = Vec::new();
        let mut known = rustc_hash::FxHashMap::default();
        for (text, class) in pairs {
            let normal = normal_form(text);
            if normal.is_empty() {
                return Err(Error::Parameter("a blank text cannot have a class".to_owned()));
            }
            match known.insert(normal.clone(), class) {
                Some(before) if before != class => {
                    return Err(Error::Parameter(format!("`{text}` is there with two classes")));
                }
                Some(_) => {}
                None => {
                    texts.push(normal);
                    classes.push(class);
                }
            }
        }
        Ok(Self {
            texts: texts.iter().collect(),
            classes: classes.into(),
        })
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The class that `text` always gets.
    pub fn find(&self, text: &str) -> Option<u32> {
        let number = self.texts.find(&normal_form(text))?;
        self.classes.get(number as usize).copied()
    }

    /// The texts in their normal form with their classes, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let classes = self.classes.iter().copied();
        (0..)
            .zip(classes)
            .map(|(number, class)| (self.texts.name(number), class))
    }

    /// With the new numbers of their classes; without the texts whose class goes or is split.
    pub(super) fn renumbered(&self, numbers: &NewNumbers) -> Result<Self> {
        let pairs = self.iter();
        Self::new(pairs.filter_map(|(text, class)| Some((text, numbers.number(class)?))))
    }

    pub(super) fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let array = |name: &str, tensor| (format!("overrides.{name}"), tensor);
        vec![
            array("names", Tensor::U8(self.texts.names())),
            array("ends", Tensor::U64(self.texts.ends())),
            array("slots", Tensor::U32(self.texts.slots())),
            array("classes", Tensor::U32(&self.classes)),
        ]
    }

    /// What a model file holds, if it holds any.
    pub(super) fn load(source: &dyn TensorSource) -> Result<Option<Self>> {
        if source.element("overrides.classes").is_none() {
            return Ok(None);
        }
        let texts = Vocabulary::from_storage(
            source.u8("overrides.names")?,
            source.u64("overrides.ends")?,
            source.u32("overrides.slots")?,
        )
        .map_err(|message| source.invalid(format!("of its overrides, {message}")))?;
        let classes = source.u32("overrides.classes")?;
        let (count, _) = source.shape();
        if classes.len() != texts.len() {
            return Err(source.invalid(format!(
                "`overrides.classes` has {} elements for {} texts",
                classes.len(),
                texts.len()
            )));
        }
        if let Some(class) = classes.iter().find(|&&class| class as usize >= count) {
            return Err(source.invalid(format!(
                "`overrides.classes` names class {class} of {count} classes"
            )));
        }
        Ok(Some(Self { texts, classes }))
    }
}

impl Model {
    /// Texts that always get a given class, if there are any.
    pub fn overrides(&self) -> Option<&Overrides> {
        self.overrides.as_ref()
    }

    /// Gives texts a class that they always get, each pair a text and the name of a class, instead of all
    /// earlier ones. Fails if there is no such class.
    pub fn set_overrides<'t>(&mut self, pairs: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<()> {
        if self.preprocessing.text().is_none() {
            return Err(Error::Mismatch(
                "the model was trained on vectors: only texts can be given a class".to_owned(),
            ));
        }
        let class = |name: &str| {
            let found = self.classes.find(name);
            found.ok_or_else(|| Error::Parameter(format!("the model has no class `{name}`")))
        };
        let numbered: Result<Vec<(&str, u32)>> = pairs
            .into_iter()
            .map(|(text, name)| Ok((text, class(name)?)))
            .collect();
        let overrides = Overrides::new(numbered?)?;
        self.overrides = (!overrides.is_empty()).then_some(overrides);
        Ok(())
    }

    /// The class that `text` always gets.
    pub fn override_of(&self, text: &str) -> Option<u32> {
        self.overrides.as_ref()?.find(text)
    }

    /// Puts `class` in front of a row's answers, of which `k` stay, with the probability 1.
    pub fn put_first(class: u32, k: usize, best: &mut Vec<Scored>) {
        best.retain(|scored| scored.class != class);
        best.insert(0, Scored { class, score: 1.0 });
        best.truncate(k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_any_spelling() {
        let overrides = Overrides::new([("Green  Tea", 2), ("toner", 0), (" green tea", 2)]).unwrap();
        assert_eq!(overrides.len(), 2);
        assert_eq!(overrides.find("GREEN\ttea\n"), Some(2));
        assert_eq!(overrides.find("green teas"), None);
        assert_eq!(overrides.find(""), None);
        assert_eq!(overrides.find("title\u{1f}c1:region\u{1e}north"), None);
        assert_eq!(overrides.find("toner\u{1f}c1:region\u{1e}north"), Some(0));
        assert_eq!(
            overrides.iter().collect::<Vec<_>>(),
            [("green tea", 2), ("toner", 0)]
        );
    }

    #[test]
    fn contradictions_and_blank_texts_are_refused() {
        let message =
            |pairs: &[(&'static str, u32)]| Overrides::new(pairs.iter().copied()).unwrap_err().to_string();
        assert_eq!(
            message(&[("Tea", 1), ("tea", 2)]),
            "`tea` is there with two classes"
        );
        assert_eq!(message(&[(" ", 1)]), "a blank text cannot have a class");
    }

    #[test]
    fn classes_that_go_take_their_texts_with_them() {
        let overrides = Overrides::new([("a", 0), ("b", 1), ("c", 2)]).unwrap();
        let renumbered = overrides
            .renumbered(&NewNumbers::new(vec![Some(0), None, Some(0)]))
            .unwrap();
        assert_eq!(renumbered.iter().collect::<Vec<_>>(), [("a", 0), ("c", 0)]);
    }

    #[test]
    fn the_class_comes_first_and_once() {
        let scored = |class, score| Scored { class, score };
        let mut best = vec![scored(3, 0.6), scored(1, 0.3), scored(2, 0.1)];
        Model::put_first(1, 3, &mut best);
        assert_eq!(best, [scored(1, 1.0), scored(3, 0.6), scored(2, 0.1)]);
        Model::put_first(7, 2, &mut best);
        assert_eq!(best, [scored(7, 1.0), scored(1, 1.0)]);
    }
}
