//! The classes of a model: search them by name, or list those that are like one.

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::statuses::Problems;
use crate::app::Shared;
use crate::engine::Concept;
use crate::extract::{Model, Query, in_background, json};
use crate::problem::{Answer, Problem};

/// Classes given if the request does not say how many.
const LIMIT: usize = 20;

/// Most classes of one answer.
const MOST: usize = 1_000;

/// Which classes to give.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassQuery {
    /// Words that the names must hold; without it all classes are listed in the order of their numbers.
    search: Option<String>,
    /// A class: those whose weights are most like its own are given, nearest first.
    like: Option<String>,
    /// A class or concept: what is broader than it is given, if the model has a vocabulary with a hierarchy.
    broader_of: Option<String>,
    /// How many to give: 1 to 1,000, and 20 if not given.
    limit: Option<usize>,
    /// How many to leave out at the start of a list without `search`.
    offset: Option<usize>,
}

/// Classes of a model.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClassList<'v> {
    /// The version of the model.
    version: &'v str,
    /// How many classes there are in all that fit.
    count: usize,
    /// Those that were asked for.
    classes: Vec<FoundClass<'v>>,
}

/// A class.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundClass<'v> {
    /// The class, or the id of a concept that is no class of the model.
    class: &'v str,
    /// What people call it, if the model has a vocabulary.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'v str>,
    /// The code that people write for it, if the vocabulary has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    notation: Option<&'v str>,
    /// Rows of it in the training data, if the model knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u32>,
}

/// Lists or searches the classes, or gives those that are like one or broader than one.
#[utoipa::path(get, path = "/v1/models/{model}/classes", tag = "answers",
    params(("model" = String, Path, description = "Name of the model"), ClassQuery),
    responses((status = 200, description = "The classes", body = ClassList), Problems)
)]
pub(crate) async fn classes(
    State(app): State<Shared>,
    Model(model): Model,
    Query(query): Query<ClassQuery>,
) -> Answer<Response> {
    let limit = query.limit.unwrap_or(LIMIT);
    if !(1..=MOST).contains(&limit) {
        return Err(Problem::invalid(format!(
            "`limit` must be from 1 to {MOST}, but is {limit}"
        )));
    }
    in_background(move || {
        let version = model.current();
        let engine = &version.engine;
        let words = query.search.as_deref().map_or("", str::trim);
        let (found, count) = if let Some(id) = &query.broader_of {
            all(engine.broader(id).ok_or_else(|| no_such_class(id))?)
        } else if let Some(name) = &query.like {
            let class = engine.find_class(name).ok_or_else(|| no_such_class(name))?;
            let near = engine.nearest(class, limit, &app.session)?;
            all(near.into_iter().map(|class| engine.class(class)).collect())
        } else if words.is_empty() {
            let first = query.offset.unwrap_or(0).min(engine.classes());
            let numbers = first..engine.classes().min(first.saturating_add(limit));
            let listed = numbers.map(|class| engine.class(class as u32)).collect();
            (listed, engine.classes())
        } else {
            let (numbers, count) = engine.search().find(words, limit);
            (
                numbers.into_iter().map(|class| engine.class(class)).collect(),
                count,
            )
        };
        let classes = found.into_iter().map(|found| FoundClass {
            class: found.id,
            name: found.name,
            notation: found.notation,
            rows: found.class.and_then(|class| engine.class_rows(class)),
        });
        json(
            &version,
            &ClassList {
                version: engine.version(),
                count,
                classes: classes.collect(),
            },
        )
    })
    .await
}

/// Concepts of which all are given, with their number.
fn all(found: Vec<Concept<'_>>) -> (Vec<Concept<'_>>, usize) {
    let count = found.len();
    (found, count)
}

fn no_such_class(name: &str) -> Problem {
    let name: String = name.chars().take(80).collect();
    Problem::invalid(format!("the model has no class `{name}`"))
}
