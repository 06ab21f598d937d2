//! What is refused, and how: keys, sizes, shapes, origins, load.

use axum::body::Body;
use axum::http::{Request, header};
use memoir_serve::Keys;
use serde_json::json;

use crate::world::World;

const PREDICT: &str = "/v1/models/tickets/predict";
const READER: &str = "reader-key-0123456789";
const TEACHER: &str = "teacher-key-0123456789";

#[tokio::test]
async fn bad_requests_are_explained() {
    let service = World::new().service(|_| ());
    for (body, status, words) in [
        ("{", 400, "JSON"),
        ("{\"text\": 1}", 400, "string"),
        ("{\"text\": \"a\", \"topk\": 3}", 400, "topk"),
        ("{}", 422, "exactly one"),
        ("{\"text\": \"a\", \"texts\": []}", 422, "exactly one"),
        ("{\"text\": \"a\", \"top_k\": 0}", 422, "from 1 to 1000"),
        ("{\"text\": \"a\", \"min_probability\": 2}", 422, "from 0 to 1"),
        ("{\"vectors\": [[[1, 1e39]]]}", 422, "row 1"),
        ("{\"vectors\": [[[1, 1]]]}", 422, "not vectors"),
        ("[\"\\ud800\"]", 400, "JSON"),
    ] {
        let detail = service
            .post_as(PREDICT, "application/json", body)
            .await
            .problem(status);
        assert!(detail.contains(words), "{body}: {detail}");
    }
    service.post_as(PREDICT, "text/plain", "{}").await.problem(415);
    service.get(PREDICT).await.problem(405);
    service.get("/v1/models/other").await.problem(404);
    service.get("/v1/models/%ff").await.problem(400);
    service
        .get("/v1/models/..%2f..%2fetc%2fpasswd")
        .await
        .problem(404);
    service.get("/../etc/passwd").await.problem(404);
}

#[tokio::test]
async fn sizes_have_limits() {
    let service = World::new().service(|settings| {
        settings.limits.body = 1_000;
        settings.limits.rows = 3;
        settings.limits.text = 20;
    });
    let long = json!({"text": "x".repeat(2_000)});
    assert!(
        service
            .post(PREDICT, long)
            .await
            .problem(413)
            .contains("1000 bytes")
    );
    let rows = service
        .post(PREDICT, json!({"texts": ["a", "b", "c", "d"]}))
        .await
        .problem(422);
    assert!(rows.contains("at most 3 rows, but this one has 4"), "{rows}");
    let text = service
        .post(PREDICT, json!({"texts": ["a", "a text of more than 20 bytes"]}))
        .await
        .problem(422);
    assert!(text.contains("row 2"), "{text}");
}

#[tokio::test]
async fn a_slow_body_is_cut_off() {
    let service = World::new().service(|settings| {
        settings.limits.request_time = std::time::Duration::from_millis(50);
    });
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<&'static str, std::io::Error>>(1);
    sender.send(Ok("{\"text\":")).await.unwrap();
    let body = Body::from_stream(tokio_stream::wrappers::ReceiverStream::new(receiver));
    service
        .post_as(PREDICT, "application/json", body)
        .await
        .problem(408);
    drop(sender);
}

#[tokio::test]
async fn too_many_at_once_are_told_to_come_back() {
    let service = World::new().service(|settings| settings.limits.concurrent = 0);
    let reply = service.get("/v1/models").await;
    reply.problem(503);
    assert_eq!(reply.headers[header::RETRY_AFTER], "1");
    assert_eq!(service.get("/health/live").await.status, 200);
}

#[tokio::test]
async fn keys_open_what_they_should() {
    let file = format!("read page {READER}\nteach anna {TEACHER}\n");
    let mut service = World::new().service(|settings| settings.keys = Some(Keys::parse(&file).unwrap()));
    for path in [
        "/v1/models",
        "/metrics",
        "/v2",
        "/v1/projects",
        "/v1/models/tickets/queue",
    ] {
        service.get(path).await.problem(401);
    }
    assert_eq!(service.get("/health/ready").await.status, 200);
    assert_eq!(service.get("/v1/openapi.json").await.status, 200);
    service.key = Some("wrong-key-0123456789");
    service.get("/v1/models").await.problem(401);
    service.key = Some(READER);
    assert_eq!(service.get("/v1/models").await.status, 200);
    assert_eq!(service.post(PREDICT, json!({"text": "toner"})).await.status, 200);
    for path in ["reload", "rollback", "feedback", "queue"] {
        service
            .post(&format!("/v1/models/tickets/{path}"), json!({}))
            .await
            .problem(403);
    }
    service.key = Some(TEACHER);
    assert_eq!(
        service.post("/v1/models/tickets/reload", json!({})).await.status,
        200
    );
}

#[tokio::test]
async fn pages_elsewhere_cannot_use_this_service() {
    let service = World::new().service(|_| ());
    let request = |name: &str, value: &str| {
        let request = Request::post("/v1/models/tickets/reload").header(header::HOST, "localhost:8080");
        request.header(name, value).body(Body::empty()).unwrap()
    };
    service
        .send(request("origin", "http://elsewhere.example"))
        .await
        .problem(403);
    service
        .send(request("sec-fetch-site", "cross-site"))
        .await
        .problem(403);
    assert_eq!(
        service
            .send(request("origin", "http://localhost:8080"))
            .await
            .status,
        200
    );
    let rebound = Request::get("/v1/models").header(header::HOST, "elsewhere.example");
    service
        .send(rebound.body(Body::empty()).unwrap())
        .await
        .problem(403);
}
