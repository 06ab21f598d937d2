//! Training data that a program holds in memory already: the same steps as reading it from a file, without the file.

use rayon::prelude::*;

use super::{Dataset, PrepOptions, ReadReport, TrainingData};
use crate::sparse::Rows;
use crate::text::{
    Analyzer, CountedBlock, Input, Preprocessing, TextCounter, TextPipeline, TextScratch, Weighting,
};
use crate::{Error, Result, Session};

/// Texts that are counted as one: small enough that a run stops soon when asked to.
const TEXTS_PER_BLOCK: usize = 1024;

impl TrainingData {
    /// Prepares `data`, whose rows hold the caller's values, for training. The width of the rows is the number of
    /// features; `first` is what the caller calls the first of them (0 or 1), for names and explanations.
    pub fn from_rows(data: Dataset, first: u32, prep: &PrepOptions, session: &Session<'_>) -> Result<Self> {
        let features = data.rows.width();
        Self::weigh(data, Input::Vectors { features, first }, prep, session)
    }

    /// Prepares `texts` for training; `about` has their labels, classes and weights, and its rows are replaced.
    pub fn from_texts<S: AsRef<str> + Sync>(
        texts: &[S],
        mut about: Dataset,
        prep: &PrepOptions,
        session: &Session<'_>,
    ) -> Result<Self> {
        let analyzer = Analyzer::new(&prep.text)?;
        let mut counter = TextCounter::new();
        // As many blocks at a time as there are threads, so that counts do not pile up before they are merged.
        for (turn, group) in texts.chunks(TEXTS_PER_BLOCK * session.threads()).enumerate() {
            session.check()?;
            let counted: Vec<CountedBlock> = session.run(|| {
                let blocks = group.par_chunks(TEXTS_PER_BLOCK);
                blocks
                    .map(|block| CountedBlock::count(&analyzer, block))
                    .collect()
            });
            for block in counted {
                counter.merge(block)?;
            }
            let done = turn * TEXTS_PER_BLOCK * session.threads() + group.len();
            session.progress("counting words", done as u64, texts.len() as u64, "rows");
        }
        let (vocabulary, rows) = counter.finish(&prep.text)?;
        about.rows = rows;
        let input = Input::Text(TextPipeline::new(prep.text.clone(), vocabulary)?);
        Self::weigh(about, input, prep, session)
    }

    /// The steps that all training data takes once it is rows: learn the weighting and apply it.
    pub(super) fn weigh(
        mut data: Dataset,
        input: Input,
        prep: &PrepOptions,
        session: &Session<'_>,
    ) -> Result<Self> {
        if data.labels.len() != data.rows.len() {
            return Err(Error::Mismatch(format!(
                "there are {} rows and labels for {} of them",
                data.rows.len(),
                data.labels.len()
            )));
        }
        let scheme = prep.weighting.scheme(&data.rows);
        let weighting = Weighting::fit(scheme, prep.needs, &data.rows, &data.labels);
        let preprocessing = Preprocessing { input, weighting };
        preprocessing.apply_all(&mut data.rows, session)?;
        Ok(Self {
            data,
            preprocessing,
            report: ReadReport::default(),
        })
    }
}

impl Preprocessing {
    /// The weighted rows of `texts`, made in parallel, in their order.
    pub fn text_rows<S: AsRef<str> + Sync>(&self, texts: &[S], session: &Session<'_>) -> Result<Rows> {
        let parts: Vec<Result<Rows>> = session.run(|| {
            let blocks = texts.par_chunks(TEXTS_PER_BLOCK);
            blocks
                .map_init(TextScratch::default, |scratch, block| {
                    session.check()?;
                    let mut rows = Rows::new();
                    for text in block {
                        self.text_row(text.as_ref(), scratch, &mut rows)?;
                    }
                    Ok(rows)
                })
                .collect()
        });
        let mut rows = Rows::new();
        for part in parts {
            rows.append(&part?);
        }
        rows.set_width(self.features());
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::data::{ReadOptions, Source, read_training};

    const FILE: &str = "label,text\nfruit,red apple\nsky,blue sky\nfruit,green apple apple\n";

    fn session(threads: usize) -> Session<'static> {
        Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
    }

    fn labels() -> Dataset {
        let mut about = Dataset::default();
        for name in ["fruit", "sky", "fruit"] {
            let class = about.classes.intern(name);
            about.labels.push([class]);
        }
        about
    }

    #[test]
    fn texts_in_memory_become_what_the_file_becomes() {
        let prep = PrepOptions::default();
        let session = session(2);
        let source = Source::from_reader("t.csv", std::io::Cursor::new(FILE.to_owned()));
        let read = read_training(source, &ReadOptions::default(), &prep, &session).unwrap();
        let texts = ["red apple", "blue sky", "green apple apple"];
        let held = TrainingData::from_texts(&texts, labels(), &prep, &session).unwrap();
        assert_eq!(held.data, read.data);
        assert_eq!(
            held.preprocessing.text_rows(&texts, &session).unwrap(),
            read.data.rows
        );
    }

    #[test]
    fn many_texts_at_any_thread_count() {
        let texts: Vec<String> = (0..3000)
            .map(|row| format!("w{} w{} w{}", row % 7, row % 11, row % 1300))
            .collect();
        let mut about = Dataset::default();
        about.classes.intern("a");
        texts.iter().for_each(|_| about.labels.push([0]));
        let prep = PrepOptions::default();
        let make = |threads| {
            TrainingData::from_texts(&texts, about.clone(), &prep, &session(threads))
                .unwrap()
                .data
        };
        assert_eq!(make(1), make(3));
        assert_eq!(make(1).rows.len(), 3000);
    }

    #[test]
    fn rows_keep_their_width_and_are_weighed() {
        let mut data = labels();
        for column in [0, 4, 2] {
            data.rows.push_unsorted(&mut vec![(column, 2.5)]);
        }
        data.rows.set_width(9);
        let training = TrainingData::from_rows(data, 0, &PrepOptions::default(), &session(1)).unwrap();
        assert_eq!(training.preprocessing.input_features(), 9);
        assert_eq!(training.data.rows.row(1).values, [1.0]);
    }

    #[test]
    fn labels_of_other_rows_are_refused() {
        let mut data = labels();
        data.rows.push_unsorted(&mut vec![(0, 1.0)]);
        let error = TrainingData::from_rows(data, 0, &PrepOptions::default(), &session(1)).unwrap_err();
        assert_eq!(error.to_string(), "there are 1 rows and labels for 3 of them");
    }
}
