//! Parameters of algorithms as data: one table per algorithm holds name, default, legal range and help.
//! The command line and the Python package build their options from these tables, so there is one source of truth.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The kind of value a parameter takes, with its legal range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number between the two, inclusive.
    Integer(u64, u64),
    /// A finite number between the two, inclusive.
    Number(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
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
    pub fn is_automatic(&self) -> bool {
        self.default == "auto"
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
        };
        value.ok_or_else(|| {
            Error::Parameter(format!(
                "`{}` must be {}, but is `{text}`",
                self.name,
                self.legal()
            ))
        })
    }

    /// The legal values in words, for help and errors.
    pub fn legal(&self) -> String {
        let range = match self.kind {
            Kind::Integer(low, u64::MAX) => format!("a whole number of at least {low}"),
            Kind::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Number(low, f64::MAX) => format!("a number of at least {low}"),
            Kind::Number(low, high) => format!("a number from {low} to {high}"),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
        };
        if self.is_automatic() {
            format!("`auto` or {range}")
        } else {
            range
        }
    }
}

/// A checked value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
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

/// A full set of checked parameters of one table: what was given, and defaults for the rest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values(BTreeMap<&'static str, Value>);

impl Values {
    /// Checks `given` (name, text) against `specs` and completes it with defaults.
    pub fn check<'t>(
        specs: &'static [Spec],
        given: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<Self> {
        let mut values = BTreeMap::new();
        for spec in specs {
            values.insert(spec.name, spec.parse(spec.default)?);
        }
        for (name, text) in given {
            let spec = specs.iter().find(|spec| spec.name == name).ok_or_else(|| {
                let known: Vec<_> = specs.iter().map(|spec| spec.name).collect();
                Error::Parameter(format!(
                    "there is no parameter `{name}` here; there are: {}",
                    if known.is_empty() {
                        "none".to_owned()
                    } else {
                        known.join(", ")
                    }
                ))
            })?;
            values.insert(spec.name, spec.parse(text)?);
        }
        Ok(Self(values))
    }

    /// Name and value of each parameter, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// A whole number, or `None` for `auto`. The table guarantees presence and kind.
    pub fn integer(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(Value::Integer(v)) => Some(*v),
            _ => None,
        }
    }

    /// A number, or `None` for `auto`.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(Value::Number(v)) => Some(*v),
            Some(Value::Integer(v)) => Some(*v as f64),
            _ => None,
        }
    }

    /// A word of a choice, or `None` for `auto`.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(Value::Word(v)) => Some(v),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[Spec] = &[
        Spec {
            name: "k",
            kind: Kind::Integer(1, u64::MAX),
            default: "10",
            help: "",
        },
        Spec {
            name: "step",
            kind: Kind::Number(0.0, 100.0),
            default: "auto",
            help: "",
        },
        Spec {
            name: "mode",
            kind: Kind::Choice(&["a", "b"]),
            default: "a",
            help: "",
        },
    ];

    #[test]
    fn defaults_fill_what_is_not_given() {
        let values = Values::check(SPECS, [("mode", "b")]).unwrap();
        assert_eq!(values.integer("k"), Some(10));
        assert_eq!(values.number("step"), None);
        assert_eq!(values.word("mode"), Some("b"));
    }

    #[test]
    fn messages_name_parameter_range_and_finding() {
        let message = |name, text| Values::check(SPECS, [(name, text)]).unwrap_err().to_string();
        assert_eq!(
            message("k", "0"),
            "`k` must be a whole number of at least 1, but is `0`"
        );
        assert_eq!(
            message("step", "nan"),
            "`step` must be `auto` or a number from 0 to 100, but is `nan`"
        );
        assert_eq!(message("mode", "c"), "`mode` must be one of a, b, but is `c`");
        assert_eq!(
            message("x", "1"),
            "there is no parameter `x` here; there are: k, step, mode"
        );
    }
}
