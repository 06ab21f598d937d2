//! The shape of made-up data: rows, classes, power laws, difficulty, and the same bytes at any number of
//! threads.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use memoir::synth::{Generator, Part, SynthParams};
use memoir::text::{RowNeeds, Weighting, WeightingScheme};
use memoir::{Error, LabelSets, Rows, Session, maths};

fn session(threads: usize, seed: u64) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap())
        .unwrap()
        .with_seed(seed)
}

fn generate(given: &[(&str, &str)], part: Part, session: &Session<'_>) -> String {
    let generator = Generator::new(SynthParams::parse(given.iter().copied()).unwrap(), session);
    let mut out = Vec::new();
    generator
        .write(part, &mut out, Path::new("out"), session)
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// Labels and raw rows of libsvm text, features numbered from 0.
fn read(text: &str) -> (Vec<usize>, Rows) {
    let mut rows = Rows::new();
    let mut labels = Vec::new();
    for line in text.lines() {
        let mut parts = line.split(' ');
        labels.push(parts.next().unwrap().parse().unwrap());
        let mut entries: Vec<(u32, f32)> = parts
            .map(|pair| pair.split_once(':').unwrap())
            .map(|(index, count)| (index.parse::<u32>().unwrap() - 1, count.parse().unwrap()))
            .collect();
        assert!(entries.is_sorted_by(|a, b| a.0 < b.0), "features must increase");
        rows.push_unsorted(&mut entries);
    }
    (labels, rows)
}

/// Slope of the sorted counts in a log-log plot between two ranks.
fn exponent(mut counts: Vec<usize>, low: usize, high: usize) -> f64 {
    counts.sort_unstable_by(|a, b| b.cmp(a));
    // Means over a window around each rank, to be less at the mercy of chance.
    let mean = |rank: usize| {
        let window = &counts[rank - rank / 4..rank + rank / 4];
        window.iter().sum::<usize>() as f64 / window.len() as f64
    };
    maths::ln(mean(low) / mean(high)) / maths::ln(high as f64 / low as f64)
}

#[test]
fn the_shape_is_the_one_asked_for() {
    let given = [
        ("rows", "20000"),
        ("features", "30000"),
        ("classes", "500"),
        ("row-length", "20"),
        ("class-exponent", "0.9"),
        ("test-rows", "3000"),
    ];
    let (labels, rows) = read(&generate(&given, Part::Train, &session(2, 7)));
    assert_eq!(labels.len(), 20_000);
    let distinct: HashSet<_> = labels.iter().copied().collect();
    assert_eq!(
        (distinct.len(), distinct.iter().min(), distinct.iter().max()),
        (500, Some(&1), Some(&500))
    );
    assert!(rows.width() <= 30_000);
    let length = rows.entries() as f64 / rows.len() as f64;
    assert!((length - 20.0).abs() < 1.0, "mean length {length}");
    assert!(rows.values().iter().any(|&count| count > 1.0), "there are counts");

    let mut sizes = vec![0; 501];
    for &label in &labels {
        sizes[label] += 1;
    }
    let measured = exponent(sizes, 8, 200);
    assert!((measured - 0.9).abs() < 0.1, "class exponent {measured}");

    let mut frequencies = vec![0; rows.width()];
    for &index in rows.indices() {
        frequencies[index as usize] += 1;
    }
    let measured = exponent(frequencies, 200, 4000);
    assert!((measured - 1.0).abs() < 0.15, "feature exponent {measured}");

    let (test_labels, _) = read(&generate(&given, Part::Test, &session(2, 7)));
    assert_eq!(test_labels.len(), 3000);
}

#[test]
fn the_same_at_any_number_of_threads_and_only_for_the_same_seed() {
    let given = [("like", "lshtc1"), ("scale", "0.02"), ("row-length", "9")];
    for part in [Part::Train, Part::Test] {
        let expected = generate(&given, part, &session(1, 3));
        for threads in [2, 4] {
            assert_eq!(generate(&given, part, &session(threads, 3)), expected);
        }
        assert_ne!(generate(&given, part, &session(1, 4)), expected);
    }
    let train = generate(&given, Part::Train, &session(1, 3));
    let test = generate(&given, Part::Test, &session(1, 3));
    let known: HashSet<&str> = train.lines().collect();
    assert!(
        test.lines().filter(|line| known.contains(line)).count() < 5,
        "the parts are different rows"
    );
}

/// Accuracy of nearest centroids, and the share of rows given to a wrong class with the right parent.
fn centroid_accuracy(train: &str, test: &str) -> (f64, f64) {
    let session = session(1, 0);
    let (labels, mut rows) = read(train);
    let (test_labels, mut test_rows) = read(test);
    let mut label_sets = LabelSets::new();
    for &label in &labels {
        label_sets.push([label as u32]);
    }
    let weighting = Weighting::fit(WeightingScheme::LogTfIdf, RowNeeds::default(), &rows, &label_sets);
    weighting.apply_all(&mut rows, &session).unwrap();
    weighting.apply_all(&mut test_rows, &session).unwrap();
    let classes = labels.iter().max().unwrap() + 1;
    let mut centroids: Vec<HashMap<u32, f32>> = vec![HashMap::new(); classes];
    for (&label, row) in labels.iter().zip(rows.iter()) {
        for (index, value) in row.iter() {
            *centroids[label].entry(index).or_default() += value;
        }
    }
    let mut by_feature: Vec<Vec<(usize, f32)>> = vec![Vec::new(); rows.width().max(test_rows.width())];
    for (class, centroid) in centroids.iter().enumerate() {
        let norm = centroid.values().map(|value| value * value).sum::<f32>().sqrt();
        for (&index, &value) in centroid {
            by_feature[index as usize].push((class, value / norm));
        }
    }
    let (mut right, mut siblings) = (0.0, 0.0);
    for (&label, row) in test_labels.iter().zip(test_rows.iter()) {
        let mut scores = vec![0.0; classes];
        for (index, value) in row.iter() {
            for &(class, weight) in &by_feature[index as usize] {
                scores[class] += value * weight;
            }
        }
        let best = (1..classes)
            .max_by(|&a, &b| f32::total_cmp(&scores[a], &scores[b]))
            .unwrap();
        right += f64::from(u8::from(best == label));
        siblings += f64::from(u8::from(best != label && (best - 1) / 10 == (label - 1) / 10));
    }
    (
        right / test_labels.len() as f64,
        siblings / test_labels.len() as f64,
    )
}

#[test]
fn learnable_but_not_easy() {
    for given in [
        [("like", "demo"), ("scale", "0.2"), ("test-rows", "600")],
        [("like", "lshtc1"), ("scale", "0.015"), ("test-rows", "300")],
        [("like", "wiki-small"), ("scale", "0.01"), ("test-rows", "600")],
    ] {
        let session = session(2, 5);
        let train = generate(&given, Part::Train, &session);
        let test = generate(&given, Part::Test, &session);
        let (accuracy, siblings) = centroid_accuracy(&train, &test);
        assert!((0.2..=0.6).contains(&accuracy), "{given:?}: accuracy {accuracy}");
        // Nine siblings among hundreds of classes: far above chance, or near classes would not be confused.
        assert!(siblings > 0.05, "{given:?}: siblings {siblings}");
    }
}

#[test]
fn larger_data_of_a_shape_are_about_as_hard() {
    let accuracy = |scale: &str| {
        let given = [("like", "lshtc1"), ("scale", scale), ("test-rows", "800")];
        let session = session(2, 5);
        let train = generate(&given, Part::Train, &session);
        let test = generate(&given, Part::Test, &session);
        centroid_accuracy(&train, &test).0
    };
    let (small, large) = (accuracy("0.01"), accuracy("0.04"));
    assert!(
        (small - large).abs() < 0.06,
        "{small}, and {large} at four times the size"
    );
}

#[test]
fn texts_for_the_demo() {
    let given = [("like", "demo"), ("format", "csv"), ("row-length", "6")];
    let text = generate(&given, Part::Train, &session(2, 0));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("text,label"));
    let mut names = HashSet::new();
    let mut rows = 0;
    for line in lines {
        let (words, label) = line.split_once(',').unwrap();
        assert!(
            words
                .split(' ')
                .all(|word| word.len() >= 4 && word.bytes().all(|b| b.is_ascii_lowercase()))
        );
        names.insert(label);
        rows += 1;
    }
    assert_eq!((rows, names.len()), (40_000, 2_500));
}

