//! Model files that are replaced while the service runs.

use std::time::Duration;

use memoir::Catalogue;
use memoir_serve::Service;
use serde_json::json;

use crate::world::{Client, World, model_bytes, replace};

async fn version(service: &Client) -> String {
    service.get("/v1/models/tickets").await.json()["version"]["version"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn reload_takes_the_new_file_and_rollback_returns() {
    let world = World::new();
    let service = world.service(|_| ());
    let first = version(&service).await;
    service
        .post("/v1/models/tickets/rollback", json!({}))
        .await
        .problem(409);
    replace(&world.model(), &model_bytes(2));
    assert_eq!(version(&service).await, first);
    let reloaded = service.post("/v1/models/tickets/reload", json!({})).await.json();
    assert_eq!(reloaded["previous"]["version"], first);
    let second = version(&service).await;
    assert_ne!(first, second);
    let back = service
        .post("/v1/models/tickets/rollback", json!({}))
        .await
        .json();
    assert_eq!(back["version"]["version"], first);
    assert_eq!(back["previous"]["version"], second);
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_the_old_version_goes_on() {
    let world = World::new();
    let service = world.service(|_| ());
    let first = version(&service).await;
    let good = model_bytes(2);
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for bad in [&good[..good.len() / 2], &[], b"something else", &flipped] {
        // In place: the file that is open elsewhere is cut and written over.
        std::fs::write(world.model(), bad).unwrap();
        let detail = service
            .post("/v1/models/tickets/reload", json!({}))
            .await
            .problem(409);
        assert!(
            !detail.contains("tickets.memoir") && !detail.contains('/'),
            "a path: {detail}"
        );
        let answer = service
            .post("/v1/models/tickets/predict", json!({"text": "toner"}))
            .await
            .json();
        assert_eq!(answer["version"], first);
        assert_eq!(answer["rows"][0]["answers"][0]["class"], "printer");
    }
    std::fs::remove_file(world.model()).unwrap();
    service
        .post("/v1/models/tickets/reload", json!({}))
        .await
        .problem(409);
    std::fs::write(world.model(), &good).unwrap();
    assert_eq!(
        service.post("/v1/models/tickets/reload", json!({})).await.status,
        200
    );
}

/// A running service sees new files by itself, and does not undo a rollback.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_watched() {
    let world = World::new();
    let mut settings = world.settings();
    settings.bind = ([127, 0, 0, 1], 0).into();
    settings.watch_every = Some(Duration::from_millis(20));
    let service = Service::open(&settings, Catalogue::new()).await.unwrap();
    let client = Client {
        routes: service.routes(),
        key: None,
        _folder: None,
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(service.run(async {
        let _ = stopped.await;
    }));
    let first = version(&client).await;
    replace(&world.model(), &model_bytes(2));
    let second = loop {
        let now = version(&client).await;
        if now != first {
            break now;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    client.post("/v1/models/tickets/rollback", json!({})).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(
        version(&client).await,
        first,
        "the rollback was undone; the file is {second}"
    );
    stop.send(()).unwrap();
    running.await.unwrap();
    client.get("/health/ready").await.problem(503);
}
