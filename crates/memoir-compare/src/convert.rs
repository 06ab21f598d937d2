//! Our weighted rows in the file formats of other programs, so that all methods learn from the same vectors.
//!
//! | form | files | a row |
//! |---|---|---|
//! | `libsvm` | `train.svm`, `test.svm` | `class index:value …`, both from 1 (LIBLINEAR) |
//! | `xmc` | `train.txt`, `test.txt` | after a line `rows features classes`: `class,class index:value …`, from 0 (omikuji, napkinXC) |
//! | `vw` | `train.vw`, `test.vw` | `class \| index:value …`, from 1, training rows mixed (Vowpal Wabbit) |
//! | `fasttext` | `train.ft`, `test.ft` | `__label__class … w0 w7 …`: words stand for features, their values are lost; training rows mixed |
//! | `npy` | folders `train`, `test` | `indptr`, `indices`, `data` of the rows, `label_indptr`, `labels`, and `shape`, as NumPy arrays, from 0 |
//!
//! Test rows of classes without a training row get the number after the last one. Values are written so
//! that the same 32-bit number is read back.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use memoir::model::write_beside;
use memoir::{Dataset, Error, RowView};
use serde::Deserialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::datasets::{Loaded, add_file};

/// A form of vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Vectors {
    Libsvm,
    Xmc,
    Vw,
    FastText,
    Npy,
}

/// To be raised when files come out differently: files of earlier versions are written again.
const VERSION: u32 = 1;

const ARRAYS: [&str; 6] = ["indptr", "indices", "data", "label_indptr", "labels", "shape"];

