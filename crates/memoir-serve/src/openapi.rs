//! The `OpenAPI` document.

use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa::OpenApi;

use crate::api::{annif, candidates, classes, explain, feedback, health, inference, models, predict, queue};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "memoir serve",
        description = "Classes for texts and vectors, and corrections that become a better model."
    ),
    paths(
        health::live,
        health::ready,
        health::metrics,
        models::list,
        models::show,
        models::summary,
        models::reload,
        models::roll_back,
        predict::predict,
        explain::explain,
        classes::classes,
        annif::list,
        annif::show,
        annif::suggest,
        annif::suggest_batch,
        annif::learn,
        feedback::give,
        feedback::list,
        feedback::export,
        feedback::import,
        queue::add,
        queue::list,
        candidates::quality,
        candidates::show,
        candidates::start,
        candidates::discard,
        candidates::promote,
        inference::server,
        inference::metadata,
        inference::ready,
        inference::infer,
    )
)]
struct Document;

/// The document, made once.
pub(crate) async fn document() -> Response {
    static JSON: OnceLock<Bytes> = OnceLock::new();
    let json = JSON.get_or_init(|| Document::openapi().to_json().unwrap_or_default().into());
    ([(header::CONTENT_TYPE, "application/json")], json.clone()).into_response()
}
