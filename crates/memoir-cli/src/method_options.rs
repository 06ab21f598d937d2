//! The options of text preparation, of the algorithms and of made-up data. The library's tables give
//! their names, defaults, ranges and help; here they become options, and go back as (name, text) pairs
//! for the library to check.

use clap::{Arg, ArgMatches, Command};
use memoir::Catalogue;
use memoir::params::{Parameters, Spec};
use memoir::synth::SynthSettings;
use memoir::text::TextSettings;

use crate::help::{HelpRequest, Length};

/// Options of the library's tables that even the short help lists.
const FOR_NEWCOMERS: [&str; 3] = ["blocks", "text-preset", "effort"];

/// Adds the options to `train` or `tune`, and a list of the algorithms before the examples.
pub(crate) fn augment(mut train: Command, catalogue: &Catalogue, help: &HelpRequest) -> Command {
    let examples = train
        .get_after_long_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let algorithms = catalogue.algorithms().iter().map(|algorithm| {
        let summary = indented(algorithm.summary.trim_end_matches('.'), 16);
        format!("  {:<12}  {summary}\n", algorithm.name)
    });
    train = train.after_long_help(format!(
        "Algorithms:\n{}\n{examples}",
        algorithms.collect::<String>()
    ));
    for spec in TextSettings::SPECS {
        train = train.arg(option(spec, describe(spec, help.length)).help_heading("Options for text"));
    }
    let chosen = help.algorithm.as_deref().unwrap_or(Catalogue::DEFAULT_ALGORITHM);
    let chosen = catalogue
        .find(chosen)
        .map_or(Catalogue::DEFAULT_ALGORITHM, |algorithm| algorithm.name);
    for (_, owners) in by_name(catalogue) {
        let own = owners.iter().find(|(algorithm, _)| *algorithm == chosen);
        train = train.arg(match own {
            Some((algorithm, spec)) if help.length != Length::All => {
                option(spec, describe(spec, help.length)).help_heading(heading(algorithm))
            }
            _ => shared_option(&owners, help.length).hide(help.length != Length::All),
        });
    }
    train
}

/// `text` in lines that end before column 96, all but the first indented.
fn indented(text: &str, indent: usize) -> String {
    let mut shown = String::new();
    let mut column = indent;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column + 1 + width > 96 {
            shown.push('\n');
            shown.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            shown.push(' ');
            column += 1;
        }
        shown.push_str(word);
        column += width;
    }
    shown
}

fn heading(algorithm: &str) -> String {
    format!("Options of `--algorithm {algorithm}`")
}

