//! Feedback and the queue: kept, once, in a useful order.

use serde_json::{Value, json};

use crate::world::{Client, World};

const FEEDBACK: &str = "/v1/models/tickets/feedback";
const QUEUE: &str = "/v1/models/tickets/queue";

async fn decide(service: &Client, item: Value) -> Value {
    let reply = service.post(FEEDBACK, json!({"items": [item]})).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

async fn waiting(service: &Client, query: &str) -> Vec<String> {
    let reply = service.get(&format!("{QUEUE}?{query}")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let items = reply.json()["items"].as_array().unwrap().clone();
    items
        .iter()
        .map(|item| item["text"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_decision_is_kept_once_and_survives() {
    let world = World::new();
    let item = json!({"id": "d1", "text": "toner jam", "labels": ["printer"], "coder": "anna"});
    {
        let service = world.service(|_| ());
        let kept = decide(&service, item.clone()).await;
        assert_eq!((&kept["stored"], &kept["repeated"]), (&json!(1), &json!(0)));
        assert_eq!(decide(&service, item.clone()).await["repeated"], 1);
        let listed = service.get(FEEDBACK).await.json();
        assert_eq!(listed["items"][0]["suggested"], "printer");
        assert_eq!(listed["progress"]["accepted"], 1);
    }
    let service = loop {
        // The first service closes its file in its own time.
        let service = world.service(|_| ());
        if service.get(FEEDBACK).await.status == 200 {
            break service;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    assert_eq!(decide(&service, item).await["repeated"], 1);
    assert_eq!(
        service.get(FEEDBACK).await.json()["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn uncertain_texts_come_first_and_leave_when_decided() {
    let service = World::new().service(|_| ());
    let texts = ["toner cartridge paper", "toner router", "toner router", "  "];
    let added = service.post(QUEUE, json!({"texts": texts})).await.json();
    assert_eq!(added["added"], 2);
    assert_eq!(
        service.post(QUEUE, json!({"texts": texts})).await.json()["added"],
        0
    );
    assert_eq!(
        waiting(&service, "coder=anna").await,
        ["toner router", "toner cartridge paper"]
    );
    assert_eq!(waiting(&service, "order=added").await[0], "toner cartridge paper");
    decide(
        &service,
        json!({"id": "1", "text": "toner router", "labels": ["network"], "coder": "anna"}),
    )
    .await;
    decide(
        &service,
        json!({"text": "toner cartridge paper", "reason": "unclear", "coder": "anna"}),
    )
    .await;
    assert!(waiting(&service, "coder=anna").await.is_empty());
    let second = waiting(&service, "coder=ben&second_opinion=true").await;
    assert_eq!(second.len(), 2);
    decide(&service, json!({"undo": "1"})).await;
    assert_eq!(waiting(&service, "coder=anna").await, ["toner router"]);
}

#[tokio::test]
async fn tables_go_out_and_in() {
    let service = World::new().service(|_| ());
    decide(
        &service,
        json!({"id": "1", "text": "a, \"b\"", "labels": ["x", "y"], "coder": "anna"}),
    )
    .await;
    let table = service.get(&format!("{FEEDBACK}.csv")).await;
    assert_eq!(table.headers["content-type"], "text/csv; charset=utf-8");
    let other = World::new().service(|_| ());
    for stored in [1, 0] {
        let reply = other
            .post_as(&format!("{FEEDBACK}.csv"), "text/csv", table.text.clone())
            .await
            .json();
        assert_eq!(reply["stored"], stored);
    }
    let items = other.get(FEEDBACK).await.json();
    assert_eq!(items["items"][0]["labels"], json!(["x", "y"]));
    other
        .post_as(&format!("{FEEDBACK}.csv"), "text/csv", "nothing\n1\n")
        .await
        .problem(400);
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused() {
    let service = World::new().service(|_| ());
    for (item, words) in [
        (json!({"labels": ["x"]}), "one of `text` and `undo`"),
        (json!({"text": "  ", "labels": ["x"]}), "empty"),
        (json!({"undo": "nothing"}), "no decision `nothing`"),
        (json!({"text": "a", "labels": [""]}), "1 to 1000 bytes"),
        (json!({"text": "a", "id": "x".repeat(2_000)}), "1 to 1000 bytes"),
    ] {
        let detail = service
            .post(FEEDBACK, json!({"items": [item]}))
            .await
            .problem(422);
        assert!(detail.contains(words) && detail.starts_with("item 1"), "{detail}");
    }
    assert!(
        service.get(FEEDBACK).await.json()["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_candidate_learns_a_new_class_and_is_promoted() {
    let world = World::new();
    let service = world.service(|_| ());
    let candidate = "/v1/models/tickets/candidate";
    service.post(candidate, json!({})).await.problem(409);
    let words = [
        "scanner", "lid", "glass", "feeder", "duplex", "dpi", "sheet", "tray",
    ];
    let items: Vec<Value> = (0..80)
        .map(|row| {
            let (first, second) = (words[row % 8], words[row / 8 % 8]);
            json!({"text": format!("{first} and {second} of unit {row}"), "labels": ["scanner"], "coder": "anna"})
        })
        .collect();
    let kept = service.post(FEEDBACK, json!({"items": items})).await.json();
    assert_eq!(kept["stored"], 80);
    assert_eq!(
        service.post(candidate, json!({})).await.json()["state"],
        "training"
    );
    let ready = loop {
        let state = service.get(candidate).await.json();
        if state["state"] != "training" {
            break state;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!(ready["state"], "ready", "{ready}");
    let exam = &ready["comparison"]["exam"];
    assert_eq!(exam["current"]["report"]["accuracy"], 0.0);
    assert!(
        exam["candidate"]["report"]["accuracy"].as_f64().unwrap() > 0.8,
        "{exam}"
    );
    let rows = exam["current"]["report"]["rows"].as_u64().unwrap();
    assert_eq!(rows + ready["learned"].as_u64().unwrap(), 80);

    let promoted = service
        .post(&format!("{candidate}/promote"), json!({}))
        .await
        .json();
    assert_eq!(promoted["version"]["version"], ready["comparison"]["candidate"]);
    assert_eq!(promoted["classes"], 5);
    let answer = service
        .post("/v1/models/tickets/predict", json!({"text": "scanner glass"}))
        .await
        .json();
    assert_eq!(answer["rows"][0]["answers"][0]["class"], "scanner");
    let quality = service.get("/v1/models/tickets/quality").await.json();
    assert_eq!(
        (&quality["decisions"]["rows"], &quality["decisions"]["accuracy"]),
        (&json!(80), &json!(0.0))
    );
    assert_eq!(service.get(candidate).await.json()["state"], "none");
    assert!(world.folder.path().join("tickets.memoir.previous").exists());
}

#[tokio::test]
async fn held_out_rows_are_measured() {
    let world = World::new();
    let path = world.folder.path().join("test.csv");
    std::fs::write(
        &path,
        "text,label\ntoner jam,printer\nrefund,billing\nrouter,billing\n",
    )
    .unwrap();
    let service = world.service(|settings| {
        settings.held_out.insert("tickets".to_owned(), path);
    });
    let quality = service.get("/v1/models/tickets/quality").await.json();
    let report = &quality["held_out"]["report"];
    assert_eq!(report["rows"], 3);
    assert!(
        (report["accuracy"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9,
        "{report}"
    );
    assert_eq!(
        quality["held_out"]["curve"].as_array().unwrap().last().unwrap()["coverage"],
        1.0
    );
}

#[tokio::test]
async fn uncertain_requests_wait_only_where_the_service_is_told_to_keep_them() {
    const PREDICT: &str = "/v1/models/tickets/predict";
    let texts = [
        "toner cartridge paper jam",
        "toner router invoice password",
        "zzz",
        "zzz",
    ];
    let asked = json!({"texts": texts});
    let silent = World::new().service(|_| ());
    let answers = silent.post(PREDICT, asked.clone()).await.json();
    let is_below = |row: &usize| {
        let best = &answers["rows"][*row]["answers"][0]["probability"];
        best.as_f64().unwrap_or(0.0) < 0.9
    };
    // The last text is there already.
    let expected: Vec<_> = (0..3).filter(is_below).map(|row| texts[row]).collect();
    assert!(
        expected.contains(&"zzz") && !expected.contains(&texts[0]),
        "{answers}"
    );
    let keeping = World::new().service(|settings| settings.queue_below = Some(0.9));
    let secret = json!({"text": "router invoice", "keep": false});
    assert_eq!(keeping.post(PREDICT, secret).await.status, 200);
    for _ in 0..2 {
        assert_eq!(keeping.post(PREDICT, asked.clone()).await.status, 200);
    }
    // Answers do not wait for the disk.
    let mut kept = Vec::new();
    for _ in 0..1_000 {
        kept = waiting(&keeping, "order=added").await;
        if !kept.is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(kept, expected);
    assert!(waiting(&silent, "").await.is_empty());
}
