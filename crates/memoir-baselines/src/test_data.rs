//! What the tests of several modules need: sessions and small data sets.

use std::num::NonZeroUsize;

use memoir::{Dataset, Session};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// A row's entries and labels.
pub(crate) type Example = (Vec<(u32, f32)>, Vec<u32>);

/// The data set of these rows.
pub(crate) fn dataset(rows: &[Example], classes: usize) -> Dataset {
    let mut data = Dataset {
        classes: (0..classes).map(|class| class.to_string()).collect(),
        ..Dataset::default()
    };
    for (entries, labels) in rows {
        data.rows.push_unsorted(&mut entries.clone());
        data.labels.push(labels.iter().copied());
    }
    data
}

/// Rows of unit length in which each class prefers some features of its own; every `several`-th row has two
/// labels.
pub(crate) fn random_dataset(seed: u64, rows: usize, features: u32, classes: u32, several: usize) -> Dataset {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut examples = Vec::new();
    for row in 0..rows {
        let class = random.random_range(0..classes);
        let mut entries: Vec<(u32, f32)> = Vec::new();
        for position in 0..4 {
            let own = (class * 3 + position) % features;
            let feature = if random.random_bool(0.6) {
                own
            } else {
                random.random_range(0..features)
            };
            if entries.iter().all(|entry| entry.0 != feature) {
                entries.push((feature, random.random_range(0.2f32..1.0)));
            }
        }
        let norm = entries.iter().map(|entry| entry.1 * entry.1).sum::<f32>().sqrt();
        for entry in &mut entries {
            entry.1 /= norm;
        }
        let mut labels = vec![class];
        if row % several == 0 {
            labels.push((class + 1) % classes);
        }
        examples.push((entries, labels));
    }
    let mut data = dataset(&examples, classes as usize);
    data.rows.set_width(features as usize);
    data
}
