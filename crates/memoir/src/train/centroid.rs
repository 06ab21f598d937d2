//! `centroid`: each class is the mean of its rows, scaled to unit length. No passes, no step size: a strong
//! and quick baseline, and where other algorithms start from.
//!
//! The mean's scale is lost when it is brought to unit length, so sums are enough. They are built feature by
//! feature: a counting sort brings the entries of a range of features together, then those of one feature
//! are added up by class. Memory beyond data and model is one such range per worker.

use std::ops::Range;

use rayon::prelude::*;

use super::{BaseModel, Support, TrainRequest, Trained, Trainer};
use crate::catalogue::AlgorithmParams;
use crate::dataset::Dataset;
use crate::model::{Linear, LinearBuilder, Precision, Scorer};
use crate::params::{Kind, own_parameters};
use crate::{Error, Result, Session};

own_parameters! {
    /// Parameters of `centroid`: the class whose mean row is nearest in angle.
    pub struct CentroidParams {
        /// Drop weights whose absolute value is below this; a class's weights have length 1
        min_weight: f64 = "0" in Kind::Number(0.0, 1.0);
    }
}

impl AlgorithmParams for CentroidParams {
    const NAME: &'static str = "centroid";
    const SUMMARY: &'static str = "The class whose mean row is nearest in angle; trains in one quick pass.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(Centroid::new(self)))
    }
}

/// Entries that one worker brings together at a time.
const PANEL: usize = 1 << 20;

/// Rows or features handled between two looks at the cancel flag.
const STRIDE: usize = 1 << 12;

/// Learns class centroids. Rows count by their weights, and for each of their labels.
#[derive(Debug, Clone)]
pub struct Centroid {
    min_weight: f32,
}

impl Centroid {
    /// With these parameters.
    pub fn new(params: &CentroidParams) -> Self {
        Self {
            min_weight: params.min_weight as f32,
        }
    }

    /// The centroids as a scorer.
    pub fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Linear> {
        if data.labels.total() == 0 {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no row has a label".to_owned(),
            ));
        }
        let classes = data.classes.len();
        let panels = panels(data);
        session.progress("centroids", 0, panels.len() as u64, "parts");
        let sums: Vec<Sums> = session.run(|| {
            let sums = panels.par_iter().map_init(
                || Combiner::new(classes),
                |combiner, panel| combiner.sum(data, panel, session),
            );
            sums.collect::<Result<_>>()
        })?;
        session.progress("centroids", panels.len() as u64, panels.len() as u64, "parts");

        // One after the other in the order of the features, whatever the number of threads: the same sums.
        let mut squares = vec![0f64; classes];
        for part in &sums {
            session.check()?;
            for (&class, &sum) in part.classes.iter().zip(&part.values) {
                squares[class as usize] += f64::from(sum) * f64::from(sum);
            }
        }
        let scales: Vec<f64> = squares
            .iter()
            .map(|&square| if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 })
            .collect();
        let mut builder = LinearBuilder::new(classes);
        if self.min_weight == 0.0 {
            builder.reserve(sums.iter().map(|part| part.values.len()).sum());
        }
        for part in sums {
            session.check()?;
            let mut start = 0;
            for end in part.ends {
                let postings = part.classes[start..end].iter().zip(&part.values[start..end]);
                let scaled =
                    postings.map(|(&class, &sum)| (class, (f64::from(sum) * scales[class as usize]) as f32));
                builder.push_feature(scaled.filter(|(_, weight)| weight.abs() >= self.min_weight));
                start = end;
            }
        }
        Ok(builder.finish(Precision::F32))
    }
}

impl Trainer for Centroid {
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        let now = self.fit(&request.data, session)?;
        match &request.base_model {
            None => Ok(Trained::new(now)),
            Some(base) => Ok(Trained::new(self.joined(base, now, &request.data, session)?)),
        }
    }

    fn support(&self) -> Support {
        Support {
            continuing: true,
            ..Support::default()
        }
    }
}

impl Centroid {
    /// The centroids of the rows of `base` and of those of `data`, whose own are `now`.
    fn joined(
        &self,
        base: &BaseModel<'_>,
        now: Linear,
        data: &Dataset,
        session: &Session<'_>,
    ) -> Result<Linear> {
        let counts = data.labels.class_counts(data.classes.len());
        let shares: Vec<(f64, f64)> = counts
            .iter()
            .enumerate()
            .map(|(class, &count)| {
                let earlier = base.class_counts.get(class).copied().unwrap_or(0);
                (likely_length(earlier), likely_length(count))
            })
            .collect();
        let features = now.features().max(base.scorer.features());
        let mut sums: Vec<Vec<(u32, f64)>> = Vec::with_capacity(features);
        let mut squares = vec![0f64; counts.len()];
        for feature in 0..features as u32 {
            if (feature as usize).is_multiple_of(STRIDE) {
                session.check()?;
            }
            let scale = base.feature_scales.get(feature as usize).copied().unwrap_or(1.0);
            let earlier = base.scorer.feature_weights(feature).unwrap_or_default();
            let mut sum: Vec<(u32, f64)> = earlier
                .into_iter()
                .map(|(class, weight)| (class, f64::from(weight * scale) * shares[class as usize].0))
                .collect();
            now.visit_feature(feature, |class, weight| {
                sum.push((class, f64::from(weight) * shares[class as usize].1));
            });
            // Stable: what was there earlier comes first.
            sum.sort_by_key(|entry| entry.0);
            sum.dedup_by(|later, first| {
                later.0 == first.0 && {
                    first.1 += later.1;
                    true
                }
            });
            for &(class, value) in &sum {
                squares[class as usize] += value * value;
            }
            sums.push(sum);
        }
        let mut builder = LinearBuilder::new(counts.len());
        for sum in sums {
            let scaled = sum
                .into_iter()
                .map(|(class, value)| (class, (value / squares[class as usize].sqrt()) as f32));
            builder.push_feature(scaled.filter(|(_, weight)| weight.abs() >= self.min_weight));
        }
        Ok(builder.finish(Precision::F32))
    }
}

