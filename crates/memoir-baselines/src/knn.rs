//! `knn`: the classes of the nearest training rows, found by an inverted index.
//!
//! Nothing is learned: the model holds the training rows, scaled to unit length and turned around (for each
//! feature the rows that have it), and their labels. The score of a class is the sum of the cosines between
//! the row asked for and those of its `k` nearest training rows that have the class, each times the weight
//! of that row. A row shares features with few others, and only their lists are read: the search is exact.
//! Rows at a right or wider angle are no neighbours; classes that no neighbour has score 0.
//!
//! Cover and Hart, "Nearest neighbor pattern classification" (IEEE Transactions on Information Theory 13,
//! 1967).

use memoir::catalogue::AlgorithmParams;
use memoir::model::{
    LoadScorer, Precision, Scorer, ScorerKind, Scratch, Storage, Tensor, TensorSource, TopK,
};
use memoir::params::Kind;
use memoir::train::{TrainRequest, Trained, Trainer};
use memoir::{Dataset, Error, Result, RowView, Scored, Session, parameters};

parameters! {
    /// Parameters of `knn`.
    pub struct KnnParams {
        /// How many of the nearest training rows vote
        neighbours: u32 = "20" in Kind::Integer(1, 100_000);
    }
}

impl AlgorithmParams for KnnParams {
    const NAME: &'static str = "knn";
    const SUMMARY: &'static str =
        "The classes of the nearest training rows; nothing is learned, the rows are kept.";

    fn trainer(&self) -> Result<Box<dyn Trainer>> {
        Ok(Box::new(Knn::new(self)))
    }
}

/// The kind of scorer, for a catalogue.
pub const NEIGHBOURS: ScorerKind = ScorerKind {
    kind: "neighbours",
    load: |source| Ok(Box::new(Neighbours::load(source)?)),
};

/// The array of the rows' weights, which not all models have.
const WEIGHTS: &str = "neighbours.weights";

/// Rows between two looks at the cancel flag.
const STRIDE: usize = 1 << 12;

/// Keeps training rows for a search of the nearest.
#[derive(Debug, Clone)]
pub struct Knn {
    neighbours: u32,
}

impl Knn {
    /// With these parameters.
    pub fn new(params: &KnnParams) -> Self {
        Self {
            neighbours: params.neighbours,
        }
    }

    /// The training rows as a scorer. Rows without a label cannot vote and are left out.
    pub fn fit(&self, data: &Dataset, session: &Session<'_>) -> Result<Neighbours> {
        if data.labels.total() == 0 {
            return Err(Error::Unlearnable(
                "there is nothing to learn from: no row has a label".to_owned(),
            ));
        }
        let labelled: Vec<usize> = (0..data.len())
            .filter(|&row| !data.labels.row(row).is_empty())
            .collect();
        let mut offsets = vec![0u64; data.rows.width() + 1];
        let mut label_ends = vec![0u64];
        let mut labels = Vec::with_capacity(data.labels.total());
        for &row in &labelled {
            for &feature in data.rows.row(row).indices {
                offsets[feature as usize + 1] += 1;
            }
            labels.extend_from_slice(data.labels.row(row));
            label_ends.push(labels.len() as u64);
        }
        for feature in 1..offsets.len() {
            offsets[feature] += offsets[feature - 1];
        }
        let mut next = offsets.clone();
        let entries = offsets[data.rows.width()] as usize;
        let mut rows = vec![0u32; entries];
        let mut values = vec![0f32; entries];
        for (voter, &row) in labelled.iter().enumerate() {
            if voter % STRIDE == 0 {
                session.check()?;
                session.progress("indexing", voter as u64, labelled.len() as u64, "rows");
            }
            let row = data.rows.row(row);
            let scale = inverse_length(row);
            for (feature, value) in row.iter() {
                let slot = &mut next[feature as usize];
                rows[*slot as usize] = voter as u32;
                values[*slot as usize] = value * scale;
                *slot += 1;
            }
        }
        Ok(Neighbours {
            classes: data.classes.len(),
            voters: vec![self.neighbours].into(),
            offsets: offsets.into(),
            rows: rows.into(),
            values: values.into(),
            label_ends: label_ends.into(),
            labels: labels.into(),
            weights: match &data.weights {
                Some(weights) => labelled
                    .iter()
                    .map(|&row| weights[row])
                    .collect::<Vec<_>>()
                    .into(),
                None => Vec::new().into(),
            },
        })
    }
}

