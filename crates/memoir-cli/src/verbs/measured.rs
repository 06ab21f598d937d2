//! `memoir measured`, for `memoir compare` alone and no verb that is listed: runs one command within limits and prints, as JSON, what it cost.
//!
//! A process of its own, because the kernel counts towards the peak memory of a new process that of the process it
//! came from: this one is small, whatever `memoir compare` holds. It is tied to `compare` by its standard input: when
//! that ends, however `compare` ended, the command and all its children are stopped.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use memoir::Error;

use crate::Context;
use crate::compare::kernel;
use crate::compare::results::{Cost, Ending, Measured};

/// Time between two questions whether the command has ended, and so the error of its wall time.
const POLL: Duration = Duration::from_millis(2);
/// Time between two looks at what it uses meanwhile.
const WATCH: Duration = Duration::from_millis(200);
/// Libraries that start threads of their own take their number from these.
const THREAD_VARIABLES: [&str; 5] = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
];

/// Run a command within limits and print what it cost
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// CPU seconds of all its processes together
    #[arg(long)]
    cpu_limit: Option<f64>,
    #[arg(long)]
    wall_limit: Option<f64>,
    /// Bytes of resident memory of all its processes together
    #[arg(long)]
    memory_limit: Option<u64>,
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// File for standard output [default: the log]
    #[arg(long)]
    stdout: Option<PathBuf>,
    /// File for standard error
    #[arg(long)]
    log: PathBuf,
    /// The command
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

impl Arguments {
    /// What this program was started with, if that is for measuring.
    pub(crate) fn asked_for() -> Option<Self> {
        let mut words = std::env::args_os().skip(1).peekable();
        (words.peek()? == "measured").then(|| Self::parse_from(words))
    }
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> anyhow::Result<()> {
    let measured = measure(arguments, context)?;
    serde_json::to_writer(io::stdout(), &measured)?;
    io::stdout().flush()?;
    Ok(())
}

fn measure(arguments: &Arguments, context: &Context) -> anyhow::Result<Measured> {
    let abandoned = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&abandoned);
    std::thread::spawn(move || {
        let mut nothing = [0; 16];
        while matches!(io::stdin().read(&mut nothing), Ok(read) if read > 0) {}
        raised.store(true, Ordering::Release);
    });
    let log = File::create(&arguments.log)?;
    let stdout = match &arguments.stdout {
        Some(path) => File::create(path)?,
        None => log.try_clone()?,
    };
    let mut command = Command::new(&arguments.command[0]);
    command
        .args(&arguments.command[1..])
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(log)
        .process_group(0);
    for name in THREAD_VARIABLES {
        command.env(name, arguments.threads.to_string());
    }
    let start = Instant::now();
    let child = match command.spawn() {
        Ok(child) => child,
        Err(reason) => {
            let what = format!("cannot start `{}`: {reason}", arguments.command[0]);
            return Ok(Measured {
                ending: Ending::CannotStart(what),
                cost: Cost::default(),
            });
        }
    };
    let group = child.id();
    let mut stopped = None;
    let mut watched = start;
    loop {
        if let Some((status, usage)) = kernel::try_wait(group)? {
            // Children that outlive the command must not disturb the next measurement.
            kernel::kill_group(group);
            return Ok(Measured {
                ending: stopped.unwrap_or_else(|| ending(status)),
                cost: Cost {
                    wall_seconds: start.elapsed().as_secs_f64(),
                    cpu_seconds: usage.cpu.as_secs_f64(),
                    peak_bytes: usage.peak_bytes,
                },
            });
        }
        if abandoned.load(Ordering::Acquire) || context.cancel.is_raised() {
            kernel::kill_group(group);
            return Err(Error::Cancelled.into());
        }
        if stopped.is_none() && watched.elapsed() >= WATCH {
            watched = Instant::now();
            stopped = over_limit(arguments, group, start.elapsed());
            if stopped.is_some() {
                kernel::kill_group(group);
            }
        }
        std::thread::sleep(POLL);
    }
}

fn over_limit(arguments: &Arguments, group: u32, elapsed: Duration) -> Option<Ending> {
    let exceeds = |limit: Option<f64>, used: f64| limit.is_some_and(|limit| used > limit);
    if exceeds(arguments.wall_limit, elapsed.as_secs_f64()) {
        return Some(Ending::OutOfTime);
    }
    let usage = kernel::group_usage(group);
    if exceeds(arguments.cpu_limit, usage.cpu.as_secs_f64()) {
        return Some(Ending::OutOfTime);
    }
    let is_large = arguments
        .memory_limit
        .is_some_and(|limit| usage.peak_bytes > limit);
    is_large.then_some(Ending::OutOfMemory)
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ending::Well,
        (Some(code), _) => Ending::Failed(format!("exit code {code}")),
        // Nobody here sent it: most often the system, when it has no memory left.
        (None, Some(9)) => Ending::OutOfMemory,
        (None, signal) => Ending::Failed(format!("signal {}", signal.unwrap_or(0))),
    }
}
