//! Is it alive, is it ready, how is it doing?

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::Shared;
use crate::extract::plain_json;
use crate::problem::{Answer, Problem};

/// The state of the service.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
}

/// Whether the process runs.
#[utoipa::path(get, path = "/health/live", tag = "health", responses(
    (status = 200, description = "The process runs", body = Health)
))]
pub(crate) async fn live() -> Answer<Response> {
    plain_json(&Health { status: "ok" })
}

/// Whether requests should be sent here: models are open, and the service is not stopping.
#[utoipa::path(get, path = "/health/ready", tag = "health", responses(
    (status = 200, description = "Requests are welcome", body = Health),
    (status = 503, description = "The service is stopping", body = Problem,
        content_type = "application/problem+json")
))]
pub(crate) async fn ready(State(app): State<Shared>) -> Answer<Response> {
    if app.is_stopping() {
        return Err(Problem::unavailable("the service is stopping"));
    }
    plain_json(&Health { status: "ok" })
}

/// Counts for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health", responses(
    (status = 200, description = "Counts in Prometheus's text format", body = String, content_type = "text/plain"),
    crate::api::statuses::Problems
))]
pub(crate) async fn metrics(State(app): State<Shared>) -> Response {
    let text = app.metrics.render(&app.registry);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
