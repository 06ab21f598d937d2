//! Decisions of coders: given, listed, taken back, exported, imported.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::page_length;
use crate::api::statuses::Problems;
use crate::app::Shared;
use crate::engine::Question;
use crate::extract::{self, Json, Model, Query, in_background, json, plain_json};
use crate::feedback::{Appended, Decision, Event, Item, Progress, Store, table};
use crate::keys::Holder;
use crate::problem::{Answer, Problem};
use crate::registry::{Served, Version};

/// Longest id, coder, label or reason.
const LONGEST: usize = 1_000;

/// Decisions listed if the request does not say how many, and at most.
const LIMIT: (usize, usize) = (50, 1_000);

/// Decisions to keep.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedbackRequest {
    /// The decisions.
    items: Vec<NewDecision>,
}

/// A decision on a text, or the taking back of one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDecision {
    /// An id of the client's choice: a decision that is sent again with the same id is kept once.
    id: Option<String>,
    /// The text that was decided on.
    text: Option<String>,
    /// Its classes; none to skip the text.
    #[serde(default)]
    labels: Vec<String>,
    /// Who has decided. With keys, the name of the key if not given.
    coder: Option<String>,
    /// Why the text was skipped, or another remark.
    reason: Option<String>,
    /// Instead of a text: id of a decision to take back.
    undo: Option<String>,
}

impl NewDecision {
    pub(crate) fn new(text: String, labels: Vec<String>) -> Self {
        Self {
            id: None,
            text: Some(text),
            labels,
            coder: None,
            reason: None,
            undo: None,
        }
    }
}

/// What was kept.
#[derive(Serialize, ToSchema)]
pub(crate) struct Kept {
    /// The ids of all decisions, in the order of the request.
    ids: Vec<String>,
    /// How many of them are new.
    stored: usize,
    /// How many of them were there already.
    repeated: usize,
}

impl From<Appended> for Kept {
    fn from(appended: Appended) -> Self {
        Self {
            stored: appended.ids.len() - appended.repeated,
            repeated: appended.repeated,
            ids: appended.ids,
        }
    }
}

/// Which decisions to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListQuery {
    /// How many: 1 to 1,000, and 50 if not given.
    limit: Option<usize>,
    /// How many of the latest to leave out.
    offset: Option<usize>,
}

/// Decisions, the latest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct FeedbackList {
    /// How far the work is.
    progress: Progress,
    /// The decisions.
    items: Vec<Item>,
}

/// The feedback of a model, if there is a place for it.
pub(crate) fn store<'a>(app: &'a Shared, model: &Served) -> Answer<&'a Store> {
    let store = app.feedback.get(&model.name);
    store.ok_or_else(|| Problem::unavailable("feedback has no place: its folder cannot be written to"))
}

/// Keeps decisions. They are on disk before the answer.
#[utoipa::path(post, path = "/v1/models/{model}/feedback", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model")),
    request_body(content = FeedbackRequest, example = json!(
        {"items": [{"id": "7d0f", "text": "printer out of toner", "labels": ["printer"], "coder": "anna"}]}
    )),
    responses((status = 200, description = "The decisions are on disk", body = Kept), Problems)
)]
pub(crate) async fn give(
    State(app): State<Shared>,
    Model(model): Model,
    Extension(holder): Extension<Holder>,
    Json(request): Json<FeedbackRequest>,
) -> Answer<Response> {
    let version = model.current();
    let kept = keep(&app, &model, &version, holder, request.items).await?;
    json(&version, &kept)
}

/// Checks decisions and keeps them.
pub(crate) async fn keep(
    app: &Shared,
    model: &Served,
    version: &Arc<Version>,
    holder: Holder,
    items: Vec<NewDecision>,
) -> Answer<Kept> {
    let store = store(app, model)?;
    if items.len() > app.limits.rows {
        return Err(too_many(items.len(), app.limits.rows));
    }
    let (reading, version, longest) = (store.clone(), Arc::clone(version), app.limits.text);
    // Each item is answered by the model once.
    let events = in_background(move || {
        let numbered = items.into_iter().zip(1..);
        numbered
            .map(|(item, number)| {
                let id = item.id.clone();
                let event = event(item, &holder, &reading, &version, longest);
                let at = |problem| Problem::invalid(format!("item {number}: {problem}"));
                Ok((id, event.map_err(at)?))
            })
            .collect::<Answer<Vec<_>>>()
    })
    .await?;
    Ok(store.append(events).await?.into())
}

