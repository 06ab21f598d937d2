//! Every answer that is not a success, as `application/problem+json` (RFC 9457): what was found, what was
//! expected. Paths and internals never appear.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// The result of a request.
pub(crate) type Answer<T> = Result<T, Problem>;

/// Why a request was refused.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// A name for the kind of problem, for programs.
    #[schema(example = "urn:memoir:no-such-model")]
    r#type: String,
    /// The kind of problem in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What was found and what was expected.
    detail: String,
}

impl Problem {
    fn new(status: StatusCode, kind: &str, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            r#type: format!("urn:memoir:{kind}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// The body cannot be read as what it says it is.
    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "malformed",
            "The request cannot be read",
            detail,
        )
    }

    /// The request can be read, but asks for what cannot be.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid",
            "The request asks for something impossible",
            detail,
        )
    }

    pub(crate) fn no_key() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "no-key",
            "A key is needed",
            "send `Authorization: Bearer KEY` with a key of this service",
        )
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed", detail)
    }

    pub(crate) fn no_such_model(name: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "no-such-model",
            "There is no such model",
            format!(
                "no model is called `{}`; GET /v1/models lists them",
                shorten(name)
            ),
        )
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not-found",
            "There is nothing here",
            detail,
        )
    }

    pub(crate) fn wrong_method() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "wrong-method",
            "This method is not offered here",
            "GET /v1/openapi.json lists the methods of each address",
        )
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "conflict",
            "Not possible in this state",
            detail,
        )
    }

    pub(crate) fn too_slow(seconds: f32) -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "too-slow",
            "The request came too slowly",
            format!("the whole body must arrive within {seconds} seconds"),
        )
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            "The body is too large",
            format!("a body may have at most {limit} bytes"),
        )
    }

    pub(crate) fn wrong_type(expected: &str) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "wrong-type",
            "The body is of another type",
            format!("expected `Content-Type: {expected}`"),
        )
    }

    pub(crate) fn overloaded() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "Too many requests at once",
            "try again in a second",
        )
    }

    pub(crate) fn took_too_long(seconds: f32) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "took-too-long",
            "The answer took too long",
            format!("the time limit is {seconds} seconds; send fewer rows at once"),
        )
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "Not available",
            detail,
        )
    }

    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "The service failed",
            "the log of the service says more",
        )
    }
}

/// Names from requests are repeated in answers, but not without end.
fn shorten(name: &str) -> String {
    name.chars()
        .filter(|letter| !letter.is_control())
        .take(80)
        .collect()
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if self.status() == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Errors of the library that a request can cause. Others are the service's own and are logged, not told.
impl From<memoir::Error> for Problem {
    fn from(error: memoir::Error) -> Self {
        match error {
            memoir::Error::Mismatch(message) | memoir::Error::Parameter(message) => Self::invalid(message),
            memoir::Error::Cancelled => Self::unavailable("the service is stopping"),
            other => {
                tracing::error!(error = %other, "a request failed");
                Self::internal()
            }
        }
    }
}
