//! The empirical Rademacher complexity of linear scores, by random signs.

use rand::RngExt;
use rayon::prelude::*;

use crate::sparse::Rows;
use crate::{Result, Session};

/// Random sign vectors that are drawn at a time for the Rademacher complexity, and at most.
const SIGN_DRAWS: usize = 64;
const MOST_SIGN_DRAWS: usize = 64 * 256;

/// Drawing stops when the standard error of the complexity is below this share of it.
const SIGN_ERROR: f64 = 0.01;

/// Empirical Rademacher complexity of `x -> w^T x` with `|w| <= norm` on `examples`, which are numbers of
/// rows: the supremum over `w` is `norm / n` times the length of the signed sum of the rows. Its mean over
/// random signs is estimated from draws until its standard error is below one percent. It never exceeds
/// `norm / n` times the root of the rows' squared lengths (Jensen's inequality).
pub(super) fn rademacher(rows: &Rows, examples: &[u32], norm: f64, session: &Session<'_>) -> Result<f64> {
    let most = examples
        .iter()
        .map(|&row| f64::from(rows.row(row as usize).squared_norm()))
        .sum::<f64>()
        .sqrt();
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for round in 0..MOST_SIGN_DRAWS / SIGN_DRAWS {
        session.check()?;
        let lengths: Vec<f64> = session.run(|| {
            let draws = (round * SIGN_DRAWS..(round + 1) * SIGN_DRAWS).into_par_iter();
            draws
                .map(|draw| signed_length(rows, examples, draw, session))
                .collect()
        });
        // Added in order, because sums of floating-point numbers depend on it.
        for length in lengths {
            count += 1.0;
            sum += length;
            squares += length * length;
        }
        let mean = sum / count;
        let variance = (squares / count - mean * mean).max(0.0) / (count - 1.0);
        if variance.sqrt() <= SIGN_ERROR * mean {
            break;
        }
    }
    Ok(norm * (sum / count).min(most) / examples.len().max(1) as f64)
}

/// Length of the sum of the examples' rows with random signs.
fn signed_length(rows: &Rows, examples: &[u32], draw: usize, session: &Session<'_>) -> f64 {
    let mut random = session.random(&format!("rademacher signs {draw}"));
    let mut sum = vec![0f64; rows.width()];
    for row in examples.iter().map(|&row| rows.row(row as usize)) {
        let sign = if random.random::<bool>() { 1.0 } else { -1.0 };
        for (feature, value) in row.iter() {
            sum[feature as usize] += sign * f64::from(value);
        }
    }
    sum.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use proptest::prelude::*;

    use super::*;
    use crate::sparse::RowView;

    /// The mean over all sign vectors.
    fn by_definition(rows: &Rows, norm: f64) -> f64 {
        let patterns = 1u32 << rows.len();
        let lengths = (0..patterns).map(|pattern| {
            let mut sum = vec![0f64; rows.width()];
            for (number, row) in rows.iter().enumerate() {
                let sign = if pattern >> number & 1 == 1 { 1.0 } else { -1.0 };
                for (feature, value) in row.iter() {
                    sum[feature as usize] += sign * f64::from(value);
                }
            }
            sum.iter().map(|value| value * value).sum::<f64>().sqrt()
        });
        norm * lengths.sum::<f64>() / f64::from(patterns) / rows.len() as f64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn draws_come_near_the_mean_over_all_signs(
            vectors in proptest::collection::vec(proptest::array::uniform3(-2f32..2.0), 1..9),
            norm in 0.1..10f64,
            seed in any::<u64>(),
        ) {
            let mut rows = Rows::new();
            for values in &vectors {
                rows.push(RowView { indices: &[0, 1, 2], values });
            }
            rows.set_width(3);
            let session = Session::new(NonZeroUsize::MIN).unwrap().with_seed(seed);
            let examples: Vec<u32> = (0..vectors.len() as u32).collect();
            let found = rademacher(&rows, &examples, norm, &session).unwrap();
            let exact = by_definition(&rows, norm);
            // Six standard errors of at most one percent each.
            prop_assert!((found - exact).abs() <= 0.06 * exact + 1e-9, "{found} {exact}");
        }
    }
}
