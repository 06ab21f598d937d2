//! Several columns of a row as one text, which says of each part which column it is from. So whatever hands
//! texts on (files, memory, services) hands columns on as well.
//!
//! A part begins with U+001F, the kind of its column (`t` for text, `c` for a category, `n` for a number),
//! its weight or `auto`, `:`, its name and U+001E. What comes before the first part is plain text.

/// Weight of a category or number beside a text, which has 1, where none is given and nothing tells a better
/// one.
const OTHER_WEIGHT: f32 = 0.5;

/// Stands for a weight that is yet to be chosen.
const AUTO: &str = "auto";

const PART: char = '\u{1f}';
const CONTENT: char = '\u{1e}';

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text, whose words are features of the column.
    Text,
    /// One of some values, each of which is a feature.
    Category,
    /// A number: the range that it is in is a feature.
    Number,
}

impl ColumnKind {
    fn mark(self) -> char {
        match self {
            Self::Text => 't',
            Self::Category => 'c',
            Self::Number => 'n',
        }
    }

    fn of_mark(mark: char) -> Option<Self> {
        [Self::Text, Self::Category, Self::Number]
            .into_iter()
            .find(|kind| kind.mark() == mark)
    }
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ColumnPart<'t> {
    /// Where it is from; `None` for plain text.
    pub(crate) column: Option<PartColumn<'t>>,
    pub(crate) content: &'t str,
}

/// The column of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PartColumn<'t> {
    pub(crate) kind: ColumnKind,
    pub(crate) weight: f32,
    /// Whether nobody gave the weight.
    pub(crate) is_auto: bool,
    pub(crate) name: &'t str,
    /// The mark in front of the content, without its first and last character.
    pub(crate) mark: &'t str,
}

impl<'t> PartColumn<'t> {
    /// Reads a mark such as `c0.5:industry`.
    pub(crate) fn parse(mark: &'t str) -> Option<Self> {
        let (about, name) = mark.split_once(':')?;
        let kind = ColumnKind::of_mark(about.chars().next()?)?;
        let is_auto = &about[1..] == AUTO;
        let weight = if is_auto {
            OTHER_WEIGHT
        } else {
            about[1..].parse().ok()?
        };
        Some(Self {
            kind,
            weight,
            is_auto,
            name,
            mark,
        })
    }
}

/// A row of several columns as one text.
///
/// ```
/// use memoir::dataset::{ColumnKind, ColumnText};
///
/// let mut row = ColumnText::new();
/// row.push(ColumnKind::Text, "title", 2.0, "Nurse for nights");
/// row.push(ColumnKind::Category, "industry", 0.5, "Health");
/// row.push_unweighted(ColumnKind::Number, "salary", "41000");
/// # assert!(row.as_str().contains("Nurse"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnText(String);

impl ColumnText {
    /// A row without a column yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends plain text.
    pub fn push_text(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        push_plain(text, &mut self.0);
    }

    /// Appends what a column holds. `weight` is the column's share of a row's length; it counts in training
    /// only.
    pub fn push(&mut self, kind: ColumnKind, name: &str, weight: f32, content: &str) {
        self.push_marked(kind, name, &weight.to_string(), content);
    }

    /// Appends what a category or number holds. How much it weighs is chosen in training, by held-out rows,
    /// where the blocks of the text are chosen as well; otherwise it is 0.5.
    pub fn push_unweighted(&mut self, kind: ColumnKind, name: &str, content: &str) {
        self.push_marked(kind, name, AUTO, content);
    }

    fn push_marked(&mut self, kind: ColumnKind, name: &str, weight: &str, content: &str) {
        self.0.push(PART);
        self.0.push(kind.mark());
        self.0.push_str(weight);
        self.0.push(':');
        push_plain(name, &mut self.0);
        self.0.push(CONTENT);
        push_plain(content, &mut self.0);
    }

