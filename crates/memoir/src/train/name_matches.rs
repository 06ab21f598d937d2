//! Names that are looked for in rows, where that helps: how much they count.
//!
//! Names as rows teach each class by itself. What a name in the text is worth is the same for all classes,
//! and is told by rows that were not learned from.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::upper_levels::{LEAST_ROWS, mean_and_error};
use crate::catalogue::Method;
use crate::class_vocabulary::{ClassVocabulary, TermKind};
use crate::dataset::{CalibrationSplit, Dataset};
use crate::model::calibration::{HeldOutScores, SET_CANDIDATES};
use crate::model::{Found, Mixed, Model, NameFeatures, NameMatches, NameWeights, Scorer, Scratch};
use crate::sparse::{RowView, Rows, Scored};
use crate::text::{AnalyzerScratch, Preprocessing};
use crate::{Session, maths};

/// How much a name may count, for a name of rarity 1.
const WEIGHTS: [f32; 5] = [0.0, 0.05, 0.1, 0.2, 0.3];

/// Rarity is counted in units of this: a name whose rarest word is in one of 150 rows has 1.
const RARITY_UNIT: f64 = 5.0;

/// Standard errors that the gain must exceed: several weights are tried.
const SURE: f64 = 1.5;

/// Classes whose order counts.
const RANKED: usize = 20;

/// The names, and the rows that tell how much they count.
pub(super) struct NameSearch {
    names: NameMatches,
    /// Whether the weights are there already, from the model that training goes on from.
    is_chosen: bool,
    /// Rows that may be of the calibration split, by number.
    numbers: FxHashMap<u32, u32>,
    rows: Rows,
}

impl NameSearch {
    /// The names to be looked for, if there are any. A model that is continued goes on with those it has.
    pub(super) fn of(
        method: &Method,
        base: Option<&Model>,
        vocabulary: Option<&ClassVocabulary>,
        (data, preprocessing, held_out): (&Dataset, &Preprocessing, Option<&Dataset>),
        session: &Session<'_>,
    ) -> Option<Self> {
        let split = CalibrationSplit::of(&data.labels);
        let can_judge = match held_out {
            Some(held_out) => held_out.len() >= LEAST_ROWS,
            None => !split.is_empty(),
        };
        if !method.trainer().support().upper_levels || (base.is_none() && !can_judge) {
            return None;
        }
        let classes = data.classes.len();
        let names = match base {
            Some(base) => base.scorer.as_mixed()?.names()?.for_more_classes(classes),
            None => names_of(vocabulary?, preprocessing, classes, data.len())?,
        };
        let (mut numbers, mut rows) = (FxHashMap::default(), Rows::default());
        if held_out.is_none() && !split.is_empty() {
            let hashes = session.run(|| CalibrationSplit::hashes(&data.rows));
            for (number, _) in (0u32..).zip(hashes).filter(|(_, hash)| split.has(*hash)) {
                numbers.insert(number, rows.len() as u32);
                rows.push(data.rows.row(number as usize));
            }
        }
        Some(Self {
            names,
            is_chosen: base.is_some(),
            numbers,
            rows,
        })
    }

    /// Adds the names to `scorer`, if that helps, and what they change to the scores of the calibration
    /// split, which come with the numbers of their rows.
    pub(super) fn add_to(
        self,
        scorer: Mixed,
        (scores, numbers): (&mut Option<HeldOutScores>, &[u32]),
        held_out: Option<&Dataset>,
        session: &Session<'_>,
    ) -> Mixed {
        let rows = match (held_out, &*scores) {
            (Some(held_out), _) => self.of_held_out(&scorer, held_out, session),
            (None, Some(scores)) => self.of_split(scores, numbers),
            (None, None) => Vec::new(),
        };
        let weights = if self.is_chosen {
            Some(self.names.weights())
        } else {
            let weights = choose(&rows, self.names.has_openings());
            session.note(describe(weights));
            weights
        };
        let Some(weights) = weights else { return scorer };
        if let Some(scores) = scores {
            *scores = HeldOutScores::default();
            for row in &rows {
                scores.push(row.known, &row.with_names(weights), &row.labels);
            }
        }
        scorer.with_names(self.names.with_weights(weights))
    }

    fn of_split(&self, scores: &HeldOutScores, numbers: &[u32]) -> Vec<SearchedRow> {
        let rows = numbers.iter().zip(scores.all_rows());
        let searched = rows.filter_map(|(number, row)| {
            let place = *self.numbers.get(number)?;
            let view = self.rows.row(place as usize);
            Some(self.search(view, row.known, row.best.to_vec(), row.labels))
        });
        searched.collect()
    }

