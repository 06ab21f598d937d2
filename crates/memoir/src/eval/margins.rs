//! How inexact is an oracle? Exact and approximate margins of the same rows, side by side.
//!
//! The exact margin of an example is `m = f(x, y) - max_{y' != y} f(x, y')` (Eq. 1), the approximate one
//! takes the oracle's rival instead of the best (Eq. 2), so it is never smaller. Their difference is the
//! *gap*; an oracle is (epsilon, delta) inexact if the gap exceeds epsilon with probability at most delta.
//! (The paper writes `m` minus approximate `m`, which is never positive; what its proofs use is the gap.)

use rayon::prelude::*;
use serde::Serialize;

use super::hash_quality::SearchExponent;
use super::rademacher::rademacher;
use super::theory::{Theorem1, Theorem1Input, hinge_loss};
use crate::dataset::LabelSets;
use crate::model::Scratch;
use crate::oracle::{Oracle, Query, Scannable, rivals};
use crate::sparse::{ClassVectors, Rows};
use crate::{Result, Session};

/// Rows that one worker asks about between two looks at the cancel flag.
const STRIDE: usize = 16;

/// Margins of the same examples by the exact search and by an oracle; an example is a row with one of its
/// labels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Margins {
    /// m.
    pub exact: Vec<f64>,
    /// m with the oracle's rival.
    pub approximate: Vec<f64>,
    /// m of the examples for which the oracle found no rival at all; they are in neither list.
    pub unanswered: Vec<f64>,
    /// Number of the row of each example, answered or not.
    pub rows: Vec<u32>,
    /// How often the oracle's rival scored as high as the best.
    pub found: u64,
    /// Inner products that the oracle's answers took.
    pub inner_products: u64,
    /// Inner products of as many full scans.
    pub scan_inner_products: u64,
}

impl Margins {
    /// Measures `oracle`, which knows all of `weights`, on the labelled rows; scores are multiplied by
    /// `multiplier`. Both searches take classes with zero vectors into account as training does
    /// ([`rivals`]). Labels beyond the weights' classes, and rows without a wrong class, are left out.
    pub fn measure<W: Scannable>(
        oracle: &dyn Oracle<W>,
        weights: &W,
        multiplier: f64,
        rows: &Rows,
        labels: &LabelSets,
        session: &Session<'_>,
    ) -> Result<Self> {
        let mut exact = W::exact();
        let all: Vec<u32> = (0..weights.classes() as u32).collect();
        exact.update(weights, &all, session)?;
        let numbers: Vec<usize> = (0..rows.len()).collect();
        let parts: Vec<Self> = session.run(|| {
            let parts = numbers.par_chunks(STRIDE).map_init(
                || (Scratch::default(), Scratch::default(), Vec::new(), Vec::new()),
                |(scratch, exact_scratch, found, best), numbers| {
                    session.check()?;
                    let mut part = Self::default();
                    for &number in numbers {
                        let query = Query {
                            row: rows.row(number),
                            labels: labels.row(number),
                            k: 1,
                            draw: number as u64,
                        };
                        let scanned = rivals(exact.as_ref(), weights, &query, exact_scratch, best);
                        let asked = rivals(oracle, weights, &query, scratch, found);
                        part.scan_inner_products += scanned as u64;
                        part.inner_products += asked as u64;
                        let Some(best) = best.first() else {
                            continue;
                        };
                        let found = found.first();
                        part.found += u64::from(found.is_some_and(|found| found.score >= best.score));
                        for &label in query.labels.iter().filter(|&&label| (label as usize) < all.len()) {
                            let true_score = weights.dot(label, query.row);
                            let scaled = |score: f32| multiplier * f64::from(true_score - score);
                            part.rows.push(number as u32);
                            if let Some(found) = found {
                                part.exact.push(scaled(best.score));
                                part.approximate.push(scaled(found.score));
                            } else {
                                part.unanswered.push(scaled(best.score));
                            }
                        }
                    }
                    Ok(part)
                },
            );
            parts.collect::<Result<_>>()
        })?;
        let mut margins = Self::default();
        for part in parts {
            margins.exact.extend(part.exact);
            margins.approximate.extend(part.approximate);
            margins.unanswered.extend(part.unanswered);
            margins.rows.extend(part.rows);
            margins.found += part.found;
            margins.inner_products += part.inner_products;
            margins.scan_inner_products += part.scan_inner_products;
        }
        Ok(margins)
    }

    /// The gaps, in increasing order.
    pub fn gaps(&self) -> Vec<f64> {
        let pairs = self.exact.iter().zip(&self.approximate);
        let mut gaps: Vec<f64> = pairs
            .map(|(exact, approximate)| (approximate - exact).max(0.0))
            .collect();
        gaps.sort_unstable_by(f64::total_cmp);
        gaps
    }
}

