//! The `memoir` program: raw arguments become typed ones, one file per verb does the work, and every
//! outcome becomes an exit code: 0 for success, 2 for an error (one line on standard error), 130 after
//! Ctrl-C, SIGTERM or SIGHUP.

mod answer_table;
mod answers;
mod arguments;
mod back_off;
mod class_lists;
mod demo_corpus;
mod evaluation_pictures;
mod evaluation_report;
mod evaluation_tables;
mod failure;
mod feature_names;
mod gap_plot;
mod help;
mod interrupt;
mod marked_text;
mod method_options;
mod out_of_memory;
mod output;
mod peak_memory;
mod progress;
mod sources;
mod verbs;
mod vocabulary_options;
mod wordnet;
mod wordnet_vocabulary;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use memoir::{Cancel, Catalogue};

use help::HelpRequest;

/// Assigns text, or any sparse vector, to one of thousands to hundreds of thousands of classes, on a CPU.
#[derive(Debug, Parser)]
#[command(
    name = "memoir",
    version,
    max_term_width = 110,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(
    after_help = "Start with `memoir demo`. `memoir VERB -h` sums up a verb, `memoir VERB --help` explains it."
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Learn a model from labelled rows and write it to a file
    Train(verbs::train::Arguments),
    /// Search for settings that suit the data, and print the command that trains with them
    Tune(verbs::tune::Arguments),
    /// Predict the best classes of each row
    Predict(verbs::predict::Arguments),
    /// Measure a model on labelled rows
    Evaluate(verbs::evaluate::Arguments),
    /// Show what is in a model file: sizes, parameters, classes
    Inspect(verbs::inspect::Arguments),
    /// Measure how inexact a rival oracle is, and what the theory says about it
    Margins(verbs::margins::Arguments),
    /// Show which words decide an answer, or what a class has learned
    Explain(verbs::explain::Arguments),
    /// List the classes of a model; rename, merge or retire classes without training again
    Classes(verbs::classes::Arguments),
    /// Give texts a class that they always get, or list these texts
    Overrides(verbs::overrides::Arguments),
    /// Write rows as a model sees them, for other programs
    Vectors(verbs::vectors::Arguments),
    /// Store a model in fewer bytes
    Compact(verbs::compact::Arguments),
    /// Measure the methods of an experiment side by side: time, memory, quality
    #[cfg(unix)]
    Compare(verbs::compare::Arguments),
    /// Answer over HTTP: predictions, explanations, feedback, a page
    #[cfg(feature = "serve")]
    Serve(verbs::serve::Arguments),
    /// Build a public data set from an installed package
    Data(verbs::data::Arguments),
    /// Find rows whose label is probably wrong, and classes that are probably one
    Audit(verbs::audit::Arguments),
    /// Store rows in a form that every verb reads faster, in memory that does not grow with them
    Prepare(verbs::prepare::Arguments),
    /// Divide labelled rows into training, held-out and test rows
    Split(verbs::split::Arguments),
    /// Generate data of a given shape
    Synth(verbs::synth::Arguments),
    /// Try everything on generated data: train, measure, explain
    Demo(verbs::demo::Arguments),
    /// Print completions for a shell
    Completions(verbs::completions::Arguments),
    /// Print the manual page, or write one page per verb
    Man(verbs::man::Arguments),
}

/// What every verb may need.
pub(crate) struct Context {
    pub(crate) catalogue: Catalogue,
    /// Raised by Ctrl-C, SIGTERM and SIGHUP.
    pub(crate) cancel: Cancel,
}

/// The algorithms this program offers.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue::new().with(memoir_baselines::ALGORITHMS, memoir_baselines::SCORERS)
}

/// The whole command line, with the options of all algorithms and the help that is asked for.
pub(crate) fn command(help: &HelpRequest) -> clap::Command {
    let command = Cli::command()
        .mut_subcommand("train", |train| verbs::train::options(train, help))
        .mut_subcommand("tune", |tune| verbs::tune::options(tune, help))
        .mut_subcommand("synth", |synth| verbs::synth::options(synth, help))
        .mut_subcommand("explain", verbs::explain::options);
    help::shape(command, help.length, "memoir")
}

/// The crates that read tables panic on some damaged files. What comes of it is told as an error.
#[cfg(feature = "tables")]
fn keep_table_panics_quiet() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(memoir_tables::TABLE_THREAD) {
            usual(panic);
        }
    }));
}

fn main() -> ExitCode {
    out_of_memory::is_an_error();
    #[cfg(feature = "tables")]
    keep_table_panics_quiet();
    let context = Context {
        catalogue: catalogue(),
        cancel: interrupt::install(),
    };
    match run(&context) {
        Ok(()) => ExitCode::SUCCESS,
        // A pipe that Ctrl-C has ended may look like an input that is cut off.
        Err(_) if context.cancel.is_raised() => failure::stopped(),
        Err(error) => failure::report(&error),
    }
}

fn run(context: &Context) -> anyhow::Result<()> {
    #[cfg(unix)]
    if let Some(task) = memoir_compare::measured::asked_for()? {
        let measured = memoir_compare::measured::measure(&task, &context.cancel)?;
        return output::print(&serde_json::to_string(&measured)?);
    }
    let matches = match command(&HelpRequest::read(std::env::args_os().skip(1))).try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return failure::usage(&error),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    let given = method_options::Given::of(matches.subcommand(), &context.catalogue);
    drop(matches);
    match cli.verb {
        Verb::Train(arguments) => verbs::train::run(&arguments, &given, context),
        Verb::Audit(arguments) => verbs::audit::run(&arguments, context),
        Verb::Prepare(arguments) => verbs::prepare::run(&arguments, context),
        Verb::Split(arguments) => verbs::split::run(&arguments, context),
        Verb::Tune(arguments) => verbs::tune::run(&arguments, &given, context),
        Verb::Synth(arguments) => verbs::synth::run(&arguments, &given, context),
        Verb::Predict(arguments) => verbs::predict::run(&arguments, context),
        Verb::Evaluate(arguments) => verbs::evaluate::run(&arguments, context),
        Verb::Inspect(arguments) => verbs::inspect::run(&arguments, context),
        Verb::Margins(arguments) => verbs::margins::run(&arguments, context),
        Verb::Explain(arguments) => verbs::explain::run(&arguments, context),
        Verb::Overrides(arguments) => verbs::overrides::run(&arguments, context),
        Verb::Vectors(arguments) => verbs::vectors::run(&arguments, context),
        Verb::Classes(arguments) => verbs::classes::run(&arguments, context),
        #[cfg(unix)]
        Verb::Compare(arguments) => verbs::compare::run(&arguments, context),
        #[cfg(feature = "serve")]
        Verb::Serve(arguments) => verbs::serve::run(&arguments, context),
        Verb::Data(arguments) => verbs::data::run(&arguments, context),
        Verb::Compact(arguments) => verbs::compact::run(&arguments, context),
        Verb::Demo(arguments) => verbs::demo::run(&arguments, context),
        Verb::Completions(arguments) => verbs::completions::run(&arguments),
        Verb::Man(arguments) => verbs::man::run(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::Length;

    #[test]
    fn the_command_line_is_consistent() {
        for length in [Length::Short, Length::Long, Length::All] {
            let algorithm = Some("memoir-l1".to_owned());
            command(&HelpRequest { length, algorithm }).debug_assert();
        }
    }
}
