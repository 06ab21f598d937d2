//! Typed parameters: what a field of a struct made by [`parameters!`](crate::parameters) can be, and what
//! such a struct can do.

use std::fmt::Debug;

use super::{Kind, Spec, Value};
use crate::{Error, Result};

/// A type that a parameter can have: whole numbers, `f64`, `bool`, what [`choices!`](crate::choices) makes,
/// and `Option` of these for parameters that may be left to the algorithm.
pub trait ParameterType: Sized {
    /// What a setter takes: the type itself, or what is inside the `Option`.
    type Given;
    /// The values that the type can hold.
    const KIND: Kind;
    /// Whether the value may be left to the algorithm.
    const AUTOMATIC: bool = false;

    /// The parameter with a given value.
    fn given(given: Self::Given) -> Self;
    /// The parameter with this value, if it is of the right kind.
    fn from_value(value: &Value) -> Option<Self>;
    /// Its value.
    fn to_value(&self) -> Value;
}

macro_rules! whole_number {
    ($($type:ty),*) => {$(
        impl ParameterType for $type {
            type Given = Self;
            const KIND: Kind = Kind::Integer(0, <$type>::MAX as u64);

            fn given(given: Self) -> Self {
                given
            }

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Integer(value) => (*value).try_into().ok(),
                    _ => None,
                }
            }

            fn to_value(&self) -> Value {
                Value::Integer(*self as u64)
            }
        }
    )*};
}

whole_number!(u32, u64, usize);

impl ParameterType for f64 {
    type Given = Self;
    const KIND: Kind = Kind::Number(f64::MIN, f64::MAX);

    fn given(given: Self) -> Self {
        given
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(value) => Some(*value),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::Number(*self)
    }
}

impl ParameterType for bool {
    type Given = Self;
    const KIND: Kind = Kind::Choice(&["off", "on"]);

    fn given(given: Self) -> Self {
        given
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Word(word) => Some(word == "on"),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::Word(if *self { "on" } else { "off" }.to_owned())
    }
}

impl ParameterType for String {
    type Given = Self;
    const KIND: Kind = Kind::Text("a word");

    fn given(given: Self) -> Self {
        given
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Word(word) => Some(word.clone()),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::Word(self.clone())
    }
}

impl<T: ParameterType<Given = T>> ParameterType for Option<T> {
    type Given = T;
    const KIND: Kind = T::KIND;
    const AUTOMATIC: bool = true;

    fn given(given: T) -> Self {
        Some(given)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Auto => Some(None),
            other => T::from_value(other).map(Some),
        }
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Auto, T::to_value)
    }
}

/// A set of typed parameters. [`parameters!`](crate::parameters) makes the struct and this implementation.
pub trait Parameters: Debug + Clone + Default + Send + Sync + 'static {
    /// The table: name, range, default and help of each parameter.
    const SPECS: &'static [Spec];

    /// Sets the parameter called `name`; says whether there is one that takes such a value. Does not check
    /// the range.
    fn put(&mut self, name: &str, value: &Value) -> bool;

    /// Name and value of each parameter, in the order of the table.
    fn values(&self) -> Vec<(&'static str, Value)>;

    /// Sets the parameter called `name` to what `text` says; a name or a value that the table does not have
    /// is an error.
    fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let spec = Self::SPECS.iter().find(|spec| spec.name == name);
        let unknown = || {
            let known: Vec<_> = Self::SPECS.iter().map(|spec| spec.name).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            Error::Parameter(format!("there is no parameter `{name}` here; there are: {known}"))
        };
        let value = spec.ok_or_else(unknown)?.parse(text)?;
        if self.put(name, &value) {
            Ok(())
        } else {
            Err(unknown())
        }
    }

    /// The defaults, but for the parameters given as (name, text).
    fn parse<'t>(given: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self> {
        let mut params = Self::default();
        for (name, text) in given {
            params.set(name, text)?;
        }
        Ok(params)
    }

    /// Fails if a value is outside its range, which setters do not check.
    fn check(&self) -> Result<()> {
        let values = self.values();
        Self::SPECS
            .iter()
            .zip(&values)
            .try_for_each(|(spec, (_, value))| spec.check(value))
    }
}

/// Whether every value of `kind` is one of `wide`, so that a type that can hold `wide` can hold `kind`.
pub const fn narrows(kind: Kind, wide: Kind) -> bool {
    match (kind, wide) {
        (Kind::Integer(low, high), Kind::Integer(least, most)) => least <= low && high <= most,
        (Kind::Number(low, high), Kind::Number(least, most)) => least <= low && high <= most,
        (Kind::Choice(words), Kind::Choice(all)) => words.len() == all.len(),
        (Kind::Text(_), Kind::Text(_)) => true,
        _ => false,
    }
}

/// The bytes of `identifier`, a Rust name, as the command line writes it: with dashes.
pub const fn kebab_case<const LENGTH: usize>(identifier: &str) -> [u8; LENGTH] {
    let mut name = [0; LENGTH];
    let mut index = 0;
    while index < LENGTH {
        let byte = identifier.as_bytes()[index];
        name[index] = if byte == b'_' { b'-' } else { byte };
        index += 1;
    }
    name
}

/// Two tables as one; parameters of the second that `defaults` names get another default.
pub const fn join_tables<const LENGTH: usize>(
    first: &[Spec],
    second: &[Spec],
    defaults: &[(&str, &'static str)],
) -> [Spec; LENGTH] {
    let mut all = [Spec {
        name: "",
        kind: Kind::Choice(&[]),
        default: "",
        help: "",
    }; LENGTH];
    let mut index = 0;
    while index < LENGTH {
        if index < first.len() {
            all[index] = first[index];
        } else {
            all[index] = second[index - first.len()];
            let mut other = 0;
            while other < defaults.len() {
                if is_same(defaults[other].0, all[index].name) {
                    all[index].default = defaults[other].1;
                }
                other += 1;
            }
        }
        index += 1;
    }
    all
}

pub(super) const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}
