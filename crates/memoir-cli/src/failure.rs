//! Every way to end that is not success: what is printed, and the exit code.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::error::ErrorKind;
use memoir_report::shell::command_line;

use crate::help::HelpRequest;

/// Exit code of every error that a user can cause.
pub(crate) const USER_ERROR: u8 = 2;
/// Exit code after Ctrl-C, as shells have it, and after SIGTERM and SIGHUP.
pub(crate) const INTERRUPTED: u8 = 130;

/// Says what went wrong, on one line, and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if matches!(error.downcast_ref(), Some(memoir::Error::Cancelled)) {
        return stopped();
    }
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    // Only the outermost message: the library's errors already contain what they are caused by.
    let message = match error.downcast_ref() {
        Some(error) => with_flags(error, &Flags::of_this_program()),
        None => error.to_string(),
    };
    say(&format!("error: {message}"));
    ExitCode::from(USER_ERROR)
}

/// Names of options, without dashes.
struct Flags {
    /// Those of the verb that runs.
    own: BTreeSet<String>,
    /// Those of all verbs.
    all: BTreeSet<String>,
}

impl Flags {
    fn of_this_program() -> Self {
        let command = crate::command(&HelpRequest::EVERYTHING);
        let names = |verb: &clap::Command| -> BTreeSet<String> {
            let names = verb.get_arguments().filter_map(clap::Arg::get_long);
            names.map(str::to_owned).collect()
        };
        let verb = std::env::args_os().nth(1).unwrap_or_default();
        let own = verb.to_str().and_then(|verb| command.find_subcommand(verb));
        Self {
            own: own.map(names).unwrap_or_default(),
            all: command.get_subcommands().flat_map(names).collect(),
        }
    }
}

/// The message of an error of the library, which speaks of parameters, in terms of this program's
/// options. The library writes "the parameter" before a name. Errors about parameters do without that at
/// their start, and for names with a hyphen, which nothing else has.
fn with_flags(error: &memoir::Error, flags: &Flags) -> String {
    use memoir::Error::{Mismatch, Parameter, Unlearnable};
    const MARK: &str = "the parameter ";
    let is_about_parameters = matches!(error, Parameter(_) | Unlearnable(_) | Mismatch(_));
    let message = error.to_string();
    let mut shown = String::new();
    // Every second part stands in backticks, except a last one that no backtick ends.
    let last = message.matches('`').count();
    for (index, part) in message.split('`').enumerate() {
        if index % 2 == 0 || index == last {
            shown += if index % 2 == 0 { "" } else { "`" };
            shown += part;
            continue;
        }
        let is_plain = is_about_parameters && (index == 1 && shown.is_empty() || part.contains('-'));
        let is_marked = shown.ends_with(MARK) && flags.all.contains(part);
        if is_marked {
            shown.truncate(shown.len() - MARK.len());
        }
        let is_option = is_marked || is_plain && flags.own.contains(part);
        let dashes = if is_option { "--" } else { "" };
        shown.extend(["`", dashes, part, "`"]);
    }
    shown
}

/// The file that this run writes checkpoints to.
static CHECKPOINT: OnceLock<PathBuf> = OnceLock::new();

/// From now on, a run that is stopped says how it can be continued, once `path` is there.
pub(crate) fn remember_checkpoint(path: &Path) {
    // A program trains once.
    let _ = CHECKPOINT.set(path.to_owned());
}

