//! Rows that are held out of training.

use rand::seq::SliceRandom;

use crate::dataset::{Dataset, LabelSets};
use crate::{Error, Result, Session};

/// Fails if `share` cannot be the share of rows that are held out.
pub(crate) fn check_share(share: f64) -> Result<()> {
    if share > 0.0 && share < 1.0 {
        return Ok(());
    }
    Err(Error::Parameter(format!(
        "`valid-fraction` must be a number between 0 and 1, but is `{share}`"
    )))
}

/// Splits off about `share` of the rows, chosen at random by the session's seed, as (rest, held out).
///
/// No class loses its last row, so the rest still knows every class. It is an error if there is no row to
/// spare.
pub(super) fn hold_out(data: &Dataset, share: f64, session: &Session<'_>) -> Result<(Dataset, Dataset)> {
    let chosen = choose(&data.labels, data.classes.len(), share, session);
    if !chosen.contains(&true) {
        return Err(Error::Unlearnable(format!(
            "`valid-fraction` of {share} holds out none of the {} rows: each class must keep one to learn from",
            data.len()
        )));
    }
    let part = |held_out: bool| data.subset((0..data.len()).filter(|&row| chosen[row] == held_out));
    Ok((part(false), part(true)))
}

/// Which rows are held out.
pub(crate) fn choose(labels: &LabelSets, classes: usize, share: f64, session: &Session<'_>) -> Vec<bool> {
    let mut wanted = (labels.len() as f64 * share).round() as usize;
    let mut left = labels.class_counts(classes);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut session.random("hold out"));
    let mut chosen = vec![false; labels.len()];
    for row in order {
        if wanted == 0 {
            break;
        }
        let of_row = labels.row(row);
        if !of_row.is_empty() && of_row.iter().all(|&label| left[label as usize] > 1) {
            for &label in of_row {
                left[label as usize] -= 1;
            }
            chosen[row] = true;
            wanted -= 1;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    fn labels(rows: usize) -> LabelSets {
        let mut labels = LabelSets::new();
        for row in 0..rows as u32 {
            // Class 0 half of the time, class 1 in a quarter of the rows, and so on: some have one row only.
            labels.push([row.trailing_ones()]);
        }
        labels
    }

    #[test]
    fn held_out_rows_leave_every_class_a_row() {
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let labels = labels(1000);
        let chosen = choose(&labels, 10, 0.3, &session);
        assert_eq!(chosen.iter().filter(|&&held_out| held_out).count(), 300);
        for class in 0..10 {
            assert!((0..1000).any(|row| !chosen[row] && labels.row(row) == [class]));
        }
        let everything = choose(&labels, 10, 1.0, &session);
        assert_eq!(everything.iter().filter(|&&held_out| !held_out).count(), 10);
    }

    #[test]
    fn the_choice_depends_on_the_seed_alone() {
        let session = |seed| Session::new(NonZeroUsize::MIN).unwrap().with_seed(seed);
        let labels = labels(200);
        assert_eq!(
            choose(&labels, 8, 0.2, &session(1)),
            choose(&labels, 8, 0.2, &session(1))
        );
        assert_ne!(
            choose(&labels, 8, 0.2, &session(1)),
            choose(&labels, 8, 0.2, &session(2))
        );
    }
}
