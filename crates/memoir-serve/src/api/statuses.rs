//! The problems that an address may answer with, for the `OpenAPI` document.

use utoipa::IntoResponses;

use crate::problem::Problem;

/// Problems of addresses that read.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "describes answers; the answers are made in `problem.rs`")]
pub(crate) enum Problems {
    /// The request cannot be read
    #[response(status = 400, content_type = "application/problem+json")]
    Malformed(Problem),
    /// A key is needed, or this one is unknown
    #[response(status = 401, content_type = "application/problem+json")]
    NoKey(Problem),
    /// The key or the origin of the request does not allow this
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(Problem),
    /// There is no such model, or no such thing of it
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(Problem),
    /// The body came too slowly
    #[response(status = 408, content_type = "application/problem+json")]
    TooSlow(Problem),
    /// The state of the service does not allow this now
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(Problem),
    /// The body is too large
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(Problem),
    /// The body is of another type than expected
    #[response(status = 415, content_type = "application/problem+json")]
    WrongType(Problem),
    /// The request asks for something impossible
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(Problem),
    /// Too many requests at once, or the answer took too long
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(Problem),
}
