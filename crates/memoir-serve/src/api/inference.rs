//! The Open Inference Protocol (version 2, REST), as other model servers speak it.

use axum::extract::State;
use axum::response::Response;
use memoir::Scored;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::predict::{self, Asked};
use crate::api::statuses::Problems;
use crate::app::Shared;
use crate::engine::{Engine, Question};
use crate::extract::{Json, Model, json, plain_json};
use crate::problem::{Answer, Problem};

/// Answers for each row if the request does not say how many.
const TOP_K: usize = 5;

/// What this server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Server {
    name: &'static str,
    version: &'static str,
    extensions: [String; 0],
}

/// Whether something is ready.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ready {
    name: String,
    ready: bool,
}

/// A model, its inputs and its outputs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Metadata {
    name: String,
    versions: Vec<String>,
    platform: &'static str,
    inputs: Vec<TensorMetadata>,
    outputs: Vec<TensorMetadata>,
}

/// A tensor without its content; -1 stands for any length.
#[derive(Serialize, ToSchema)]
pub(crate) struct TensorMetadata {
    name: &'static str,
    datatype: &'static str,
    shape: Vec<i64>,
}

/// Rows to predict.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct InferRequest {
    /// Given back with the answer.
    id: Option<String>,
    /// `top_k`: how many answers each row gets; 5 if not given.
    parameters: Option<Parameters>,
    /// One tensor: `text` of type BYTES and shape [rows], or `vector` of type FP32 and shape [rows,
    /// features].
    inputs: Vec<InputTensor>,
}

/// What a request may set.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Parameters {
    #[schema(minimum = 1)]
    top_k: Option<usize>,
}

/// A tensor of a request.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct InputTensor {
    name: String,
    shape: Vec<usize>,
    datatype: String,
    #[schema(value_type = Vec<Object>)]
    data: InputData,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum InputData {
    Texts(Vec<String>),
    Numbers(Vec<f32>),
}

/// The answers of all rows.
#[derive(Serialize, ToSchema)]
pub(crate) struct InferResponse<'v> {
    model_name: &'v str,
    /// The checksum of the model's file.
    model_version: &'v str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// `class` of type BYTES, and `probability` (`score` if the model is not calibrated) of type FP32.
    outputs: Vec<OutputTensor<'v>>,
}

/// A tensor of an answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct OutputTensor<'v> {
    name: &'static str,
    datatype: &'static str,
    shape: [usize; 2],
    #[schema(value_type = Vec<Object>)]
    data: OutputData<'v>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OutputData<'v> {
    Classes(Vec<&'v str>),
    Scores(Vec<f32>),
}

/// Shows what this server is.
#[utoipa::path(get, path = "/v2", tag = "open inference", responses(
    (status = 200, description = "The server", body = Server), Problems
))]
pub(crate) async fn server() -> Answer<Response> {
    plain_json(&Server {
        name: "memoir",
        version: env!("CARGO_PKG_VERSION"),
        extensions: [],
    })
}

/// Shows a model's inputs and outputs.
#[utoipa::path(get, path = "/v2/models/{model}", tag = "open inference",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The model", body = Metadata), Problems)
)]
pub(crate) async fn metadata(Model(model): Model) -> Answer<Response> {
    let version = model.current();
    let engine = &version.engine;
    let input = if engine.takes_text() {
        ("text", "BYTES", vec![-1])
    } else {
        ("vector", "FP32", vec![-1, -1])
    };
    let outputs = [("class", "BYTES"), (score_name(engine), "FP32")];
    json(
        &version,
        &Metadata {
            name: model.name.clone(),
            versions: vec![engine.version().to_owned()],
            platform: "memoir",
            inputs: vec![TensorMetadata {
                name: input.0,
                datatype: input.1,
                shape: input.2,
            }],
            outputs: outputs
                .into_iter()
                .map(|(name, datatype)| TensorMetadata {
                    name,
                    datatype,
                    shape: vec![-1, -1],
                })
                .collect(),
        },
    )
}

