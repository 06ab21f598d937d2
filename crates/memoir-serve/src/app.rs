//! What all requests share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use memoir::{Catalogue, Session};
use tokio::sync::Semaphore;

use crate::candidate::Candidate;
use crate::feedback::Store;
use crate::keys::Keys;
use crate::metrics::Metrics;
use crate::registry::Registry;
use crate::settings::{Limits, Settings};

pub(crate) type Shared = Arc<App>;

pub(crate) struct App {
    pub(crate) registry: Registry,
    pub(crate) limits: Limits,
    pub(crate) keys: Option<Keys>,
    /// Whether requests from other hosts and pages need no key.
    pub(crate) insecure: bool,
    /// The threads that requests with many rows share.
    pub(crate) session: Session<'static>,
    pub(crate) metrics: Metrics,
    /// The feedback of each model that has a place for it.
    pub(crate) feedback: HashMap<String, Store>,
    /// Texts whose best class is less probable are kept for review.
    pub(crate) queue_below: Option<f32>,
    /// The candidate of each model.
    pub(crate) candidates: HashMap<String, Arc<Candidate>>,
    /// The held-out rows of each model that has such.
    pub(crate) held_out: HashMap<String, PathBuf>,
    /// One permit for each request that may be answered now.
    pub(crate) slots: Semaphore,
    stopping: AtomicBool,
    answered: AtomicU64,
}

impl App {
    /// Opens everything that `settings` name.
    pub(crate) fn open(settings: &Settings, catalogue: Catalogue) -> memoir::Result<Shared> {
        Ok(Arc::new(Self {
            registry: Registry::open(&settings.models, catalogue)?,
            limits: settings.limits.clone(),
            keys: settings.keys.clone(),
            insecure: settings.insecure,
            session: Session::new(settings.threads)?,
            metrics: Metrics::new(),
            feedback: open_feedback(settings),
            queue_below: settings.queue_below,
            candidates: settings
                .models
                .iter()
                .map(|model| (model.name.clone(), Arc::default()))
                .collect(),
            held_out: settings.held_out.clone(),
            slots: Semaphore::new(settings.limits.concurrent),
            stopping: AtomicBool::new(false),
            answered: AtomicU64::new(0),
        }))
    }

    /// From now on the service is not ready: balancers send requests elsewhere.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// True once in every `interval` calls.
    pub(crate) fn is_sampled(&self, interval: u64) -> bool {
        self.answered
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(interval)
    }
}

/// Opens the feedback files. Without one a model still answers.
fn open_feedback(settings: &Settings) -> HashMap<String, Store> {
    let mut stores = HashMap::new();
    for model in &settings.models {
        let beside = model.path.parent().unwrap_or(Path::new(""));
        let folder = settings.feedback_folder.as_deref().unwrap_or(beside);
        match Store::open(folder.join(format!("{}.feedback.jsonl", model.name))) {
            Ok(store) => {
                stores.insert(model.name.clone(), store);
            }
            Err(error) => tracing::warn!(model = model.name, %error, "no feedback can be kept"),
        }
    }
    stores
}