impl Vectors {
    fn name(self) -> &'static str {
        match self {
            Self::Libsvm => "libsvm",
            Self::Xmc => "xmc",
            Self::Vw => "vw",
            Self::FastText => "fasttext",
            Self::Npy => "npy",
        }
    }

    /// The number of the first class in this form's files, and so in predictions made from them.
    pub(crate) fn first_class(self) -> u32 {
        match self {
            Self::Libsvm | Self::Vw => 1,
            Self::Xmc | Self::FastText | Self::Npy => 0,
        }
    }

    fn takes_several_labels(self) -> bool {
        !matches!(self, Self::Libsvm | Self::Vw)
    }

    /// Their programs learn from row after row as the file has them. Files sorted by class, which many
    /// are, would spoil that: training rows are mixed, in an order that is the same everywhere.
    fn is_for_online_learners(self) -> bool {
        matches!(self, Self::Vw | Self::FastText)
    }

    fn path(self, folder: &Path, split: &str) -> PathBuf {
        match self {
            Self::Libsvm => folder.join(format!("{split}.svm")),
            Self::Xmc => folder.join(format!("{split}.txt")),
            Self::Vw => folder.join(format!("{split}.vw")),
            Self::FastText => folder.join(format!("{split}.ft")),
            Self::Npy => folder.join(split),
        }
    }

    /// Writes both parts below `folder`, unless they are there, unchanged, from data with the same
    /// fingerprint.
    pub(crate) fn prepare(
        self,
        loaded: &Loaded,
        folder: &Path,
        fingerprint: &str,
    ) -> anyhow::Result<(PathBuf, PathBuf)> {
        if !self.takes_several_labels() && loaded.train.labels.iter().any(|labels| labels.len() > 1) {
            bail!(
                "vectors of the form {} have one label a row, but rows of this data set have several",
                self.name()
            );
        }
        let folder = folder.join(self.name());
        let paths = (self.path(&folder, "train"), self.path(&folder, "test"));
        let stamp = folder.join("stamp");
        let is_whole = fs::read_to_string(&stamp)
            .is_ok_and(|found| self.stamp(&paths, fingerprint).is_ok_and(|now| now == found));
        if is_whole {
            return Ok(paths);
        }
        fs::create_dir_all(&folder)?;
        let classes = loaded.train.classes.len() as u32;
        self.write(&loaded.train, classes, true, &paths.0)?;
        self.write(&loaded.test, classes, false, &paths.1)?;
        fs::write(stamp, self.stamp(&paths, fingerprint)?)?;
        Ok(paths)
    }

    /// What the files hold and where it comes from.
    fn stamp(self, paths: &(PathBuf, PathBuf), fingerprint: &str) -> anyhow::Result<String> {
        let mut digest = Xxh3::new();
        for path in [&paths.0, &paths.1] {
            match self {
                Self::Npy => {
                    for array in ARRAYS {
                        add_file(&mut digest, &path.join(format!("{array}.npy")))?;
                    }
                }
                _ => add_file(&mut digest, path)?,
            }
        }
        Ok(format!("{VERSION} {fingerprint} {:016x}\n", digest.digest()))
    }

    /// Writes rows; those of a training part that have no label are left out, because nobody can learn
    /// from them.
    fn write(self, data: &Dataset, classes: u32, is_training: bool, path: &Path) -> anyhow::Result<()> {
        let mut rows: Vec<_> = (0..data.len())
            .filter(|&row| !is_training || !data.labels.row(row).is_empty())
            .collect();
        if is_training && self.is_for_online_learners() {
            rows.sort_by_cached_key(|row| xxh3_64(&row.to_le_bytes()));
        }
        if self == Self::Npy {
            return write_arrays(data, &rows, classes, path);
        }
        write_beside(path, |out| {
            let fail = |reason| Error::io(path, "cannot write", reason);
            if self == Self::Xmc {
                let header = format!("{} {} {classes}\n", rows.len(), data.rows.width());
                out.write_all(header.as_bytes()).map_err(fail)?;
            }
            let mut line = String::new();
            for &row in &rows {
                line.clear();
                self.line(&mut line, data.rows.row(row), data.labels.row(row), classes);
                out.write_all(line.as_bytes()).map_err(fail)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// One row as a line. `write!` to a `String` cannot fail.
    fn line(self, line: &mut String, row: RowView<'_>, labels: &[u32], classes: u32) {
        let number = |label: u32| label.min(classes) + self.first_class();
        let first = number(labels.first().copied().unwrap_or(classes));
        match self {
            Self::Libsvm => _ = write!(line, "{first}"),
            Self::Vw => _ = write!(line, "{first} |"),
            Self::Xmc | Self::Npy => {
                let known = labels.iter().filter(|&&label| label < classes);
                let known: Vec<_> = known.map(ToString::to_string).collect();
                *line += &known.join(",");
            }
            Self::FastText => {
                let known = labels.iter().filter(|&&label| label < classes);
                let words = known.map(|label| format!("__label__{label}"));
                *line += &words.collect::<Vec<_>>().join(" ");
            }
        }
        let base = self.first_class();
        for (feature, value) in row.iter() {
            match self {
                Self::FastText => _ = write!(line, " w{feature}"),
                _ => _ = write!(line, " {}:{value}", feature + base),
            }
        }
        line.push('\n');
    }
}

/// Writes the arrays of a compressed sparse row matrix and of the label sets, each as a `.npy` file.
fn write_arrays(data: &Dataset, rows: &[usize], classes: u32, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let known = |row: usize| {
        data.labels
            .row(row)
            .iter()
            .copied()
            .filter(|&label| label < classes)
    };
    let running = |length: &dyn Fn(usize) -> usize| {
        let mut end = 0;
        let ends = rows.iter().map(|&row| {
            end += length(row);
            end as u64
        });
        std::iter::once(0)
            .chain(ends)
            .flat_map(u64::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let views = || rows.iter().map(|&row| data.rows.row(row));
    let of_u32 =
        |numbers: &mut dyn Iterator<Item = u32>| numbers.flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let values = views().flat_map(|view| view.values.iter().copied());
    let shape = [rows.len() as u64, data.rows.width() as u64, u64::from(classes)];
    let arrays: [(&str, &str, Vec<u8>); 6] = [
        ("indptr", "<i8", running(&|row| data.rows.row(row).len())),
        (
            "indices",
            "<i4",
            of_u32(&mut views().flat_map(|view| view.indices.iter().copied())),
        ),
        ("data", "<f4", values.flat_map(f32::to_le_bytes).collect()),
        ("label_indptr", "<i8", running(&|row| known(row).count())),
        (
            "labels",
            "<i4",
            of_u32(&mut rows.iter().flat_map(|&row| known(row))),
        ),
        (
            "shape",
            "<i8",
            shape.iter().flat_map(|number| number.to_le_bytes()).collect(),
        ),
    ];
    for (name, kind, bytes) in arrays {
        let path = folder.join(format!("{name}.npy"));
        let width = if kind.ends_with('8') { 8 } else { 4 };
        let header = npy_header(kind, bytes.len() / width);
        write_beside(&path, |out| {
            out.write_all(&header)
                .and_then(|()| out.write_all(&bytes))
                .map_err(|reason| Error::io(&path, "cannot write", reason))
        })?;
    }
    Ok(())
}

/// The head of a one-dimensional array in NumPy's format, version 1.0: padded so that the data begins at
/// 64 bytes.
fn npy_header(kind: &str, length: usize) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({length},), }}");
    let start = 10;
    while (start + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header
}
