//! Which models are there, which version answers, and how to change that.

use std::time::UNIX_EPOCH;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::statuses::Problems;
use crate::app::Shared;
use crate::extract::{Model, in_background, json, plain_json};
use crate::problem::{Answer, Problem};
use crate::registry::{Served, Version};
use crate::watching::Seen;

/// All models.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelList {
    models: Vec<ModelState>,
}

/// A model and its versions.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelState {
    /// What addresses call it.
    name: String,
    /// `text` or `vectors`.
    input: &'static str,
    /// Whether answers have probabilities.
    calibrated: bool,
    /// Number of classes.
    classes: usize,
    /// Whether the model has a vocabulary with broader concepts.
    hierarchy: bool,
    /// The version that answers.
    version: VersionState,
    /// The version before, for rolling back.
    previous: Option<VersionState>,
}

/// A version of a model.
#[derive(Serialize, ToSchema)]
pub(crate) struct VersionState {
    /// Checksum of the model file.
    version: String,
    /// Size of the model file.
    bytes: usize,
    /// When it was opened, in seconds since 1970.
    since: u64,
    /// What it was seen doing.
    seen: Seen,
}

impl VersionState {
    fn of(version: &Version) -> Self {
        Self {
            version: version.engine.version().to_owned(),
            bytes: version.engine.bytes(),
            since: version
                .since
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_secs(),
            seen: version.watching.seen(),
        }
    }
}

impl ModelState {
    pub(crate) fn of(model: &Served, current: &Version) -> Self {
        Self {
            name: model.name.clone(),
            input: if current.engine.takes_text() {
                "text"
            } else {
                "vectors"
            },
            calibrated: current.engine.is_calibrated(),
            classes: current.engine.classes(),
            hierarchy: current.engine.has_hierarchy(),
            version: VersionState::of(current),
            previous: model.previous().as_deref().map(VersionState::of),
        }
    }
}

/// Lists the models.
#[utoipa::path(get, path = "/v1/models", tag = "models", responses(
    (status = 200, description = "All models", body = ModelList), Problems
))]
pub(crate) async fn list(State(app): State<Shared>) -> Answer<Response> {
    let models = app.registry.models().iter();
    plain_json(&ModelList {
        models: models
            .map(|model| ModelState::of(model, &model.current()))
            .collect(),
    })
}

/// Shows one model.
#[utoipa::path(get, path = "/v1/models/{model}", tag = "models",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The model", body = ModelState), Problems)
)]
pub(crate) async fn show(Model(model): Model) -> Answer<Response> {
    let current = model.current();
    json(&current, &ModelState::of(&model, &current))
}

/// Shows what is in a model: parameters, sizes, largest classes.
#[utoipa::path(get, path = "/v1/models/{model}/summary", tag = "models",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "As `memoir inspect --json`", body = Object), Problems)
)]
pub(crate) async fn summary(Model(model): Model) -> Answer<Response> {
    in_background(move || {
        let current = model.current();
        json(&current, &current.engine.summary()?)
    })
    .await
}

/// Opens the model's file again. The version before stays for rolling back.
#[utoipa::path(post, path = "/v1/models/{model}/reload", tag = "models",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The model as it is now", body = ModelState), Problems)
)]
pub(crate) async fn reload(State(app): State<Shared>, Model(model): Model) -> Answer<Response> {
    in_background(move || {
        let current = app.registry.reload(&model).map_err(|error| {
            tracing::warn!(model = model.name, %error, "not reloaded");
            Problem::conflict(match error {
                memoir::Error::ModelFile { message, .. } => format!("the file is no usable model: {message}"),
                _ => "the file cannot be read; the log of the service says more".to_owned(),
            })
        })?;
        json(&current, &ModelState::of(&model, &current))
    })
    .await
}

/// Goes back to the version before. Asking again returns.
#[utoipa::path(post, path = "/v1/models/{model}/rollback", tag = "models",
    params(("model" = String, Path, description = "Name of the model")),
    responses((status = 200, description = "The model as it is now", body = ModelState), Problems)
)]
pub(crate) async fn roll_back(Model(model): Model) -> Answer<Response> {
    let current = model
        .roll_back()
        .ok_or_else(|| Problem::conflict("there is no version before this one"))?;
    json(&current, &ModelState::of(&model, &current))
}
