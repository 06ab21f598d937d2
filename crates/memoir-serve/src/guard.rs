//! What every request passes: who asks, how many ask, how long it takes, and what is noted of it.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::{App, Shared};
use crate::keys::{Holder, Role};
use crate::problem::{Answer, Problem};

/// Outermost: takes a slot, limits the time, counts, logs, and adds the headers that every answer has.
pub(crate) async fn admit(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let route = path.as_ref().map_or("(none)", MatchedPath::as_str).to_owned();
    let mut response = match app.slots.try_acquire() {
        Err(_) if !route.starts_with("/health") => Problem::overloaded().into_response(),
        // Kept until the answer is made: its body is in memory by then.
        _slot => {
            let limit = 2 * app.limits.request_time;
            match tokio::time::timeout(limit, next.run(request)).await {
                Ok(response) => response,
                Err(_) => Problem::took_too_long(limit.as_secs_f32()).into_response(),
            }
        }
    };
    let (status, time) = (response.status(), start.elapsed());
    app.metrics
        .request(&route, method.as_str(), status.as_u16(), time);
    if status.is_server_error() {
        tracing::warn!(%method, route, status = status.as_u16(), micros = time.as_micros() as u64, "answered");
    } else {
        tracing::debug!(%method, route, status = status.as_u16(), micros = time.as_micros() as u64, "answered");
    }
    add_headers(response.headers_mut());
    response
}

/// Headers that make browsers careful. The page sets a policy of its own.
fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// Lets only those through who may read.
pub(crate) async fn may_read(State(app): State<Shared>, request: Request, next: Next) -> Response {
    pass(&app, Role::Read, request, next).await
}

/// Lets only those through who may teach.
pub(crate) async fn may_teach(State(app): State<Shared>, request: Request, next: Next) -> Response {
    pass(&app, Role::Teach, request, next).await
}

async fn pass(app: &App, needed: Role, mut request: Request, next: Next) -> Response {
    match holder(app, needed, request.method(), request.headers()) {
        Ok(holder) => {
            request.extensions_mut().insert(holder);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Who asks, if they may.
fn holder(app: &App, needed: Role, method: &Method, headers: &HeaderMap) -> Answer<Holder> {
    if *method != Method::GET && comes_from_another_page(headers) {
        return Err(Problem::forbidden(
            "the request comes from a page of another origin",
        ));
    }
    let Some(keys) = &app.keys else {
        if !app.insecure && !names_this_machine(headers) {
            return Err(Problem::forbidden(
                "without keys this service answers to the names of this machine only: localhost, 127.0.0.1, [::1]",
            ));
        }
        return Ok(Holder {
            role: Role::Teach,
            name: String::new(),
        });
    };
    let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let key = given
        .and_then(|given| given.strip_prefix(b"Bearer "))
        .ok_or_else(Problem::no_key)?;
    let holder = keys.find(key).ok_or_else(Problem::no_key)?;
    if holder.role < needed {
        return Err(Problem::forbidden("this key may read, but not teach"));
    }
    Ok(holder)
}

/// Browsers say where a request comes from. A page elsewhere must not use the reader's connection to teach.
fn comes_from_another_page(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return !matches!(site, "same-origin" | "none");
    }
    match (text(header::ORIGIN), text(header::HOST)) {
        (Some(origin), Some(host)) => origin.split_once("://").is_none_or(|(_, name)| name != host),
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Whether the name that was connected to is this machine's. A page elsewhere can make its own name lead
/// here.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|value| value.to_str().ok()) else {
        return true;
    };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let parse = |&(name, value): &(&str, &str)| {
            (
                name.parse::<HeaderName>().unwrap(),
                value.parse::<HeaderValue>().unwrap(),
            )
        };
        pairs.iter().map(parse).collect()
    }

    #[test]
    fn pages_of_other_origins_are_recognised() {
        assert!(!comes_from_another_page(&headers(&[("host", "a:1")])));
        assert!(!comes_from_another_page(&headers(&[
            ("host", "a:1"),
            ("origin", "http://a:1")
        ])));
        assert!(comes_from_another_page(&headers(&[
            ("host", "a:1"),
            ("origin", "http://b:1")
        ])));
        assert!(comes_from_another_page(&headers(&[
            ("host", "a:1"),
            ("origin", "null")
        ])));
        assert!(comes_from_another_page(&headers(&[(
            "sec-fetch-site",
            "cross-site"
        )])));
        assert!(!comes_from_another_page(&headers(&[(
            "sec-fetch-site",
            "same-origin"
        )])));
    }

    #[test]
    fn names_of_this_machine() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:80", "[::1]:8080"] {
            assert!(names_this_machine(&headers(&[("host", host)])), "{host}");
        }
        for host in ["example.org", "127.0.0.1.example.org", "10.0.0.1:80", ""] {
            assert!(!names_this_machine(&headers(&[("host", host)])), "{host}");
        }
    }
}
