//! Feedback as CSV, out and in.

use serde::{Deserialize, Serialize};

use super::record::{Decision, Event, Item};
use crate::problem::{Answer, Problem};

/// Separates the labels of a row, as in training data.
const SEPARATOR: char = '|';

#[derive(Serialize)]
struct RowOut<'a> {
    id: &'a str,
    at: u64,
    coder: &'a str,
    text: &'a str,
    label: String,
    suggested: &'a str,
    probability: Option<f32>,
    version: &'a str,
    reason: &'a str,
    undone: bool,
}

#[derive(Deserialize)]
struct RowIn {
    id: Option<String>,
    coder: Option<String>,
    text: String,
    label: Option<String>,
    reason: Option<String>,
    suggested: Option<String>,
    probability: Option<f32>,
    version: Option<String>,
    undone: Option<bool>,
}

/// All items as a table with the columns `text` and `label`, as `memoir train` reads them, and others.
pub(crate) fn write(items: impl Iterator<Item = Item>) -> Answer<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for item in items {
        let decision = &item.decision;
        let row = RowOut {
            id: &item.id,
            at: item.at,
            coder: &decision.coder,
            text: &decision.text,
            label: decision.labels.join(&SEPARATOR.to_string()),
            suggested: decision.suggested.as_deref().unwrap_or_default(),
            probability: decision.probability,
            version: decision.version.as_deref().unwrap_or_default(),
            reason: decision.reason.as_deref().unwrap_or_default(),
            undone: item.undone,
        };
        table.serialize(row).map_err(|_| Problem::internal())?;
    }
    table.into_inner().map_err(|_| Problem::internal())
}

/// The events that a table stands for. Rows that were taken back are left out.
pub(crate) fn read(bytes: &[u8], coder: &str) -> Answer<Vec<(Option<String>, Event)>> {
    let mut events = Vec::new();
    let mut table = csv::Reader::from_reader(bytes);
    for row in table.deserialize::<RowIn>() {
        let row = row.map_err(|error| {
            Problem::malformed(format!(
                "expected CSV with the columns `text` and `label`: {error}"
            ))
        })?;
        if row.undone == Some(true) {
            continue;
        }
        if row.text.trim().is_empty() {
            return Err(Problem::malformed(format!(
                "row {} of the table: the text is empty",
                events.len() + 1
            )));
        }
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let labels = row.label.unwrap_or_default();
        let labels = labels
            .split(SEPARATOR)
            .map(str::trim)
            .filter(|label| !label.is_empty());
        let decision = Decision {
            text: row.text,
            labels: labels.map(str::to_owned).collect(),
            coder: given(row.coder).unwrap_or_else(|| coder.to_owned()),
            reason: given(row.reason),
            suggested: given(row.suggested),
            probability: row.probability,
            version: given(row.version),
        };
        events.push((given(row.id), Event::Decided(decision)));
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exported_can_be_imported() {
        let decision = Decision {
            text: "a \"quoted\", text\nof two lines".to_owned(),
            labels: vec!["lamp".to_owned(), "garden".to_owned()],
            coder: "anna".to_owned(),
            probability: Some(0.25),
            ..Decision::default()
        };
        let item = |id: &str, undone| Item {
            id: id.to_owned(),
            at: 7,
            undone,
            decision: decision.clone(),
        };
        let table = write([item("1", false), item("2", true)].into_iter()).unwrap();
        let events = read(&table, "importer").unwrap();
        assert_eq!(events, [(Some("1".to_owned()), Event::Decided(decision))]);
    }

    #[test]
    fn a_table_of_two_columns_is_enough() {
        let events = read(b"text,label\nhello,greeting\n", "anna").unwrap();
        let Event::Decided(decision) = &events[0].1 else {
            panic!("{events:?}")
        };
        assert_eq!((decision.coder.as_str(), decision.labels.len()), ("anna", 1));
        let error = read(b"words\nhello\n", "").unwrap_err();
        assert!(error.detail().contains("text"), "{}", error.detail());
    }
}
