//! Old rows that are repeated beside new ones when training goes on.

use rand::seq::index;

use crate::Session;
use crate::dataset::Dataset;

/// Rows repeated for each new one, at most: going on is to cost time by the new rows.
const MOST_PER_NEW_ROW: usize = 4;

/// As many of the rows in `kept` as beside `new_rows` new ones are to be repeated, chosen by the session's
/// seed.
pub(super) fn some(kept: &Dataset, new_rows: usize, session: &Session<'_>) -> Dataset {
    let most = new_rows.saturating_mul(MOST_PER_NEW_ROW);
    if kept.len() <= most {
        return kept.clone();
    }
    let mut chosen =
        index::sample(&mut session.random("softmax: rows to repeat"), kept.len(), most).into_vec();
    chosen.sort_unstable();
    kept.subset(chosen)
}

/// The rows of `data`, then those of `repeated`, all of which have the usual weight.
pub(super) fn joined(data: &Dataset, repeated: &Dataset) -> Dataset {
    let mut joined = data.clone();
    joined.rows.append(&repeated.rows);
    for labels in repeated.labels.iter() {
        joined.labels.push(labels.iter().copied());
    }
    if let Some(weights) = &mut joined.weights {
        weights.resize(joined.rows.len(), 1.0);
    }
    joined
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    #[test]
    fn repeated_rows_follow_the_new_ones_and_are_not_too_many() {
        let data = |rows: u32| {
            let mut data = Dataset::default();
            for row in 0..rows {
                data.rows.push_unsorted(&mut vec![(row, 1.0)]);
                data.labels.push([row]);
            }
            data
        };
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let kept = data(100);
        let repeated = some(&kept, 3, &session);
        assert_eq!(repeated.len(), 12);
        assert_eq!(some(&kept, 25, &session), kept);
        let mut new = data(3);
        new.weights = Some(vec![2.0; 3]);
        let joined = joined(&new, &repeated);
        assert_eq!((joined.len(), joined.labels.len()), (15, 15));
        assert_eq!(joined.labels.row(3), repeated.labels.row(0));
        assert_eq!(joined.weights.unwrap()[2..4], [2.0, 1.0]);
    }
}
