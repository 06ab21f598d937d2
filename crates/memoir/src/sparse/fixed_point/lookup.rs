//! Looks up several classes in one row of postings.

use super::posting::Posting;

/// Classes that are looked up at a time. A search alone waits for memory at every step; so many wait
/// together.
const TOGETHER: usize = 4;

/// Calls `found` with the index among `classes` and the index among `postings`, which rise by class, of each
/// class that both have.
pub(crate) fn for_each_common<P: Posting>(
    postings: &[P],
    classes: &[u32],
    mut found: impl FnMut(usize, usize),
) {
    if postings.is_empty() {
        return;
    }
    let (groups, rest) = classes.as_chunks::<TOGETHER>();
    let grouped = groups.len() * TOGETHER;
    for (group, first) in groups.iter().zip((0..).step_by(TOGETHER)) {
        for (lane, index) in last_up_to(postings, group).into_iter().enumerate() {
            if postings[index].class() == group[lane] {
                found(first + lane, index);
            }
        }
    }
    for (&class, number) in rest.iter().zip(grouped..) {
        let [index] = last_up_to(postings, &[class]);
        if postings[index].class() == class {
            found(number, index);
        }
    }
}

/// The index of the last posting that is not behind each class, or 0. There is at least one posting.
#[inline]
fn last_up_to<P: Posting, const N: usize>(postings: &[P], classes: &[u32; N]) -> [usize; N] {
    let mut indices = [0; N];
    let mut size = postings.len();
    while size > 1 {
        let half = size / 2;
        for (index, &class) in indices.iter_mut().zip(classes) {
            let middle = *index + half;
            *index = std::hint::select_unpredictable(postings[middle].class() <= class, middle, *index);
        }
        size -= half;
    }
    indices
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::sparse::fixed_point::{Narrow, Wide};

    proptest! {
        #[test]
        fn what_both_have_is_found_and_nothing_else(
            stored in prop::collection::btree_set(0..300u32, 0..200),
            classes in prop::collection::vec(0..300u32, 0..40),
        ) {
            fn lookups<P: Posting>(stored: &BTreeSet<u32>, classes: &[u32]) -> Vec<(usize, usize)> {
                let postings: Vec<P> = stored.iter().map(|&class| P::new(class, 1)).collect();
                let mut lookups = Vec::new();
                for_each_common(&postings, classes, |index, posting| lookups.push((index, posting)));
                lookups
            }
            let plain: Vec<_> = classes
                .iter()
                .enumerate()
                .filter_map(|(index, class)| Some((index, stored.iter().position(|other| other == class)?)))
                .collect();
            prop_assert_eq!(lookups::<Narrow>(&stored, &classes), plain.clone());
            prop_assert_eq!(lookups::<Wide>(&stored, &classes), plain);
        }
    }
}
