//! Every way to end that is not success: what is printed, and the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;

/// Exit code of every error that a user can cause.
const USER_ERROR: u8 = 2;
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
    say(&format!("error: {error}"));
    ExitCode::from(USER_ERROR)
}

/// The end after Ctrl-C, said once.
pub(crate) fn stopped() -> ExitCode {
    say("stopped");
    ExitCode::from(INTERRUPTED)
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
    fn broken_pipes_are_recognised_behind_contexts() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&anyhow::Error::from(pipe()).context("writing")));
        assert!(is_broken_pipe(
            &memoir::Error::io("x".as_ref(), "cannot write", pipe()).into()
        ));
        assert!(!is_broken_pipe(&anyhow::anyhow!("broken")));
    }
}