    /// The text that a model learns from or answers.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Forgets all columns and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl AsRef<str> for ColumnText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A text as people read it: parts of columns behind the names of these.
pub fn readable(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(PART) {
        return text.into();
    }
    let shown = column_parts(text).map(|part| match part.column {
        None => part.content.to_owned(),
        Some(column) => format!("{}: {}", column.name, part.content),
    });
    shown.collect::<Vec<_>>().join("\n").into()
}

/// What a cell holds must not be taken for a mark.
fn push_plain(text: &str, out: &mut String) {
    out.extend(
        text.chars()
            .map(|c| if matches!(c, PART | CONTENT) { ' ' } else { c }),
    );
}

/// The parts of a text. Most texts are one plain part.
pub(crate) fn column_parts(text: &str) -> impl Iterator<Item = ColumnPart<'_>> {
    let plain = |content| ColumnPart {
        column: None,
        content,
    };
    let is_plain = memchr::memchr(PART as u8, text.as_bytes()).is_none();
    let mut pieces = text.split(PART);
    // A text that begins with a mark has no plain part.
    let first = pieces.next().filter(|first| is_plain || !first.is_empty());
    let marked = pieces.map(move |piece| {
        let part = piece.split_once(CONTENT).and_then(|(mark, content)| {
            let column = Some(PartColumn::parse(mark)?);
            Some(ColumnPart { column, content })
        });
        part.unwrap_or(plain(piece))
    });
    first.map(plain).into_iter().chain(marked)
}

/// A word that stands for a part of a text: the mark of its column and, of a category or number, its value.
pub(crate) fn push_mark(column: &PartColumn<'_>, value: Option<&str>, out: &mut String) {
    out.push(PART);
    out.push_str(column.mark);
    if let Some(value) = value {
        out.push(CONTENT);
        out.push_str(value);
    }
}

/// What [`push_mark`] wrote, if `word` is such a word.
pub(crate) fn parse_mark(word: &str) -> Option<(PartColumn<'_>, &str)> {
    let (mark, value) = word
        .strip_prefix(PART)
        .map(|mark| mark.split_once(CONTENT).unwrap_or((mark, "")))?;
    Some((PartColumn::parse(mark)?, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_as_they_are_written() {
        let mut row = ColumnText::new();
        row.push_text("plain");
        row.push_text("and more");
        row.push(ColumnKind::Text, "title", 2.0, "odd \u{1f}t1:x\u{1e} text");
        row.push(ColumnKind::Category, "a:b", 0.5, "");
        row.push_unweighted(ColumnKind::Number, "n", "7");
        let parts: Vec<_> = column_parts(row.as_str()).collect();
        let about: Vec<_> = parts
            .iter()
            .map(|part| (part.column.map(|c| (c.kind, c.weight, c.name)), part.content))
            .collect();
        assert_eq!(
            about,
            [
                (None, "plain\nand more"),
                (Some((ColumnKind::Text, 2.0, "title")), "odd  t1:x  text"),
                (Some((ColumnKind::Category, 0.5, "a:b")), ""),
                (Some((ColumnKind::Number, OTHER_WEIGHT, "n")), "7"),
            ]
        );
        let is_auto = parts
            .iter()
            .map(|part| part.column.is_some_and(|column| column.is_auto));
        assert_eq!(is_auto.collect::<Vec<_>>(), [false, false, false, true]);
        let mut word = String::new();
        push_mark(&parts[2].column.unwrap(), Some("health"), &mut word);
        assert_eq!(parse_mark(&word), Some((parts[2].column.unwrap(), "health")));
        assert_eq!(parse_mark("health"), None);
    }

    #[test]
    fn any_other_text_is_plain() {
        for text in [
            "",
            "tea",
            "\u{1f}",
            "a\u{1f}b",
            "\u{1f}x1:a\u{1e}b",
            "\u{1f}t:a\u{1e}b",
            "\u{1f}é1:\u{1e}",
        ] {
            assert!(column_parts(text).all(|part| part.column.is_none()), "{text:?}");
        }
        assert_eq!(column_parts("").count(), 1);
    }
}
