//! Names, synonyms and broader classes of a model that has a vocabulary.

use memoir::class_vocabulary::{BuilderOptions, TermKind, UnmatchedVocabulary, VocabularyBuilder};
use serde_json::json;

use crate::world::{Client, World, model_with};

/// Tickets about printers and networks are about hardware, which is no class of the model.
fn service() -> Client {
    let mut builder = VocabularyBuilder::new();
    let hardware = builder.concept("hardware");
    builder.describe(hardware);
    builder.term(hardware, TermKind::Name, "en", "Devices").unwrap();
    for (class, name, other) in [("printer", "Printers", "Laser"), ("network", "Networks", "Wifi")] {
        let concept = builder.concept(class);
        builder.describe(concept);
        builder.term(concept, TermKind::Name, "en", name).unwrap();
        builder.term(concept, TermKind::Alternative, "en", other).unwrap();
        builder.broader(concept, hardware);
    }
    let (vocabulary, defects) = builder.finish(&BuilderOptions::default()).unwrap();
    let world = World::new();
    let bytes = model_with(1, Some(UnmatchedVocabulary::Read(Box::new(vocabulary), defects)));
    std::fs::write(world.model(), bytes).unwrap();
    world.service(|_| ())
}

#[tokio::test]
async fn answers_have_names_and_classes_are_found_by_synonyms() {
    let service = service();
    let predict = "/v1/models/tickets/predict";
    let answers = service
        .post(predict, json!({"text": "toner cartridge paper"}))
        .await
        .json();
    let best = &answers["rows"][0]["answers"][0];
    assert_eq!(
        (&best["class"], &best["name"]),
        (&json!("printer"), &json!("Printers"))
    );
    let found = service.get("/v1/models/tickets/classes?search=wifi").await.json();
    assert_eq!(found["classes"][0]["class"], "network");
    assert_eq!(found["count"], 1);
}

#[tokio::test]
async fn broader_classes_are_found_and_answered_with() {
    let service = service();
    let path = "/v1/models/tickets/classes?broader_of";
    let broader = service.get(&format!("{path}=printer")).await.json();
    assert_eq!(broader["classes"][0]["class"], "hardware");
    assert_eq!(broader["classes"][0]["name"], "Devices");
    let top = service.get(&format!("{path}=hardware")).await.json();
    assert_eq!(top["count"], 0);
    assert!(
        service
            .get(&format!("{path}=nothing"))
            .await
            .problem(422)
            .contains("`nothing`")
    );
    let body = json!({"text": "toner cartridge paper", "back_off": 0.5});
    let answers = service.post("/v1/models/tickets/predict", body).await.json();
    assert_eq!(answers["rows"][0]["back_off"]["class"], "printer", "{answers}");
    let plain = World::new().service(|_| ());
    let refused = plain
        .post(
            "/v1/models/tickets/predict",
            json!({"text": "x", "back_off": 0.5}),
        )
        .await;
    assert!(refused.problem(422).contains("vocabulary"));
}
