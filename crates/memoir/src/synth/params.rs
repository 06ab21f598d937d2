//! The shape of made-up data: what users may choose, and the presets.

use crate::params::{Kind, Parameters};
use crate::{Error, Result, choices, parameters};

parameters! {
    /// The shape as users give it. What is `auto` comes from the preset named by `like`.
    pub struct SynthSettings {
        /// The data set whose numbers of rows, features and classes are taken
        like: Like = "demo";
        /// Multiplies the preset's rows, features and classes, but not the length of rows
        scale: f64 = "1" in Kind::Number(0.000_001, 1000.0);
        /// Number of rows
        rows: Option<u64> = "auto" in Kind::Integer(1, MOST);
        /// Number of rows of the test part; auto is a fifth of the rows
        test_rows: Option<u64> = "auto" in Kind::Integer(1, MOST);
        /// Number of features to draw from
        features: Option<u64> = "auto" in Kind::Integer(1, MOST);
        /// Number of classes; each occurs if there are at least as many rows
        classes: Option<u64> = "auto" in Kind::Integer(1, MOST);
        /// Mean number of different features in a row
        row_length: Option<f64> = "auto" in Kind::Number(1.0, 100_000.0);
        /// The class of rank r has a share of rows proportional to r to the minus this; auto is the
        /// preset's, 0.8 for the demo
        class_exponent: Option<f64> = "auto" in Kind::Number(0.0, 3.0);
        /// The feature of rank r is used in proportion to r to the minus this (the first ranks less)
        feature_exponent: f64 = "1" in Kind::Number(0.0, 3.0);
        /// Mean number of features from the class's own topic, more being easier; auto is 2 plus a fortieth
        /// of the row length, times a factor of the preset
        signal: Option<f64> = "auto" in Kind::Number(0.0, 100_000.0);
        /// Share of rows that speak of another class with the same parent as much as of their own, as
        /// texts with several labels do when each label gets a copy; auto is the preset's
        mixed_rows: Option<f64> = "auto" in Kind::Number(0.0, 1.0);
        /// Share of rows whose label is that of another row; auto is the preset's, 0.05 for the demo
        label_noise: Option<f64> = "auto" in Kind::Number(0.0, 1.0);
        /// libsvm writes counts of numbered features, csv texts of invented words with named classes; auto
        /// is what the file's name says, libsvm without one
        format: Option<Format> = "auto";
    }
}

/// Class and feature numbers are 32 bits wide.
const MOST: u64 = 4_000_000_000;

choices! {
    /// The data sets whose shape can be taken: the paper's, and the demo.
    #[allow(missing_docs)] // The names say it all.
    pub enum Like {
        Demo = "demo",
        Lshtc1 = "lshtc1",
        Dmoz = "dmoz",
        WikiSmall = "wiki-small",
        Wiki50k = "wiki-50k",
        Wiki100k = "wiki-100k",
    }
}

choices! {
    /// How rows are written.
    pub enum Format {
        /// `label index:count …`, both numbered from 1.
        Libsvm = "libsvm",
        /// Columns `text` and `label`, with a header.
        Csv = "csv",
    }
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
    /// Share of rows that speak of a sibling as much as of their own class.
    pub mixed_rows: f64,
    /// Share of wrong labels.
    pub label_noise: f64,
    /// How rows are written.
    pub format: Format,
}

struct Preset {
    rows: u64,
    features: u64,
    classes: u64,
    row_length: f64,
    class_exponent: f64,
    /// Factor of the number of features from the class's own topic.
    ease: f64,
    mixed_rows: f64,
    label_noise: f64,
}

impl Like {
    /// The numbers of the paper's table of data sets (rows: train, test and held-out together). The paper
    /// does not give row lengths: these are round figures for web pages and for encyclopedia abstracts.
    /// Texts of an encyclopedia have several labels, so most rows are mixed. `ease` and `label_noise` were
    /// fitted by `experiments/paper/fit_synth.py`, so that accuracies come near the paper's.
    fn preset(self) -> Preset {
        let (rows, features, classes) = match self {
            Self::Demo => (40_000, 20_000, 2_500),
            Self::Lshtc1 => (163_589, 409_774, 12_294),
            Self::Dmoz => (510_943, 594_158, 27_875),
            Self::WikiSmall => (1_000_772, 380_078, 36_504),
            Self::Wiki50k => (1_384_693, 951_558, 50_000),
            Self::Wiki100k => (2_750_663, 1_271_710, 100_000),
        };
        let (row_length, class_exponent, mixed_rows) = match self {
            Self::Demo => (12.0, 0.8, 0.4),
            Self::Lshtc1 | Self::Dmoz => (150.0, 0.5, 0.4),
            Self::WikiSmall | Self::Wiki50k | Self::Wiki100k => (45.0, 0.5, 0.8),
        };
        let (ease, label_noise) = match self {
            Self::Demo => (1.0, 0.05),
            Self::Lshtc1 => (2.7, 0.36),
            Self::Dmoz => (2.05, 0.365),
            Self::WikiSmall => (3.2, 0.49),
            Self::Wiki50k => (3.2, 0.335),
            Self::Wiki100k => (3.2, 0.37),
        };
        Preset {
            rows,
            features,
            classes,
            row_length,
            class_exponent,
            ease,
            mixed_rows,
            label_noise,
        }
    }
}

impl SynthParams {
    /// Checks options given as text, by name; preset and table stand in for the rest.
    pub fn parse<'t>(given: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self> {
        (&SynthSettings::parse(given)?).try_into()
    }
}

impl TryFrom<&SynthSettings> for SynthParams {
    type Error = Error;

    /// A number given by itself is not scaled.
    fn try_from(settings: &SynthSettings) -> Result<Self> {
        settings.check()?;
        let preset = settings.like.preset();
        let scaled = |unscaled: u64| {
            let scaled = (unscaled as f64 * settings.scale).round();
            scaled.clamp(1.0, MOST as f64) as u64
        };
        let rows = settings.rows.unwrap_or(scaled(preset.rows));
        let row_length = settings.row_length.unwrap_or(preset.row_length);
        Ok(Self {
            rows,
            test_rows: settings.test_rows.unwrap_or(rows.div_ceil(5)),
            features: settings.features.unwrap_or(scaled(preset.features)) as u32,
            classes: settings.classes.unwrap_or(scaled(preset.classes)) as u32,
            row_length,
            class_exponent: settings.class_exponent.unwrap_or(preset.class_exponent),
            feature_exponent: settings.feature_exponent,
            signal: settings.signal.unwrap_or(preset.ease * (2.0 + row_length / 40.0)),
            mixed_rows: settings.mixed_rows.unwrap_or(preset.mixed_rows),
            label_noise: settings.label_noise.unwrap_or(preset.label_noise),
            format: settings.format.unwrap_or(Format::Libsvm),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
