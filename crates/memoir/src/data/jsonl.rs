//! One JSON object per line. Its keys are found like the columns of a table: `text`, and `label` or
//! `labels`, unless options name others. Capital letters do not matter, as long as one key fits. Labels are
//! a string, a whole number, an array of these, or null for none; other keys are passed over. Lines that
//! begin with `#` are comments.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::KeepColumns;
use super::json_values::{LabelsSeed, TextSeed};
use super::kept::json_entries;
use super::lines::for_each_line;
use super::options::{ReadOptions, same_name};
use super::parsed::{Parsed, Problem, read_weight, shown, split_labels};
use super::row_columns::RowColumns;
use crate::dataset::{ColumnKind, ColumnText};

/// Parses blocks of whole lines.
#[derive(Debug, Clone)]
pub(super) struct JsonParser {
    /// The keys whose values make the text.
    texts: Vec<String>,
    /// What each of these is.
    row: RowColumns,
    /// The keys that may hold the labels.
    labels: Vec<String>,
    labels_needed: bool,
    /// Whether an option names the key of the labels.
    label_given: bool,
    weight: Option<String>,
    /// The keys that go to the output.
    kept: Vec<String>,
    /// What separates labels within a string, if that was asked for.
    separator: Option<String>,
    skip_bad_rows: bool,
}

/// What an object holds of interest.
#[derive(Default)]
struct Fields<'l> {
    texts: Vec<Field<Cow<'l, str>>>,
    labels: Field<Vec<Cow<'l, str>>>,
    weight: Field<f64>,
}

/// What was found under a wanted key.
struct Field<T> {
    value: Option<T>,
    /// Whether the key is exactly the wanted one.
    exact: bool,
}

impl<T> Default for Field<T> {
    fn default() -> Self {
        Self {
            value: None,
            exact: false,
        }
    }
}

impl<T> Field<T> {
    /// Keeps `value`, found under `key`. Fails if another key fits as well.
    fn set<E: de::Error>(&mut self, value: T, key: &str, wanted: &[String]) -> Result<(), E> {
        let exact = wanted.iter().any(|wanted| wanted == key);
        if exact || !self.exact {
            if self.value.is_some() && exact == self.exact {
                let wanted: Vec<String> = wanted.iter().map(|name| shown(name.as_bytes())).collect();
                let (wanted, found) = (
                    wanted.join(" or "),
                    if exact {
                        ""
                    } else {
                        " that differ in capital letters"
                    },
                );
                return Err(E::custom(format!(
                    "expected one key {wanted}, found several{found}"
                )));
            }
            *self = Self {
                value: Some(value),
                exact,
            };
        }
        Ok(())
    }
}

impl JsonParser {
    /// For lines of which `bytes` are the first.
    pub(super) fn new(options: &ReadOptions, bytes: &[u8], labels_needed: bool) -> Result<Self, Problem> {
        let remembered = &options.remembered;
        let usual = || ["label", "labels"].map(str::to_owned);
        let labels = options.label_column.clone().map_or_else(
            || remembered.label_column.iter().cloned().chain(usual()).collect(),
            |name| vec![name],
        );
        let separator = options.separator().filter(|separator| !separator.is_empty());
        let named = options
            .text_column
            .as_deref()
            .or(remembered.text_column.as_deref());
        let wrong = |message| Problem::new(0, message);
        let mut row = RowColumns::texts(named.unwrap_or("text"), |_| false).map_err(wrong)?;
        for (column, _) in RowColumns::others(options, |_| false).map_err(wrong)? {
            row.push(column);
        }
        Ok(Self {
            texts: row.iter().map(|column| column.name.clone()).collect(),
            row,
            label_given: options.label_column.is_some(),
            labels_needed: labels_needed || options.label_column.is_some(),
            labels,
            kept: match &options.keep_columns {
                KeepColumns::None => Vec::new(),
                KeepColumns::All => first_keys(bytes),
                KeepColumns::Named(names) => names.clone(),
            },
            weight: options.weight_column.clone(),
            separator: separator
                .filter(|_| !options.is_single_label())
                .map(str::to_owned),
            skip_bad_rows: options.skip_bad_rows,
        })
    }