    fn of_held_out(&self, scorer: &Mixed, held_out: &Dataset, session: &Session<'_>) -> Vec<SearchedRow> {
        let one = |row: usize| {
            let view = held_out.rows.row(row);
            let mut best = Vec::new();
            scorer.top_k(view, SET_CANDIDATES, &mut Scratch::default(), &mut best);
            self.search(view, view.len(), best, held_out.labels.row(row))
        };
        let numbers = 0..held_out.len();
        session.run(|| numbers.into_par_iter().map(one).collect())
    }

    fn search(&self, row: RowView<'_>, known: usize, best: Vec<Scored>, labels: &[u32]) -> SearchedRow {
        let found = best.iter().map(|scored| self.names.find(row, scored.class));
        SearchedRow {
            known,
            found: found.collect(),
            best,
            labels: labels.to_vec(),
        }
    }
}

/// A row that was not learned from: its best classes, and which of their names are in it.
struct SearchedRow {
    known: usize,
    best: Vec<Scored>,
    found: Vec<Found>,
    labels: Vec<u32>,
}

impl SearchedRow {
    /// The best classes if names count so much.
    fn with_names(&self, weights: NameWeights) -> Vec<Scored> {
        let mut best = self.best.clone();
        for (scored, found) in best.iter_mut().zip(&self.found) {
            scored.score += found.score(weights);
        }
        best.sort_unstable_by(Scored::order);
        best
    }

    /// The NDCG of the first classes.
    fn quality(&self, weights: NameWeights) -> f64 {
        let gain = |rank: usize| 1.0 / maths::log2(rank as f64 + 2.0);
        let best = self.with_names(weights);
        let ranks = best.iter().take(RANKED).enumerate();
        let right = ranks.filter(|(_, scored)| self.labels.contains(&scored.class));
        let most: f64 = (0..self.labels.len().min(RANKED)).map(gain).sum();
        right.map(|(rank, _)| gain(rank)).sum::<f64>() / most
    }
}

/// How much names should count; nothing if they do not help.
fn choose(rows: &[SearchedRow], has_openings: bool) -> Option<NameWeights> {
    let quality = |weights: NameWeights| -> Vec<f64> {
        let labelled = rows.iter().filter(|row| !row.labels.is_empty());
        labelled.map(|row| row.quality(weights)).collect()
    };
    let without = quality(NameWeights::default());
    if without.len() < LEAST_ROWS {
        return None;
    }
    let openings = if has_openings { &WEIGHTS[..] } else { &WEIGHTS[..1] };
    let (mut best, mut most) = (None, 0.0);
    for whole in WEIGHTS {
        for &opening in openings {
            let weights = NameWeights { whole, opening };
            let gains = quality(weights)
                .into_iter()
                .zip(&without)
                .map(|(with, without)| with - without);
            let (gain, error) = mean_and_error(&gains.collect::<Vec<f64>>());
            if gain > SURE * error && gain > most {
                (best, most) = (Some(weights), gain);
            }
        }
    }
    best
}

/// In words, for the user.
fn describe(weights: Option<NameWeights>) -> String {
    match weights {
        Some(NameWeights { whole, opening }) if opening > 0.0 => {
            format!(
                "names that are found in a text count {whole}, and {opening} more where it opens with them"
            )
        }
        Some(NameWeights { whole, .. }) => format!("names that are found in a text count {whole}"),
        None => "names are not looked for in texts: that did not help on held-out rows".to_owned(),
    }
}

/// The preferred name of each class, in features.
fn names_of(
    vocabulary: &ClassVocabulary,
    preprocessing: &Preprocessing,
    classes: usize,
    rows: usize,
) -> Option<NameMatches> {
    let pipeline = preprocessing.text().filter(|text| text.can_find_names())?;
    let frequency = &preprocessing.weighting.document_frequency;
    let mut scratch = AnalyzerScratch::default();
    let mut names: Vec<Option<(NameFeatures, f32)>> = vec![None; classes];
    for text in vocabulary.class_texts() {
        let Some(name) = names.get_mut(text.class as usize) else {
            continue;
        };
        if text.kind != TermKind::Name || name.is_some() {
            continue;
        }
        let features = pipeline.name_features(&text.text, &mut scratch);
        let telling = match &features.stems {
            stems if stems.is_empty() => &features.words,
            stems => stems,
        };
        let rarity = |&feature: &u32| {
            let rows_with = frequency.get(feature as usize).copied().unwrap_or(0);
            maths::ln((rows as f64 + 1.0) / (f64::from(rows_with) + 0.5)) / RARITY_UNIT
        };
        let rarity = telling.iter().map(rarity).fold(0.0, f64::max);
        *name = Some((features, rarity as f32));
    }
    let any = names.iter().any(Option::is_some);
    any.then(|| NameMatches::new(names.into_iter().map(Option::unwrap_or_default)))
}

#[cfg(test)]
mod tests;
