//! The second opinion of `pfastrexml`: how near a row is to the mean of a class's rows. Rare classes, which
//! trees neglect, get a fair hearing by it.
//!
//! With `μ_l` the mean of the rows of class `l`: `P(l | x) = 1 / (1 + exp(γ/2 |x - μ_l|²))`.

use memoir::model::{Storage, Tensor, TensorSource};
use memoir::{Dataset, Result, RowView, Session, maths};
use rayon::prelude::*;

use crate::ranking::check_offsets;

/// Means of the rows of each class, and how they are used.
#[derive(Debug)]
pub(super) struct Tail {
    /// Class `l` owns the entries `offsets[l]..offsets[l + 1]`.
    offsets: Storage<u64>,
    features: Storage<u32>,
    values: Storage<f32>,
    /// `|μ_l|²` of each class.
    squares: Storage<f32>,
    /// Weight `α` of the trees' opinion, and the sharpness `γ`.
    settings: Storage<f32>,
}

impl Tail {
    pub(super) fn new(data: &Dataset, alpha: f32, gamma: f32, session: &Session<'_>) -> Result<Self> {
        let classes = data.classes.len();
        let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); classes];
        for (row, labels) in data.labels.iter().enumerate() {
            for &label in labels {
                rows_of[label as usize].push(row as u32);
            }
        }
        let means: Vec<Vec<(u32, f32)>> = session.run(|| {
            let means = rows_of.par_iter().map(|rows| {
                session.check()?;
                Ok(mean(data, rows))
            });
            means.collect::<Result<_>>()
        })?;
        let mut offsets = vec![0];
        let (mut features, mut values, mut squares) = (Vec::new(), Vec::new(), Vec::new());
        for mean in means {
            squares.push(mean.iter().map(|(_, value)| value * value).sum::<f32>());
            features.extend(mean.iter().map(|entry| entry.0));
            values.extend(mean.iter().map(|entry| entry.1));
            offsets.push(values.len() as u64);
        }
        Ok(Self {
            offsets: offsets.into(),
            features: features.into(),
            values: values.into(),
            squares: squares.into(),
            settings: vec![alpha, gamma].into(),
        })
    }

    pub(super) fn load(source: &dyn TensorSource) -> Result<Self> {
        let tail = Self {
            offsets: source.u64("tail.offsets")?,
            features: source.u32("tail.features")?,
            values: source.f32("tail.values")?,
            squares: source.f32("tail.squares")?,
            settings: source.f32("tail.settings")?,
        };
        tail.check(source.shape().0)
            .map_err(|message| source.invalid(message))?;
        Ok(tail)
    }

    fn check(&self, classes: usize) -> Result<(), String> {
        check_offsets(
            ("tail.offsets", &self.offsets),
            classes,
            ("tail.values", self.values.len()),
        )?;
        for (name, found, expected) in [
            ("tail.features", self.features.len(), self.values.len()),
            ("tail.squares", self.squares.len(), classes),
            ("tail.settings", self.settings.len(), 2),
        ] {
            if found != expected {
                return Err(format!("`{name}` must have {expected} elements, but has {found}"));
            }
        }
        Ok(())
    }

    pub(super) fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        vec![
            ("tail.offsets".to_owned(), Tensor::U64(&self.offsets)),
            ("tail.features".to_owned(), Tensor::U32(&self.features)),
            ("tail.values".to_owned(), Tensor::F32(&self.values)),
            ("tail.squares".to_owned(), Tensor::F32(&self.squares)),
            ("tail.settings".to_owned(), Tensor::F32(&self.settings)),
        ]
    }

    /// The final score of `class`, to which the trees gave `share`:
    /// `α ln share + (1 - α) ln P(class | row)`.
    pub(super) fn score(&self, class: u32, share: f32, row: RowView<'_>, squared_norm: f32) -> f32 {
        let (alpha, gamma) = (self.settings[0], self.settings[1]);
        let class = class as usize;
        let range = self.offsets[class] as usize..self.offsets[class + 1] as usize;
        let (features, values) = (&self.features[range.clone()], &self.values[range]);
        let mut product = 0.0;
        for (feature, value) in row.iter() {
            if let Ok(index) = features.binary_search(&feature) {
                product += value * values[index];
            }
        }
        let distance = (squared_norm + self.squares[class] - 2.0 * product).max(0.0);
        let exponent = gamma / 2.0 * distance;
        alpha * maths::ln(share) - (1.0 - alpha) * (exponent + maths::ln_1p(maths::exp(-exponent)))
    }
}

/// The weighted mean of some rows.
fn mean(data: &Dataset, rows: &[u32]) -> Vec<(u32, f32)> {
    let mut entries: Vec<(u32, f64)> = Vec::new();
    let mut total = 0.0;
    for &row in rows {
        let weight = data
            .weights
            .as_ref()
            .map_or(1.0, |weights| f64::from(weights[row as usize]));
        total += weight;
        let row = data.rows.row(row as usize).iter();
        entries.extend(row.map(|(feature, value)| (feature, f64::from(value) * weight)));
    }
    // Stable: entries of a feature are added in the order of the rows.
    entries.sort_by_key(|entry| entry.0);
    let groups = entries.chunk_by(|left, right| left.0 == right.0);
    let sums = groups.map(|group| (group[0].0, group.iter().map(|entry| entry.1).sum::<f64>()));
    sums.map(|(feature, sum)| (feature, (sum / total) as f32))
        .filter(|(_, value)| *value != 0.0 && value.is_finite())
        .collect()
}
