//! A small model, a service around it, and requests to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt;
use memoir::class_vocabulary::UnmatchedVocabulary;
use memoir::{Catalogue, Classifier};
use memoir_serve::{ModelFile, Settings, routes};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;

/// Topics with the words that speak for them.
const TOPICS: [(&str, [&str; 4]); 4] = [
    ("printer", ["toner", "paper", "jam", "cartridge"]),
    ("network", ["router", "cable", "wireless", "offline"]),
    ("billing", ["invoice", "charged", "refund", "payment"]),
    ("account", ["password", "login", "locked", "username"]),
];

/// Tickets and their topics.
fn examples() -> (Vec<String>, Vec<&'static str>) {
    let (mut texts, mut labels) = (Vec::new(), Vec::new());
    for row in 0..400 {
        let (topic, words) = TOPICS[row % TOPICS.len()];
        let (first, second) = (words[row / 4 % 4], words[row / 16 % 4]);
        // Every ninth row has a word of another topic, so that answers are not all sure.
        let other = TOPICS[(row + 1) % TOPICS.len()].1[row / 9 % 4];
        let third = if row % 9 == 0 { other } else { "please" };
        texts.push(format!("my {first} and {second} {third} number{}", row % 7));
        labels.push(topic);
    }
    (texts, labels)
}

/// The bytes of a model that knows the topics; with another seed, another model.
pub(crate) fn model_bytes(seed: u64) -> Vec<u8> {
    model_with(seed, None)
}

/// The same with names and relations of the topics.
pub(crate) fn model_with(seed: u64, vocabulary: Option<UnmatchedVocabulary>) -> Vec<u8> {
    let (texts, labels) = examples();
    let mut classifier = Classifier::softmax()
        .held_out_fraction(0.25)
        .seed(seed)
        .threads(1);
    if let Some(vocabulary) = vocabulary {
        classifier = classifier.vocabulary(vocabulary);
    }
    classifier.fit(&texts, &labels).unwrap().to_bytes().unwrap()
}

/// A folder with a model file.
pub(crate) struct World {
    pub(crate) folder: Arc<TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            folder: Arc::new(tempfile::tempdir().unwrap()),
        };
        std::fs::write(world.model(), model_bytes(1)).unwrap();
        world
    }

    pub(crate) fn model(&self) -> PathBuf {
        self.folder.path().join("tickets.memoir")
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new(vec![
            ModelFile::parse(&self.model().display().to_string()).unwrap(),
        ])
    }

    /// A service with the default settings, or with some changed.
    pub(crate) fn service(&self, change: impl FnOnce(&mut Settings)) -> Client {
        let mut settings = self.settings();
        change(&mut settings);
        Client {
            routes: routes(&settings, Catalogue::new()).unwrap(),
            key: None,
            _folder: Some(Arc::clone(&self.folder)),
        }
    }
}

/// Sends requests to a service in process.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) routes: Router,
    pub(crate) key: Option<&'static str>,
    /// Keeps the files of the service as long as it is asked.
    pub(crate) _folder: Option<Arc<TempDir>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks that this is a problem document of the status, and gives its detail.
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(problem["type"].as_str().unwrap().starts_with("urn:memoir:"));
        problem["detail"].as_str().unwrap().to_owned()
    }
}

impl Client {
    pub(crate) async fn send(&self, mut request: Request<Body>) -> Reply {
        if let Some(key) = self.key {
            let value = format!("Bearer {key}").parse().unwrap();
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Reply {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.post_as(path, "application/json", body.to_string()).await
    }

    pub(crate) async fn post_as(&self, path: &str, kind: &str, body: impl Into<Body>) -> Reply {
        let request = Request::post(path).header(header::CONTENT_TYPE, kind);
        self.send(request.body(body.into()).unwrap()).await
    }
}

/// Writes `bytes` beside `path` and renames.
pub(crate) fn replace(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("new");
    std::fs::write(&beside, bytes).unwrap();
    std::fs::rename(beside, path).unwrap();
}