    /// The key of the labels, unless an option names it.
    pub(super) fn guessed_label(&self) -> Option<&str> {
        (!self.label_given).then_some("label")
    }

    /// Parses whole lines.
    pub(super) fn parse(&self, bytes: &[u8], parsed: &mut Parsed) {
        let mut classes = Vec::new();
        for_each_line(bytes, self.skip_bad_rows, parsed, |line, number, parsed| {
            let content = line.trim_ascii_start();
            if content.is_empty() || content.starts_with('#') {
                return Ok(());
            }
            let fields = self.read_fields(line)?;
            let mut parts = Vec::with_capacity(fields.texts.len());
            for (field, column) in fields.texts.into_iter().zip(self.row.iter()) {
                parts.push(match field.value {
                    Some(value) => value,
                    None if column.kind != ColumnKind::Text => Cow::Borrowed(""),
                    None => return Err(Self::missing(line, &[&column.name], "text")),
                });
            }
            let mut row = ColumnText::new();
            let text = if let [text] = &parts[..] {
                text
            } else {
                let written = self.row.write(parts.iter().map(AsRef::as_ref), &mut row);
                let at = |column: usize| &self.texts[column..=column];
                written.map_err(|(column, message)| at_value(line, at(column), message))?;
                row.as_str()
            };
            let weight = match (fields.weight.value, &self.weight) {
                (Some(weight), _) => {
                    let key = self.weight.as_slice();
                    let weight = read_weight(weight.to_string().as_bytes());
                    Some(weight.map_err(|message| at_value(line, key, message))?)
                }
                (None, Some(name)) => return Err(Self::missing(line, &[name], "weight")),
                (None, None) => None,
            };
            classes.clear();
            match fields.labels.value {
                None if self.labels_needed => {
                    let names: Vec<&str> = self.labels.iter().map(String::as_str).collect();
                    return Err(Self::missing(line, &names, "label"));
                }
                None => {}
                Some(labels) => {
                    if labels.iter().any(|label| label.trim().is_empty()) {
                        return Err(at_value(
                            line,
                            &self.labels,
                            "expected labels, found an empty one",
                        ));
                    }
                    // The items of an array are separate already.
                    let separator = self.separator.as_deref().filter(|_| labels.len() == 1);
                    for label in &labels {
                        split_labels(label, separator, &mut parsed.names, &mut classes)
                            .map_err(|message| at_value(line, &self.labels, message))?;
                    }
                }
            }
            self.keep(line, parsed);
            parsed.texts.push(text);
            parsed.push_row(number, classes.iter().copied(), weight);
            Ok(())
        });
    }

    /// Keeps values for the output, null where a key is missing.
    fn keep(&self, line: &str, parsed: &mut Parsed) {
        if self.kept.is_empty() {
            return;
        }
        let entries = json_entries(line);
        for key in &self.kept {
            let found = entries.iter().find(|(name, _)| name == key);
            parsed.kept.push(found.map_or("null", |(_, value)| value.get()));
        }
    }

    /// The keys that go to the output.
    pub(super) fn kept_columns(&self) -> &[String] {
        &self.kept
    }

    fn read_fields<'l>(&self, line: &'l str) -> Result<Fields<'l>, Problem> {
        let mut json = serde_json::Deserializer::from_str(line);
        let fields = json.deserialize_map(ObjectVisitor(self));
        fields
            .and_then(|fields| json.end().map(|()| fields))
            .map_err(|reason| explain(line, &reason))
    }

    fn missing(line: &str, wanted: &[&str], option: &str) -> Problem {
        let found: Vec<String> = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line)
            .map(|object| object.keys().map(|key| shown(key.as_bytes())).collect())
            .unwrap_or_default();
        let wanted: Vec<String> = wanted.iter().map(|name| shown(name.as_bytes())).collect();
        let found = if found.is_empty() {
            "none".to_owned()
        } else {
            found.join(", ")
        };
        Problem::new(
            0,
            format!(
                "expected a key {}, found {found}; give the parameter `{option}-column`",
                wanted.join(" or ")
            ),
        )
    }
}