/// The smallest epsilon that at most a share `delta` of the sorted `gaps` exceeds.
pub fn epsilon(gaps: &[f64], delta: f64) -> f64 {
    let beyond = (delta * gaps.len() as f64).floor() as usize;
    let index = gaps.len().saturating_sub(1 + beyond);
    gaps.get(index).copied().unwrap_or(0.0)
}

/// What `memoir margins` tells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MarginReport {
    /// Name of the oracle.
    pub oracle: &'static str,
    /// Examples measured: a row counts once for each of its labels.
    pub examples: usize,
    /// Examples among them for which the oracle found no rival. They have no gap, and no approximate loss.
    pub unanswered: usize,
    /// Share of rows for which the oracle's rival is as strong as the best.
    pub recall_at_1: f64,
    /// Mean number of inner products of an answer.
    pub inner_products: f64,
    /// The same for a full scan.
    pub scan_inner_products: f64,
    /// Mean gap.
    pub mean_gap: f64,
    /// Gaps that half, 90%, 99% and all of the examples do not exceed.
    pub gap_quantiles: [f64; 4],
    /// delta.
    pub delta: f64,
    /// The gap exceeds this with probability at most delta.
    pub epsilon: f64,
    /// rho.
    pub rho: f64,
    /// Empirical rho-hinge loss of the exact margins.
    pub exact_loss: f64,
    /// The same of the approximate margins.
    pub approximate_loss: f64,
    /// Theorem 1 with the epsilon above; what a few larger gaps add to the loss is added.
    pub theorem_1: Theorem1,
    /// Theorem 1 as it is stated, with margins that are inexact with probability delta / n: no gap may be
    /// larger.
    pub theorem_1_strict: Theorem1,
    /// What hashing promises for that epsilon, for the oracle `simple-lsh`.
    pub hash_search: Option<SearchExponent>,
}