/// The end after Ctrl-C, said once.
pub(crate) fn stopped() -> ExitCode {
    match CHECKPOINT.get().filter(|path| path.is_file()) {
        Some(path) => say(&format!(
            "stopped; to continue from {}: {}",
            path.display(),
            resuming(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
        )),
        None => say("stopped"),
    }
    ExitCode::from(INTERRUPTED)
}

/// The command that continues the run which `words` started.
fn resuming(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<_> = words.collect();
    if !words.iter().any(|word| word == "--resume") {
        words.push("--resume".to_owned());
    }
    command_line(&words)
}

/// The reader of our output (`head`, a pager) has gone: nothing is wrong.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

fn say(line: &str) {
    // Names from data may hold line breaks; the promise is one line. Nobody is left to tell if this fails.
    let _ = writeln!(io::stderr(), "{}", line.replace(['\n', '\r'], " "));
}

/// Help and version are answers, not errors; anything else becomes one line.
pub(crate) fn usage(error: &clap::Error) -> anyhow::Result<()> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            write!(io::stdout(), "{}", error.render().ansi_or_plain())?;
            Ok(())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            write!(io::stderr(), "{}", error.render())?;
            std::process::exit(i32::from(USER_ERROR));
        }
        kind => {
            let line = one_line(&error.render().to_string());
            // A bad value is explained by its message; for anything else the list of options helps.
            match kind {
                ErrorKind::ValueValidation | ErrorKind::InvalidValue => anyhow::bail!(line),
                _ => anyhow::bail!("{line} (see `--help`)"),
            }
        }
    }
}

/// Help in colour where the reader is a terminal.
trait AnsiOrPlain {
    fn ansi_or_plain(&self) -> String;
}

impl AnsiOrPlain for clap::builder::StyledStr {
    fn ansi_or_plain(&self) -> String {
        use std::io::IsTerminal;
        if io::stdout().is_terminal() {
            self.ansi().to_string()
        } else {
            self.to_string()
        }
    }
}

/// clap explains over several lines: keeps the finding and its tips, and leaves the usage to `--help`.
fn one_line(rendered: &str) -> String {
    let rendered = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let end = rendered.find("\nUsage:").unwrap_or(rendered.len());
    let mut kept = rendered[..end].trim();
    kept = kept
        .split("\nFor more information")
        .next()
        .unwrap_or(kept)
        .trim_end();
    let words: Vec<_> = kept.split_whitespace().collect();
    words.join(" ").replace(" tip: ", "; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_errors_take_one_line() {
        let rendered = "error: unexpected argument '--modell' found\n\n  tip: a similar argument exists: '--model'\n\n\
                        Usage: memoir train --model <FILE> <DATA>\n\nFor more information, try '--help'.\n";
        assert_eq!(
            one_line(rendered),
            "unexpected argument '--modell' found; a similar argument exists: '--model'"
        );
    }

    #[test]
    fn parameters_of_the_library_become_options_of_the_program() {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let flags = Flags {
            own: set(&["passes", "min-df"]),
            all: set(&["passes", "min-df", "format"]),
        };
        let parameter = |text: &str| with_flags(&memoir::Error::Parameter(text.to_owned()), &flags);
        assert_eq!(
            parameter("`passes` must be at least 1, but is `0`"),
            "`--passes` must be at least 1, but is `0`"
        );
        // An option of another verb, or of an oracle that gets its options in another way.
        assert_eq!(parameter("`format` must be csv"), "`format` must be csv");
        let elsewhere =
            memoir::Error::input("a.dat", "give the parameter `format`, or the parameter `other`");
        assert_eq!(
            with_flags(&elsewhere, &flags),
            "a.dat: give `--format`, or the parameter `other`"
        );
        for text in ["`passes`: empty", "a`b: empty", "`: empty"] {
            let (file, message) = text.split_once(": ").unwrap();
            assert_eq!(with_flags(&memoir::Error::input(file, message), &flags), text);
        }
    }

    #[test]
    fn a_stopped_run_is_continued_by_the_same_command() {
        let resumed = |line: &str| resuming(line.split(' ').map(str::to_owned));
        let continued = "memoir train 'a;b.csv' --model m --checkpoint-every 5 --resume";
        assert_eq!(
            resumed("memoir train a;b.csv --model m --checkpoint-every 5"),
            continued
        );
        assert_eq!(
            resumed("memoir train a;b.csv --model m --checkpoint-every 5 --resume"),
            continued
        );
    }

    #[test]
    fn broken_pipes_are_recognised_behind_contexts() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&anyhow::Error::from(pipe()).context("writing")));
        assert!(is_broken_pipe(
            &memoir::Error::io("x".as_ref(), "cannot write", pipe()).into()
        ));
        assert!(!is_broken_pipe(&anyhow::anyhow!("broken")));
    }
}
