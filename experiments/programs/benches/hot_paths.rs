//! The paths that users wait for: reading files, cutting texts, scanning classes, learning.
//!
//! `cargo bench -p memoir-xc-experiments`; a name as argument runs what contains it.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{PrepOptions, read_training};
use memoir::synth::{Generator, Part, SynthParams};
use memoir::{Classifier, Model, Session};
use tempfile::TempDir;

fn session() -> Session<'static> {
    Session::new(NonZeroUsize::MIN).expect("a session of one thread")
}

/// Made-up vectors in a file: `rows` of about `length` features, 10,000 classes.
fn vectors(folder: &TempDir, rows: usize, length: usize) -> PathBuf {
    let (rows, length) = (rows.to_string(), length.to_string());
    let given = [
        ("classes", "10000"),
        ("rows", rows.as_str()),
        ("features", "50000"),
        ("row-length", length.as_str()),
    ];
    let params = SynthParams::parse(given).expect("legal parameters");
    let session = session();
    let path = folder.path().join(format!("{length}.svm"));
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("created"));
    let generator = Generator::new(params, &session);
    generator
        .write(Part::Train, &mut file, &path, &session)
        .expect("written");
    path
}

/// Texts of eight invented words in a CSV file.
fn texts(folder: &TempDir, rows: u64) -> PathBuf {
    let mut csv = String::from("label,text\n");
    for row in 0..rows {
        write!(csv, "class {},", row % 500).expect("a string takes it");
        for word in 0..8u64 {
            // A word is common if its number is small.
            let mixed = (row * 8 + word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            write!(csv, "w{} ", mixed * mixed % 20_011).expect("a string takes it");
        }
        csv.push('\n');
    }
    let path = folder.path().join("texts.csv");
    std::fs::write(&path, csv).expect("written");
    path
}

fn reading(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    let session = session();
    let mut group = criterion.benchmark_group("read");
    for path in [vectors(&folder, 20_000, 16), texts(&folder, 20_000)] {
        let bytes = path.metadata().expect("written").len();
        group.throughput(Throughput::Bytes(bytes));
        let name = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                read_training(
                    Source::new(&path),
                    &ReadOptions::default(),
                    &PrepOptions::default(),
                    &session,
                )
                .expect("read")
            });
        });
    }
}

fn scanning(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    let mut group = criterion.benchmark_group("answer");
    for length in [8, 64, 512] {
        let path = vectors(&folder, 20_000, length);
        let model = Classifier::centroid()
            .threads(1)
            .fit_file(&path)
            .expect("trained");
        let row = first_row(&path);
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{length} features"), |bencher| {
            let mut predictor = model.predictor();
            bencher.iter(|| predictor.vector(&mut row.clone(), 5).expect("answers").len());
        });
    }
}

fn first_row(path: &PathBuf) -> Vec<(u32, f32)> {
    let text = std::fs::read_to_string(path).expect("written");
    let line = text.lines().next().expect("a row");
    let pairs = line.split(' ').skip(1).filter_map(|pair| pair.split_once(':'));
    pairs
        .map(|(index, value)| {
            let index: u32 = index.parse().expect("an index");
            (index - 1, value.parse().expect("a number"))
        })
        .collect()
}

fn learning(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    let path = vectors(&folder, 20_000, 16);
    let train =
        |path: &PathBuf| -> Model { Classifier::softmax().threads(1).fit_file(path).expect("trained") };
    let mut group = criterion.benchmark_group("train");
    group.sample_size(10);
    group.throughput(Throughput::Elements(20_000));
    group.bench_function("softmax", |bencher| bencher.iter(|| train(&path)));
}

criterion_group!(benches, reading, scanning, learning);
criterion_main!(benches);
