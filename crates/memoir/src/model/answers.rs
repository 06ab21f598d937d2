//! Answers with names and probabilities, for programs that want nothing more than that.

use std::num::NonZeroUsize;
use std::path::Path;

use super::calibration::CANDIDATES;
use super::{Explanation, Model, Scratch};
use crate::data::{ReadOptions, Source};
use crate::eval::{Report, evaluate};
use crate::prepare::{Extras, stream_with_extras};
use crate::sparse::{RowView, Rows, Scored};
use crate::text::TextScratch;
use crate::{Catalogue, Result, Session, maths};

/// Scores that the probability of an answer is a share of, where a model is not calibrated: those of lower
/// ranks add next to nothing.
pub const SHARING: usize = 100;

/// A class that a model gives as an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer<'m> {
    /// Label of the class.
    pub class: &'m str,
    /// The code that the model's vocabulary has for it, if there is one.
    pub notation: Option<&'m str>,
    /// What the model's vocabulary calls it, if there is one.
    pub name: Option<&'m str>,
    /// How probable the model holds it to be right: by its calibration or, without one, the answer's share
    /// in the exponentials of the best scores.
    pub probability: f32,
    /// Its score, which only other scores for the same input compare with.
    pub score: f32,
    /// Whether it is the class that this text always gets ([`Model::set_overrides`]).
    pub is_override: bool,
}

impl Model {
    /// Opens a model file that an algorithm of this crate has made. For other algorithms, see
    /// [`Model::load`].
    ///
    /// The file is mapped: what is large is read when it is needed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::load(path.as_ref(), &Catalogue::new())
    }

    /// The `k` best classes of a text, best first; none if it has no known word.
    pub fn predict(&self, text: &str, k: usize) -> Result<Vec<Answer<'_>>> {
        let row = self.text_row(text)?;
        Ok(self.answers(row.row(0), k, self.override_of(text), &mut Scratch::default()))
    }

    /// The `k` best classes of a vector, given as pairs of feature and value in any order, best first.
    pub fn predict_row(&self, entries: &[(u32, f32)], k: usize) -> Result<Vec<Answer<'_>>> {
        let mut rows = Rows::new();
        self.preprocessing.vector_row(&mut entries.to_vec(), &mut rows)?;
        Ok(self.answers(rows.row(0), k, None, &mut Scratch::default()))
    }

    /// Reads a file, which needs no labels, and hands the `k` best classes of each of its rows to `take`, in
    /// their order. Takes constant memory, however long the file is.
    pub fn predict_file(
        &self,
        path: impl AsRef<Path>,
        k: usize,
        mut take: impl FnMut(&[Answer<'_>]) -> Result<()>,
    ) -> Result<()> {
        let session = all_threads()?;
        let (source, options) = (Source::new(path), self.reading(ReadOptions::default()));
        let mut scratch = Scratch::default();
        let extras = self.extras();
        stream_with_extras(source, &options, &self.preprocessing, extras, &session, |block| {
            block.rows.iter().enumerate().try_for_each(|(number, row)| {
                take(&self.answers(row, k, block.override_of(number), &mut scratch))
            })
        })?;
        Ok(())
    }

    /// What rows for this model come with: the texts that always get a class, and a look whether the model's
    /// file was changed in place before each block.
    pub fn extras(&self) -> Extras<'_> {
        Extras {
            overrides: self.overrides.as_ref(),
            texts: false,
            file: self.file.as_deref(),
        }
    }

    /// Measures the model on a file of labelled rows that it was not trained on.
    pub fn evaluate_file(&self, path: impl AsRef<Path>) -> Result<Report> {
        let options = self.reading(ReadOptions::default());
        evaluate(self, Source::new(path), &options, &all_threads()?)
    }

    /// Why a text gets its answer: the words that speak for it, and for the class that comes second.
    pub fn explain(&self, text: &str) -> Result<Explanation> {
        let mut explanation = self.explain_row(self.text_row(text)?.row(0))?;
        self.show_runs(text, &mut explanation);
        Ok(explanation)
    }

    fn text_row(&self, text: &str) -> Result<Rows> {
        let mut rows = Rows::new();
        self.preprocessing
            .text_row(text, &mut TextScratch::default(), &mut rows)?;
        Ok(rows)
    }

    /// The `k` best classes of a weighted row, behind the class that it always gets.
    fn answers(
        &self,
        row: RowView<'_>,
        k: usize,
        overriding: Option<u32>,
        scratch: &mut Scratch,
    ) -> Vec<Answer<'_>> {
        let mut best = Vec::new();
        if self.known_features(row) > 0 {
            self.scorer
                .top_k(row, k.max(CANDIDATES).max(SHARING), scratch, &mut best);
        }
        let mut scores = best.clone();
        match &self.calibration {
            Some(_) => {
                let mut probabilities = Vec::new();
                self.probabilities(row, &scores, &mut probabilities);
                for (scored, probability) in best.iter_mut().zip(probabilities) {
                    scored.score = probability;
                }
            }
            None => score_shares(&mut best),
        }
        if let Some(class) = overriding {
            Self::put_first(class, scores.len() + 1, &mut scores);
            Self::put_first(class, best.len() + 1, &mut best);
        }
        let answers = scores.iter().zip(&best).take(k);
        answers
            .map(|(scored, probable)| Answer {
                class: self.classes.name(scored.class),
                notation: self.notation_of_class(scored.class),
                name: self.name_of_class(scored.class, &[]),
                probability: probable.score,
                score: scored.score,
                is_override: overriding == Some(scored.class),
            })
            .collect()
    }
}

/// Replaces the scores of a row's best classes by their exponentials' shares.
pub fn score_shares(best: &mut [Scored]) {
    let Some(&Scored { score: highest, .. }) = best.first() else {
        return;
    };
    let weight = |scored: &Scored| maths::exp(f64::from(scored.score - highest));
    let sum: f64 = best.iter().map(weight).sum();
    for scored in best {
        scored.score = (weight(scored) / sum) as f32;
    }
}

/// A silent session with as many threads as the machine has processors.
fn all_threads() -> Result<Session<'static>> {
    Session::new(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}
