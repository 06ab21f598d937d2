//! `memoir man`: the manual page on standard output, or one page per verb into a folder.

use std::io;
use std::path::PathBuf;

use clap::Args;
use memoir::model::write_beside;

use crate::help::HelpRequest;
use crate::output::print_bytes;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  memoir man | man -l -\n  memoir man --out ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// Folder for `memoir.1` and one page per verb
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut command = crate::command(&HelpRequest::EVERYTHING);
    command.build();
    let Some(folder) = &arguments.out else {
        return print_bytes(&page(&command)?);
    };
    std::fs::create_dir_all(folder).map_err(|reason| memoir::Error::io(folder, "cannot create", reason))?;
    let verbs = command
        .get_subcommands()
        .filter(|verb| verb.get_name() != "help" && !verb.is_hide_set());
    for command in std::iter::once(&command).chain(verbs) {
        // After `build`, a verb knows its full name: `memoir-train`.
        let name = command
            .get_display_name()
            .unwrap_or(command.get_name())
            .to_owned();
        let content = page(&command.clone().name(name.clone()))?;
        let path = folder.join(format!("{name}.1"));
        crate::interrupt::while_writing(|| {
            write_beside(&path, |out| {
                out.write_all(&content)
                    .map_err(|reason| memoir::Error::io(&path, "cannot write", reason))
            })
        })?;
    }
    Ok(())
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut bytes)?;
    Ok(bytes)
}
