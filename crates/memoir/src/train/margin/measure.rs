//! `--measure-oracle`: how inexact the oracle is while training goes on, on the weights of that moment, and
//! which classes it pushes.

use std::fmt;

use rayon::prelude::*;

use super::sampling::Example;
use super::settings::Settings;
use super::weights::{DescentWeights, RowBuffer};
use crate::dataset::Dataset;
use crate::eval::margins::epsilon;
use crate::model::Scratch;
use crate::oracle::{Oracle, Query, rivals};
use crate::{Result, Session};

/// Share of examples whose gap may be larger than epsilon.
const DELTA: f64 = 0.05;

/// Examples that one worker measures between two looks at the cancel flag.
const STRIDE: usize = 4;

/// What an oracle did in one batch, on a sample of its examples.
///
/// A rival's *rank* is 1 plus the number of wrong classes that score higher. Its *closeness* is 1 for the
/// strongest wrong class and 0 for one that scores as wrong classes do in the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct OracleMeasurement {
    /// 1-based number of the batch.
    pub batch: u64,
    /// Name of the oracle.
    pub oracle: &'static str,
    /// Examples measured.
    pub examples: usize,
    /// Share of examples for which the rival is as strong as the strongest.
    pub recall_at_1: f64,
    /// Median rank of the rivals.
    pub median_rank: usize,
    /// Mean closeness: the mean lead of rivals over the mean class, divided by that of the strongest.
    pub closeness: f64,
    /// The approximate margin exceeds the exact one by more than this for at most one example in twenty.
    pub epsilon: f64,
    /// Mean of what the approximate margin has too much.
    pub mean_gap: f64,
    /// Mean of the strongest rival's lead over the mean class, to see epsilon against.
    pub scale: f64,
    /// Mean number of training rows of the rivals' classes.
    pub rival_rows: f64,
    /// Number of different rivals, divided by the number of examples.
    pub distinct: f64,
}

impl fmt::Display for OracleMeasurement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "batch {}, oracle `{}`, {} examples: recall@1 {:.4}, median rank {}, closeness {:.4}, epsilon {:.4e}, mean \
             gap {:.4e}, scale {:.4e}, rows of rivals {:.2}, distinct {:.4}",
            self.batch,
            self.oracle,
            self.examples,
            self.recall_at_1,
            self.median_rank,
            self.closeness,
            self.epsilon,
            self.mean_gap,
            self.scale,
            self.rival_rows,
            self.distinct
        )
    }
}

/// Measures an oracle batch by batch.
pub(super) struct Measure {
    /// Training rows of each class.
    class_rows: Vec<u32>,
}

/// What was seen of one example.
struct Seen {
    class: u32,
    rank: usize,
    score: f64,
    best: f64,
    mean: f64,
}

impl Measure {
    pub(super) fn new(data: &Dataset) -> Self {
        let mut class_rows = vec![0; data.classes.len()];
        for labels in data.labels.iter() {
            for &label in labels {
                class_rows[label as usize] += 1;
            }
        }
        Self { class_rows }
    }

    /// Measures `oracle` on the first examples of a batch (which were drawn at random) and tells the
    /// session. Nothing is changed.
    #[expect(clippy::too_many_arguments, reason = "the state of a batch")]
    pub(super) fn tell<W: DescentWeights>(
        &self,
        batch: u64,
        settings: &Settings,
        oracle: &dyn Oracle<W>,
        weights: &W,
        data: &Dataset,
        examples: &[Example],
        session: &Session<'_>,
    ) -> Result<()> {
        let examples = &examples[..settings.measure_oracle.min(examples.len())];
        let seen = seen(settings, oracle, weights, data, examples, session)?;
        if let Some(measurement) = self.sum_up(batch, oracle.name(), &seen) {
            session.note(measurement.to_string());
        }
        Ok(())
    }

    fn sum_up(&self, batch: u64, oracle: &'static str, seen: &[Seen]) -> Option<OracleMeasurement> {
        let count = seen.len() as f64;
        let mean = |of: &dyn Fn(&Seen) -> f64| seen.iter().map(of).sum::<f64>() / count;
        let mut gaps: Vec<f64> = seen.iter().map(|seen| seen.best - seen.score).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let mut ranks: Vec<usize> = seen.iter().map(|seen| seen.rank).collect();
        ranks.sort_unstable();
        let mut classes: Vec<u32> = seen.iter().map(|seen| seen.class).collect();
        classes.sort_unstable();
        classes.dedup();
        let scale = mean(&|seen| seen.best - seen.mean);
        Some(OracleMeasurement {
            batch,
            oracle,
            examples: seen.len(),
            recall_at_1: mean(&|seen| f64::from(seen.score >= seen.best)),
            median_rank: *ranks.get(ranks.len() / 2)?,
            closeness: mean(&|seen| seen.score - seen.mean) / scale.max(f64::MIN_POSITIVE),
            epsilon: epsilon(&gaps, DELTA),
            mean_gap: mean(&|seen| seen.best - seen.score),
            scale,
            rival_rows: mean(&|seen| f64::from(self.class_rows[seen.class as usize])),
            distinct: classes.len() as f64 / count,
        })
    }
}

