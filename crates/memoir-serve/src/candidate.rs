//! A candidate: a version that has learned from feedback, is measured beside the current one, and is
//! promoted or discarded.
//!
//! A fifth of the decided texts, chosen by a hash of the text, is never learned from. It is the exam of
//! every candidate.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use memoir::{Cancel, Catalogue, Session};
use serde::Serialize;
use utoipa::ToSchema;
use xxhash_rust::xxh3::xxh3_64;

use crate::engine::{Engine, Measured};
use crate::feedback::Decision;
use crate::problem::{Answer, Problem};
use crate::registry::Served;

/// One of this many decided texts is kept for the exam.
const EXAM: u64 = 5;

/// Fewest texts to learn from.
const FEWEST: usize = 10;

/// The candidate of one model.
#[derive(Default)]
pub(crate) struct Candidate(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    None,
    Training {
        learned: usize,
        cancel: Cancel,
    },
    Ready(Arc<Ready>),
    Failed(String),
}

struct Ready {
    bytes: Vec<u8>,
    learned: usize,
    comparison: Comparison,
}

/// A candidate as clients see it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CandidateState {
    /// `none`, `training`, `ready` or `failed`.
    state: &'static str,
    /// How many texts it learns from.
    learned: usize,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// How it compares with the current version.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Comparison>,
}

/// Current version and candidate side by side.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Comparison {
    /// The version that answered when training started.
    current: String,
    /// The candidate's version.
    candidate: String,
    /// On decided texts that were not learned from, if there are any.
    exam: Option<Pair>,
    /// On the held-out rows, if the service has such.
    held_out: Option<Pair>,
}

/// Two measurements on the same rows.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Pair {
    current: Measured,
    candidate: Measured,
}

/// What training needs.
pub(crate) struct Lesson {
    pub(crate) decisions: Vec<Decision>,
    pub(crate) catalogue: Catalogue,
    pub(crate) held_out: Option<std::path::PathBuf>,
    pub(crate) threads: std::num::NonZeroUsize,
}

fn is_for_exam(text: &str) -> bool {
    xxh3_64(text.as_bytes()).is_multiple_of(EXAM)
}

impl Candidate {
    pub(crate) fn state(&self) -> CandidateState {
        let (state, learned, detail, comparison) = match &*self.lock() {
            State::None => ("none", 0, None, None),
            State::Training { learned, .. } => ("training", *learned, None, None),
            State::Ready(ready) => ("ready", ready.learned, None, Some(ready.comparison.clone())),
            State::Failed(detail) => ("failed", 0, Some(detail.clone()), None),
        };
        CandidateState {
            state,
            learned,
            detail,
            comparison,
        }
    }

    /// Starts to train in a thread of its own.
    pub(crate) fn start(self: &Arc<Self>, model: &Arc<Served>, lesson: Lesson) -> Answer<()> {
        let learned = lesson
            .decisions
            .iter()
            .filter(|row| !is_for_exam(&row.text))
            .count();
        if learned < FEWEST {
            return Err(Problem::conflict(format!(
                "training needs at least {FEWEST} decided texts beside those kept for the exam, but there are {learned}"
            )));
        }
        let cancel = Cancel::default();
        {
            let mut state = self.lock();
            if matches!(*state, State::Training { .. }) {
                return Err(Problem::conflict("a candidate is being trained already"));
            }
            let cancel = cancel.clone();
            *state = State::Training { learned, cancel };
        }
        let (candidate, model, flag) = (Arc::clone(self), Arc::clone(model), cancel.clone());
        let started = std::thread::Builder::new()
            .name("memoir-teach".to_owned())
            .spawn(move || {
                let trained = train(&model, &lesson, flag.clone());
                let mut state = candidate.lock();
                // Discarded meanwhile: then the place is free, or another's.
                if flag.is_raised() {
                    return;
                }
                *state = match trained {
                    Ok(ready) => State::Ready(Arc::new(ready)),
                    Err(error) => {
                        tracing::warn!(model = model.name, %error, "no candidate");
                        State::Failed(Problem::from(error).detail().to_owned())
                    }
                };
            });
        started.map(|_| ()).map_err(|_| {
            *self.lock() = State::None;
            Problem::unavailable("no thread could be started")
        })
    }

    /// Drops the candidate, or stops its training.
    pub(crate) fn discard(&self) {
        if let State::Training { cancel, .. } = std::mem::take(&mut *self.lock()) {
            cancel.raise();
        }
    }

    /// Puts the candidate in the place of the model's file. The file before stays beside it as
    /// `FILE.previous`.
    pub(crate) fn write_to(&self, path: &Path) -> Answer<()> {
        let State::Ready(ready) = &*self.lock() else {
            return Err(Problem::conflict("there is no trained candidate"));
        };
        let ready = Arc::clone(ready);
        let mut previous = path.as_os_str().to_owned();
        previous.push(".previous");
        let fail = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "the candidate was not written");
            Problem::unavailable("the model's folder cannot be written to")
        };
        std::fs::copy(path, previous).map_err(|error| fail(&error))?;
        memoir::model::write_beside(path, |out| {
            let written = out.write_all(&ready.bytes);
            written.map_err(|reason| memoir::Error::io(path, "cannot write", reason))
        })
        .map_err(|error| fail(&error))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn train(model: &Served, lesson: &Lesson, cancel: Cancel) -> memoir::Result<Ready> {
    let session = Session::new(lesson.threads)?.with_cancel(cancel);
    let current = model.current();
    let (exam, learned): (Vec<&Decision>, Vec<&Decision>) =
        lesson.decisions.iter().partition(|row| is_for_exam(&row.text));
    let bytes = current.engine.learn(&learned, &lesson.catalogue, &session)?;
    let candidate = Engine::open(&bytes, &lesson.catalogue)?;
    let on_exam = |engine: &Engine| {
        engine.measure(
            exam.iter().map(|row| (row.text.as_str(), &row.labels[..])),
            &session,
        )
    };
    let on_held_out = |engine: &Engine| match &lesson.held_out {
        Some(path) => engine.measure_file(path, &session),
        None => Ok(None),
    };
    let pair = |current: Option<Measured>, candidate: Option<Measured>| {
        let (current, candidate) = (current?, candidate?);
        Some(Pair { current, candidate })
    };
    let comparison = Comparison {
        current: current.engine.version().to_owned(),
        candidate: candidate.version().to_owned(),
        exam: pair(on_exam(&current.engine)?, on_exam(&candidate)?),
        held_out: pair(on_held_out(&current.engine)?, on_held_out(&candidate)?),
    };
    Ok(Ready {
        bytes,
        learned: learned.len(),
        comparison,
    })
}
