//! Teaching: train a candidate from the feedback, compare, promote or discard. And how good the versions
//! are.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::feedback::store;
use crate::api::models::ModelState;
use crate::api::statuses::Problems;
use crate::app::Shared;
use crate::candidate::{Candidate, CandidateState, Lesson};
use crate::engine::{CurvePoint, Measured, curve};
use crate::extract::{Model, in_background, json, plain_json};
use crate::feedback::Item;
use crate::problem::{Answer, Problem};
use crate::registry::Served;

/// Confusions listed.
const CONFUSIONS: usize = 10;

/// How good a model is, as far as the service knows.
#[derive(Serialize, ToSchema)]
pub(crate) struct Quality {
    /// The current version.
    version: String,
    /// Its suggestions against what coders decided.
    decisions: DecisionQuality,
    /// The current version on the held-out rows, if the service has such.
    held_out: Option<Measured>,
    /// The version before on the held-out rows.
    previous_held_out: Option<Measured>,
}

/// Suggestions at the time of the decisions, against the decisions.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct DecisionQuality {
    /// Decisions with a class and a suggestion.
    rows: usize,
    /// Share of them whose best suggestion was right.
    accuracy: f64,
    /// What each threshold would have meant.
    curve: Vec<CurvePoint>,
    /// The most frequent corrections.
    confusions: Vec<Correction>,
    /// The same by version.
    versions: Vec<VersionQuality>,
}

/// A suggestion and what was decided instead.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Correction {
    suggested: String,
    decided: String,
    count: usize,
}

/// How often a version's suggestions were right.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VersionQuality {
    version: String,
    rows: usize,
    accuracy: f64,
}

fn candidate<'a>(app: &'a Shared, model: &Served) -> Answer<&'a Arc<Candidate>> {
    app.candidates.get(&model.name).ok_or_else(Problem::internal)
}

/// Shows the candidate.
#[utoipa::path(get, path = "/v1/models/{model}/candidate", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The candidate", body = CandidateState), Problems)
)]
pub(crate) async fn show(State(app): State<Shared>, Model(model): Model) -> Answer<Response> {
    plain_json(&candidate(&app, &model)?.state())
}

/// Starts to train a candidate from the current version and the feedback.
#[utoipa::path(post, path = "/v1/models/{model}/candidate", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "Training has started", body = CandidateState), Problems)
)]
pub(crate) async fn start(State(app): State<Shared>, Model(model): Model) -> Answer<Response> {
    if !model.current().engine.takes_text() {
        return Err(Problem::invalid(
            "this model takes vectors; only text models can be taught here",
        ));
    }
    let lesson = Lesson {
        decisions: store(&app, &model)?.journal().labelled(),
        catalogue: app.registry.catalogue().clone(),
        held_out: app.held_out.get(&model.name).cloned(),
        // Half of the threads: requests go on meanwhile.
        threads: NonZeroUsize::new(app.session.threads() / 2).unwrap_or(NonZeroUsize::MIN),
    };
    let candidate = candidate(&app, &model)?;
    candidate.start(&model, lesson)?;
    plain_json(&candidate.state())
}

/// Discards the candidate, or stops its training.
#[utoipa::path(delete, path = "/v1/models/{model}/candidate", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "There is no candidate any more", body = CandidateState), Problems)
)]
pub(crate) async fn discard(State(app): State<Shared>, Model(model): Model) -> Answer<Response> {
    let candidate = candidate(&app, &model)?;
    candidate.discard();
    plain_json(&candidate.state())
}

/// Makes the candidate the current version, in memory and on disk.
#[utoipa::path(post, path = "/v1/models/{model}/candidate/promote", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The model as it is now", body = ModelState), Problems)
)]
pub(crate) async fn promote(State(app): State<Shared>, Model(model): Model) -> Answer<Response> {
    in_background(move || {
        let candidate = candidate(&app, &model)?;
        candidate.write_to(&model.path)?;
        let current = app.registry.reload(&model)?;
        candidate.discard();
        json(&current, &ModelState::of(&model, &current))
    })
    .await
}

/// Shows how good the model is: against decisions, and on held-out rows.
#[utoipa::path(get, path = "/v1/models/{model}/quality", tag = "models",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "What was measured", body = Quality), Problems)
)]
pub(crate) async fn quality(State(app): State<Shared>, Model(model): Model) -> Answer<Response> {
    in_background(move || {
        let current = model.current();
        let decisions = match store(&app, &model) {
            Ok(store) => decision_quality(store.journal().items()),
            Err(_) => DecisionQuality::default(),
        };
        let path = app.held_out.get(&model.name);
        let quality = Quality {
            version: current.engine.version().to_owned(),
            decisions,
            held_out: current.held_out(path, &app.session)?,
            previous_held_out: match model.previous() {
                Some(previous) => previous.held_out(path, &app.session)?,
                None => None,
            },
        };
        json(&current, &quality)
    })
    .await
}

fn decision_quality(items: impl Iterator<Item = Item>) -> DecisionQuality {
    let mut answers: Vec<(f32, bool)> = Vec::new();
    let (mut rows, mut right) = (0, 0);
    let mut corrections: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut versions: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for item in items.filter(|item| !item.undone && !item.decision.labels.is_empty()) {
        let decision = item.decision;
        let Some(suggested) = decision.suggested else {
            continue;
        };
        let is_right = decision.labels.contains(&suggested);
        rows += 1;
        right += usize::from(is_right);
        let version = versions.entry(decision.version.unwrap_or_default()).or_default();
        *version = (version.0 + 1, version.1 + usize::from(is_right));
        answers.extend(decision.probability.map(|probability| (probability, is_right)));
        if let (false, Some(decided)) = (is_right, decision.labels.into_iter().next()) {
            *corrections.entry((suggested, decided)).or_default() += 1;
        }
    }
    let share = |part: usize, whole: usize| {
        if whole == 0 {
            0.0
        } else {
            part as f64 / whole as f64
        }
    };
    let mut confusions: Vec<_> = corrections
        .into_iter()
        .map(|((suggested, decided), count)| Correction {
            suggested,
            decided,
            count,
        })
        .collect();
    confusions.sort_by_key(|correction| std::cmp::Reverse(correction.count));
    confusions.truncate(CONFUSIONS);
    DecisionQuality {
        rows,
        accuracy: share(right, rows),
        curve: curve(answers),
        confusions,
        versions: versions
            .into_iter()
            .map(|(version, (rows, right))| VersionQuality {
                version,
                rows,
                accuracy: share(right, rows),
            })
            .collect(),
    }
}
