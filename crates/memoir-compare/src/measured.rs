//! The hidden verb that `memoir compare` starts every command through: it runs one command within limits
//! and prints, as JSON, what the command cost.
//!
//! It is a process of its own because the kernel counts the peak memory of a process from that of its
//! parent: this one is small, whatever `memoir compare` holds. Standard input ties it to `compare`. When
//! that ends, however `compare` ended, the command and all its children are stopped.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memoir::{Cancel, Error};
use serde::{Deserialize, Serialize};

use crate::kernel;

/// The verb: `memoir measured TASK`, where the task is JSON.
pub const VERB: &str = "measured";

/// Time between two questions whether the command has ended, and so the error of its wall time.
const POLL: Duration = Duration::from_millis(2);
/// Time between two looks at what it uses meanwhile.
const WATCH: Duration = Duration::from_millis(200);
/// Variables from which libraries with threads of their own take the number of threads.
const THREAD_VARIABLES: [&str; 5] = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
];

/// A command, and what it may use.
#[derive(Debug, Serialize, Deserialize)]
pub struct Task {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Threads that it is asked to use.
    pub threads: u32,
    /// CPU seconds of all its processes together.
    pub cpu_seconds: Option<f64>,
    /// Seconds from start to end.
    pub wall_seconds: Option<f64>,
    /// Bytes of resident memory of all its processes together.
    pub memory_bytes: Option<u64>,
    /// File for standard output; the log if not given.
    pub stdout: Option<PathBuf>,
    /// File for standard error.
    pub log: PathBuf,
}

/// What a step cost, from the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds from start to end.
    pub wall_seconds: f64,
    /// User and system time, children included.
    pub cpu_seconds: f64,
    /// Largest resident set.
    pub peak_bytes: u64,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// With exit code 0.
    Well,
    /// With another exit code or a signal.
    Failed(String),
    /// Stopped: it took more time than it was given.
    OutOfTime,
    /// Stopped: it took more memory than it was given.
    OutOfMemory,
    /// It never ran, for this reason.
    CannotStart(String),
}

/// What is known of a command that has ended; the verb prints it as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    /// How the command ended.
    pub ending: Ending,
    /// What it cost.
    pub cost: Cost,
}

/// The task that this program was started for, if its arguments ask for a measurement.
pub fn asked_for() -> anyhow::Result<Option<Task>> {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|verb| verb != VERB) {
        return Ok(None);
    }
    let task = words.next().unwrap_or_default();
    Ok(Some(serde_json::from_slice(task.as_encoded_bytes())?))
}

/// Runs the command to its end, or until it exceeds a limit, standard input ends, or `cancel` is raised.
pub fn measure(task: &Task, cancel: &Cancel) -> anyhow::Result<Measured> {
    let abandoned = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&abandoned);
    std::thread::Builder::new().spawn(move || {
        let mut nothing = [0; 16];
        while matches!(io::stdin().read(&mut nothing), Ok(read) if read > 0) {}
        raised.store(true, Ordering::Release);
    })?;
    let log = File::create(&task.log)?;
    let stdout = match &task.stdout {
        Some(path) => File::create(path)?,
        None => log.try_clone()?,
    };
    let mut command = Command::new(&task.command[0]);
    command
        .args(&task.command[1..])
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(log)
        .process_group(0);
    for name in THREAD_VARIABLES {
        command.env(name, task.threads.to_string());
    }
    let start = Instant::now();
    let child = match command.spawn() {
        Ok(child) => child,
        Err(reason) => {
            let what = format!("cannot start `{}`: {reason}", task.command[0]);
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
        if abandoned.load(Ordering::Acquire) || cancel.is_raised() {
            kernel::kill_group(group);
            return Err(Error::Cancelled.into());
        }
        if stopped.is_none() && watched.elapsed() >= WATCH {
            watched = Instant::now();
            stopped = over_limit(task, group, start.elapsed());
            if stopped.is_some() {
                kernel::kill_group(group);
            }
        }
        std::thread::sleep(POLL);
    }
}

fn over_limit(task: &Task, group: u32, elapsed: Duration) -> Option<Ending> {
    let exceeds = |limit: Option<f64>, used: f64| limit.is_some_and(|limit| used > limit);
    if exceeds(task.wall_seconds, elapsed.as_secs_f64()) {
        return Some(Ending::OutOfTime);
    }
    let usage = kernel::group_usage(group);
    if exceeds(task.cpu_seconds, usage.cpu.as_secs_f64()) {
        return Some(Ending::OutOfTime);
    }
    let is_large = task.memory_bytes.is_some_and(|limit| usage.peak_bytes > limit);
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
