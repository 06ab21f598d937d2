//! What a class has learned: its strongest features, and the classes most like it. Both look at all
//! features, in parallel.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{FeatureWeight, Model};
use crate::{Result, Session};

/// Pieces that the features are cut into, whatever the number of threads. Sums over them are added up in
/// their order, so the result is the same at any number.
const PIECES: usize = 16;

/// Two sums over the features, for one class.
#[derive(Debug, Clone, Copy, Default)]
struct Likeness {
    /// Of its weights times those of the class that it is compared with.
    product: f64,
    /// Of its squared weights.
    square: f64,
}

impl Model {
    /// The `count` features that speak most for a class, strongest first.
    pub fn class_features(
        &self,
        class: u32,
        count: usize,
        session: &Session<'_>,
    ) -> Result<Vec<FeatureWeight>> {
        let mut weights = self.class_weights(class, session)?;
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        weights.truncate(count);
        let named = weights.into_iter().map(|(feature, weight)| FeatureWeight {
            feature,
            name: self.preprocessing.feature_name(feature).into_owned(),
            block: self.preprocessing.block_name(feature),
            weight,
        });
        Ok(named.collect())
    }

    /// The `count` classes whose weights are most like those of `class` (by cosine), nearest first.
    pub fn nearest_classes(
        &self,
        class: u32,
        count: usize,
        session: &Session<'_>,
    ) -> Result<Vec<(u32, f32)>> {
        let own: FxHashMap<u32, f32> = self.class_weights(class, session)?.into_iter().collect();
        let mut sums = vec![Likeness::default(); self.classes.len()];
        // As many at a time as there are threads: each piece has sums for all classes.
        for pieces in self.pieces().chunks(session.threads()) {
            let parts: Result<Vec<_>> = session.run(|| {
                let parts = pieces.par_iter();
                parts
                    .map(|features| self.likeness(&own, features.clone(), session))
                    .collect()
            });
            for part in parts? {
                for (sum, part) in sums.iter_mut().zip(part) {
                    sum.product += part.product;
                    sum.square += part.square;
                }
            }
            let done = pieces.last().map_or(0, |features| features.end);
            let total = self.scorer.features() as u64;
            session.progress("comparing classes", u64::from(done), total, "features");
        }
        let length = sums.get(class as usize).map_or(0.0, |own| own.square.sqrt());
        let mut near: Vec<(u32, f32)> = (0u32..)
            .zip(&sums)
            .filter(|(other, sum)| *other != class && sum.product > 0.0)
            .map(|(other, sum)| (other, (sum.product / (length * sum.square.sqrt())) as f32))
            .collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(count);
        Ok(near)
    }

    /// What `features` add to the likeness of each class to the one with the weights `own`.
    fn likeness(
        &self,
        own: &FxHashMap<u32, f32>,
        features: Range<u32>,
        session: &Session<'_>,
    ) -> Result<Vec<Likeness>> {
        let mut sums = vec![Likeness::default(); self.classes.len()];
        for feature in features {
            session.check()?;
            let own = own.get(&feature).map_or(0.0, |&weight| f64::from(weight));
            for (other, weight) in self.scorer.feature_weights(feature).unwrap_or_default() {
                let weight = f64::from(weight);
                let sum = &mut sums[other as usize];
                sum.product += own * weight;
                sum.square += weight * weight;
            }
        }
        Ok(sums)
    }

    /// The features with a weight for `class`, rising.
    fn class_weights(&self, class: u32, session: &Session<'_>) -> Result<Vec<(u32, f32)>> {
        let pieces: Result<Vec<_>> = session.run(|| {
            let pieces = self.pieces().into_par_iter().map(|features| {
                session.check()?;
                let weights = self.scorer.class_weights_among(class, features);
                weights.ok_or_else(|| self.no_features())
            });
            pieces.collect()
        });
        Ok(pieces?.concat())
    }

    /// All features in [`PIECES`] runs, or fewer if there are fewer features.
    fn pieces(&self) -> Vec<Range<u32>> {
        let features = self.scorer.features();
        let size = features.div_ceil(PIECES).max(1);
        let starts = (0..features).step_by(size);
        starts
            .map(|start| start as u32..(start + size).min(features) as u32)
            .collect()
    }
}
