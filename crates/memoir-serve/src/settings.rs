//! What can be set, and the defaults.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use crate::keys::Keys;

/// A model to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFile {
    /// What addresses call it.
    pub name: String,
    /// Where its file is.
    pub path: PathBuf,
}

impl ModelFile {
    /// Reads `NAME=PATH`, or `PATH` for a model that is called like its file without the ending.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, path) = if let Some((name, path)) = text.split_once('=') {
            (name.to_owned(), PathBuf::from(path))
        } else {
            let path = PathBuf::from(text);
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            (stem.unwrap_or_default(), path)
        };
        let legal = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || name.len() > 100 || !name.chars().all(legal) || name.starts_with('.') {
            return Err(format!(
                "`{name}` cannot be the name of a model: expected letters, digits, `-`, `_` and `.`; \
                 give it one with NAME=PATH"
            ));
        }
        Ok(Self { name, path })
    }
}

/// What a request may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Texts or vectors of a request.
    pub rows: usize,
    /// Bytes of a text.
    pub text: usize,
    /// Answers for each row.
    pub top_k: usize,
    /// Requests answered at the same time; more are refused with 503.
    pub concurrent: usize,
    /// Open connections; more wait until one closes.
    pub connections: usize,
    /// Time for a body to arrive, and again for an answer to be found.
    pub request_time: Duration,
    /// Time for the head of a request to arrive.
    pub head_time: Duration,
    /// Time that a connection may be idle, or refuse to take what is sent.
    pub idle_time: Duration,
    /// Time that requests get to finish when the service is asked to stop.
    pub stop_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            rows: 10_000,
            text: 100_000,
            top_k: 1_000,
            concurrent: 256,
            connections: 1_024,
            request_time: Duration::from_secs(30),
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(60),
            stop_time: Duration::from_secs(10),
        }
    }
}

/// Everything that a service is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The models.
    pub models: Vec<ModelFile>,
    /// Where to listen.
    pub bind: SocketAddr,
    /// Who may do what; none for anybody on this machine.
    pub keys: Option<Keys>,
    /// Whether other machines may connect without a key.
    pub insecure: bool,
    /// What a request may use.
    pub limits: Limits,
    /// Threads that requests with many rows share.
    pub threads: NonZeroUsize,
    /// How often model files are looked at; none for never.
    pub watch_every: Option<Duration>,
    /// Labelled rows that models are measured on, by the name of the model.
    pub held_out: HashMap<String, PathBuf>,
    /// Folder of the feedback files; none for the folder of each model.
    pub feedback_folder: Option<PathBuf>,
    /// Texts of requests whose best class is less probable than this are kept for review; none to keep no
    /// text of any request.
    pub queue_below: Option<f32>,
}

impl Settings {
    /// Where services listen by default.
    pub const BIND: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

    /// How often model files are looked at by default.
    pub const WATCH_EVERY: Duration = Duration::from_secs(2);

    /// The defaults for these models.
    pub fn new(models: Vec<ModelFile>) -> Self {
        Self {
            models,
            bind: Self::BIND,
            keys: None,
            insecure: false,
            limits: Limits::default(),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            watch_every: Some(Self::WATCH_EVERY),
            held_out: HashMap::new(),
            feedback_folder: None,
            queue_below: None,
        }
    }

    /// Fails with a sentence if the settings contradict each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.models.is_empty() {
            return Err("expected at least one model".to_owned());
        }
        for (index, model) in self.models.iter().enumerate() {
            if self.models[..index].iter().any(|other| other.name == model.name) {
                return Err(format!(
                    "two models are called `{0}`; give one another name with NAME=PATH",
                    model.name
                ));
            }
        }
        if let Some(name) = self
            .held_out
            .keys()
            .find(|name| self.models.iter().all(|model| model.name != **name))
        {
            return Err(format!(
                "there are held-out rows for `{name}`, but no model is called so"
            ));
        }
        if let Some(least) = self.queue_below.filter(|least| !(0.0..=1.0).contains(least)) {
            return Err(format!(
                "the parameter `queue-below` must be from 0 to 1, but is {least}"
            ));
        }
        if !self.bind.ip().is_loopback() && self.keys.is_none() && !self.insecure {
            return Err(format!(
                "anybody who reaches {} could read and teach: give keys (the parameter `api-key-file`), listen on \
                 127.0.0.1 only, or set the parameter `insecure`",
                self.bind
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_called_like_their_file_or_as_asked() {
        let model = ModelFile::parse("folder/jobs.memoir").unwrap();
        assert_eq!(
            (model.name.as_str(), model.path),
            ("jobs", PathBuf::from("folder/jobs.memoir"))
        );
        assert_eq!(ModelFile::parse("v2=folder/jobs.memoir").unwrap().name, "v2");
        for bad in ["", "a b.memoir", "a/b=c", "..", "=x"] {
            assert!(ModelFile::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_loopback_may_go_without_a_key() {
        let mut settings = Settings::new(vec![ModelFile::parse("a.memoir").unwrap()]);
        assert_eq!(settings.check(), Ok(()));
        settings.bind = ([0, 0, 0, 0], 80).into();
        assert!(settings.check().unwrap_err().contains("`insecure`"));
        settings.insecure = true;
        assert_eq!(settings.check(), Ok(()));
    }

    #[test]
    fn names_must_differ() {
        let model = ModelFile::parse("a.memoir").unwrap();
        assert!(
            Settings::new(vec![model.clone(), model])
                .check()
                .unwrap_err()
                .contains("`a`")
        );
    }
}
