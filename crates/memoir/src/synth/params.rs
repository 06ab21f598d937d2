//! The shape of made-up data: one table of options, and the presets.

use crate::Result;
use crate::params::{Kind, Spec, Values};

/// The options of `memoir synth`. What is `auto` comes from the preset named by `like`.
pub const SYNTH_PARAMS: &[Spec] = &[
    Spec {
        name: "like",
        kind: Kind::Choice(&["demo", "lshtc1", "dmoz", "wiki-small", "wiki-50k", "wiki-100k"]),
        default: "demo",
        help: "The data set whose numbers of rows, features and classes are taken",
    },
    Spec {
        name: "scale",
        kind: Kind::Number(0.000_001, 1000.0),
        default: "1",
        help: "Multiplies the preset's rows, features and classes, but not the length of rows",
    },
    Spec {
        name: "rows",
        kind: Kind::Integer(1, MOST),
        default: "auto",
        help: "Number of rows",
    },
    Spec {
        name: "test-rows",
        kind: Kind::Integer(1, MOST),
        default: "auto",
        help: "Number of rows of the test part; auto is a fifth of the rows",
    },
    Spec {
        name: "features",
        kind: Kind::Integer(1, MOST),
        default: "auto",
        help: "Number of features to draw from",
    },
    Spec {
        name: "classes",
        kind: Kind::Integer(1, MOST),
        default: "auto",
        help: "Number of classes; each occurs if there are at least as many rows",
    },
    Spec {
        name: "row-length",
        kind: Kind::Number(1.0, 100_000.0),
        default: "auto",
        help: "Mean number of different features in a row",
    },
    Spec {
        name: "class-exponent",
        kind: Kind::Number(0.0, 3.0),
        default: "0.8",
        help: "The class of rank r has a share of rows proportional to r to the minus this",
    },
    Spec {
        name: "feature-exponent",
        kind: Kind::Number(0.0, 3.0),
        default: "1",
        help: "The feature of rank r is used in proportion to r to the minus this (the first ranks less)",
    },
    Spec {
        name: "signal",
        kind: Kind::Number(0.0, 100_000.0),
        default: "auto",
        help: "Mean number of features from the class's own topic, more being easier; auto is 2 plus a fortieth \
               of the row length",
    },
    Spec {
        name: "label-noise",
        kind: Kind::Number(0.0, 1.0),
        default: "0.05",
        help: "Share of rows whose label is that of another row",
    },
    Spec {
        name: "format",
        kind: Kind::Choice(&["libsvm", "csv"]),
        default: "auto",
        help: "libsvm writes counts of numbered features, csv texts of invented words with named classes; auto is \
               what the file's name says, libsvm without one",
    },
];

/// Class and feature numbers are 32 bits wide.
const MOST: u64 = u32::MAX as u64 - 1;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `label index:count …`, both numbered from 1.
    Libsvm,
    /// Columns `text` and `label`, with a header.
    Csv,
}

/// A checked shape.
#[derive(Debug, Clone, PartialEq)]
pub struct SynthParams {
    /// Number of rows.
    pub rows: u64,
    /// Number of rows of the test part.
    pub test_rows: u64,
    /// Number of features to draw from.
    pub features: u32,
    /// Number of classes.
    pub classes: u32,
    /// Mean number of different features in a row.
    pub row_length: f64,
    /// Exponent of class sizes.
    pub class_exponent: f64,
    /// Exponent of feature frequencies.
    pub feature_exponent: f64,
    /// Mean number of features from the class's own topic.
    pub signal: f64,
    /// Share of wrong labels.
    pub label_noise: f64,
    /// How rows are written.
    pub format: Format,
}

struct Preset {
    name: &'static str,
    rows: u64,
    features: u64,
    classes: u64,
    row_length: f64,
}

/// The paper's data sets with the numbers of its table of data sets (rows: train, test and held-out together), and the
/// demo. The paper does not give row lengths: these are round figures for web pages and for encyclopedia abstracts.
const PRESETS: &[Preset] = &[
    Preset {
        name: "demo",
        rows: 40_000,
        features: 20_000,
        classes: 2_500,
        row_length: 12.0,
    },
    Preset {
        name: "lshtc1",
        rows: 163_589,
        features: 409_774,
        classes: 12_294,
        row_length: 150.0,
    },
    Preset {
        name: "dmoz",
        rows: 510_943,
        features: 594_158,
        classes: 27_875,
        row_length: 150.0,
    },
    Preset {
        name: "wiki-small",
        rows: 1_000_772,
        features: 380_078,
        classes: 36_504,
        row_length: 45.0,
    },
    Preset {
        name: "wiki-50k",
        rows: 1_384_693,
        features: 951_558,
        classes: 50_000,
        row_length: 45.0,
    },
    Preset {
        name: "wiki-100k",
        rows: 2_750_663,
        features: 1_271_710,
        classes: 100_000,
        row_length: 45.0,
    },
];

impl SynthParams {
    /// Checks options given as text, by name; preset and table stand in for the rest.
    pub fn parse<'t>(given: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self> {
        Ok(Self::from_values(&Values::check(SYNTH_PARAMS, given)?))
    }

    /// Takes values that were checked against [`SYNTH_PARAMS`]. A number given by itself is not scaled.
    pub fn from_values(values: &Values) -> Self {
        let like = values.word("like");
        let preset = PRESETS
            .iter()
            .find(|preset| Some(preset.name) == like)
            .unwrap_or(&PRESETS[0]);
        let number = |name| values.number(name).unwrap_or(0.0);
        let scale = number("scale");
        let count = |name, unscaled: u64| {
            let scaled = (unscaled as f64 * scale).round().clamp(1.0, MOST as f64) as u64;
            values.integer(name).unwrap_or(scaled)
        };
        let rows = count("rows", preset.rows);
        let row_length = values.number("row-length").unwrap_or(preset.row_length);
        Self {
            rows,
            test_rows: values.integer("test-rows").unwrap_or(rows.div_ceil(5)),
            features: count("features", preset.features) as u32,
            classes: count("classes", preset.classes) as u32,
            row_length,
            class_exponent: number("class-exponent"),
            feature_exponent: number("feature-exponent"),
            signal: values.number("signal").unwrap_or(2.0 + row_length / 40.0),
            label_noise: number("label-noise"),
            format: if values.word("format") == Some("csv") {
                Format::Csv
            } else {
                Format::Libsvm
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offered_preset_exists() {
        let Kind::Choice(names) = SYNTH_PARAMS[0].kind else {
            unreachable!()
        };
        assert_eq!(
            names,
            PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>()
        );
    }

    #[test]
    fn scale_multiplies_rows_features_and_classes_unless_given() {
        let params = SynthParams::parse([("like", "lshtc1"), ("scale", "0.1"), ("features", "77")]).unwrap();
        assert_eq!(
            (params.rows, params.features, params.classes),
            (16_359, 77, 1_229)
        );
        assert_eq!((params.test_rows, params.row_length), (3_272, 150.0));
        let tiny = SynthParams::parse([("scale", "0.000001")]).unwrap();
        assert_eq!((tiny.rows, tiny.features, tiny.classes), (1, 1, 1));
    }

    #[test]
    fn wrong_values_are_refused() {
        let message = SynthParams::parse([("like", "imagenet")])
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with("`like` must be one of demo, lshtc1"),
            "{message}"
        );
        assert!(SynthParams::parse([("label-noise", "1.5")]).is_err());
        assert!(SynthParams::parse([("rows", "0")]).is_err());
    }
}
