//! One opened model: the only file that calls the library's model. Answers are class numbers with scores.

mod learn;
mod measure;
mod names;

use std::sync::{Mutex, OnceLock, PoisonError};

use memoir::model::{Explanation, PredictorScratch, Summary};
use memoir::text::{AnalyzerScratch, Input, TextScratch};
use memoir::{Catalogue, Model, Result, Rows, Scored, Session};
use rayon::prelude::*;

use crate::class_search::ClassSearch;

pub(crate) use measure::{CurvePoint, Measured, curve};
pub(crate) use names::{CANDIDATES, Concept};

/// Rows that one thread takes at a time.
const CHUNK: usize = 128;

/// What a request asks about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Question {
    Text(String),
    /// Features and values, numbered as in the training data.
    Vector(Vec<(u32, f32)>),
}

/// A model in memory, with its version.
pub(crate) struct Engine {
    model: Model,
    version: String,
    bytes: usize,
    search: OnceLock<ClassSearch>,
    levels: OnceLock<names::Levels>,
    /// Memory for answers, as many pieces as were ever needed at once: no more than there are threads.
    scratch: Mutex<Vec<PredictorScratch>>,
}

/// A part of a text, and how much its words speak for the answer (positive) or the runner-up (negative).
pub(crate) struct MarkedPart<'t> {
    pub(crate) text: &'t str,
    pub(crate) decides: f64,
}

