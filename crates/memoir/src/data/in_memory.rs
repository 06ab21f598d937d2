//! Training data that a program holds in memory already: the same steps as reading it from a file, without the file.

use rayon::prelude::*;

use super::{Dataset, Known, PrepOptions, ReadReport, TrainingData};
use crate::sparse::Rows;
use crate::text::{
    Analyzer, CountedBlock, Input, Preprocessing, TextCounter, TextParams, TextPipeline, TextScratch,
    Vocabulary, Weighting,
};
use crate::{Error, Result, Session};

/// Texts that are counted as one: small enough that a run stops soon when asked to.
const TEXTS_PER_BLOCK: usize = 1024;

impl TrainingData {
    /// Prepares `data`, whose rows hold the caller's values, for training. The width of the rows is the number of
    /// features; `first` is what the caller calls the first of them (0 or 1), for names and explanations.
    pub fn from_rows(data: Dataset, first: u32, prep: &PrepOptions, session: &Session<'_>) -> Result<Self> {
        check(&data)?;
        let features = data.rows.width();
        let preprocessing = session.run(|| fitted(Input::Vectors { features, first }, prep, &data));
        weigh(data, preprocessing, session)
    }

    /// Prepares `texts` for training; `about` has their labels, classes and weights, and its rows are replaced.
    pub fn from_texts<S: AsRef<str> + Sync>(
        texts: &[S],
        mut about: Dataset,
        prep: &PrepOptions,
        session: &Session<'_>,
    ) -> Result<Self> {
        let (vocabulary, rows) = count(texts, &prep.text, TextCounter::new(), session)?;
        about.rows = rows;
        check(&about)?;
        let input = Input::Text(TextPipeline::new(prep.text.clone(), vocabulary)?);
        let preprocessing = session.run(|| fitted(input, prep, &about));
        weigh(about, preprocessing, session)
    }

    /// As [`TrainingData::from_rows`], to go on training a model: the classes of `data` begin with the model's.
    pub fn further_rows(mut data: Dataset, known: &Known<'_>, session: &Session<'_>) -> Result<Self> {
        let width = data.rows.width().max(known.preprocessing.input_features());
        data.rows.set_width(width);
        further(data, known, None, session)
    }

    /// As [`TrainingData::from_texts`], to go on training a model: the classes of `about` begin with the model's.
    pub fn further_texts<S: AsRef<str> + Sync>(
        texts: &[S],
        mut about: Dataset,
        known: &Known<'_>,
        session: &Session<'_>,
    ) -> Result<Self> {
        let Some(before) = known.preprocessing.text() else {
            return Err(Error::Mismatch(
                "the model was trained on vectors, so it cannot be continued with text".to_owned(),
            ));
        };
        let counter = TextCounter::continuing(&before.vocabulary)?;
        let (vocabulary, rows) = count(texts, &before.params, counter, session)?;
        about.rows = rows;
        further(about, known, Some(vocabulary), session)
    }
}

/// Counts the words of `texts`.
fn count<S: AsRef<str> + Sync>(
    texts: &[S],
    params: &TextParams,
    mut counter: TextCounter,
    session: &Session<'_>,
) -> Result<(Vocabulary, Rows)> {
    let analyzer = Analyzer::new(params)?;
    // As many blocks at a time as there are threads, so that counts do not pile up before they are merged.
    let at_once = TEXTS_PER_BLOCK * session.threads();
    for (turn, group) in texts.chunks(at_once).enumerate() {
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
        let done = turn * at_once + group.len();
        session.progress("counting words", done as u64, texts.len() as u64, "rows");
    }
    counter.finish(params)
}

fn check(data: &Dataset) -> Result<()> {
    if data.labels.len() == data.rows.len() {
        return Ok(());
    }
    Err(Error::Mismatch(format!(
        "there are {} rows and labels for {} of them",
        data.rows.len(),
        data.labels.len()
    )))
}

/// The preprocessing learned from raw rows.
fn fitted(input: Input, prep: &PrepOptions, data: &Dataset) -> Preprocessing {
    let scheme = prep.weighting.scheme(&data.rows);
    let weighting = Weighting::fit(scheme, prep.needs, &data.rows, &data.labels);
    Preprocessing { input, weighting }
}

fn further(
    data: Dataset,
    known: &Known<'_>,
    vocabulary: Option<Vocabulary>,
    session: &Session<'_>,
) -> Result<TrainingData> {
    check(&data)?;
    let preprocessing = session.run(|| {
        known
            .preprocessing
            .grown(known.needs, known.rows, &data.rows, &data.labels, vocabulary)
    })?;
    weigh(data, preprocessing, session)
}

fn weigh(mut data: Dataset, preprocessing: Preprocessing, session: &Session<'_>) -> Result<TrainingData> {
    preprocessing.apply_all(&mut data.rows, session)?;
    Ok(TrainingData {
        data,
        preprocessing,
        report: ReadReport::default(),
    })
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
    use crate::data::{ReadOptions, Source, read_further, read_training};

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
    fn going_on_in_memory_is_going_on_from_a_file() {
        let (prep, session) = (PrepOptions::default(), session(2));
        let texts = ["red apple", "blue sky", "green apple apple"];
        let first = TrainingData::from_texts(&texts, labels(), &prep, &session).unwrap();
        let known = Known {
            preprocessing: &first.preprocessing,
            classes: &first.data.classes,
            rows: 3,
            needs: prep.needs,
        };
        let file = "label,text\nsea,deep blue sea\nsky,grey sky\n";
        let source = Source::from_reader("t.csv", std::io::Cursor::new(file.to_owned()));
        let read = read_further(source, &ReadOptions::default(), &known, &session).unwrap();
        let mut about = Dataset {
            classes: first.data.classes.clone(),
            ..Dataset::default()
        };
        for name in ["sea", "sky"] {
            let class = about.classes.intern(name);
            about.labels.push([class]);
        }
        let held =
            TrainingData::further_texts(&["deep blue sea", "grey sky"], about, &known, &session).unwrap();
        assert_eq!(held.data, read.data);
        assert_eq!(held.preprocessing.features(), read.preprocessing.features());
    }

    #[test]
    fn many_texts_at_any_thread_count() {
        let texts: Vec<String> = (0..3000)
            .map(|row| format!("w{} w{} w{}", row % 7, row % 11, row % 1300))
            .collect();
        let mut about = Dataset::default();
        about.classes.intern("a");
        for _ in &texts {
            about.labels.push([0]);
        }
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