/// The rivals of `examples` among the scores of all wrong classes; scores are scaled.
fn seen<W: DescentWeights>(
    settings: &Settings,
    oracle: &dyn Oracle<W>,
    weights: &W,
    data: &Dataset,
    examples: &[Example],
    session: &Session<'_>,
) -> Result<Vec<Seen>> {
    let classes = weights.classes();
    let parts: Vec<Vec<Seen>> = session.run(|| {
        let parts = examples.par_chunks(STRIDE).map_init(
            || (Scratch::default(), Vec::new(), RowBuffer::default(), Vec::new()),
            |(scratch, found, buffer, scores), examples| {
                session.check()?;
                let mut part = Vec::with_capacity(examples.len());
                for example in examples {
                    let row = weights.row(data.rows.row(example.row as usize), buffer);
                    let labels = data.labels.row(example.row as usize);
                    let query = Query {
                        row,
                        labels,
                        k: settings.rival_rank,
                        draw: example.draw,
                    };
                    rivals(oracle, weights, &query, scratch, found);
                    let Some(rival) = found.last() else {
                        continue;
                    };
                    scores.clear();
                    let wrong = (0..classes as u32).filter(|class| labels.binary_search(class).is_err());
                    scores.extend(wrong.map(|class| weights.dot(class, row)));
                    // The same sum in the same order for all, so that equal scores are equal.
                    let score = weights.dot(rival.class, row);
                    let sum: f64 = scores.iter().map(|&score| f64::from(score)).sum();
                    let best = scores.iter().copied().fold(score, f32::max);
                    let scaled = |score: f64| weights.multiplier() * score;
                    part.push(Seen {
                        class: rival.class,
                        rank: 1 + scores.iter().filter(|&&other| other > score).count(),
                        score: scaled(f64::from(score)),
                        best: scaled(f64::from(best)),
                        mean: scaled(sum / scores.len().max(1) as f64),
                    });
                }
                Ok(part)
            },
        );
        parts.collect::<Result<_>>()
    })?;
    Ok(parts.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{separable, session, settings, start};
    use super::super::{Penalty, descent, tests};
    use super::*;
    use crate::oracle::OracleKind;
    use crate::{Event, Observer};

    #[test]
    fn a_batch_is_summed_up_by_hand() {
        let measure = Measure {
            class_rows: vec![2, 4, 6],
        };
        let seen = |class, rank, score| Seen {
            class,
            rank,
            score,
            best: 3.0,
            mean: 1.0,
        };
        let seen = [seen(0, 1, 3.0), seen(1, 2, 2.0), seen(1, 3, 1.0), seen(2, 1, 3.0)];
        let measured = measure.sum_up(7, "any", &seen).unwrap();
        let expected = OracleMeasurement {
            batch: 7,
            oracle: "any",
            examples: 4,
            recall_at_1: 0.5,
            median_rank: 2,
            // Leads over the mean class are 2, 1, 0, 2; the strongest has 2.
            closeness: 5.0 / 8.0,
            epsilon: 2.0,
            mean_gap: 0.75,
            scale: 2.0,
            rival_rows: 4.0,
            distinct: 0.75,
        };
        assert_eq!(measured, expected);
        assert!(measure.sum_up(7, "any", &[]).is_none());
    }

    #[derive(Default)]
    struct Notes(std::sync::Mutex<Vec<String>>);

    impl Observer for Notes {
        fn notice(&self, event: Event<'_>) {
            if let Event::Note(note) = event {
                self.0.lock().unwrap().push(note.to_owned());
            }
        }
    }

    /// Trains with an oracle; returns the figures called `name`, batch by batch, and the weights.
    fn measured(oracle: &str, rank: &str, name: &str, sample: &str) -> (Vec<f64>, Vec<Vec<(u32, f32)>>) {
        let data = separable(60, 600);
        let given = [
            ("oracle", oracle),
            ("rival-rank", rank),
            ("iterations", "12"),
            ("measure-oracle", sample),
        ];
        let (settings, kind): (_, OracleKind) = settings(Penalty::SquaredL2, &given);
        let notes = Notes::default();
        let session = session(2).with_observer(&notes);
        let mut oracle = kind.build(0);
        let linear =
            descent::descend(&settings, start(&data), oracle.as_mut(), &data, None, &session).unwrap();
        let notes = notes.0.into_inner().unwrap();
        let figures = notes.iter().map(|note| {
            let rest = &note[note.find(name).unwrap() + name.len() + 1..];
            rest.split(',').next().unwrap().parse().unwrap()
        });
        (figures.collect(), tests::weights(&linear))
    }

    #[test]
    fn an_exact_oracle_is_exact_in_every_batch_and_a_random_one_is_not() {
        let (recall, _) = measured("exact", "1", "recall@1", "50");
        assert_eq!(recall, [1.0; 12]);
        let (closeness, _) = measured("exact", "1", "closeness", "50");
        // All weights are zero before the first batch: then every class is as strong.
        assert!(closeness[1..].iter().all(|&one| one == 1.0), "{closeness:?}");
        let (recall, _) = measured("random", "1", "recall@1", "50");
        assert!(recall[2..].iter().all(|&recall| recall < 0.3), "{recall:?}");
        let (closeness, _) = measured("random", "1", "closeness", "50");
        assert!(closeness[2..].iter().all(|&one| one < 0.5), "{closeness:?}");
        let (ranks, _) = measured("exact", "4", "median rank", "50");
        assert!(ranks[3..].iter().all(|&rank| rank == 4.0), "{ranks:?}");
    }

    #[test]
    fn measuring_changes_no_weight() {
        for oracle in ["random", "simple-lsh"] {
            let (_, plain) = measured(oracle, "1", "recall@1", "0");
            assert!(plain == measured(oracle, "1", "recall@1", "30").1, "{oracle}");
        }
    }
}
