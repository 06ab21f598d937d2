//! Trains `centroid` on a file, predicts another again and again on one thread, and prints accuracy and
//! speed as JSON. `experiments/centroid/compare.py` sets this beside a sparse matrix product in `scipy`.
//!
//! `cargo run --release --bin centroid_speed -- TRAIN TEST PASSES f32|f16`

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Instant;

use memoir::Session;
use memoir::catalogue::Method;
use memoir::data::{ReadOptions, Source};
use memoir::model::Precision;
use memoir::prepare::{Examples, read_with};
use memoir::train::{CentroidParams, FitOptions, fit};

/// Processor seconds of this process so far, in steps of a hundredth: on a busy machine a fairer clock than
/// the wall's.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = status
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks: f64 = fields
        .get(11..13)
        .ok_or("no times")?
        .iter()
        .flat_map(|t| t.parse::<f64>())
        .sum();
    Ok(ticks / 100.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, passes, precision] = arguments.as_slice() else {
        return Err("usage: centroid_speed TRAIN TEST PASSES f32|f16".into());
    };
    let passes: usize = passes.parse()?;
    let session = Session::new(NonZeroUsize::MIN)?;
    let options = ReadOptions::default();
    let method = Method::new(&CentroidParams::default())?;
    let examples = Examples::Read {
        source: Source::new(train),
        options: &options,
    };
    let started = Instant::now();
    let mut model = fit(&method, examples, FitOptions::default(), &session)?;
    let train_seconds = started.elapsed().as_secs_f64();
    let precision = if precision == "f16" {
        Precision::F16
    } else {
        Precision::F32
    };
    model = model.with_precision(precision)?;

    let (test, _) = read_with(
        Source::new(test),
        &options,
        model.preprocessing(),
        model.classes(),
        &session,
    )?;
    let started = processor_seconds()?;
    let mut right = 0;
    for _ in 0..passes {
        let predictions = model.predict_rows(&test.rows, 1, &session)?;
        let answers = predictions.iter().zip(test.labels.iter());
        right = answers
            .filter(|(best, labels)| labels.contains(&best[0].class))
            .count();
    }
    let seconds = processor_seconds()? - started;
    let summary = model.summary()?;
    println!(
        "{{\"accuracy\": {:.4}, \"rows_per_second\": {:.0}, \"train_seconds\": {train_seconds:.2}, \"weights\": {}, \
         \"file_bytes\": {}}}",
        100.0 * right as f64 / test.len() as f64,
        (passes * test.len()) as f64 / seconds,
        summary.weights.unwrap_or(0),
        summary.file_bytes
    );
    Ok(())
}
