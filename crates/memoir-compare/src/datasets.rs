//! The data sets of an experiment on disk and in memory: made up where asked for, fingerprinted, read
//! for conversion and for judging predictions.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::bail;
use memoir::data::{Format, ReadOptions, Source};
use memoir::model::write_beside;
use memoir::prepare::{self, PrepOptions, WeightingChoice};
use memoir::synth::{Generator, Part, SynthParams};
use memoir::text::TextParams;
use memoir::{Dataset, Session};
use memoir_report::names::write_escaped;
use xxhash_rust::xxh3::Xxh3;

use crate::experiment::{DataSet, as_text, pairs};

/// Sizes of a data set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) classes: usize,
    pub(crate) features: usize,
}

/// Weighted rows with their labels, and what predictions are compared with.
pub(crate) struct Loaded {
    pub(crate) train: Dataset,
    pub(crate) test: Dataset,
    /// Training rows of each class.
    pub(crate) training_counts: Vec<u32>,
    /// Class numbers by name, as our program writes names.
    pub(crate) by_name: HashMap<Vec<u8>, u32>,
}

impl DataSet {
    /// Makes up the files, where they are not given and not there yet.
    pub(crate) fn make(&mut self, folder: &Path, session: &Session<'_>) -> anyhow::Result<()> {
        if self.synth.is_empty() {
            return Ok(());
        }
        let ending = match self.synth.get("format").and_then(toml::Value::as_str) {
            Some("csv") => "csv",
            _ => "svm",
        };
        fs::create_dir_all(folder)?;
        self.train = folder.join(format!("train.{ending}"));
        self.test = folder.join(format!("test.{ending}"));
        let given = as_text(&self.synth);
        // The name tells what was asked for: a changed experiment makes new data.
        let asked = folder.join("synth.txt");
        let wanted = format!("{given:?}\n");
        if fs::read_to_string(&asked).is_ok_and(|made| made == wanted) {
            return Ok(());
        }
        let generator = Generator::new(SynthParams::parse(pairs(&given))?, session);
        for (path, part) in [(&self.train, Part::Train), (&self.test, Part::Test)] {
            write_beside(path, |mut out| generator.write(part, &mut out, path, session))?;
        }
        fs::write(asked, wanted)?;
        Ok(())
    }

    /// What every method gets to see, in one number: the bytes of both files, and how they are to be read.
    pub(crate) fn fingerprint(&self) -> anyhow::Result<String> {
        let mut digest = Xxh3::new();
        for path in [&self.train, &self.test] {
            add_file(&mut digest, path)?;
        }
        // Only what the experiment says: a new option of the library is not other data.
        for word in self.reading_arguments() {
            digest.update(format!("{word}\0").as_bytes());
        }
        digest.update(format!("{:?}", (&self.weighting, as_text(&self.text))).as_bytes());
        Ok(format!("{:016x}", digest.digest()))
    }

    /// How to read the files.
    pub(crate) fn reading(&self) -> anyhow::Result<ReadOptions> {
        let format = self.format.as_deref().map(Format::from_str).transpose();
        Ok(ReadOptions {
            format: format.map_err(|problem| anyhow::anyhow!("`format`: {problem}"))?,
            text_column: self.text_column.clone(),
            label_column: self.label_column.clone(),
            label_separator: self.label_separator.clone(),
            single_label: self.single_label,
            zero_based: self.zero_based,
            ..ReadOptions::default()
        })
    }

    /// The same as arguments of our program.
    pub(crate) fn reading_arguments(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (name, value) in [
            ("--format", &self.format),
            ("--text-column", &self.text_column),
            ("--label-column", &self.label_column),
            ("--label-separator", &self.label_separator),
        ] {
            if let Some(value) = value {
                words.extend([name.to_owned(), value.clone()]);
            }
        }
        for (name, is_wanted) in [
            ("--single-label", self.single_label),
            ("--zero-based", self.zero_based),
        ] {
            words.extend(is_wanted.then(|| name.to_owned()));
        }
        words
    }

    /// What the values of vectors are.
    pub(crate) fn weighting_choice(&self) -> anyhow::Result<WeightingChoice> {
        Ok(match self.weighting.as_deref() {
            None | Some("auto") => WeightingChoice::Auto,
            Some("counts") => WeightingChoice::Counts,
            Some("unit") => WeightingChoice::Unit,
            Some("raw") => WeightingChoice::Raw,
            Some(other) => bail!("`weighting` is `{other}`, but expected auto, counts, unit or raw"),
        })
    }

    /// Reads and weighs both files.
    pub(crate) fn load(&self, session: &Session<'_>) -> anyhow::Result<Loaded> {
        let options = self.reading()?;
        let text = as_text(&self.text);
        let prep = PrepOptions {
            text: TextParams::parse(pairs(&text))?,
            weighting: self.weighting_choice()?,
            ..PrepOptions::default()
        };
        let training = prepare::read_training(Source::new(&self.train), &options, &prep, session)?;
        let (preprocessing, train) = (training.preprocessing, training.data);
        let (test, _) = prepare::read_with(
            Source::new(&self.test),
            &options,
            &preprocessing,
            &train.classes,
            session,
        )?;
        if test.labels.total() == 0 {
            bail!(
                "{}: no row has a label; a comparison needs them",
                self.test.display()
            );
        }
        let by_name = train.classes.iter().enumerate().map(|(number, name)| {
            let mut escaped = Vec::new();
            write_escaped(&mut escaped, name)?;
            Ok((escaped, number as u32))
        });
        Ok(Loaded {
            training_counts: train.labels.class_counts(train.classes.len()),
            by_name: by_name.collect::<std::io::Result<_>>()?,
            train,
            test,
        })
    }
}

impl Loaded {
    pub(crate) fn shape(&self) -> Shape {
        Shape {
            rows: self.train.len(),
            classes: self.train.classes.len(),
            features: self.train.rows.width(),
        }
    }
}

/// Adds the content of a file, and where it ends.
pub(crate) fn add_file(digest: &mut Xxh3, path: &PathBuf) -> anyhow::Result<()> {
    let fail = |reason| anyhow::anyhow!("{}: cannot read: {reason}", path.display());
    let mut file = File::open(path).map_err(fail)?;
    let mut buffer = vec![0; 1 << 16];
    let mut length: u64 = 0;
    loop {
        let read = file.read(&mut buffer).map_err(fail)?;
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
        length += read as u64;
    }
    digest.update(&length.to_le_bytes());
    Ok(())
}
