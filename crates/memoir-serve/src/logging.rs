//! The log of a service: JSON lines on standard error, for programs that have no log of their own.

/// From which importance on events are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// What needs attention.
    Warn,
    /// Also starts, stops and new models.
    #[default]
    Info,
    /// Also every request. Never texts, never keys.
    Debug,
}

/// Writes the log to standard error from now on. Does nothing if the program has a log already.
pub fn log_to_stderr(level: Level) {
    let level = match level {
        Level::Warn => tracing::Level::WARN,
        Level::Info => tracing::Level::INFO,
        Level::Debug => tracing::Level::DEBUG,
    };
    let log = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_max_level(level)
        .with_writer(std::io::stderr);
    let _ = log.try_init();
}
