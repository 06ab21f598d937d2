//! The part of Annif's REST interface that clients use, so that an Annif `http` backend can ask memoir.
//! A project is a model; `uri` is the class.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use memoir::Scored;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::feedback::{self, NewDecision};
use crate::api::predict::{self, Asked};
use crate::api::statuses::Problems;
use crate::app::Shared;
use crate::engine::{Engine, Question};
use crate::extract::{Form, Json, Model, Query, json, plain_json};
use crate::keys::Holder;
use crate::problem::{Answer, Problem};
use crate::registry::Served;

/// Suggestions given if the request does not say how many, as in Annif.
const LIMIT: usize = 10;

/// Most documents of a batch, as in Annif.
const MOST_DOCUMENTS: usize = 32;

/// All projects.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProjectList {
    projects: Vec<Project>,
}

/// A model in Annif's words.
#[derive(Serialize, ToSchema)]
pub(crate) struct Project {
    #[serde(rename = "project_id")]
    id: String,
    name: String,
    /// Models do not know the language of their texts: always empty.
    language: &'static str,
    backend: Backend,
    is_trained: bool,
}

/// What makes the suggestions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Backend {
    backend_id: &'static str,
}

/// A text to suggest classes for.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SuggestForm {
    /// The text.
    text: String,
    /// How many suggestions; 10 if not given.
    #[schema(minimum = 1)]
    limit: Option<usize>,
    /// Least score of a suggestion; 0 if not given.
    threshold: Option<f32>,
}

/// How many suggestions to give for each document.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct BatchQuery {
    /// How many suggestions; 10 if not given.
    #[param(minimum = 1)]
    limit: Option<usize>,
    /// Least score of a suggestion; 0 if not given.
    threshold: Option<f32>,
}

/// Documents to suggest classes for, at most 32.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Batch {
    documents: Vec<Document>,
}

/// A document.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Document {
    /// Given back with the suggestions.
    document_id: Option<String>,
    /// Its text.
    text: String,
}

/// A document with its classes.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Lesson {
    /// Its text.
    text: String,
    /// Its classes.
    subjects: Vec<Subject>,
}

/// A class of a document.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Subject {
    /// The class.
    uri: String,
}

/// Suggestions for a text.
#[derive(Serialize, ToSchema)]
pub(crate) struct Suggestions<'v> {
    #[serde(skip_serializing_if = "Option::is_none")]
    document_id: Option<String>,
    results: Vec<Suggestion<'v>>,
}

/// A suggested class.
#[derive(Serialize, ToSchema)]
pub(crate) struct Suggestion<'v> {
    /// The class, without the angle brackets that Annif's corpora put around addresses.
    uri: &'v str,
    /// The code that people write for it, if the vocabulary has one.
    notation: Option<&'v str>,
    /// What people call it; the class again if the model has no vocabulary.
    label: &'v str,
    /// Its probability, or the model's own score.
    score: f32,
}

fn project(model: &Served) -> Project {
    Project {
        id: model.name.clone(),
        name: model.name.clone(),
        language: "",
        backend: Backend { backend_id: "memoir" },
        is_trained: true,
    }
}

/// Lists the models as Annif lists projects.
#[utoipa::path(get, path = "/v1/projects", tag = "annif", responses(
    (status = 200, description = "All projects", body = ProjectList), Problems
))]
pub(crate) async fn list(State(app): State<Shared>) -> Answer<Response> {
    let projects = app.registry.models().iter().map(|model| project(model));
    plain_json(&ProjectList {
        projects: projects.collect(),
    })
}

/// Shows a model as Annif shows a project.
#[utoipa::path(get, path = "/v1/projects/{model}", tag = "annif",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The project", body = Project), Problems)
)]
pub(crate) async fn show(Model(model): Model) -> Answer<Response> {
    json(&model.current(), &project(&model))
}

/// Suggests classes for a text.
#[utoipa::path(post, path = "/v1/projects/{model}/suggest", tag = "annif",
    params(("model" = String, Path, description = "Name of the model")),
    request_body(content = SuggestForm, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, description = "The suggestions", body = Suggestions), Problems)
)]
pub(crate) async fn suggest(
    State(app): State<Shared>,
    Model(model): Model,
    Form(form): Form<SuggestForm>,
) -> Answer<Response> {
    let version = model.current();
    let limit = form.limit.unwrap_or(LIMIT);
    let least = least_score(form.threshold)?;
    let questions = vec![Question::Text(form.text)];
    predict::answer(
        &app,
        &model,
        &version,
        Asked::new(questions, limit, least),
        move |_, version, answers| {
            let best = answers.into_iter().next().unwrap_or_default();
            json(
                version,
                &Suggestions {
                    document_id: None,
                    results: results(&version.engine, &best, least),
                },
            )
        },
    )
    .await
}