/// How long the sum of so many rows of a class is likely to be, if each has length 1: what a centroid that
/// was scaled to length 1 counts for beside another. Takes the cosine of two rows of a class to be 0.3; at 0
/// the sum would grow like the root of their number, at 1 like the number.
fn likely_length(rows: u32) -> f64 {
    let rows = f64::from(rows);
    (rows + 0.3 * rows * (rows - 1.0)).max(0.0).sqrt()
}

/// A range of features and how many entries the rows have of each of them.
struct Panel {
    features: Range<usize>,
    counts: Vec<u32>,
}

/// Cuts the features into ranges of about [`PANEL`] entries each.
fn panels(data: &Dataset) -> Vec<Panel> {
    let mut counts = vec![0u32; data.rows.width()];
    for &feature in data.rows.indices() {
        counts[feature as usize] += 1;
    }
    let mut panels = Vec::new();
    let mut start = 0;
    let mut entries = 0;
    for (feature, &count) in counts.iter().enumerate() {
        entries += count as usize;
        if entries >= PANEL || feature + 1 == counts.len() {
            panels.push(Panel {
                features: start..feature + 1,
                counts: counts[start..=feature].to_vec(),
            });
            start = feature + 1;
            entries = 0;
        }
    }
    panels
}

/// Sums of a range of features: for each, its classes in increasing order with their sums.
struct Sums {
    ends: Vec<usize>,
    classes: Vec<u32>,
    values: Vec<f32>,
}

/// One worker's memory for adding up the entries of a feature by class.
struct Combiner {
    sums: Vec<f64>,
    /// Number of the feature that a class's sum belongs to, plus one.
    stamps: Vec<u32>,
    touched: Vec<u32>,
}

impl Combiner {
    fn new(classes: usize) -> Self {
        Self {
            sums: vec![0.0; classes],
            stamps: vec![0; classes],
            touched: Vec::new(),
        }
    }

    fn sum(&mut self, data: &Dataset, panel: &Panel, session: &Session<'_>) -> Result<Sums> {
        let entries = gather(data, panel, session)?;
        let mut result = Sums {
            ends: Vec::with_capacity(panel.features.len()),
            classes: Vec::new(),
            values: Vec::new(),
        };
        let mut start = 0;
        for (feature, &count) in panel.features.clone().zip(&panel.counts) {
            if feature % STRIDE == 0 {
                session.check()?;
            }
            let end = start + count as usize;
            self.add_up(data, feature as u32 + 1, &entries[start..end]);
            for &class in &self.touched {
                result.classes.push(class);
                result.values.push(self.sums[class as usize] as f32);
            }
            result.ends.push(result.classes.len());
            start = end;
        }
        Ok(result)
    }

    /// Leaves in `touched` the classes of one feature's entries, in order, and their sums in `sums`.
    fn add_up(&mut self, data: &Dataset, stamp: u32, entries: &[(u32, f32)]) {
        self.touched.clear();
        for &(row, value) in entries {
            let weight = data.weights.as_ref().map_or(1.0, |weights| weights[row as usize]);
            let weighted = f64::from(value) * f64::from(weight);
            for &class in data.labels.row(row as usize) {
                let index = class as usize;
                if self.stamps[index] != stamp {
                    self.stamps[index] = stamp;
                    self.sums[index] = 0.0;
                    self.touched.push(class);
                }
                self.sums[index] += weighted;
            }
        }
        self.touched.sort_unstable();
    }
}

/// The entries (row, value) of a range of features: those of the first feature, then of the next, rows in
/// order.
fn gather(data: &Dataset, panel: &Panel, session: &Session<'_>) -> Result<Vec<(u32, f32)>> {
    let mut next = Vec::with_capacity(panel.counts.len());
    let mut total = 0usize;
    for &count in &panel.counts {
        next.push(total);
        total += count as usize;
    }
    let mut entries = vec![(0u32, 0f32); total];
    for (number, row) in data.rows.iter().enumerate() {
        if number % STRIDE == 0 {
            session.check()?;
        }
        let first = row
            .indices
            .partition_point(|&index| (index as usize) < panel.features.start);
        for (&index, &value) in row.indices[first..].iter().zip(&row.values[first..]) {
            let Some(slot) = next.get_mut(index as usize - panel.features.start) else {
                break;
            };
            entries[*slot] = (number as u32, value);
            *slot += 1;
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;
