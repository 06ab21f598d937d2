//! The options of text preparation, of the algorithms and of made-up data. The library's tables give their names,
//! defaults, ranges and help; here they become options, and go back as (name, text) pairs for the library to check.

use clap::{Arg, ArgMatches, Command};
use memoir::Catalogue;
use memoir::params::{Parameters, Spec};
use memoir::synth::SynthSettings;
use memoir::text::TextSettings;

/// Adds the options to `train`, and a list of the algorithms before the examples.
pub(crate) fn augment(mut train: Command, catalogue: &Catalogue) -> Command {
    let examples = train
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let algorithms = catalogue
        .algorithms()
        .iter()
        .map(|algorithm| format!("  {:<12}  {}\n", algorithm.name, algorithm.summary));
    train = train.after_help(format!(
        "Algorithms:\n{}\n{examples}",
        algorithms.collect::<String>()
    ));
    for spec in TextSettings::SPECS {
        train = train.arg(option(spec, describe(spec)).help_heading("Options for text"));
    }
    for (name, owners) in by_name(catalogue) {
        let heading = match owners.as_slice() {
            [(algorithm, _)] => format!("Options of `--algorithm {algorithm}`"),
            _ => "Options of several algorithms".to_owned(),
        };
        let first = owners[0].1;
        let alike = owners.iter().all(|(_, spec)| describe(spec) == describe(first));
        let help = if alike && owners.len() > 1 {
            let algorithms: Vec<_> = owners.iter().map(|(algorithm, _)| *algorithm).collect();
            format!("{} ({})", describe(first), algorithms.join(", "))
        } else if alike {
            describe(first)
        } else {
            let each = owners
                .iter()
                .map(|(algorithm, spec)| format!("{algorithm}: {}", describe(spec)));
            each.collect::<Vec<_>>().join("; ")
        };
        debug_assert_eq!(name, first.name);
        train = train.arg(option(first, help).help_heading(heading));
    }
    train
}

/// Adds the options to `synth`.
pub(crate) fn augment_synth(mut synth: Command) -> Command {
    for spec in SynthSettings::SPECS {
        synth = synth.arg(option(spec, describe(spec)).help_heading("Shape"));
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
        .help(help)
}

fn describe(spec: &Spec) -> String {
    format!(
        "{} [default: {}; {}]",
        spec.help.trim_end_matches('.'),
        spec.default,
        spec.legal()
    )
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
            Some(("train", matches)) => Self {
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
        let command = augment(Command::new("train"), &catalogue());
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

    #[test]
    fn help_tells_defaults_and_ranges() {
        let mut train = augment(Command::new("train"), &catalogue());
        let help = train
            .render_help()
            .to_string()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            help.contains("How much [default: 0.5; a number from 0 to 1]"),
            "{help}"
        );
        assert!(
            help.contains("How often [default: 2; a whole number from 1 to 9] (one, two)"),
            "{help}"
        );
    }
}
