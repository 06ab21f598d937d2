//! Weights and rows to ask about, and the plain truth.

use std::num::NonZeroUsize;

use memoir::oracle::{ClassRows, ClassVectors, Oracle, OracleKind, Query};
use memoir::{RowView, Rows, Scored, Session};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) const WIDTH: usize = 400;

pub(crate) fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

pub(crate) fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// A sparse vector: positive mostly, with a skew towards low features as words have, and a constant feature.
pub(crate) fn vector(random: &mut Xoshiro256PlusPlus, entries: usize) -> Vec<(u32, f32)> {
    let mut vector = Vec::new();
    for _ in 0..entries {
        let uniform: f32 = random.random();
        let feature = ((WIDTH - 1) as f32 * uniform * uniform) as u32;
        let value: f32 = random.random::<f32>() - 0.2;
        vector.push((feature, value));
    }
    vector.push((WIDTH as u32 - 1, random.random::<f32>() * 0.2));
    vector
}

pub(crate) fn rows(vectors: impl IntoIterator<Item = Vec<(u32, f32)>>) -> Rows {
    let mut rows = Rows::new();
    for mut vector in vectors {
        rows.push_unsorted(&mut vector);
    }
    rows.set_width(WIDTH);
    rows
}

/// Class vectors without structure.
pub(crate) fn unstructured(classes: usize) -> ClassRows {
    let mut random = random(1);
    let vectors = rows((0..classes).map(|_| vector(&mut random, 30)));
    weights(&vectors)
}

pub(crate) fn weights(vectors: &Rows) -> ClassRows {
    let mut weights = ClassRows::new(vectors.len(), WIDTH);
    for (class, row) in (0..).zip(vectors.iter()) {
        weights.set(class, row);
    }
    weights
}

/// Class vectors as training makes them (sums of a class's rows, minus some rows of others), and rows of
/// these classes.
pub(crate) fn learned(classes: usize) -> (ClassRows, Rows, Vec<u32>) {
    let mut random = random(2);
    let prototypes: Vec<_> = (0..classes).map(|_| vector(&mut random, 12)).collect();
    let draw = |class: usize, random: &mut Xoshiro256PlusPlus| {
        let mut row = vector(random, 2);
        for _ in 0..5 {
            row.push(prototypes[class][random.random_range(0..prototypes[class].len())]);
        }
        row
    };
    let vectors = rows((0..classes).map(|class| {
        let mut sum = Vec::new();
        for _ in 0..6 {
            sum.extend(draw(class, &mut random));
        }
        for _ in 0..2 {
            let other = random.random_range(0..classes);
            sum.extend(draw(other, &mut random).iter().map(|&(f, v)| (f, -v)));
        }
        sum
    }));
    let labels: Vec<u32> = (0..120).map(|_| random.random_range(0..classes as u32)).collect();
    let queries = rows(labels.iter().map(|&label| draw(label as usize, &mut random)));
    (weights(&vectors), queries, labels)
}

pub(crate) fn all(classes: usize) -> Vec<u32> {
    (0..classes as u32).collect()
}

pub(crate) fn built(kind: &OracleKind, weights: &ClassRows) -> Box<dyn Oracle<ClassRows>> {
    let mut oracle = kind.build(0);
    oracle
        .update(weights, &all(weights.classes()), &session(2))
        .unwrap();
    oracle
}

pub(crate) fn query<'a>(row: RowView<'a>, labels: &'a [u32], k: usize, draw: u64) -> Query<'a> {
    Query { row, labels, k, draw }
}

/// The best wrong classes by the definition.
pub(crate) fn truth(weights: &ClassRows, query: &Query<'_>) -> Vec<Scored> {
    let mut scored: Vec<_> = (0..weights.classes() as u32)
        .filter(|class| !query.labels.contains(class) && !weights.row(*class).is_empty())
        .map(|class| {
            let vector = weights.row(class);
            let of = |feature| vector.iter().find(|entry| entry.0 == feature);
            let products = query
                .row
                .iter()
                .filter_map(|(feature, value)| Some(value * of(feature)?.1));
            Scored {
                class,
                score: products.sum::<f32>() + 0.0,
            }
        })
        .collect();
    scored.sort_by(Scored::order);
    scored.truncate(query.k);
    scored
}