impl MarginReport {
    /// Puts everything together, for the weights of a finished model (without a multiplier).
    pub fn new(
        margins: &Margins,
        oracle: &'static str,
        weights: &impl ClassVectors,
        rows: &Rows,
        (delta, rho): (f64, f64),
        session: &Session<'_>,
    ) -> Result<Self> {
        let gaps = margins.gaps();
        let count = rows.len().max(1) as f64;
        let examples = margins.rows.len().max(1) as f64;
        let mean_loss = |of: &[&[f64]]| {
            let sums = of.iter().map(|of| of.len() as f64 * hinge_loss(of, rho));
            sums.sum::<f64>() / examples
        };
        let squares = || (0..weights.classes() as u32).map(|class| weights.squared_norm(class));
        let norm = squares().sum::<f64>().sqrt();
        let longest = squares().fold(0.0, f64::max).sqrt();
        let own_rows = margins.rows.iter().map(|&row| rows.row(row as usize));
        let radius = own_rows
            .map(|row| f64::from(row.squared_norm()).sqrt())
            .fold(0.0, f64::max);
        let input = |gap: f64| Theorem1Input {
            margins: &margins.approximate,
            gaps: &gaps,
            unanswered: &margins.unanswered,
            gap,
            rho,
            delta,
            classes: weights.classes(),
            rademacher: 0.0,
            radius,
            norm,
        };
        let rademacher = rademacher(rows, &margins.rows, norm, session)?;
        let theorem = |gap: f64| {
            Theorem1::new(&Theorem1Input {
                rademacher,
                ..input(gap)
            })
        };
        let quantile = |share: f64| epsilon(&gaps, 1.0 - share);
        // The paper takes rows and class vectors to be no longer than 1.
        let relative = epsilon(&gaps, delta) / (radius * longest);
        let is_hashing = oracle == "simple-lsh" && relative > 0.0 && relative < 1.0;
        Ok(Self {
            oracle,
            examples: margins.rows.len(),
            unanswered: margins.unanswered.len(),
            recall_at_1: margins.found as f64 / count,
            inner_products: margins.inner_products as f64 / count,
            scan_inner_products: margins.scan_inner_products as f64 / count,
            mean_gap: gaps.iter().sum::<f64>() / gaps.len().max(1) as f64,
            gap_quantiles: [quantile(0.5), quantile(0.9), quantile(0.99), quantile(1.0)],
            delta,
            epsilon: epsilon(&gaps, delta),
            rho,
            exact_loss: mean_loss(&[&margins.exact, &margins.unanswered]),
            approximate_loss: mean_loss(&[&margins.approximate]),
            theorem_1: theorem(epsilon(&gaps, delta)),
            theorem_1_strict: theorem(epsilon(&gaps, 0.0)),
            hash_search: is_hashing.then(|| SearchExponent::new(relative)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::eval::model_weights::class_rows;
    use crate::model::{LinearBuilder, Precision};
    use crate::oracle::OracleKind;
    use crate::sparse::{ClassRows, RowView};

    fn session() -> Session<'static> {
        Session::new(NonZeroUsize::MIN).unwrap()
    }

    /// Three classes with one weight each on one feature: scores 3, 2 and 0.5.
    fn weights() -> ClassRows {
        let mut builder = LinearBuilder::new(3);
        builder.push_feature([(0, 3.0), (1, 2.0), (2, 0.5)]);
        class_rows(&builder.finish(Precision::F16)).unwrap()
    }

    fn rows() -> (Rows, LabelSets) {
        let mut rows = Rows::new();
        let mut labels = LabelSets::new();
        for label in [vec![0], vec![1], vec![0, 2], vec![9]] {
            rows.push(RowView {
                indices: &[0],
                values: &[1.0],
            });
            labels.push(label);
        }
        (rows, labels)
    }

    /// Always answers with the weakest class that is no label.
    struct Weakest;

    impl Oracle<ClassRows> for Weakest {
        fn name(&self) -> &'static str {
            "weakest"
        }

        fn update(&mut self, _: &ClassRows, _: &[u32], _: &Session<'_>) -> Result<()> {
            Ok(())
        }

        fn search(
            &self,
            weights: &ClassRows,
            query: &Query<'_>,
            _: &mut Scratch,
            out: &mut Vec<crate::sparse::Scored>,
        ) -> usize {
            let class = (0..3).rev().find(|class| !query.labels.contains(class)).unwrap();
            *out = vec![crate::sparse::Scored {
                class,
                score: weights.dot(class, query.row),
            }];
            1
        }
    }

    #[test]
    fn margins_by_hand() {
        let (rows, labels) = rows();
        let margins = Margins::measure(&Weakest, &weights(), 1.0, &rows, &labels, &session()).unwrap();
        // Rivals: best 1, 0, 1; weakest 2, 2, 1. The row with two labels counts for each, the unknown label
        // for none.
        assert_eq!(margins.exact, [1.0, -1.0, 1.0, -1.5]);
        assert_eq!(margins.approximate, [2.5, 1.5, 1.0, -1.5]);
        assert_eq!(
            (margins.found, margins.inner_products, margins.scan_inner_products),
            (1, 4, 12)
        );
        assert_eq!(margins.gaps(), [0.0, 0.0, 1.5, 2.5]);
        let report =
            MarginReport::new(&margins, "weakest", &weights(), &rows, (0.25, 1.0), &session()).unwrap();
        assert_eq!((report.epsilon, report.mean_gap), (1.5, 1.0));
        assert_eq!(report.exact_loss, (0.0 + 2.0 + 0.0 + 2.5) / 4.0);
        assert_eq!(report.approximate_loss, 2.5 / 4.0);
        // Epsilon 1.5: losses at rho 2.5 are 0, 0.4, 0.6, 1.6, and one gap of four is 1 larger than allowed.
        assert!((report.theorem_1.printed_loss - 2.6 / 4.0).abs() < 1e-12);
        assert!((report.theorem_1.loss - (2.5 * 2.6 / 4.0 + 0.25)).abs() < 1e-12);
        assert!(
            report.theorem_1.loss >= report.exact_loss && report.theorem_1_strict.loss >= report.exact_loss
        );
        assert!(
            report.theorem_1.printed_loss < report.exact_loss,
            "that is the error in print"
        );
        assert!((report.theorem_1_strict.epsilon - 2.5).abs() < 1e-12);
        // One feature of value 1 in four rows: a signed sum has length 4, 2 or 0 with probabilities 1/8, 1/2
        // and 3/8, so 1.5 in the mean; the kernel term has the root of the number of rows instead.
        let ratio = report.theorem_1.rademacher_term / report.theorem_1.kernel_term;
        assert!((ratio - 0.75).abs() < 3.0 * 0.0075, "{ratio}");
    }

    #[test]
    fn an_exact_oracle_has_no_gap() {
        let (rows, labels) = rows();
        let weights = weights();
        let mut oracle = OracleKind::Exact.build(0);
        oracle.update(&weights, &[0, 1, 2], &session()).unwrap();
        let margins = Margins::measure(oracle.as_ref(), &weights, 1.0, &rows, &labels, &session()).unwrap();
        assert_eq!(margins.exact, margins.approximate);
        assert_eq!(margins.found, 4);
    }

    #[test]
    fn epsilon_is_a_quantile() {
        let gaps = [0.0, 1.0, 2.0, 3.0];
        assert_eq!(
            [0.0, 0.24, 0.25, 0.5, 1.0].map(|delta| epsilon(&gaps, delta)),
            [3.0, 3.0, 2.0, 1.0, 0.0]
        );
        assert_eq!(epsilon(&[], 0.1), 0.0);
    }
}
