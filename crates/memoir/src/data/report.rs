//! What reading came across.

use super::Content;
use crate::Session;

/// What reading came across.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ReadReport {
    /// Rows read, without the bad ones.
    pub rows: u64,
    /// Rows skipped because they were bad.
    pub bad_rows: u64,
    /// The messages of the first bad rows.
    pub bad_row_messages: Vec<String>,
    /// Rows without a label.
    pub unlabelled_rows: u64,
    /// Classes that occur in the data but not in the model (only where data is read for a model).
    pub unknown_classes: u64,
    /// Rows with a class that the model does not know.
    pub rows_with_unknown_classes: u64,
    /// Rows in which the model knows nothing, so that they get no answer (only where data is read for a
    /// model).
    pub unknown_rows: u64,
    /// The encoding that the text was recognised to be in, if it is not UTF-8.
    pub encoding: Option<&'static str>,
    /// What the rows hold.
    pub content: Option<Content>,
}

impl ReadReport {
    /// Tells the session's observer what the user should know.
    pub(crate) fn tell(&self, name: &str, session: &Session<'_>) {
        if let Some(encoding) = self.encoding {
            session.note(format!("{name}: is no UTF-8 and was read as {encoding}"));
        }
        if self.bad_rows > 0 {
            let rows = counted(self.bad_rows, "bad row", "bad rows");
            session.note(format!("{name}: skipped {rows} ({} read)", self.rows));
            for message in &self.bad_row_messages {
                session.note(format!("skipped {message}"));
            }
            let untold = self.bad_rows - self.bad_row_messages.len() as u64;
            if untold > 0 {
                session.note(format!("skipped {untold} more"));
            }
        }
        if self.unknown_classes > 0 {
            let classes = counted(self.unknown_classes, "class", "classes");
            let rows = counted(self.rows_with_unknown_classes, "row", "rows");
            session.note(format!("{name}: {classes} unknown to the model, in {rows}"));
        }
        if self.unknown_rows > 0 {
            let rows = counted(self.unknown_rows, "row has", "rows have");
            let what = match self.content {
                Some(Content::Vectors) => "feature",
                _ => "word",
            };
            session.note(format!("{name}: {rows} no known {what} and so no answer"));
        }
    }

    /// The same of rows without labels, where these were wanted.
    pub(crate) fn tell_unlabelled(&self, name: &str, session: &Session<'_>) {
        if self.unlabelled_rows > 0 {
            let rows = counted(self.unlabelled_rows, "row", "rows");
            session.note(format!("{name}: {rows} without a label ({} read)", self.rows));
        }
    }
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
