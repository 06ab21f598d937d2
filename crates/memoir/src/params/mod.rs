//! Parameters of algorithms: one definition per algorithm gives a typed struct and a table of names,
//! defaults, legal ranges and help.
//!
//! Rust programs use the struct ([`parameters!`](crate::parameters) makes it). The command line and the
//! Python package build their options from the table ([`Parameters::SPECS`]) and hand values over as text
//! ([`Parameters::parse`]). Both ways end in the same struct, so there is one source of truth and no name
//! that could be mistyped unnoticed.

mod macros;
#[cfg(test)]
mod tests;
mod typed;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

pub(crate) use macros::own_parameters;
pub use typed::{ParameterType, Parameters, join_tables, kebab_case, narrows};

/// The kind of value a parameter takes, with its legal range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number between the two, inclusive.
    Integer(u64, u64),
    /// A finite number between the two, inclusive.
    Number(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text such as this one; who uses it checks it.
    Text(&'static str),
}

/// One parameter: what it is called, what it may be, what it is when not given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Name as on the command line, without dashes in front (`step-size`).
    pub name: &'static str,
    /// Legal values.
    pub kind: Kind,
    /// Default, written as a user would; `auto` means chosen from the data (and is then also a legal value).
    pub default: &'static str,
    /// One sentence for `--help`.
    pub help: &'static str,
}

impl Spec {
    /// Whether the parameter may be left to the algorithm.
    pub const fn is_automatic(&self) -> bool {
        typed::is_same(self.default, "auto")
    }

    /// Checks `text` and returns it as a value.
    pub fn parse(&self, text: &str) -> Result<Value> {
        if self.is_automatic() && text == "auto" {
            return Ok(Value::Auto);
        }
        let value = match self.kind {
            Kind::Integer(low, high) => text
                .parse()
                .ok()
                .filter(|v| (low..=high).contains(v))
                .map(Value::Integer),
            Kind::Number(low, high) => text
                .parse()
                .ok()
                .filter(|v: &f64| v.is_finite() && (low..=high).contains(v))
                .map(Value::Number),
            Kind::Choice(words) => words.contains(&text).then(|| Value::Word(text.to_owned())),
            Kind::Text(_) => (!text.is_empty()).then(|| Value::Word(text.to_owned())),
        };
        value.ok_or_else(|| self.refuse(text))
    }

    /// Fails if `value` is not legal.
    pub fn check(&self, value: &Value) -> Result<()> {
        let is_legal = match (self.kind, value) {
            (_, Value::Auto) => self.is_automatic(),
            (Kind::Integer(low, high), Value::Integer(value)) => (low..=high).contains(value),
            (Kind::Number(low, high), Value::Number(value)) => (low..=high).contains(value),
            (Kind::Choice(words), Value::Word(word)) => words.contains(&word.as_str()),
            (Kind::Text(_), Value::Word(word)) => !word.is_empty(),
            _ => false,
        };
        if is_legal { Ok(()) } else { Err(self.refuse(value)) }
    }

    fn refuse(&self, found: impl fmt::Display) -> Error {
        Error::Parameter(format!(
            "`{}` must be {}, but is `{found}`",
            self.name,
            self.legal()
        ))
    }

    /// The legal values in words, for help and errors.
    pub fn legal(&self) -> String {
        let range = match self.kind {
            Kind::Integer(low, u64::MAX) => format!("a whole number of at least {}", grouped(low)),
            Kind::Integer(low, high) => format!("a whole number from {} to {}", grouped(low), grouped(high)),
            Kind::Number(low, f64::MAX) => format!("a number of at least {}", grouped(low)),
            Kind::Number(low, high) => format!("a number from {} to {}", grouped(low), grouped(high)),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Text(example) => format!("a text such as {example}"),
        };
        if self.is_automatic() {
            format!("`auto` or {range}")
        } else {
            range
        }
    }
}

/// `number` with commas between groups of three digits: 1,000,000.
fn grouped(number: impl fmt::Display) -> String {
    let text = number.to_string();
    let whole = text.trim_start_matches('-').split('.').next().unwrap_or_default();
    let start = text.len() - text.trim_start_matches('-').len();
    let mut grouped = text[..start].to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + &text[start + whole.len()..]
}

/// A checked value.
///
/// Model files hold values. One of a kind that a later version writes is read as its text: what a model was
/// trained with must not keep it from answering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, from = "serde_json::Value")]
pub enum Value {
    /// A whole number.
    Integer(u64),
    /// A finite number.
    Number(f64),
    /// A word of a choice.
    Word(String),
    /// Left to the algorithm.
    Auto,
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Auto,
            serde_json::Value::String(word) => Self::Word(word),
            serde_json::Value::Number(number) => match (number.as_u64(), number.as_f64()) {
                (Some(whole), _) => Self::Integer(whole),
                (None, Some(number)) => Self::Number(number),
                (None, None) => Self::Word(number.to_string()),
            },
            other => Self::Word(other.to_string()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(v) => v.fmt(f),
            Self::Number(v) => v.fmt(f),
            Self::Word(v) => v.fmt(f),
            Self::Auto => "auto".fmt(f),
        }
    }
}
