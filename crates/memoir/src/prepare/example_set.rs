//! Examples in memory, of which any rows can be taken to learn from.

use super::Examples;
use super::assemble::Assembly;
use crate::data::{Content, Purpose, ReadOptions, Reader, Source};
use crate::dataset::{ClassNames, Dataset, LabelSets};
use crate::{Error, Result, Session};

/// Labelled examples as they were read, before anything is learned from them.
#[derive(Debug, Clone, Default)]
pub struct ExampleSet {
    /// The texts, if the rows are texts.
    texts: Option<Vec<String>>,
    /// Labels, classes and weights, and the rows if they are vectors.
    data: Dataset,
    /// What vectors call the first feature.
    first: u32,
}

/// Some examples of a set.
#[derive(Debug)]
pub struct ExamplePart<'a> {
    texts: Option<Vec<&'a str>>,
    data: Dataset,
    first: u32,
}

impl ExampleSet {
    /// Reads all rows of `source`. Rows without a label are kept.
    pub fn read(source: Source, options: &ReadOptions, session: &Session<'_>) -> Result<Self> {
        let mut reader = Reader::open(source, options, Purpose::Labelled, session)?;
        let mut assembly = Assembly::new(ClassNames::new(), 0);
        let mut texts = (reader.content() == Content::Text).then(Vec::new);
        reader.run(
            |_| (),
            |parsed, (), position| {
                if let Some(texts) = &mut texts {
                    texts.extend(parsed.texts.iter().map(str::to_owned));
                }
                assembly.add(parsed, position);
                Ok(())
            },
        )?;
        let name = reader.name().to_owned();
        let report = reader.take_report();
        report.tell(&name, session);
        if assembly.unlabelled_rows() == report.rows {
            return Err(Error::input(
                name,
                "no row has a label; expected some to learn from",
            ));
        }
        let width = reader.promised_features().unwrap_or(assembly.width());
        Ok(Self {
            texts,
            data: assembly.finish(width),
            first: reader.first_index(),
        })
    }

    /// Texts in memory with their labels and classes; `about` has no rows.
    pub fn of_texts(texts: Vec<String>, about: Dataset) -> Self {
        Self {
            texts: Some(texts),
            data: about,
            first: 0,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.data.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the rows are texts.
    pub fn is_text(&self) -> bool {
        self.texts.is_some()
    }

    /// The texts, if the rows are texts.
    pub fn texts(&self) -> Option<&[String]> {
        self.texts.as_deref()
    }

    /// The labels of the rows.
    pub fn labels(&self) -> &LabelSets {
        &self.data.labels
    }

    /// The classes of the labels.
    pub fn classes(&self) -> &ClassNames {
        &self.data.classes
    }

    /// A hash of everything in it.
    pub fn fingerprint(&self) -> u64 {
        let texts = self.texts.iter().flatten();
        texts.fold(self.data.fingerprint(), |hash, text| {
            xxhash_rust::xxh3::xxh3_64_with_seed(text.as_bytes(), hash)
        })
    }

    /// The rows with these numbers, in this order, with those of their labels whose class `keeps` names.
    pub fn part(&self, rows: &[usize], keeps: impl Fn(u32) -> bool) -> ExamplePart<'_> {
        let mut data = match self.texts {
            Some(_) => Dataset::default(),
            None => self.data.subset(rows.iter().copied()),
        };
        data.classes = ClassNames::new();
        data.labels = LabelSets::new();
        for &row in rows {
            let kept = self.data.labels.row(row).iter().filter(|&&class| keeps(class));
            let numbers: Vec<u32> = kept
                .map(|&class| data.classes.intern(self.data.classes.name(class)))
                .collect();
            data.labels.push(numbers);
        }
        if let (Some(_), Some(weights)) = (&self.texts, &self.data.weights) {
            data.weights = Some(rows.iter().map(|&row| weights[row]).collect());
        }
        let texts = self.texts.as_ref();
        ExamplePart {
            texts: texts.map(|texts| rows.iter().map(|&row| texts[row].as_str()).collect()),
            data,
            first: self.first,
        }
    }
}

impl ExamplePart<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.data.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows, to be prepared.
    pub fn examples(&self) -> Examples<'_> {
        match &self.texts {
            Some(texts) => Examples::Texts {
                texts,
                about: self.data.clone(),
            },
            None => Examples::Vectors {
                data: self.data.clone(),
                first: self.first,
            },
        }
    }
}