impl Trainer for Knn {
    fn train(&self, request: TrainRequest<'_>, session: &Session<'_>) -> Result<Trained> {
        Ok(Trained::new(self.fit(&request.data, session)?))
    }
}

/// What brings a row to unit length; 0 for a row without length.
fn inverse_length(row: RowView<'_>) -> f32 {
    let squares: f64 = row
        .values
        .iter()
        .map(|&value| f64::from(value) * f64::from(value))
        .sum();
    if squares > 0.0 {
        (1.0 / squares.sqrt()) as f32
    } else {
        0.0
    }
}

/// Training rows by feature, and their labels.
#[derive(Debug)]
pub struct Neighbours {
    classes: usize,
    /// One number: how many of the nearest rows vote.
    voters: Storage<u32>,
    /// Feature `f` owns the entries `offsets[f]..offsets[f + 1]`.
    offsets: Storage<u64>,
    rows: Storage<u32>,
    values: Storage<f32>,
    /// Row `r` owns the labels `label_ends[r]..label_ends[r + 1]`.
    label_ends: Storage<u64>,
    labels: Storage<u32>,
    /// What each row's vote is multiplied by; empty if all count alike.
    weights: Storage<f32>,
}

/// Reusable memory of one search. All is zero or empty between searches.
#[derive(Default)]
struct SearchScratch {
    cosines: Vec<f32>,
    touched: Vec<u32>,
    nearest: TopK,
    found: Vec<Scored>,
    votes: Vec<Scored>,
}

impl Neighbours {
    fn load(source: &dyn TensorSource) -> Result<Self> {
        let (classes, features) = source.shape();
        let loaded = Self {
            classes,
            voters: source.u32("neighbours.count")?,
            offsets: source.u64("neighbours.offsets")?,
            rows: source.u32("neighbours.rows")?,
            values: source.f32("neighbours.values")?,
            label_ends: source.u64("neighbours.label_ends")?,
            labels: source.u32("neighbours.labels")?,
            weights: match source.element(WEIGHTS) {
                Some(_) => source.f32(WEIGHTS)?,
                None => Vec::new().into(),
            },
        };
        loaded
            .check(features)
            .map_err(|message| source.invalid(message))?;
        Ok(loaded)
    }

    /// What could otherwise fail later; numbers of rows and classes in the long arrays are checked where
    /// they are used.
    fn check(&self, features: usize) -> std::result::Result<(), String> {
        if self.voters.len() != 1 || self.voters[0] == 0 {
            return Err("`neighbours.count` must hold one number of at least 1".to_owned());
        }
        if Some(self.offsets.len()) != features.checked_add(1) {
            return Err(format!(
                "`neighbours.offsets` has {} elements where {features} features need one more than that",
                self.offsets.len()
            ));
        }
        if self.rows.len() != self.values.len() {
            return Err(format!(
                "`neighbours.rows` has {} elements, but `neighbours.values` has {}",
                self.rows.len(),
                self.values.len()
            ));
        }
        for (name, ends, length) in [
            ("neighbours.offsets", &self.offsets, self.rows.len()),
            ("neighbours.label_ends", &self.label_ends, self.labels.len()),
        ] {
            if ends.first() != Some(&0) || ends.last() != Some(&(length as u64)) || !ends.is_sorted() {
                return Err(format!(
                    "`{name}` must start at 0, never decrease, and end at {length}"
                ));
            }
        }
        let rows = self.label_ends.len() - 1;
        if !self.weights.is_empty() && self.weights.len() != rows {
            return Err(format!(
                "`{WEIGHTS}` has {} elements for {rows} rows",
                self.weights.len()
            ));
        }
        Ok(())
    }