impl Engine {
    /// Opens a model from the bytes of its file. All of them are checked, and none is read from the file
    /// again: whatever happens to the file cannot hurt.
    pub(crate) fn open(bytes: &[u8], catalogue: &Catalogue) -> Result<Self> {
        Ok(Self {
            model: Model::from_bytes(bytes, catalogue)?,
            version: format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes)),
            bytes: bytes.len(),
            search: OnceLock::new(),
            levels: OnceLock::new(),
            scratch: Mutex::default(),
        })
    }

    /// The checksum of the model's file.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Size of the model's file.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_calibrated(&self) -> bool {
        self.model.calibration().is_some()
    }

    pub(crate) fn takes_text(&self) -> bool {
        self.model.preprocessing().text().is_some()
    }

    pub(crate) fn classes(&self) -> usize {
        self.model.classes().len()
    }

    pub(crate) fn class_name(&self, class: u32) -> &str {
        self.model.classes().name(class)
    }

    pub(crate) fn find_class(&self, name: &str) -> Option<u32> {
        self.model.classes().find(name)
    }

    /// Training rows of a class, if the model knows.
    pub(crate) fn class_rows(&self, class: u32) -> Option<u32> {
        self.model.origin().class_counts.get(class as usize).copied()
    }

    pub(crate) fn summary(&self) -> Result<Summary> {
        self.model.summary()
    }

    /// The `count` classes whose weights are most like those of `class`, nearest first.
    pub(crate) fn nearest(&self, class: u32, count: usize, session: &Session<'_>) -> Result<Vec<u32>> {
        let near = self.model.nearest_classes(class, count, session)?;
        Ok(near.into_iter().map(|(class, _)| class).collect())
    }

    /// The `k` best classes, best first, in the calling thread. Scores are probabilities if the model is
    /// calibrated.
    pub(crate) fn answer(&self, question: &Question, k: usize) -> Result<Vec<Scored>> {
        let scratch = self.lock_scratch().pop().unwrap_or_default();
        let mut predictor = self.model.predictor_with(scratch);
        if self.is_calibrated() {
            predictor = predictor.with_probabilities()?;
        }
        let best = match question {
            Question::Text(text) => predictor.text(text, k)?,
            Question::Vector(entries) => predictor.vector(&mut self.counted_from_zero(entries), k)?,
        };
        let best = real(best);
        self.lock_scratch().push(predictor.into_scratch());
        Ok(best)
    }

    fn lock_scratch(&self) -> std::sync::MutexGuard<'_, Vec<PredictorScratch>> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same for many questions, in the threads of `session`.
    pub(crate) fn answer_all(
        &self,
        questions: &[Question],
        k: usize,
        session: &Session<'_>,
    ) -> Result<Vec<Vec<Scored>>> {
        let chunks: Result<Vec<Vec<Vec<Scored>>>> = session.run(|| {
            questions
                .par_chunks(CHUNK)
                .map(|chunk| {
                    let rows = self.weighted(chunk)?;
                    let best = if self.is_calibrated() {
                        self.model.predict_probabilities(&rows, k, session)?
                    } else {
                        self.model.predict_rows(&rows, k, session)?
                    };
                    let questions = chunk.iter().zip(best.iter());
                    Ok(questions
                        .map(|(question, best)| {
                            let mut best = real(best);
                            if let Some(class) = self.override_of(question) {
                                Model::put_first(class, k, &mut best);
                            }
                            best
                        })
                        .collect())
                })
                .collect()
        });
        Ok(chunks?.into_iter().flatten().collect())
    }

    /// The class that a text always gets.
    pub(crate) fn override_of(&self, question: &Question) -> Option<u32> {
        match question {
            Question::Text(text) => self.model.override_of(text),
            Question::Vector(_) => None,
        }
    }

    /// Why a question gets its answer.
    pub(crate) fn explain(&self, question: &Question) -> Result<Explanation> {
        let rows = self.weighted(std::slice::from_ref(question))?;
        self.model.explain_row(rows.row(0))
    }

    /// The parts of `text`, marked by what their words decide.
    pub(crate) fn mark<'t>(&self, text: &'t str, explanation: &Explanation) -> Vec<MarkedPart<'t>> {
        let marks = self.model.mark(text, explanation).into_iter();
        marks
            .filter_map(|mark| {
                Some(MarkedPart {
                    text: text.get(mark.range)?,
                    decides: mark.decides,
                })
            })
            .collect()
    }

    /// How many words (or other features) a question has, and how many of them the model knows.
    pub(crate) fn count_features(&self, question: &Question) -> (u64, u64) {
        let (mut all, mut known) = (0, 0);
        match (question, &self.model.preprocessing().input) {
            (Question::Text(text), Input::Text(pipeline)) => {
                pipeline
                    .analyzer
                    .tokens(text, &mut AnalyzerScratch::default(), |token| {
                        all += 1;
                        known += u64::from(pipeline.vocabulary.find(token).is_some());
                    });
            }
            (Question::Vector(entries), Input::Vectors { features, .. }) => {
                all = entries.len() as u64;
                let counted = self.counted_from_zero(entries);
                known = counted
                    .iter()
                    .filter(|entry| (entry.0 as usize) < *features)
                    .count() as u64;
            }
            _ => {}
        }
        (all, known)
    }

    fn weighted(&self, questions: &[Question]) -> Result<Rows> {
        let (mut rows, mut scratch) = (Rows::new(), TextScratch::default());
        for question in questions {
            match question {
                Question::Text(text) => self
                    .model
                    .preprocessing()
                    .text_row(text, &mut scratch, &mut rows)?,
                Question::Vector(entries) => {
                    let mut entries = self.counted_from_zero(entries);
                    self.model.preprocessing().vector_row(&mut entries, &mut rows)?;
                }
            }
        }
        Ok(rows)
    }

    /// Users number features as in their files, the library from 0. A number below the first is no feature.
    fn counted_from_zero(&self, entries: &[(u32, f32)]) -> Vec<(u32, f32)> {
        let first = match &self.model.preprocessing().input {
            Input::Vectors { first, .. } => *first,
            Input::Text(_) => 0,
        };
        let shifted = entries.iter();
        shifted
            .filter_map(|&(feature, value)| Some((feature.checked_sub(first)?, value)))
            .collect()
    }
}

/// Answers without the places that no class filled.
fn real(best: &[Scored]) -> Vec<Scored> {
    let filled = best.iter().copied();
    filled.filter(|scored| scored.score > f32::NEG_INFINITY).collect()
}