/// The keys of the first object.
fn first_keys(bytes: &[u8]) -> Vec<String> {
    let lines = bytes
        .split(|&byte| byte == b'\n')
        .filter_map(|line| std::str::from_utf8(line).ok());
    let first = lines.map(str::trim).find(|line| line.starts_with('{'));
    let entries = json_entries(first.unwrap_or_default());
    entries.into_iter().map(|(key, _)| key).collect()
}

/// The library's finding in our words. It counts columns from 1, adds the place to its message, and stands
/// behind a value of the wrong kind, not at it.
fn explain(line: &str, reason: &serde_json::Error) -> Problem {
    let message = reason.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    let index = reason.column().saturating_sub(1);
    if !reason.is_data() {
        return Problem::new(
            index,
            format!("expected a JSON object, found bad JSON: {message}"),
        );
    }
    let starts = values(line).into_values();
    // In front of an array or an object it stands at the colon.
    let start = starts
        .filter(|(start, end)| (start.saturating_sub(1)..=*end).contains(&index))
        .map(|(start, _)| start)
        .max();
    let found = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "));
    let message = match found.and_then(|found| found.split_once(", expected ")) {
        Some((found, expected)) => {
            let expected = expected.replace("f64", "a number as the weight");
            let found = match found {
                "sequence" => "an array",
                "map" => "an object",
                other => other,
            };
            format!("expected {expected}, found {found}")
        }
        None => message.to_owned(),
    };
    Problem::new(start.unwrap_or(index), message)
}

/// Where the values of an object begin and end in its line.
fn values(line: &str) -> HashMap<Cow<'_, str>, (usize, usize)> {
    let values = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(line).unwrap_or_default();
    let index = |value: &RawValue| {
        let start = value.get().as_ptr().addr() - line.as_ptr().addr();
        (start, start + value.get().len())
    };
    values
        .into_iter()
        .map(|(key, value)| (key, index(value)))
        .collect()
}

/// A problem with the value of the first of these keys that the object has.
fn at_value(line: &str, keys: &[String], message: impl Into<String>) -> Problem {
    let values = values(line);
    let start = keys.iter().find_map(|key| values.get(key.as_str()));
    Problem::new(start.map_or(0, |(start, _)| *start), message)
}

struct ObjectVisitor<'p>(&'p JsonParser);

impl<'l> Visitor<'l> for ObjectVisitor<'_> {
    type Value = Fields<'l>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Fields<'l>, A::Error> {
        let parser = self.0;
        let mut fields = Fields::default();
        fields.texts.resize_with(parser.texts.len(), Field::default);
        let is = |wanted: &String, key: &str| same_name(wanted.as_bytes(), key.as_bytes());
        while let Some(key) = map.next_key_seed(TextSeed::new("a key"))? {
            if let Some(index) = parser.texts.iter().position(|name| is(name, &key)) {
                let is_text = parser
                    .row
                    .iter()
                    .nth(index)
                    .is_none_or(|column| column.kind == ColumnKind::Text);
                let seed = TextSeed {
                    expected: if is_text {
                        "a string as the text"
                    } else {
                        "a string, a number, true, false or null"
                    },
                    nullable: parser.texts.len() > 1,
                    scalar: !is_text,
                };
                let wanted = &parser.texts[index..=index];
                fields.texts[index].set(map.next_value_seed(seed)?, &key, wanted)?;
            } else if parser.labels.iter().any(|name| is(name, &key))
                && (parser.labels_needed || fields.labels.value.is_none())
            {
                fields
                    .labels
                    .set(map.next_value_seed(LabelsSeed)?, &key, &parser.labels)?;
            } else if parser.weight.as_ref().is_some_and(|name| is(name, &key)) {
                let value = map.next_value()?;
                fields.weight.set(value, &key, parser.weight.as_slice())?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}