/// Says whether a model is ready.
#[utoipa::path(get, path = "/v2/models/{model}/ready", tag = "open inference",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "It is", body = Ready), Problems)
)]
pub(crate) async fn ready(Model(model): Model) -> Answer<Response> {
    json(
        &model.current(),
        &Ready {
            name: model.name.clone(),
            ready: true,
        },
    )
}

/// Predicts.
#[utoipa::path(post, path = "/v2/models/{model}/infer", tag = "open inference",
    params(("model" = String, Path, description = "Name of the model")),
    request_body = InferRequest,
    responses((status = 200, description = "The answers", body = InferResponse), Problems)
)]
pub(crate) async fn infer(
    State(app): State<Shared>,
    Model(model): Model,
    Json(request): Json<InferRequest>,
) -> Answer<Response> {
    let version = model.current();
    let asked = request
        .parameters
        .and_then(|parameters| parameters.top_k)
        .unwrap_or(TOP_K);
    let [input] = <[InputTensor; 1]>::try_from(request.inputs)
        .map_err(|inputs| Problem::invalid(format!("expected one input, found {}", inputs.len())))?;
    let questions = questions(input)?;
    let id = request.id;
    predict::answer(
        &app,
        &model,
        &version,
        Asked::new(questions, asked, 0.0),
        move |model, version, answers| {
            let engine = &version.engine;
            let width = asked.min(engine.classes());
            let shape = [answers.len(), width];
            let (classes, scores) = columns(engine, &answers, width);
            let tensor = |name, datatype, data| OutputTensor {
                name,
                datatype,
                shape,
                data,
            };
            json(
                version,
                &InferResponse {
                    model_name: &model.name,
                    model_version: engine.version(),
                    id,
                    outputs: vec![
                        tensor("class", "BYTES", OutputData::Classes(classes)),
                        tensor(score_name(engine), "FP32", OutputData::Scores(scores)),
                    ],
                },
            )
        },
    )
    .await
}

fn score_name(engine: &Engine) -> &'static str {
    if engine.is_calibrated() {
        "probability"
    } else {
        "score"
    }
}

fn questions(input: InputTensor) -> Answer<Vec<Question>> {
    let InputTensor {
        name,
        shape,
        datatype,
        data,
    } = input;
    let wrong = |found: usize| {
        Problem::invalid(format!(
            "the shape of `{name}` is {shape:?}, which does not fit its {found} elements"
        ))
    };
    match (name.as_str(), datatype.as_str(), data) {
        // An empty list is a list of texts as well as of numbers.
        ("text", "BYTES", InputData::Texts(texts)) => {
            if shape.iter().product::<usize>() != texts.len() {
                return Err(wrong(texts.len()));
            }
            Ok(texts.into_iter().map(Question::Text).collect())
        }
        ("vector", "FP32", InputData::Texts(texts)) if texts.is_empty() => Ok(Vec::new()),
        ("vector", "FP32", InputData::Numbers(numbers)) => {
            let width = match shape[..] {
                [rows, width] if rows.checked_mul(width) == Some(numbers.len()) && width > 0 => width,
                _ => return Err(wrong(numbers.len())),
            };
            let row = |values: &[f32]| {
                let entries = (0u32..).zip(values).filter(|entry| *entry.1 != 0.0);
                Question::Vector(entries.map(|(feature, &value)| (feature, value)).collect())
            };
            Ok(numbers.chunks(width).map(row).collect())
        }
        _ => Err(Problem::invalid(format!(
            "expected the input `text` of type BYTES or `vector` of type FP32, found `{name}` of type {datatype}"
        ))),
    }
}

/// All answers in two columns, row by row. A row with fewer than `width` answers is filled with empty names
/// and zeros.
fn columns<'v>(engine: &'v Engine, answers: &[Vec<Scored>], width: usize) -> (Vec<&'v str>, Vec<f32>) {
    let (mut classes, mut scores) = (Vec::new(), Vec::new());
    for best in answers {
        for rank in 0..width {
            let scored = best.get(rank);
            classes.push(scored.map_or("", |scored| engine.class_name(scored.class)));
            scores.push(scored.map_or(0.0, |scored| scored.score));
        }
    }
    (classes, scores)
}
