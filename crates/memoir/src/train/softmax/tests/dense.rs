//! A step against a plain computation.

use super::*;
use crate::sparse::fixed_point::WEIGHT_UNITS;

/// One step over one batch, written plainly: dense weights, floating point, all classes.
#[test]
fn one_batch_equals_a_dense_computation() {
    let data = data(60, 12, 30, 2, 5);
    let (scale, step) = (6.0f64, 0.7f64);
    let classes = data.classes.len();
    let width = data.rows.width();
    // First weights: scaled centroids, zero outside the support.
    let mut weights = vec![vec![0f64; classes]; width];
    for class in 0..classes {
        let mut sums = vec![0f64; width];
        for (row, labels) in data.labels.iter().enumerate() {
            if labels.contains(&(class as u32)) {
                data.rows
                    .row(row)
                    .iter()
                    .for_each(|(f, v)| sums[f as usize] += f64::from(v));
            }
        }
        let norm = sums.iter().map(|v| v * v).sum::<f64>().sqrt();
        let ahead = (data.labels.iter().filter(|l| l.contains(&(class as u32))).count() as f64).powf(0.1);
        for (row, sum) in weights.iter_mut().zip(&sums) {
            row[class] = scale * ahead * sum / norm;
        }
    }
    let frozen = weights.clone();
    // Rare features take longer steps.
    let mut counts = vec![0f64; width];
    for row in 0..data.len() {
        data.rows
            .row(row)
            .iter()
            .for_each(|(f, _)| counts[f as usize] += 1.0);
    }
    let usual = counts
        .iter()
        .filter(|&&c| c > 0.0)
        .map(|c| c * c.ln())
        .sum::<f64>()
        / counts.iter().sum::<f64>();
    let rate = |feature: u32| (0.3 * (usual - counts[feature as usize].ln())).exp();
    for (row, labels) in data.labels.iter().enumerate() {
        let score = |class: usize| -> f64 {
            data.rows
                .row(row)
                .iter()
                .map(|(f, v)| frozen[f as usize][class] * f64::from(v))
                .sum()
        };
        let rivals: Vec<usize> = (0..classes)
            .filter(|&c| !labels.contains(&(c as u32)) && score(c) > 0.0)
            .collect();
        let masses = rivals.iter().map(|&c| score(c).exp());
        let mass = masses.clone().sum::<f64>() + 2.5 * masses.fold(f64::INFINITY, f64::min);
        let mut gradients = vec![0f64; classes];
        let share = (labels.len() as f64).powf(-0.5);
        for &label in labels {
            let own = score(label as usize).exp();
            gradients[label as usize] += share * mass / (own + mass);
            for &rival in &rivals {
                gradients[rival] -= share * score(rival).exp() / (own + mass);
            }
        }
        for (feature, value) in data.rows.row(row).iter() {
            for class in 0..classes {
                if frozen[feature as usize][class] != 0.0 {
                    weights[feature as usize][class] +=
                        step * rate(feature) * f64::from(value) * gradients[class];
                }
            }
        }
    }
    let trainer = softmax(&[
        ("passes", "1"),
        ("initial-scale", "6"),
        ("batch", "1000"),
        ("rivals", "12"),
        ("step-size", "0.7"),
        ("last-step-size", "0.7"),
        ("tail", "2.5"),
        ("rare-power", "0.3"),
        ("least-weight", "0"),
        ("trim", "0"),
        ("size-power", "0.1"),
        ("class-balance", "0"),
    ]);
    let scorer = trainer.scorer(&data, None, &session(1)).unwrap();
    for class in 0..classes as u32 {
        let got: std::collections::BTreeMap<u32, f32> =
            scorer.class_weights(class).unwrap().into_iter().collect();
        for (feature, row) in weights.iter().enumerate() {
            let got = f64::from(got.get(&(feature as u32)).copied().unwrap_or(0.0));
            // Two units: one for rounding the change, the rest for integer row values.
            let tolerance = 2.5 / f64::from(WEIGHT_UNITS);
            assert!(
                (got - row[class as usize]).abs() < tolerance,
                "{feature} {class}: {got} {}",
                row[class as usize]
            );
        }
    }
}