    /// Leaves the nearest training rows in `scratch.found`, the row's number in place of a class.
    fn search(&self, row: RowView<'_>, scratch: &mut SearchScratch) {
        let rows = self.label_ends.len() - 1;
        scratch.cosines.resize(rows, 0.0);
        let scale = inverse_length(row);
        for (feature, value) in row.iter() {
            let feature = feature as usize;
            if feature + 1 >= self.offsets.len() {
                continue;
            }
            let range = self.offsets[feature] as usize..self.offsets[feature + 1] as usize;
            for (&other, &weight) in self.rows[range.clone()].iter().zip(&self.values[range]) {
                // A number beyond the rows means a damaged file: it stands for no row.
                if let Some(cosine) = scratch.cosines.get_mut(other as usize) {
                    if *cosine == 0.0 {
                        scratch.touched.push(other);
                    }
                    *cosine += value * scale * weight;
                }
            }
        }
        scratch.nearest.reset(self.voters[0] as usize);
        for other in scratch.touched.drain(..) {
            // A row is listed twice when its sum passed through zero; its second visit finds nothing left.
            let score = std::mem::take(&mut scratch.cosines[other as usize]);
            if score > 0.0 {
                scratch.nearest.offer(Scored { class: other, score });
            }
        }
        scratch.nearest.finish(&mut scratch.found);
    }
}

impl Scorer for Neighbours {
    fn kind(&self) -> &'static str {
        NEIGHBOURS.kind
    }

    fn loader(&self) -> LoadScorer {
        NEIGHBOURS.load
    }

    fn check_content(&self) -> Result<(), String> {
        crate::ranking::check_classes(("neighbours.labels", &self.labels), self.classes)
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.offsets.len() - 1
    }

    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        let scratch = scratch.get::<SearchScratch>();
        // Of another model with more rows, perhaps; what is left is all zero.
        scratch.cosines.truncate(self.label_ends.len() - 1);
        self.search(row, scratch);
        scratch.votes.clear();
        for neighbour in &scratch.found {
            let index = neighbour.class as usize;
            let labels = self.label_ends[index] as usize..self.label_ends[index + 1] as usize;
            let known = self.labels[labels]
                .iter()
                .filter(|&&class| (class as usize) < self.classes);
            let weight = self.weights.get(index).copied().unwrap_or(1.0);
            scratch.votes.extend(known.map(|&class| Scored {
                class,
                score: neighbour.score * weight,
            }));
        }
        // Stable: votes of a class are added up in the order of the neighbours, the same sum every time.
        scratch.votes.sort_by_key(|vote| vote.class);
        out.clear();
        for vote in &scratch.votes {
            match out.last_mut() {
                Some(last) if last.class == vote.class => last.score += vote.score,
                _ => out.push(*vote),
            }
        }
        let voted = out.len();
        let mut class = 0;
        while out.len() < k.min(self.classes) {
            // The first classes without a vote, which is all that can be asked for.
            if out[..voted]
                .binary_search_by_key(&class, |scored| scored.class)
                .is_err()
            {
                out.push(Scored { class, score: 0.0 });
            }
            class += 1;
        }
        out.sort_unstable_by(Scored::order);
        out.truncate(k);
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let mut tensors = vec![
            ("neighbours.count".to_owned(), Tensor::U32(&self.voters)),
            ("neighbours.offsets".to_owned(), Tensor::U64(&self.offsets)),
            ("neighbours.rows".to_owned(), Tensor::U32(&self.rows)),
            ("neighbours.values".to_owned(), Tensor::F32(&self.values)),
            ("neighbours.label_ends".to_owned(), Tensor::U64(&self.label_ends)),
            ("neighbours.labels".to_owned(), Tensor::U32(&self.labels)),
        ];
        if !self.weights.is_empty() {
            tensors.push((WEIGHTS.to_owned(), Tensor::F32(&self.weights)));
        }
        tensors
    }

    fn with_precision(self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        match precision {
            Precision::F32 => Ok(self),
            Precision::F16 | Precision::Int8 => Err(Error::Mismatch(
                "`knn` keeps training rows as they are: it cannot store them in half precision".to_owned(),
            )),
        }
    }
}
