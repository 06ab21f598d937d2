//! Rounded sums against exact ones, for rows of 10 to 5,000 features and 2 to 100,000 classes.

use std::collections::{BTreeSet, HashSet};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::{QuantizedRow, WEIGHT_UNITS, Wide, quantize_row};
use super::*;

/// The rivals that are searched.
const RIVALS: usize = 14;

/// A rival that is stronger than the weakest one found by this much must not be missed: an odds ratio of
/// 1.1.
const CLEARLY: f32 = 0.1;

/// Weights like those of a model: each class has some features, most of them with small weights.
struct Model {
    classes: usize,
    postings: Vec<Vec<Wide>>,
    largest: Vec<u16>,
}

impl Model {
    fn new(classes: usize, features: usize, row_length: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let mut postings = vec![Vec::new(); features];
        let own_features = (2 * row_length).min(features / 2).min(400);
        // Scores differ by about 1, an odds ratio of e, as those of a trained model do.
        let typical = (1.4 * (features as f32 / own_features as f32).sqrt()).min(8.0);
        for class in 0..classes as u32 {
            // In order, as each draws a weight: a test has the same model every time.
            let mut own = BTreeSet::new();
            while own.len() < own_features {
                own.insert(random.random_range(0..features));
            }
            for feature in own {
                // Most weights are small, some are several times as large.
                let weight = typical * (0.05 + 2.0 * random.random::<f32>().powi(4));
                let weight = if random.random_bool(0.2) { -weight } else { weight };
                postings[feature].push(Wide::new(class, (weight * WEIGHT_UNITS) as i16));
            }
        }
        for postings in &mut postings {
            postings.sort_unstable_by_key(|posting| posting.class());
        }
        let largest = postings
            .iter()
            .map(|of| of.iter().map(|p| p.weight().unsigned_abs()).max().unwrap_or(0));
        Self {
            classes,
            largest: largest.collect(),
            postings,
        }
    }
}

impl FeatureRows for Model {
    type Posting = Wide;
    fn classes(&self) -> usize {
        self.classes
    }
    fn feature(&self, feature: u32) -> FeatureRow<'_, Wide> {
        FeatureRow::Sparse(&self.postings[feature as usize])
    }
}

/// What one search finds, with scores as inner products.
fn rivals<S: Sum>(model: &Model, query: RivalQuery<'_>) -> Vec<(u32, f32)> {
    let (mut out, mut labels) = (vec![], vec![]);
    let mut scratch = SearchScratch::<S>::default();
    search_rivals(model, query, &mut scratch, &mut out, &mut labels);
    let unit = query.row.score_unit() * query.scale.products;
    out.iter()
        .map(|found| (found.class, found.score as f32 * unit))
        .collect()
}

/// Searches the rivals of some rows of this length. Returns how many of them are found in 16 bits, of how
/// many, and for how many rows
/// 16 bits are used.
fn compare(row_length: usize, classes: usize) -> (usize, usize, usize) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64((row_length * 1_000_003 + classes) as u64);
    let features = (4 * row_length).max(2000);
    let model = Model::new(classes, features, row_length, &mut random);
    let (mut hits, mut all, mut rough_rows) = (0, 0, 0);
    for _ in 0..20 {
        let mut indices = HashSet::new();
        while indices.len() < row_length {
            indices.insert(random.random_range(0..features as u32));
        }
        let mut indices: Vec<u32> = indices.into_iter().collect();
        indices.sort_unstable();
        let mut values: Vec<f32> = indices
            .iter()
            .map(|_| 0.05 + random.random::<f32>().powi(3))
            .collect();
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        for value in &mut values {
            *value /= length;
        }
        let mut quantized = vec![];
        let scale = quantize_row(&values, &mut quantized);
        let exact = RivalQuery {
            row: QuantizedRow {
                indices: &indices,
                values: &quantized,
                scale,
            },
            scale: SumScale::EXACT,
            labels: &[0],
            rivals: RIVALS,
        };
        let Some(scale) = SumScale::rough(exact.row, |feature| model.largest[feature as usize]) else {
            continue;
        };
        rough_rows += 1;
        let rough = rivals::<i16>(&model, RivalQuery { scale, ..exact });
        let exact = rivals::<i32>(&model, exact);
        let weakest = rough.iter().map(|rival| rival.1).fold(f32::INFINITY, f32::min);
        let weakest = if rough.len() < RIVALS { 0.0 } else { weakest };
        for (class, score) in exact {
            all += 1;
            match rough.iter().find(|rival| rival.0 == class) {
                Some(found) => {
                    hits += 1;
                    let error = (found.1 - score).abs();
                    assert!(
                        error < CLEARLY,
                        "{row_length} features, {classes} classes: {error}"
                    );
                }
                None => assert!(
                    score < weakest + CLEARLY,
                    "{row_length} features, {classes} classes: a rival of {score} is missed, {weakest} is found"
                ),
            }
        }
    }
    (hits, all, rough_rows)
}

#[test]
fn rounded_sums_miss_no_clearly_stronger_rival() {
    for (row_length, classes, rounded) in [
        (10, 2, true),
        (10, 300, true),
        (10, 100_000, true),
        (100, 2, true),
        (100, 20_000, true),
        (500, 3000, false),
        (1500, 3000, false),
        (5000, 2, true),
        (5000, 3000, false),
    ] {
        let (hits, all, rough_rows) = compare(row_length, classes);
        assert!(
            hits as f32 >= 0.95 * all as f32,
            "{row_length} features, {classes} classes: {hits} of {all} rivals found"
        );
        // Short rows are fast, and long ones take exact sums where 16 bits are too few.
        assert_eq!(
            (rough_rows > 0, all > 0),
            (rounded, rounded),
            "{row_length} features, {classes} classes"
        );
    }
}
