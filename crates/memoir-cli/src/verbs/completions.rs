//! `memoir completions`: shell completions on standard output.

use clap::Args;
use clap_complete::Shell;

use crate::help::HelpRequest;
use crate::output::print_bytes;

#[derive(Debug, Args)]
#[command(
    after_long_help = "Example:\n  memoir completions bash > ~/.local/share/bash-completion/completions/memoir"
)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    // Into memory first: the generator would panic if the reader of standard output went away.
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut crate::command(&HelpRequest::EVERYTHING),
        "memoir",
        &mut script,
    );
    print_bytes(&script)
}
