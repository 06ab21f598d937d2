//! What others already speak: Annif's interface and the Open Inference Protocol.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn annif_clients_get_suggestions() {
    let service = World::new().service(|_| ());
    let projects = service.get("/v1/projects").await.json();
    assert_eq!(projects["projects"][0]["project_id"], "tickets");
    let form = "text=refund+my%20invoice&limit=2&threshold=0.01";
    let path = "/v1/projects/tickets/suggest";
    let reply = service
        .post_as(path, "application/x-www-form-urlencoded", form)
        .await
        .json();
    assert_eq!(reply["results"][0]["uri"], "billing");
    assert!(reply["results"][0]["score"].as_f64().unwrap() > 0.5);
    service
        .post_as(path, "application/x-www-form-urlencoded", "limit=2")
        .await
        .problem(400);
    let batch = json!({"documents": [{"text": "toner", "document_id": "7"}, {"text": "login"}]});
    let reply = service
        .post("/v1/projects/tickets/suggest-batch?limit=1", batch)
        .await
        .json();
    assert_eq!(reply[0]["document_id"], "7");
    assert_eq!(reply[1]["results"].as_array().unwrap().len(), 1);
    let many = json!({"documents": vec![json!({"text": "a"}); 33]});
    service
        .post("/v1/projects/tickets/suggest-batch", many)
        .await
        .problem(422);
}

#[tokio::test]
async fn annif_clients_teach() {
    let service = World::new().service(|_| ());
    let lessons = json!([{"text": "fan is loud", "subjects": [{"uri": "hardware", "label": "Hardware"}]}]);
    let reply = service.post("/v1/projects/tickets/learn", lessons).await;
    assert_eq!(reply.status, 204, "{reply:?}");
    let feedback = service.get("/v1/models/tickets/feedback").await.json();
    assert_eq!(feedback["items"][0]["labels"], json!(["hardware"]));
}

#[tokio::test]
async fn open_inference_clients_get_tensors() {
    let service = World::new().service(|_| ());
    let about = service.get("/v2/models/tickets").await.json();
    assert_eq!(about["inputs"][0]["name"], "text");
    let input = |shape: usize| {
        json!({
            "id": "x", "parameters": {"top_k": 2},
            "inputs": [{"name": "text", "shape": [shape], "datatype": "BYTES", "data": ["toner", "login"]}],
        })
    };
    let reply = service.post("/v2/models/tickets/infer", input(2)).await.json();
    assert_eq!(
        (&reply["id"], &reply["model_name"]),
        (&json!("x"), &json!("tickets"))
    );
    assert_eq!(reply["outputs"][0]["shape"], json!([2, 2]));
    assert_eq!(reply["outputs"][0]["data"][2], "account");
    assert_eq!(reply["outputs"][1]["name"], "probability");
    assert_eq!(reply["outputs"][1]["data"].as_array().unwrap().len(), 4);
    service
        .post("/v2/models/tickets/infer", input(3))
        .await
        .problem(422);
}
