//! The page, compiled into the program.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::problem::{Answer, Problem};

#[derive(RustEmbed)]
#[folder = "page/"]
struct Files;

/// What the page may do: load its own files, talk to its own service. Nothing from elsewhere, nothing
/// inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn index() -> Answer<Response> {
    answer("index.html")
}

pub(crate) async fn file(Path(name): Path<String>) -> Answer<Response> {
    answer(&name)
}

fn answer(name: &str) -> Answer<Response> {
    let file = Files::get(name).ok_or_else(|| Problem::not_found("the page has no such file"))?;
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "image/svg+xml",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, file.data.into_owned()).into_response())
}
