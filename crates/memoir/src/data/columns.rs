//! Which columns of a table hold the text, the labels and the weight: by their names, regardless of capital
//! letters where that leaves no doubt, or by being the other of two.

use super::KeepColumns;
use super::options::{ReadOptions, same_name};
use super::parsed::{Problem, shown};
use super::row_columns::RowColumns;

/// Words that the name of a column has at most; more are a text.
const MOST_WORDS: usize = 3;

/// What stands where in a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Columns {
    /// Number of columns.
    pub(super) width: usize,
    /// The columns whose cells make the text of a row.
    pub(super) texts: Vec<usize>,
    /// What each of these is.
    pub(super) row: RowColumns,
    pub(super) label: Option<usize>,
    pub(super) weight: Option<usize>,
    /// The columns that go to the output.
    pub(super) kept: Vec<usize>,
    /// Which column was taken only because the other one is known.
    pub(super) note: Option<String>,
    /// The label column's name, unless an option gives it: what labels are was guessed.
    pub(super) guessed_label: Option<String>,
}

impl Columns {
    /// Chooses from `names`; `labels_needed` says whether a table without labels is of no use.
    pub(super) fn choose(
        names: &[&str],
        options: &ReadOptions,
        labels_needed: bool,
    ) -> Result<Self, Problem> {
        let header = Header { names };
        let weight = header.given(options.weight_column.as_deref(), "weight")?;
        let given_text = match &options.text_column {
            None => header.remembered_texts(options)?,
            Some(wanted) => Some(header.texts(wanted)?),
        };
        let given_label = match &options.label_column {
            Some(wanted) => header.given(Some(wanted), "labels")?,
            None => header.remembered_label(options, labels_needed)?,
        };
        let other = |one: usize| (names.len() == 2 && weight.is_none()).then(|| 1 - one);
        let (mut texts, mut row) = if let Some(found) = &given_text {
            found.clone()
        } else {
            let guessed = header.guess_text(given_label.and_then(other), options)?;
            (vec![guessed], RowColumns::of_text(names[guessed]))
        };
        let mut missing = Vec::new();
        let is_there = |name: &str| names.contains(&name);
        for (column, must_be_there) in
            RowColumns::others(options, is_there).map_err(|m| Problem::new(0, m))?
        {
            match header.find(&column.name)? {
                Some(index) => {
                    texts.push(index);
                    row.push(column);
                }
                None if must_be_there => {
                    header.given(Some(&column.name), "categories and numbers")?;
                }
                None => missing.push(shown(column.name.as_bytes())),
            }
        }
        let guess = || match texts[..] {
            [text] => other(text),
            _ => None,
        };
        let label = given_label.or_else(guess);
        if label.is_none() && labels_needed {
            return Err(Problem::new(
                0,
                format!(
                    "expected a column `label` or `labels`, found {}; give the parameter `label-column`",
                    header.listed()
                ),
            ));
        }
        if let Some(label) = label.filter(|label| texts.contains(label)) {
            return Err(Problem::new(
                0,
                format!(
                    "expected text and labels in different columns, found both in {}",
                    header.shown(label)
                ),
            ));
        }
        let note = match (&given_text, given_label, label) {
            (None, Some(_), _) => Some(format!("the text is taken from {}", header.shown(texts[0]))),
            (Some(_), None, Some(label)) if labels_needed => {
                Some(format!("labels are taken from {}", header.shown(label)))
            }
            _ if !missing.is_empty() => Some(format!(
                "the model was trained with {}, which is not here",
                missing.join(", ")
            )),
            _ => None,
        };
        let used = texts.iter().copied().chain(label).chain(weight);
        header.check_apart(used)?;
        Ok(Self {
            width: names.len(),
            kept: header.kept(&options.keep_columns)?,
            guessed_label: label
                .filter(|_| options.label_column.is_none())
                .map(|label| names[label].to_owned()),
            texts,
            row,
            label,
            weight,
            note,
        })
    }
}

