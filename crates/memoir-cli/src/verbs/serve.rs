//! `memoir serve`: models behind HTTP, until a signal comes.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum};
use memoir_serve::{Keys, Level, Limits, ModelFile, Settings, StartError};

use crate::arguments::parse_positive;
use crate::{Context, interrupt};

#[derive(Debug, Args)]
#[command(after_help = "\
Keys: a line `read NAME KEY` or `teach NAME KEY` for each, with a key of 16 to 128 characters. Clients
send `Authorization: Bearer KEY`. Without keys only this machine is answered.

Examples:
  memoir serve tickets.memoir
  memoir serve jobs=isco.memoir goods=coicop.memoir --bind 0.0.0.0:8080 --api-key-file keys.txt
  curl http://127.0.0.1:8080/v1/models/tickets/predict --json '{\"text\": \"printer out of toner\"}'")]
pub(crate) struct Arguments {
    /// The model files; NAME=FILE gives a model another name than its file's
    #[arg(required = true, value_name = "MODEL", value_parser = ModelFile::parse)]
    models: Vec<ModelFile>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = Settings::BIND)]
    bind: SocketAddr,
    /// Keys for reading and teaching; without them only this machine is answered
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// Answer other machines without keys
    #[arg(long)]
    insecure: bool,
    /// Folder for feedback files; without it, the folder of each model
    #[arg(long, value_name = "DIR")]
    feedback: Option<PathBuf>,
    /// Keep texts of requests for review if their best class is less probable than this
    #[arg(long, value_name = "PROBABILITY")]
    queue_below: Option<f32>,
    /// Labelled rows to measure the model on; NAME=FILE if there are several models
    #[arg(long, value_name = "DATA")]
    held_out: Vec<String>,
    /// Seconds between two looks at the model files; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = Settings::WATCH_EVERY.as_secs())]
    watch: u64,
    /// Largest body of a request in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body)]
    max_body: usize,
    /// Most texts or vectors of a request
    #[arg(long, value_name = "N", default_value_t = Limits::default().rows)]
    max_rows: usize,
    /// Longest text in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().text)]
    max_text: usize,
    /// Most requests answered at the same time; more get status 503
    #[arg(long, value_name = "N", default_value_t = Limits::default().concurrent)]
    max_requests: usize,
    /// Seconds that requests under way get to finish after a signal
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().stop_time.as_secs())]
    stop_time: u64,
    /// Threads; without it, as many as there are processors
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    threads: Option<std::num::NonZeroUsize>,
    /// What the log on standard error tells
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: LogLevel,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogLevel {
    Warn,
    Info,
    Debug,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    memoir_serve::log_to_stderr(match arguments.log {
        LogLevel::Warn => Level::Warn,
        LogLevel::Info => Level::Info,
        LogLevel::Debug => Level::Debug,
    });
    let settings = settings(arguments)?;
    let ready = |address| {
        // Whoever started the service may have closed its output; the service is there anyway.
        let _ = writeln!(io::stdout(), "Listening on http://{address} (Ctrl-C stops)");
    };
    // A signal waits for the requests under way as it waits for files.
    let served = interrupt::while_writing(|| {
        memoir_serve::serve(&settings, context.catalogue.clone(), ready, || {
            context.cancel.is_raised()
        })
    });
    served.map_err(|error| match error {
        // Parameters become options where errors are told.
        StartError::Library(error) => error.into(),
        other => other.into(),
    })
}

fn settings(arguments: &Arguments) -> anyhow::Result<Settings> {
    let mut settings = Settings::new(arguments.models.clone());
    settings.bind = arguments.bind;
    settings.insecure = arguments.insecure;
    settings.feedback_folder.clone_from(&arguments.feedback);
    settings.queue_below = arguments.queue_below;
    settings.watch_every = (arguments.watch > 0).then(|| Duration::from_secs(arguments.watch));
    settings.limits.body = arguments.max_body;
    settings.limits.rows = arguments.max_rows;
    settings.limits.text = arguments.max_text;
    settings.limits.concurrent = arguments.max_requests;
    settings.limits.stop_time = Duration::from_secs(arguments.stop_time);
    for held_out in &arguments.held_out {
        let (name, path) = match (held_out.split_once('='), &arguments.models[..]) {
            (Some((name, path)), _) => (name.to_owned(), path),
            (None, [model]) => (model.name.clone(), held_out.as_str()),
            (None, _) => bail!("`--held-out {held_out}`: with several models, say of which: NAME={held_out}"),
        };
        settings.held_out.insert(name, PathBuf::from(path));
    }
    if let Some(threads) = arguments.threads {
        settings.threads = threads;
    }
    if let Some(path) = &arguments.api_key_file {
        let text =
            std::fs::read_to_string(path).map_err(|reason| memoir::Error::io(path, "cannot open", reason))?;
        let keys = Keys::parse(&text).map_err(anyhow::Error::msg);
        settings.keys = Some(keys.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?);
    }
    Ok(settings)
}
