//! The values of a JSON object that are read: strings, and labels in all their forms.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, SeqAccess, Visitor};

/// A string, borrowed from the line where it has no escapes; says in errors what it should have been.
pub(super) struct TextSeed {
    pub(super) expected: &'static str,
    /// Whether null is an empty string.
    pub(super) nullable: bool,
    /// Whether numbers, true and false are strings.
    pub(super) scalar: bool,
}

impl TextSeed {
    pub(super) fn new(expected: &'static str) -> Self {
        Self {
            expected,
            nullable: false,
            scalar: false,
        }
    }
}

impl<'l> DeserializeSeed<'l> for TextSeed {
    type Value = Cow<'l, str>;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Cow<'l, str>, D::Error> {
        if self.nullable || self.scalar {
            deserializer.deserialize_any(self)
        } else {
            deserializer.deserialize_str(self)
        }
    }
}

impl<'l> Visitor<'l> for TextSeed {
    type Value = Cow<'l, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Cow<'l, str>, E> {
        if self.nullable {
            return Ok(Cow::Borrowed(""));
        }
        Err(E::invalid_type(de::Unexpected::Unit, &self))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Cow<'l, str>, E> {
        self.scalar(value, de::Unexpected::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Cow<'l, str>, E> {
        self.scalar(value, de::Unexpected::Unsigned(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Cow<'l, str>, E> {
        self.scalar(value, de::Unexpected::Signed(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Cow<'l, str>, E> {
        self.scalar(value, de::Unexpected::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'l str) -> Result<Cow<'l, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'l, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

impl TextSeed {
    fn scalar<'l, E: de::Error>(
        self,
        value: impl fmt::Display,
        found: de::Unexpected<'_>,
    ) -> Result<Cow<'l, str>, E> {
        if self.scalar {
            return Ok(Cow::Owned(value.to_string()));
        }
        Err(E::invalid_type(found, &self))
    }
}

/// One label or several.
pub(super) struct LabelsSeed;

impl<'l> DeserializeSeed<'l> for LabelsSeed {
    type Value = Vec<Cow<'l, str>>;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'l> Visitor<'l> for LabelsSeed {
    type Value = Vec<Cow<'l, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a label: a string, a whole number, or an array of these")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'l str) -> Result<Self::Value, E> {
        LabelSeed.visit_borrowed_str(text).map(|label| vec![label])
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        LabelSeed.visit_str(text).map(|label| vec![label])
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        LabelSeed.visit_u64(number).map(|label| vec![label])
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        LabelSeed.visit_i64(number).map(|label| vec![label])
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'l>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut labels = Vec::new();
        while let Some(label) = items.next_element_seed(LabelSeed)? {
            labels.push(label);
        }
        Ok(labels)
    }
}

/// One label of an array.
struct LabelSeed;

impl<'l> DeserializeSeed<'l> for LabelSeed {
    type Value = Cow<'l, str>;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'l> Visitor<'l> for LabelSeed {
    type Value = Cow<'l, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a label in the array: a string or a whole number")
    }

    fn visit_borrowed_str<E>(self, text: &'l str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }
}
