//! Reads a data file as training would, some times over, and prints how long it took and how much memory, as
//! JSON. `experiments/reading` compares this with others.
//!
//! usage: `time_reading FILE [THREADS [REPEATS]]`

use std::num::NonZeroUsize;
use std::time::Instant;

use memoir::data::{ReadOptions, Source};
use memoir::prepare::{PrepOptions, WeightingChoice, read_training};
use memoir::text::{Input, Preprocessing};
use memoir::{Dataset, Session};

/// Bytes that the finished dataset occupies.
fn size(data: &Dataset) -> usize {
    let rows = size_of_val(data.rows.offsets()) + data.rows.entries() * (size_of::<u32>() + size_of::<f32>());
    let labels = (data.labels.len() + 1) * size_of::<usize>() + data.labels.total() * size_of::<u32>();
    rows + labels
        + data
            .weights
            .as_ref()
            .map_or(0, |weights| weights.len() * size_of::<f32>())
}

/// Bytes of the vocabulary that a text dataset's feature numbers refer to.
fn vocabulary_size(preprocessing: &Preprocessing) -> usize {
    match &preprocessing.input {
        Input::Text(text) => {
            let vocabulary = &text.vocabulary;
            vocabulary.names().len() + size_of_val(vocabulary.ends()) + size_of_val(vocabulary.slots())
        }
        Input::Vectors { .. } => 0,
    }
}

/// A line of the system's figures about this process, in bytes (0 where there is none).
fn memory(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with(key))
        .unwrap_or_default();
    let kilobytes = line
        .split_whitespace()
        .nth(1)
        .and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("usage: time_reading FILE [THREADS [REPEATS]]")?;
    let threads: NonZeroUsize = arguments
        .next()
        .map_or(Ok(NonZeroUsize::MIN), |text| text.parse())?;
    let repeats: usize = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let session = Session::new(threads)?;
    let prep = PrepOptions {
        weighting: WeightingChoice::Raw,
        ..PrepOptions::default()
    };
    let before = memory("VmRSS");
    let mut seconds = Vec::new();
    for repeat in 0..repeats {
        let start = Instant::now();
        let read = read_training(Source::new(&file), &ReadOptions::default(), &prep, &session)?;
        seconds.push(format!("{:.4}", start.elapsed().as_secs_f64()));
        if repeat + 1 == repeats {
            println!(
                "{{\"rows\": {}, \"entries\": {}, \"labels\": {}, \"classes\": {}, \"seconds\": [{}], \
                 \"dataset_bytes\": {}, \"peak_bytes\": {}, \"start_bytes\": {before}}}",
                read.data.len(),
                read.data.rows.entries(),
                read.data.labels.total(),
                read.data.classes.len(),
                seconds.join(", "),
                size(&read.data) + vocabulary_size(&read.preprocessing),
                memory("VmHWM"),
            );
        }
    }
    Ok(())
}