/// An option as the help of all algorithms shows it.
fn shared_option(owners: &[(&str, &'static Spec)], length: Length) -> Arg {
    let first = owners[0].1;
    let heading = match owners {
        [(algorithm, _)] => heading(algorithm),
        _ => "Options of several algorithms".to_owned(),
    };
    let is_alike = owners
        .iter()
        .all(|(_, spec)| describe(spec, length) == describe(first, length));
    let help = if is_alike && owners.len() > 1 {
        let algorithms: Vec<_> = owners.iter().map(|(algorithm, _)| *algorithm).collect();
        format!("{} ({})", describe(first, length), algorithms.join(", "))
    } else if is_alike {
        describe(first, length)
    } else {
        let each = owners
            .iter()
            .map(|(algorithm, spec)| format!("{algorithm}: {}", describe(spec, length)));
        each.collect::<Vec<_>>().join("; ")
    };
    option(first, help).help_heading(heading)
}

/// Adds the options to `synth`.
pub(crate) fn augment_synth(mut synth: Command, help: &HelpRequest) -> Command {
    for spec in SynthSettings::SPECS {
        let for_newcomers = ["like", "scale", "rows", "classes"].contains(&spec.name);
        let option = option(spec, describe(spec, help.length)).hide_short_help(!for_newcomers);
        synth = synth.arg(option.help_heading("Shape"));
    }
    synth
}

/// Every algorithm option once, with the algorithms that have it, in the catalogue's order.
fn by_name(catalogue: &Catalogue) -> Vec<(&'static str, Vec<(&'static str, &'static Spec)>)> {
    let mut options: Vec<(&'static str, Vec<_>)> = Vec::new();
    for algorithm in catalogue.algorithms() {
        for spec in algorithm.params {
            match options.iter_mut().find(|(name, _)| *name == spec.name) {
                Some((_, owners)) => owners.push((algorithm.name, spec)),
                None => options.push((spec.name, vec![(algorithm.name, spec)])),
            }
        }
    }
    options
}

fn option(spec: &Spec, help: String) -> Arg {
    // The library gives the defaults, so that "not given" stays distinct from "given as the default".
    Arg::new(spec.name)
        .long(spec.name)
        .value_name("VALUE")
        .allow_negative_numbers(true)
        .hide_short_help(!FOR_NEWCOMERS.contains(&spec.name))
        .help(help)
}

/// The help of an option; the short one leaves out what follows the first semicolon, and the legal values.
fn describe(spec: &Spec, length: Length) -> String {
    let help = spec.help.trim_end_matches('.');
    match length {
        Length::Short => {
            let first = help.split(';').next().unwrap_or(help);
            format!("{first} [default: {}]", spec.default)
        }
        Length::Long | Length::All => format!("{help} [default: {}; {}]", spec.default, spec.legal()),
    }
}

/// The options that the user gave.
#[derive(Debug, Default)]
pub(crate) struct Given {
    text: Vec<(&'static str, String)>,
    method: Vec<(&'static str, String)>,
    shape: Vec<(&'static str, String)>,
}

impl Given {
    /// Collects them from the parsed arguments of a verb; most verbs have none.
    pub(crate) fn of(verb: Option<(&str, &ArgMatches)>, catalogue: &Catalogue) -> Self {
        let value =
            |matches: &ArgMatches, name: &'static str| Some((name, matches.get_one::<String>(name)?.clone()));
        let of_table = |matches: &ArgMatches, specs: &'static [Spec]| {
            specs
                .iter()
                .filter_map(|spec| value(matches, spec.name))
                .collect()
        };
        match verb {
            Some(("train" | "tune", matches)) => Self {
                text: of_table(matches, TextSettings::SPECS),
                method: by_name(catalogue)
                    .iter()
                    .filter_map(|(name, _)| value(matches, name))
                    .collect(),
                ..Self::default()
            },
            Some(("synth", matches)) => Self {
                shape: of_table(matches, SynthSettings::SPECS),
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    /// Options of made-up data.
    pub(crate) fn shape(&self) -> impl Iterator<Item = (&str, &str)> {
        self.shape.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Options of the text pipeline.
    pub(crate) fn text(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Options of `algorithm`; an error if one was given that belongs to others only.
    pub(crate) fn method(&self, algorithm: &str, catalogue: &Catalogue) -> anyhow::Result<Vec<(&str, &str)>> {
        let chosen = catalogue.find(algorithm)?;
        for (name, _) in &self.method {
            if !chosen.params.iter().any(|spec| spec.name == *name) {
                let owners: Vec<_> = catalogue
                    .algorithms()
                    .iter()
                    .filter(|other| other.params.iter().any(|spec| spec.name == *name))
                    .map(|other| format!("`{}`", other.name))
                    .collect();
                anyhow::bail!(
                    "`--{name}` is not an option of `{algorithm}`; it belongs to {}",
                    owners.join(", ")
                );
            }
        }
        Ok(self
            .method
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use memoir::catalogue::{Algorithm, AlgorithmParams};
    use memoir::params::Kind;
    use memoir::train::Trainer;

    use super::*;

    memoir::parameters! {
        /// Parameters of one algorithm.
        pub struct One {
            /// How often.
            turns: u32 = "2" in Kind::Integer(1, 9);
        }
    }

    memoir::parameters! {
        /// Parameters of another one.
        pub struct Two {
            /// How much.
            bend: f64 = "0.5" in Kind::Number(0.0, 1.0);
            ..one: One;
        }
    }

    impl AlgorithmParams for One {
        const NAME: &'static str = "one";
        const SUMMARY: &'static str = "";
        fn trainer(&self) -> memoir::Result<Box<dyn Trainer>> {
            Err(memoir::Error::Cancelled)
        }
    }

    impl AlgorithmParams for Two {
        const NAME: &'static str = "two";
        const SUMMARY: &'static str = "";
        fn trainer(&self) -> memoir::Result<Box<dyn Trainer>> {
            Err(memoir::Error::Cancelled)
        }
    }

    fn catalogue() -> Catalogue {
        Catalogue::new().with(&[Algorithm::of::<One>(), Algorithm::of::<Two>()], &[])
    }

    fn given(words: &[&str]) -> Given {
        let command = augment(Command::new("train"), &catalogue(), &HelpRequest::EVERYTHING);
        let matches = command
            .try_get_matches_from([&["train"], words].concat())
            .unwrap();
        Given::of(Some(("train", &matches)), &catalogue())
    }

    #[test]
    fn options_reach_their_algorithm() {
        let given = given(&["--turns", "3", "--bend", "0.1", "--min-df", "2"]);
        assert_eq!(
            given.method("two", &catalogue()).unwrap(),
            [("turns", "3"), ("bend", "0.1")]
        );
        assert_eq!(given.text().collect::<Vec<_>>(), [("min-df", "2")]);
    }

    #[test]
    fn options_of_others_are_refused_with_their_owner() {
        let error = given(&["--bend", "0.1"]).method("one", &catalogue()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`--bend` is not an option of `one`; it belongs to `two`"
        );
    }

    fn help(length: Length, algorithm: &str) -> String {
        let algorithm = Some(algorithm.to_owned());
        let help = HelpRequest { length, algorithm };
        let train = augment(Command::new("train"), &catalogue(), &help);
        let text = crate::help::shape(train, length, "train")
            .render_help()
            .to_string();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn help_for_all_algorithms_tells_defaults_ranges_and_owners() {
        let help = help(Length::All, "one");
        for text in [
            "How much [default: 0.5; a number from 0 to 1]",
            "How often [default: 2; a whole number from 1 to 9] (one, two)",
        ] {
            assert!(help.contains(text), "{text} in {help}");
        }
    }

    #[test]
    fn help_for_one_algorithm_has_its_options_only() {
        let of_one = help(Length::Long, "one");
        assert!(
            of_one.contains("Options of `--algorithm one`: --turns"),
            "{of_one}"
        );
        assert!(!of_one.contains("--bend"), "{of_one}");
        assert!(help(Length::Long, "two").contains("--bend"));
    }

    #[test]
    fn short_help_has_neither() {
        let help = help(Length::Short, "two");
        assert!(!help.contains("--bend") && !help.contains("--turns"), "{help}");
        assert!(help.contains("--blocks"), "{help}");
    }
}
