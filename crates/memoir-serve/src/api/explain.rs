//! Why a text or vector gets its answer.

use axum::extract::State;
use axum::response::Response;
use memoir::model::Explanation;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::predict::{self, ClassAnswer};
use crate::api::statuses::Problems;
use crate::app::Shared;
use crate::engine::Question;
use crate::extract::{Json, Model, in_background, json};
use crate::problem::{Answer, Problem};

/// Features shown if the request does not say how many.
const FEATURES: usize = 10;

/// Candidates shown beside the answer.
const CANDIDATES: usize = 5;

/// What to explain: one of `text` and `vector`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRequest {
    /// A text.
    text: Option<String>,
    /// A vector as a list of pairs of feature and value; features are numbered as in the training data.
    #[schema(value_type = Option<Vec<Vec<f64>>>, example = json!([[3, 1.0], [17, 0.5]]))]
    vector: Option<Vec<(u32, f32)>>,
    /// How many features to show; 10 if not given.
    #[schema(minimum = 1)]
    features: Option<usize>,
}

/// Why an answer was given.
#[derive(Serialize, ToSchema)]
pub(crate) struct Explained<'v> {
    /// Name of the model.
    model: &'v str,
    /// Its version: the checksum of its file.
    version: &'v str,
    /// The best classes.
    answers: Vec<ClassAnswer<'v>>,
    /// The text in parts, each with what its words decide: above 0 for the answer, below 0 for the
    /// runner-up.
    parts: Vec<Part<'v>>,
    /// Answer, runner-up and the features that decide between them.
    #[schema(value_type = Object)]
    explanation: Explanation,
}

/// A part of a text.
#[derive(Serialize, ToSchema)]
pub(crate) struct Part<'v> {
    /// The part.
    text: &'v str,
    /// What it decides.
    decides: f64,
}

/// Explains the answer for a text or vector.
#[utoipa::path(post, path = "/v1/models/{model}/explain", tag = "answers",
    params(("model" = String, Path, description = "Name of the model")),
    request_body(content = ExplainRequest, example = json!({"text": "printer out of toner"})),
    responses((status = 200, description = "The explanation", body = Explained), Problems)
)]
pub(crate) async fn explain(
    State(app): State<Shared>,
    Model(model): Model,
    Json(request): Json<ExplainRequest>,
) -> Answer<Response> {
    let version = model.current();
    let shown = request.features.unwrap_or(FEATURES);
    let question = match (request.text, request.vector) {
        (Some(text), None) => Question::Text(text),
        (None, Some(entries)) => Question::Vector(entries),
        _ => return Err(Problem::invalid("expected exactly one of `text` and `vector`")),
    };
    predict::check(std::slice::from_ref(&question), 1, &version.engine, &app.limits)?;
    in_background(move || {
        let engine = &version.engine;
        let mut explanation = engine.explain(&question)?;
        let parts = match &question {
            Question::Text(text) => engine.mark(text, &explanation),
            Question::Vector(_) => Vec::new(),
        };
        explanation.shorten(shown);
        let best = engine.answer(&question, CANDIDATES)?;
        json(
            &version,
            &Explained {
                model: &model.name,
                version: engine.version(),
                answers: best
                    .into_iter()
                    .map(|scored| ClassAnswer::new(engine, scored))
                    .collect(),
                parts: parts
                    .into_iter()
                    .map(|part| Part {
                        text: part.text,
                        decides: part.decides,
                    })
                    .collect(),
                explanation,
            },
        )
    })
    .await
}