#[test]
fn the_smallest_and_oddest_shapes() {
    for given in [
        &[("rows", "1"), ("features", "1"), ("classes", "1")][..],
        &[
            ("rows", "3"),
            ("features", "2"),
            ("classes", "50"),
            ("row-length", "1"),
        ],
        &[
            ("rows", "5"),
            ("features", "4"),
            ("classes", "2"),
            ("row-length", "1000"),
        ],
        &[
            ("rows", "9"),
            ("class-exponent", "3"),
            ("feature-exponent", "0"),
            ("label-noise", "1"),
        ],
        &[("rows", "9"), ("feature-exponent", "3"), ("signal", "0")],
        &[("rows", "9"), ("signal", "100000")],
    ] {
        for part in [Part::Train, Part::Test] {
            let (labels, rows) = read(&generate(given, part, &session(1, 1)));
            assert!(!labels.is_empty());
            assert!(rows.iter().all(|row| !row.is_empty()));
        }
    }
}

#[test]
fn a_full_disk_and_a_raised_flag_end_it() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let session = session(1, 0);
    let generator = Generator::new(SynthParams::parse([("scale", "0.01")]).unwrap(), &session);
    let failure = generator
        .write(Part::Train, &mut Full, Path::new("data.svm"), &session)
        .unwrap_err();
    assert!(
        failure.to_string().starts_with("data.svm: cannot write: "),
        "{failure}"
    );
    session.cancel().raise();
    let stopped = generator.write(Part::Train, &mut Vec::new(), Path::new("data.svm"), &session);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}
