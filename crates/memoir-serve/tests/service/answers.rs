//! Predicting, explaining, searching, health.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn one_text_many_texts_and_the_version() {
    let service = World::new().service(|_| ());
    let one = service
        .post(
            "/v1/models/tickets/predict",
            json!({"text": "toner cartridge", "top_k": 2}),
        )
        .await;
    assert_eq!(one.status, 200, "{one:?}");
    let answer = one.json();
    assert_eq!(answer["rows"][0]["answers"][0]["class"], "printer");
    assert!(
        answer["rows"][0]["answers"][0]["probability"].as_f64().unwrap() > 0.5,
        "{answer}"
    );
    assert_eq!(answer["rows"][0]["answers"].as_array().unwrap().len(), 2);
    assert_eq!(
        answer["version"].as_str(),
        Some(one.headers["memoir-version"].to_str().unwrap())
    );

    // Many rows take another way through the service; answers are the same.
    let texts: Vec<&str> = ["toner cartridge", "refund my invoice"]
        .into_iter()
        .cycle()
        .take(500)
        .collect();
    let many = service
        .post("/v1/models/tickets/predict", json!({"texts": texts, "top_k": 2}))
        .await
        .json();
    assert_eq!(many["rows"].as_array().unwrap().len(), 500);
    assert_eq!(many["rows"][498], answer["rows"][0]);
    assert_eq!(many["rows"][499]["answers"][0]["class"], "billing");
}

#[tokio::test]
async fn what_is_not_sure_enough_is_left_out() {
    let service = World::new().service(|_| ());
    let body = json!({"texts": ["toner cartridge", "nothing known here"], "min_probability": 0.5});
    let rows = service.post("/v1/models/tickets/predict", body).await.json();
    assert_eq!(rows["rows"][0]["answers"].as_array().unwrap().len(), 1);
    assert_eq!(rows["rows"][1], json!({"answers": [], "abstained": true}));
    let state = service.get("/v1/models/tickets").await.json();
    let seen = &state["version"]["seen"];
    assert_eq!((&seen["rows"], &seen["abstained"]), (&json!(2), &json!(1)));
}

#[tokio::test]
async fn words_are_marked_for_and_against() {
    let service = World::new().service(|_| ());
    let text = "The toner, oh the TONER & an invoice";
    let reply = service
        .post("/v1/models/tickets/explain", json!({"text": text}))
        .await
        .json();
    let parts = reply["parts"].as_array().unwrap();
    let whole: String = parts.iter().map(|part| part["text"].as_str().unwrap()).collect();
    assert_eq!(whole, text);
    let decides = |word: &str| {
        let part = parts.iter().find(|part| part["text"] == word);
        part.unwrap()["decides"].as_f64().unwrap()
    };
    assert!(decides("toner") > 0.0 && decides("invoice") < 0.0, "{reply}");
    assert_eq!(reply["explanation"]["answer"]["class"], "printer");
}

#[tokio::test]
async fn classes_are_listed_and_searched() {
    let service = World::new().service(|_| ());
    let found = service.get("/v1/models/tickets/classes?search=ACC").await.json();
    let classes = found["classes"].as_array().unwrap();
    assert_eq!((classes.len(), &classes[0]["class"]), (1, &json!("account")));
    assert!(classes[0]["rows"].as_u64().unwrap() > 50, "{found}");
    let like = service
        .get("/v1/models/tickets/classes?like=account&limit=2")
        .await
        .json();
    let names: Vec<_> = like["classes"].as_array().unwrap().iter().collect();
    assert!(names.len() <= 2 && names.iter().all(|found| found["class"] != "account"));
    let unknown = service.get("/v1/models/tickets/classes?like=nothing").await;
    assert!(unknown.problem(422).contains("no class `nothing`"));
    let all = service
        .get("/v1/models/tickets/classes?limit=2&offset=1")
        .await
        .json();
    assert_eq!(
        (all["count"].as_u64(), all["classes"].as_array().unwrap().len()),
        (Some(4), 2)
    );
    service
        .get("/v1/models/tickets/classes?limit=0")
        .await
        .problem(422);
    service
        .get("/v1/models/tickets/classes?limit=x")
        .await
        .problem(400);
}

#[tokio::test]
async fn health_metrics_and_the_document() {
    let service = World::new().service(|_| ());
    assert_eq!(service.get("/health/live").await.status, 200);
    assert_eq!(service.get("/health/ready").await.status, 200);
    service
        .post(
            "/v1/models/tickets/predict",
            json!({"texts": ["toner", "router"]}),
        )
        .await;
    let metrics = service.get("/metrics").await.text;
    assert!(
        metrics.contains("memoir_rows_total{model=\"tickets\",version="),
        "{metrics}"
    );
    let predict =
        "memoir_http_requests_total{route=\"/v1/models/{model}/predict\",method=\"POST\",status=\"200\"} 1";
    assert!(metrics.contains(predict), "{metrics}");
    let document = service.get("/v1/openapi.json").await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert!(document["paths"]["/v1/models/{model}/predict"]["post"]["responses"]["422"].is_object());
}

#[tokio::test]
async fn every_answer_has_careful_headers() {
    let service = World::new().service(|_| ());
    for path in ["/v1/models", "/nothing/here", "/health/live"] {
        let reply = service.get(path).await;
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
        assert!(
            reply.headers["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("default-src")
        );
        assert!(reply.headers.get("access-control-allow-origin").is_none());
    }
}

#[tokio::test]
async fn a_model_of_vectors_takes_vectors() {
    let world = World::new();
    let fixture = include_bytes!("../../../memoir/tests/fixtures/centroid-vectors-v1.memoir");
    std::fs::write(world.model(), fixture).unwrap();
    let service = world.service(|_| ());
    let body = json!({"vectors": [[[1, 1.0], [2, 1.0]], []], "top_k": 1});
    let reply = service.post("/v1/models/tickets/predict", body).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let answer = &reply.json()["rows"][0]["answers"][0];
    assert!(
        answer["score"].is_number() && answer["probability"].is_null(),
        "{answer}"
    );
    let wrong = service
        .post("/v1/models/tickets/predict", json!({"text": "hello"}))
        .await
        .problem(422);
    assert!(wrong.contains("vectors"), "{wrong}");
    let wrong = json!({"vectors": [[]], "min_probability": 0.5});
    assert!(
        service
            .post("/v1/models/tickets/predict", wrong)
            .await
            .problem(422)
            .contains("not calibrated")
    );
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    let service = World::new().service(|_| ());
    let page = service.get("/").await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.contains("script-src 'self';") && !policy.contains("unsafe"),
        "{policy}"
    );
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/page")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let served = service.get(&format!("/{name}")).await;
        assert_eq!(served.status, 200, "{name}");
        let elsewhere = served.text.replace("http://www.w3.org/", "");
        assert!(
            !elsewhere.contains("http://") && !elsewhere.contains("https://"),
            "{name}"
        );
    }
    service.get("/nothing.js").await.problem(404);
}