/// Suggests classes for up to 32 documents.
#[utoipa::path(post, path = "/v1/projects/{model}/suggest-batch", tag = "annif",
    params(("model" = String, Path, description = "Name of the model"), BatchQuery),
    request_body = Batch,
    responses((status = 200, description = "The suggestions for each document", body = [Suggestions]), Problems)
)]
pub(crate) async fn suggest_batch(
    State(app): State<Shared>,
    Model(model): Model,
    Query(query): Query<BatchQuery>,
    Json(batch): Json<Batch>,
) -> Answer<Response> {
    if batch.documents.len() > MOST_DOCUMENTS {
        return Err(Problem::invalid(format!(
            "a batch may have at most {MOST_DOCUMENTS} documents, but this one has {}",
            batch.documents.len()
        )));
    }
    let version = model.current();
    let limit = query.limit.unwrap_or(LIMIT);
    let least = least_score(query.threshold)?;
    let documents = batch.documents.into_iter();
    let (names, questions): (Vec<_>, Vec<_>) = documents
        .map(|document| (document.document_id, Question::Text(document.text)))
        .unzip();
    predict::answer(
        &app,
        &model,
        &version,
        Asked::new(questions, limit, least),
        move |_, version, answers| {
            let all: Vec<_> = names
                .into_iter()
                .zip(&answers)
                .map(|(document_id, best)| Suggestions {
                    document_id,
                    results: results(&version.engine, best, least),
                })
                .collect();
            json(version, &all)
        },
    )
    .await
}

/// Keeps documents with their classes as feedback. They are on disk before the answer.
#[utoipa::path(post, path = "/v1/projects/{model}/learn", tag = "annif",
    params(("model" = String, Path, description = "Name of the model")),
    request_body = [Lesson],
    responses((status = 204, description = "The documents are on disk"), Problems)
)]
pub(crate) async fn learn(
    State(app): State<Shared>,
    Model(model): Model,
    Extension(holder): Extension<Holder>,
    Json(lessons): Json<Vec<Lesson>>,
) -> Answer<Response> {
    let version = model.current();
    let items = lessons.into_iter().map(|lesson| {
        let classes = lesson
            .subjects
            .into_iter()
            .map(|subject| with_brackets(&version.engine, subject.uri));
        NewDecision::new(lesson.text, classes.collect())
    });
    feedback::keep(&app, &model, &version, holder, items.collect()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The class that `uri` means: with angle brackets if that is how the model writes it.
fn with_brackets(engine: &Engine, uri: String) -> String {
    let bracketed = format!("<{uri}>");
    let is_written_so = engine.find_class(&uri).is_none() && engine.find_class(&bracketed).is_some();
    if is_written_so { bracketed } else { uri }
}

fn least_score(given: Option<f32>) -> Answer<f32> {
    match given.unwrap_or(0.0) {
        least if (0.0..=1.0).contains(&least) => Ok(least),
        least => Err(Problem::invalid(format!(
            "`threshold` must be from 0 to 1, but is {least}"
        ))),
    }
}

fn results<'v>(engine: &'v Engine, best: &[Scored], least: f32) -> Vec<Suggestion<'v>> {
    let enough = best.iter().filter(|scored| scored.score >= least);
    enough
        .map(|scored| {
            let class = engine.class(scored.class);
            Suggestion {
                uri: without_brackets(class.id),
                notation: class.notation,
                label: class.name.unwrap_or(class.id),
                score: scored.score,
            }
        })
        .collect()
}

/// Annif's corpora write addresses as `<address>`, its interface as `address`.
fn without_brackets(class: &str) -> &str {
    let inner = class.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_taken_off_in_pairs() {
        assert_eq!(without_brackets("<http://a/1>"), "http://a/1");
        assert_eq!(without_brackets("plain"), "plain");
        assert_eq!(without_brackets("<half"), "<half");
    }
}