impl Columns {
    /// What is read from which of the columns `names`, for messages.
    pub(super) fn described(&self, names: &[&str]) -> String {
        let named = |columns: &[usize]| {
            let shown = columns
                .iter()
                .map(|&column| shown(names[column].as_bytes().trim_ascii()));
            shown.collect::<Vec<_>>().join(", ")
        };
        let mut roles = vec![format!("the text in {}", named(&self.texts))];
        roles.extend(self.label.map(|label| format!("labels in {}", named(&[label]))));
        roles.extend(
            self.weight
                .map(|weight| format!("weights in {}", named(&[weight]))),
        );
        if !self.kept.is_empty() {
            roles.push(format!("the columns {}", named(&self.kept)));
        }
        roles.join(", ")
    }
}

/// The names of all columns.
struct Header<'n> {
    names: &'n [&'n str],
}

impl Header<'_> {
    fn shown(&self, column: usize) -> String {
        shown(self.names[column].as_bytes())
    }

    fn listed(&self) -> String {
        let names: Vec<String> = (0..self.names.len()).map(|column| self.shown(column)).collect();
        names.join(", ")
    }

    /// Fails if one of the columns `used` has a name that another one has, too. What nobody reads may have
    /// any name: many tables have several columns without one.
    fn check_apart(&self, mut used: impl Iterator<Item = usize>) -> Result<(), Problem> {
        let is_repeated = |column: &usize| {
            let alike = self.names.iter().filter(|&name| name == &self.names[*column]);
            alike.count() > 1
        };
        match used.find(is_repeated) {
            Some(column) => Err(Problem::new(
                0,
                format!("expected different columns, found {} twice", self.shown(column)),
            )),
            None => Ok(()),
        }
    }

    /// The column called `wanted`; if there is none, the one whose name differs in capital letters only.
    fn find(&self, wanted: &str) -> Result<Option<usize>, Problem> {
        if let Some(column) = self.names.iter().position(|&name| name == wanted) {
            return Ok(Some(column));
        }
        let alike = |&column: &usize| same_name(self.names[column].as_bytes(), wanted.as_bytes());
        let mut alike = (0..self.names.len()).filter(alike);
        match (alike.next(), alike.next()) {
            (Some(one), Some(other)) => Err(Problem::new(
                0,
                format!(
                    "expected one column {}, found {} and {}",
                    shown(wanted.as_bytes()),
                    self.shown(one),
                    self.shown(other)
                ),
            )),
            (one, _) => Ok(one),
        }
    }

    /// The column that an option names.
    fn given(&self, wanted: Option<&str>, what: &str) -> Result<Option<usize>, Problem> {
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        match self.find(wanted)? {
            None => Err(Problem::new(
                0,
                format!(
                    "expected a column {} for the {what}, found {}",
                    shown(wanted.as_bytes()),
                    self.listed()
                ),
            )),
            found => Ok(found),
        }
    }

    /// The columns that go to the output.
    fn kept(&self, keep: &KeepColumns) -> Result<Vec<usize>, Problem> {
        match keep {
            KeepColumns::None => Ok(Vec::new()),
            KeepColumns::All => Ok((0..self.names.len()).collect()),
            KeepColumns::Named(names) => {
                let found = names
                    .iter()
                    .filter_map(|name| self.given(Some(name), "output").transpose());
                let kept: Vec<usize> = found.collect::<Result<_, _>>()?;
                self.check_apart(kept.iter().copied())?;
                Ok(kept)
            }
        }
    }

    /// Whether a name is rather a cell: without a letter, or a sentence.
    fn may_be_a_row(&self) -> bool {
        let is_cell = |name: &&str| {
            let words = name.split_whitespace().count();
            words > MOST_WORDS || (words > 0 && !name.contains(char::is_alphabetic))
        };
        self.names.iter().any(is_cell)
    }

    /// The columns that an option names for the text, separated by commas unless one column is called so.
    fn texts(&self, wanted: &str) -> Result<(Vec<usize>, RowColumns), Problem> {
        let is_there = |name: &str| matches!(self.find(name), Ok(Some(_)));
        let row = RowColumns::texts(wanted, is_there).map_err(|message| Problem::new(0, message))?;
        let mut columns = Vec::new();
        for column in row.iter() {
            columns.extend(self.given(Some(&column.name), "text")?);
        }
        Ok((columns, row))
    }

    /// The columns that the text was in before, if they are here, or the one called so.
    fn remembered_texts(&self, options: &ReadOptions) -> Result<Option<(Vec<usize>, RowColumns)>, Problem> {
        if let Some(Ok(found)) = options
            .remembered
            .text_column
            .as_deref()
            .map(|wanted| self.texts(wanted))
        {
            return Ok(Some(found));
        }
        let text = self.find("text")?;
        Ok(text.map(|column| (vec![column], RowColumns::of_text("text"))))
    }

    /// The column that the labels were in before, if it is here, or the one called so.
    fn remembered_label(&self, options: &ReadOptions, labels_needed: bool) -> Result<Option<usize>, Problem> {
        if let Some(name) = &options.remembered.label_column
            && let Some(column) = self.find(name)?
        {
            return Ok(Some(column));
        }
        match (self.find("label")?, self.find("labels")?) {
            (Some(_), Some(_)) if labels_needed => Err(Problem::new(
                0,
                "expected labels in one column, found `label` and `labels`; give the parameter `label-column`",
            )),
            (one, several) => Ok(one.or(several)),
        }
    }

    /// The column of the text where none is called so: `other` than the labels, if there are two.
    fn guess_text(&self, other: Option<usize>, options: &ReadOptions) -> Result<usize, Problem> {
        if let Some(column) = other {
            return Ok(column);
        }
        if self.names.len() > 1 || options.label_column.is_some() {
            return Err(Problem::new(
                0,
                format!(
                    "expected a column `text`, found {}; give the parameter `text-column`{}",
                    self.listed(),
                    if self.may_be_a_row() && !options.no_header {
                        ", and if this is a row already, the parameter `no-header`"
                    } else {
                        ""
                    }
                ),
            ));
        }
        if options.no_header {
            return Ok(0);
        }
        Err(Problem::new(
            0,
            format!(
                "expected a header with a column `text`, found {}; if that is the name of the only column, give the \
             parameter `text-column`, and if it is a text, the parameter `format` with lines",
                self.listed()
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(names: &[&str], options: &ReadOptions) -> Result<Columns, String> {
        Columns::choose(names, options, false).map_err(|problem| problem.message)
    }

    #[test]
    fn capital_letters_do_not_matter_where_that_leaves_no_doubt() {
        let default = ReadOptions::default();
        let chosen = choose(&["ID", "Label", "TEXT"], &default).unwrap();
        assert_eq!((chosen.texts, chosen.label), (vec![2], Some(1)));
        let chosen = choose(&["Text", "text", "n"], &default).unwrap();
        assert_eq!(chosen.texts, [1], "the exact name wins");
        let complaint = choose(&["Text", "TEXT", "n"], &default).unwrap_err();
        assert_eq!(complaint, "expected one column `text`, found `Text` and `TEXT`");
    }

    #[test]
    fn several_columns_make_the_text() {
        let several = |columns: &str| ReadOptions {
            text_column: Some(columns.to_owned()),
            ..ReadOptions::default()
        };
        let names = ["title", "label", "abstract"];
        assert_eq!(
            choose(&names, &several("abstract, Title:2")).unwrap().texts,
            [2, 0]
        );
        assert_eq!(choose(&["a,b", "a", "b"], &several("a,b")).unwrap().texts, [0]);
        assert_eq!(
            choose(&names, &several("title,body")).unwrap_err(),
            "expected a column `body` for the text, found `title`, `label`, `abstract`"
        );
    }
}
