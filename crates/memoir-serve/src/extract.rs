//! From raw requests to typed ones, within limits, with a problem document for whatever is wrong.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::Shared;
use crate::problem::{Answer, Problem};
use crate::registry::{Served, Version};

/// Header of the version that answered.
pub(crate) const VERSION_HEADER: &str = "memoir-version";

/// A body that is too large is read and dropped up to this many times the limit, so that the client sees the
/// answer.
const DROPPED: usize = 4;

/// The model that the address names.
pub(crate) struct Model(pub(crate) Arc<Served>);

impl FromRequestParts<Shared> for Model {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Answer<Self> {
        let Path(names) = Path::<HashMap<String, String>>::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::malformed("the address is not UTF-8"))?;
        let name = names.get("model").map_or("", String::as_str);
        let found = app.registry.find(name);
        found
            .map(|model| Self(Arc::clone(model)))
            .ok_or_else(|| Problem::no_such_model(name))
    }
}

/// A JSON body.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Shared> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Answer<Self> {
        if !is_of_type(request.headers(), "application/json") {
            return Err(Problem::wrong_type("application/json"));
        }
        let bytes = read(request, app).await?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| Problem::malformed(format!("the body is not the JSON expected: {error}")))
    }
}

/// The body of a form.
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Shared> for Form<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Answer<Self> {
        const FORM: &str = "application/x-www-form-urlencoded";
        if !is_of_type(request.headers(), FORM) {
            return Err(Problem::wrong_type(FORM));
        }
        let bytes = read(request, app).await?;
        serde_urlencoded::from_bytes(&bytes)
            .map(Self)
            .map_err(|error| Problem::malformed(format!("the form cannot be read: {error}")))
    }
}

/// The part of the address after the question mark.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Shared> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _app: &Shared) -> Answer<Self> {
        serde_urlencoded::from_str(parts.uri.query().unwrap_or_default())
            .map(Self)
            .map_err(|error| Problem::malformed(format!("the query cannot be read: {error}")))
    }
}

pub(crate) fn is_of_type(headers: &HeaderMap, expected: &str) -> bool {
    let given = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let given = given
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    given.trim().eq_ignore_ascii_case(expected)
}

/// The whole body, if it is small enough and comes soon enough.
pub(crate) async fn read(request: Request, app: &Shared) -> Answer<Bytes> {
    let limits = &app.limits;
    let seconds = limits.request_time.as_secs_f32();
    let reading = tokio::time::timeout(limits.request_time, read_up_to(request, limits.body));
    reading.await.unwrap_or_else(|_| Err(Problem::too_slow(seconds)))
}

async fn read_up_to(request: Request, limit: usize) -> Answer<Bytes> {
    let mut body = request.into_body();
    let (mut kept, mut length) = (Vec::new(), 0usize);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::malformed("the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > limit.saturating_mul(DROPPED) {
            break;
        }
        if length > limit {
            kept = Vec::new();
        } else {
            kept.extend_from_slice(&data);
        }
    }
    if length > limit {
        return Err(Problem::too_large(limit));
    }
    Ok(kept.into())
}

/// An answer as JSON, with the version it comes from.
pub(crate) fn json(version: &Version, answer: &impl Serialize) -> Answer<Response> {
    let mut response = plain_json(answer)?;
    let version = HeaderValue::from_str(version.engine.version()).map_err(|_| Problem::internal())?;
    response.headers_mut().insert(VERSION_HEADER, version);
    Ok(response)
}

/// An answer as JSON.
pub(crate) fn plain_json(answer: &impl Serialize) -> Answer<Response> {
    let body = serde_json::to_vec(answer).map_err(|error| {
        tracing::error!(%error, "an answer cannot be written as JSON");
        Problem::internal()
    })?;
    let kind = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

/// Runs `work`, which takes long or waits for files, beside the threads that answer requests.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Answer<T> + Send + 'static,
) -> Answer<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a request failed");
        Err(Problem::internal())
    })
}