fn too_many(found: usize, limit: usize) -> Problem {
    Problem::invalid(format!(
        "a request may have at most {limit} items, but this one has {found}"
    ))
}

fn event(
    item: NewDecision,
    holder: &Holder,
    store: &Store,
    version: &Version,
    longest_text: usize,
) -> Result<Event, String> {
    let short = [&item.id, &item.coder, &item.reason, &item.undo];
    let short = short.into_iter().flatten().chain(&item.labels);
    for text in short {
        if text.is_empty() || text.len() > LONGEST {
            return Err(format!(
                "ids, coders, labels and reasons have 1 to {LONGEST} bytes"
            ));
        }
    }
    match (item.undo, item.text) {
        (Some(of), None) if store.journal().has_decision(&of) => Ok(Event::Undone { of }),
        (Some(of), None) => Err(format!("there is no decision `{of}` to take back")),
        (None, Some(text)) if text.trim().is_empty() => Err("the text is empty".to_owned()),
        (None, Some(text)) if text.len() > longest_text => Err(format!(
            "a text may have at most {longest_text} bytes, but this one has {}",
            text.len()
        )),
        (None, Some(text)) => Ok(Event::Decided(with_suggestion(
            Decision {
                text,
                labels: item.labels,
                coder: item.coder.unwrap_or_else(|| holder.name.clone()),
                reason: item.reason,
                ..Decision::default()
            },
            version,
        ))),
        _ => Err("expected one of `text` and `undo`".to_owned()),
    }
}

/// Notes what the model says of the text now, so that a decision can be compared with it later.
fn with_suggestion(mut decision: Decision, version: &Version) -> Decision {
    let engine = &version.engine;
    if !engine.takes_text() {
        return decision;
    }
    let best = engine.answer(&Question::Text(decision.text.clone()), 1);
    if let Some(scored) = best.ok().and_then(|best| best.first().copied()) {
        decision.suggested = Some(engine.class_name(scored.class).to_owned());
        decision.probability = engine.is_calibrated().then_some(scored.score);
        decision.version = Some(engine.version().to_owned());
    }
    decision
}

/// Lists decisions, the latest first, and how far the work is.
#[utoipa::path(get, path = "/v1/models/{model}/feedback", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model"), ListQuery),
    responses((status = 200, description = "The decisions", body = FeedbackList), Problems)
)]
pub(crate) async fn list(
    State(app): State<Shared>,
    Model(model): Model,
    Query(query): Query<ListQuery>,
) -> Answer<Response> {
    let limit = page_length(query.limit, LIMIT)?;
    let journal = store(&app, &model)?.journal();
    plain_json(&FeedbackList {
        progress: journal.progress(),
        items: journal
            .items()
            .skip(query.offset.unwrap_or(0))
            .take(limit)
            .collect(),
    })
}

/// Gives all decisions as a table that `memoir train` and the import read.
#[utoipa::path(get, path = "/v1/models/{model}/feedback.csv", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The decisions", body = String, content_type = "text/csv"), Problems)
)]
pub(crate) async fn export(State(app): State<Shared>, Model(model): Model) -> Answer<Response> {
    let table = table::write(store(&app, &model)?.journal().items())?;
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], table).into_response())
}

/// Keeps the decisions of a table with the columns `text` and `label`, and if given `id`, `coder` and
/// `reason`.
#[utoipa::path(post, path = "/v1/models/{model}/feedback.csv", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model")),
    request_body(content = String, content_type = "text/csv"),
    responses((status = 200, description = "The decisions are on disk", body = Kept), Problems)
)]
pub(crate) async fn import(
    State(app): State<Shared>,
    Model(model): Model,
    Extension(holder): Extension<Holder>,
    request: Request,
) -> Answer<Response> {
    let store = store(&app, &model)?;
    if !extract::is_of_type(request.headers(), "text/csv") {
        return Err(Problem::wrong_type("text/csv"));
    }
    let bytes = extract::read(request, &app).await?;
    let events = table::read(&bytes, &holder.name)?;
    if events.len() > app.limits.rows {
        return Err(too_many(events.len(), app.limits.rows));
    }
    plain_json(&Kept::from(store.append(events).await?))
}
