//! Progress on standard error: bars on a terminal, a plain line every few seconds elsewhere, nothing
//! when quiet.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use memoir::{Event, Observer};
use memoir_report::sizes::{show_count, show_size, show_time};

/// Time between two plain lines.
const INTERVAL: Duration = Duration::from_secs(3);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Bars,
    Lines,
    /// Only what is said once.
    Notes,
    Nothing,
}

/// The observer of a verb.
pub(crate) struct Progress {
    style: Style,
    stage: Mutex<Option<Stage>>,
    /// Notes so far: what reads the same file twice would say things twice.
    notes: Mutex<HashSet<String>>,
}

/// The stage that is shown at the moment.
struct Stage {
    name: String,
    bar: Option<ProgressBar>,
    start: Instant,
    last_line: Instant,
}

impl Progress {
    /// Shows progress unless `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        Self::with(match (quiet, io::stderr().is_terminal()) {
            (true, _) => Style::Nothing,
            (false, true) => Style::Bars,
            (false, false) => Style::Lines,
        })
    }

    /// For verbs that answer row by row: on a terminal the answers themselves show the progress.
    pub(crate) fn beside_answers(quiet: bool) -> Self {
        if !quiet && io::stdout().is_terminal() {
            Self::with(Style::Notes)
        } else {
            Self::new(quiet)
        }
    }

    fn with(style: Style) -> Self {
        Self {
            style,
            stage: Mutex::new(None),
            notes: Mutex::default(),
        }
    }

    /// Removes the bar, so that other output can follow.
    pub(crate) fn clear(&self) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = stage.take().and_then(|stage| stage.bar) {
            bar.finish_and_clear();
        }
    }

    /// Says something between bars, unless quiet.
    pub(crate) fn say(&self, text: &str) {
        if self.style != Style::Nothing {
            self.message(text);
        }
    }

    /// Shows that `name` goes on, where nobody can tell how long it will take.
    pub(crate) fn busy(&self, name: &str) {
        if matches!(self.style, Style::Nothing | Style::Notes) {
            return;
        }
        let mut guard = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let stage = self.enter(&mut guard, name, || new_spinner(name));
        if let Some(bar) = &stage.bar {
            bar.tick();
        } else if stage.last_line.elapsed() >= INTERVAL {
            stage.last_line = Instant::now();
            say(&format!("{name}: {} so far", show_time(stage.start.elapsed())));
        }
    }

    /// The stage called `name`, begun if another one was shown.
    fn enter<'a>(
        &self,
        shown: &'a mut Option<Stage>,
        name: &str,
        new_bar: impl FnOnce() -> ProgressBar,
    ) -> &'a mut Stage {
        if shown.as_ref().is_some_and(|stage| stage.name != name)
            && let Some(bar) = shown.take().and_then(|stage| stage.bar)
        {
            bar.finish_and_clear();
        }
        let now = Instant::now();
        shown.get_or_insert_with(|| Stage {
            name: name.to_owned(),
            bar: (self.style == Style::Bars).then(new_bar),
            start: now,
            last_line: now,
        })
    }

    fn progress(&self, name: &str, done: u64, total: u64, unit: &'static str) {
        let mut guard = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let stage = self.enter(&mut guard, name, || new_bar(name, total, unit));
        if let Some(bar) = &stage.bar {
            if total > 0 {
                bar.set_length(total);
            }
            bar.set_position(done);
        } else if stage.last_line.elapsed() >= INTERVAL && (total == 0 || done < total) {
            stage.last_line = Instant::now();
            say(&line(name, done, total, unit, stage.start.elapsed()));
        }
    }

    fn message(&self, text: &str) {
        let guard = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        match guard.as_ref().and_then(|stage| stage.bar.as_ref()) {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }
}

impl Observer for Progress {
    fn notice(&self, event: Event<'_>) {
        if self.style == Style::Nothing {
            return;
        }
        match event {
            Event::Progress { .. } if self.style == Style::Notes => {}
            Event::Progress {
                stage,
                done,
                total,
                unit,
            } => self.progress(stage, done, total, unit),
            Event::HeldOut {
                pass,
                accuracy,
                macro_f1,
            } => self.message(&format!(
                "pass {pass}: held-out accuracy {:.2}%, macro-F1 {:.2}%",
                100.0 * accuracy,
                100.0 * macro_f1
            )),
            Event::Note(text) => {
                let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
                if notes.insert(text.to_owned()) {
                    // The library speaks of parameters; here they are options.
                    self.message(&format!("note: {}", text.replace("the parameter `", "`--")));
                }
            }
            _ => {}
        }
    }
}

/// A lost terminal must not stop the work.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn new_bar(name: &str, total: u64, unit: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(
        (total > 0).then_some(total),
        ProgressDrawTarget::stderr_with_hz(8),
    );
    let position = match unit {
        "bytes" => "{decimal_bytes}".to_owned(),
        _ => format!("{{human_pos}} {unit}"),
    };
    let template = if total > 0 {
        format!("{{prefix}} {{wide_bar}} {{percent}}%  {position}  {{rate}}  {{eta}} left")
    } else {
        format!("{{prefix}} {{spinner}} {position}  {{rate}}  {{elapsed}}")
    };
    let rate = move |state: &ProgressState, text: &mut dyn fmt::Write| {
        let per_second = state.per_sec() as u64;
        let shown = match unit {
            "bytes" => show_size(per_second),
            _ => format!("{} {unit}", show_count(per_second)),
        };
        // A terminal that cannot be written to is no reason to stop.
        let _ = write!(text, "{shown}/s");
    };
    // The templates are fixed above; should one ever be wrong, the plain bar still works.
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.with_key("rate", rate));
    }
    bar.set_prefix(name.to_owned());
    bar
}

fn new_spinner(name: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    // As above: a wrong template would leave the plain spinner.
    if let Ok(style) = ProgressStyle::with_template("{prefix} {spinner} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_prefix(name.to_owned());
    bar
}

fn line(stage: &str, done: u64, total: u64, unit: &str, elapsed: Duration) -> String {
    let (number, unit): (fn(u64) -> String, String) = match unit {
        "bytes" => (show_size, String::new()),
        _ => (show_count, format!(" {unit}")),
    };
    let rate = done as f64 / elapsed.as_secs_f64().max(1e-9);
    let per_second = number(rate as u64);
    if total == 0 {
        return format!("{stage}: {}{unit}, {per_second}{unit}/s", number(done));
    }
    let left = Duration::from_secs_f64((total.saturating_sub(done) as f64 / rate.max(1e-9)).min(1e9));
    format!(
        "{stage}: {} of {}{unit} ({:.0}%), {per_second}{unit}/s, {} left",
        number(done),
        number(total),
        100.0 * done as f64 / total as f64,
        show_time(left)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_tell_rate_and_time_left() {
        let four = Duration::from_secs(4);
        assert_eq!(
            line("training", 2_000, 10_000, "rows", four),
            "training: 2,000 of 10,000 rows (20%), 500 rows/s, 16 s left"
        );
        assert_eq!(
            line("reading", 8_000_000, 0, "bytes", four),
            "reading: 8.0 MB, 2.0 MB/s"
        );
    }
}
