//! Help in three lengths: `-h` fits a screen, `--help` explains the verb, `--help-all` has every option
//! of it.
//!
//! Options that a newcomer does not need are marked `hide_short_help`; examples and the like stand in
//! `after_long_help`. Of an option's documentation, `-h` shows the first paragraph.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

/// How much help is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Short,
    Long,
    All,
}

/// What the command line asks to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HelpRequest {
    pub(crate) length: Length,
    /// The algorithm whose options are wanted.
    pub(crate) algorithm: Option<String>,
}

impl HelpRequest {
    /// Help with everything in it, as for manual pages and completions.
    pub(crate) const EVERYTHING: Self = Self {
        length: Length::All,
        algorithm: None,
    };

    /// Finds out from the words of a command line, before they are parsed: help shall come whatever else
    /// is wrong.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Self {
        let words: Vec<String> = words
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned())
            .take_while(|word| word != "--")
            .collect();
        let has = |word: &str| words.iter().any(|other| other == word);
        let length = if has("--help-all") {
            Length::All
        } else if has("--help") || words.first().is_some_and(|verb| verb == "help") {
            Length::Long
        } else {
            Length::Short
        };
        let after = words.iter().skip_while(|word| *word != "--algorithm").nth(1);
        let joined = words.iter().find_map(|word| word.strip_prefix("--algorithm="));
        Self {
            length,
            algorithm: after.map(String::as_str).or(joined).map(str::to_owned),
        }
    }
}

/// Gives `command` and its subcommands the help that is asked for. `path` is what one types to call it.
pub(crate) fn shape(mut command: Command, length: Length, path: &str) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|verb| verb.get_name().to_owned())
        .collect();
    for name in names {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(name, |verb| shape(verb, length, &path));
    }
    let has_more =
        command.get_arguments().any(Arg::is_hide_short_help_set) || command.get_after_long_help().is_some();
    let has_all = command.get_arguments().any(|arg| arg.get_id() == "help-all");
    let command = with_help_flags(command, has_more, has_all);
    match length {
        Length::Short if has_more => {
            let all = format!(", `{path} --help-all` (options of all algorithms)");
            let all = if has_all { all.as_str() } else { "" };
            // One list: headings would make it longer than a screen.
            command
                .mut_args(|arg| arg.help_heading(None::<&'static str>))
                .after_help(format!("More: `{path} --help`{all}"))
                .after_long_help(None::<&'static str>)
        }
        Length::Short => command,
        Length::Long | Length::All => {
            let after: StyledStr = command
                .get_after_long_help()
                .or(command.get_after_help())
                .cloned()
                .unwrap_or_default();
            command
                .mut_args(with_long_help)
                .after_help(in_paragraphs(&after.to_string()))
                .after_long_help(None::<&'static str>)
        }
    }
}

/// `text` with each paragraph on one line, so that it is broken where the terminal ends. What is indented
/// stays as it is, and so does what follows a colon.
fn in_paragraphs(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        let goes_on = !line.is_empty() && !line.starts_with(' ');
        let last = joined.lines().next_back().unwrap_or_default();
        let may_go_on = !joined.ends_with("\n\n") && !last.starts_with(' ') && !last.ends_with(':');
        if goes_on && may_go_on && !joined.is_empty() {
            joined.pop();
            joined.push(' ');
        }
        joined.push_str(line);
        joined.push('\n');
    }
    joined.pop();
    joined
}

/// Moves all that is to be said of an option into its ordinary help: as soon as anything is only in the long
/// help, clap prints blank lines between options.
fn with_long_help(arg: Arg) -> Arg {
    let arg = arg.hide_short_help(false);
    let Some(long) = arg.get_long_help().map(ToString::to_string) else {
        return arg;
    };
    let paragraphs: Vec<_> = long.split("\n\n").collect();
    arg.help(paragraphs.join("; ")).long_help(None::<&'static str>)
}

fn with_help_flags(command: Command, has_more: bool, has_all: bool) -> Command {
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help_heading(None::<&'static str>)
        .help(if has_more {
            "Print help: -h for a summary, --help for more"
        } else {
            "Print help"
        });
    let command = command.disable_help_flag(true).arg(help);
    if has_all {
        return command;
    }
    command.arg(help_all().hide(true))
}

/// The option `--help-all`. A verb that lists it has more to tell there than with `--help`; others take
/// it silently.
pub(crate) fn help_all() -> Arg {
    Arg::new("help-all")
        .long("help-all")
        .action(ArgAction::Help)
        .help_heading(None::<&'static str>)
        .help("Print help with the options of all algorithms")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> HelpRequest {
        HelpRequest::read(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn the_longest_help_asked_for_wins() {
        assert_eq!(read("train -h").length, Length::Short);
        assert_eq!(read("train -h --help").length, Length::Long);
        assert_eq!(read("help train").length, Length::Long);
        assert_eq!(read("train --help --help-all").length, Length::All);
        assert_eq!(read("train -- --help-all").length, Length::Short);
    }

    #[test]
    fn paragraphs_are_broken_by_the_terminal_alone() {
        let text = "One goes\non.\n\nAnother:\n  item\n  item\nA third\none.\nExample:\n  memoir";
        let expected = "One goes on.\n\nAnother:\n  item\n  item\nA third one. Example:\n  memoir";
        assert_eq!(in_paragraphs(text), expected);
    }

    #[test]
    fn the_algorithm_is_found_before_and_after_the_flag() {
        let l1 = Some("memoir-l1".to_owned());
        assert_eq!(read("train --algorithm memoir-l1 --help").algorithm, l1);
        assert_eq!(read("train --help --algorithm=memoir-l1").algorithm, l1);
        assert_eq!(read("train --help --algorithm").algorithm, None);
    }
}
