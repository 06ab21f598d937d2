//! Scores of chosen classes for a row, without a scan over all.

use super::weights::Weights;
use crate::sparse::fixed::{
    FeatureRow, FeatureRows, Posting, QuantizedRow, for_each_common, for_each_feature,
};

/// Replaces `all` by the members of both, which rise and have none in common, in rising order.
pub(super) fn merge(some: &[u32], others: impl Iterator<Item = u32>, all: &mut Vec<u32>) {
    all.clear();
    let mut rest = some;
    for other in others {
        let (before, after) = rest.split_at(rest.partition_point(|&class| class < other));
        all.extend_from_slice(before);
        all.push(other);
        rest = after;
    }
    all.extend_from_slice(rest);
}

/// Memory to look for chosen classes in.
#[derive(Default)]
pub(super) struct PlaceMemory {
    /// For each class one more than its place among those that are looked for, or 0; all zero between rows.
    places: Vec<u8>,
    /// Places and weights of those that a feature has, and room for more.
    found: Vec<(u8, i16)>,
}

/// Scores of the given classes (rising) for a row, without a scan over all.
pub(super) fn score_classes<P: Posting>(
    weights: &Weights<P>,
    row: QuantizedRow<'_>,
    classes: &[u32],
    memory: &mut PlaceMemory,
    scores: &mut Vec<i32>,
) {
    scores.clear();
    scores.resize(classes.len(), 0);
    let scores = &mut scores[..];
    // One byte a class, so that the places of all stay in the first-level cache.
    let placed = u8::try_from(classes.len()).is_ok();
    // Walking through all postings is quicker than looking classes up, up to about so many.
    let walked = if placed { 10 * classes.len() } else { 0 };
    memory.places.resize(weights.classes(), 0);
    if memory.found.len() < walked {
        memory.found.resize(walked, (0, 0));
    }
    let (places, found) = (&mut memory.places[..], &mut memory.found[..]);
    if placed {
        for (place, &class) in (1..=u8::MAX).zip(classes) {
            places[class as usize] = place;
        }
    }
    for_each_feature(weights, row, |_, value, row| {
        let value = i32::from(value);
        match row {
            FeatureRow::Dense(dense) => {
                for (score, &class) in scores.iter_mut().zip(classes) {
                    *score += i32::from(dense[class as usize]) * value;
                }
            }
            // Weights that are learned are never packed.
            FeatureRow::Packed(_) => {}
            FeatureRow::Sparse(postings) if postings.len() < walked => {
                let found = &mut found[..postings.len()];
                let mut number = 0;
                for posting in postings {
                    let place = places[posting.class() as usize];
                    // Noted whether it is looked for or not, and kept if it is: whether is hard to foresee, so a branch would cost more.
                    found[number] = (place, posting.weight());
                    number += usize::from(place != 0);
                }
                for &(place, weight) in &found[..number] {
                    scores[usize::from(place) - 1] += i32::from(weight) * value;
                }
            }
            FeatureRow::Sparse(postings) => for_each_common(postings, classes, |place, posting| {
                scores[place] += i32::from(postings[posting].weight()) * value;
            }),
        }
    });
    if placed {
        for &class in classes {
            places[class as usize] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Softmax;
    use super::super::centroids::Centroids;
    use super::super::choices::{Choices, Shape};
    use super::super::earlier::Earlier;
    use super::super::rows::QuantizedRows;
    use super::super::tests::{data, session};
    use super::super::weights::Layout;
    use super::*;
    use crate::sparse::fixed::{Narrow, SearchScratch, search};

    /// As many classes as a byte can tell apart, one more, and many more.
    #[test]
    fn chosen_classes_are_scored_as_in_a_scan() {
        let data = data(900, 400, 30, 1, 2);
        let session = session(1);
        let choices = Choices::new(&Softmax::default().values, &Shape::of(&data, 0));
        let rows = QuantizedRows::new(&data.rows, 0.0);
        let earlier = Earlier::<Narrow>::nothing();
        let centroids = Centroids::new(&data, &rows, &earlier.class_counts, choices.start);
        for dense_from in [10, 1000] {
            let layout = Layout { least: 1, dense_from };
            let weights = Weights::starting(&earlier, &centroids, 400, layout, &session).unwrap();
            let (mut memory, mut scores) = (PlaceMemory::default(), vec![]);
            for number in [1, 12, 254, 255, 256, 400] {
                let classes: Vec<u32> = (0..number).collect();
                for row in (0..900).step_by(90) {
                    let row = rows.row(row);
                    let (mut found, mut scanned) = (vec![], vec![]);
                    let mut scratch = SearchScratch::default();
                    search(&weights, row, 1, &mut scratch, &mut found, &classes, &mut scanned);
                    score_classes(&weights, row, &classes, &mut memory, &mut scores);
                    assert_eq!(scores, scanned, "{number} classes, dense from {dense_from}");
                    assert!(memory.places.iter().all(|&place| place == 0));
                }
            }
        }
    }
}
