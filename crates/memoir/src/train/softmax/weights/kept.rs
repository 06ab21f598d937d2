//! Which weights are large enough to be kept, found in the memory that all of them have.

use super::{LearnedWeights, SPARSE};
use crate::sparse::fixed_point::{Posting, padded};
use crate::sparse::give_back;

impl<P: Posting> LearnedWeights<P> {
    /// Sets weights smaller than `least` to zero, and gives what they were for [`LearnedWeights::unhide`].
    pub(in crate::train::softmax) fn hide(&mut self, least: i16) -> Hidden {
        let is_small = |weight: i16| weight.unsigned_abs() < least.unsigned_abs();
        let small = |weights: &[i16]| weights.iter().filter(|&&weight| is_small(weight)).count();
        let of_postings = self.postings.iter();
        let count = of_postings.filter(|posting| is_small(posting.weight())).count() + small(&self.dense);
        let mut hidden = Hidden::new(least, count);
        for posting in self
            .postings
            .iter_mut()
            .filter(|posting| is_small(posting.weight()))
        {
            hidden.push(posting.weight());
            *posting = P::new(posting.class(), 0);
        }
        for weight in self.dense.iter_mut().filter(|weight| is_small(**weight)) {
            hidden.push(std::mem::take(weight));
        }
        hidden
    }

    /// Puts back what [`LearnedWeights::hide`] took out of these weights, which did not change meanwhile.
    pub(in crate::train::softmax) fn unhide(&mut self, hidden: Hidden) {
        let mut values = hidden.into_values();
        for posting in self.postings.iter_mut().filter(|posting| posting.weight() == 0) {
            *posting = P::new(posting.class(), values.next().unwrap_or(0));
        }
        for weight in self.dense.iter_mut().filter(|weight| **weight == 0) {
            *weight = values.next().unwrap_or(0);
        }
    }

    /// Leaves the weights that are not smaller than `least`, as postings by feature. All of them and what is
    /// made of them are never there at once: from the last feature on, what was taken over is freed.
    pub(in crate::train::softmax) fn into_postings(mut self, least: i16) -> (Vec<u64>, Vec<P>) {
        let mut offsets = vec![0u64; self.features() + 1];
        for feature in 0..self.features() {
            offsets[feature + 1] = offsets[feature] + self.count(feature as u32, least) as u64;
        }
        // Zeroes that nobody has written yet take no memory.
        let mut kept = bytemuck::zeroed_vec(offsets[self.features()] as usize);
        let row = padded(self.classes);
        let is_kept = |weight: i16| weight.unsigned_abs() >= least.unsigned_abs();
        for feature in (0..self.features()).rev() {
            let place = &mut kept[offsets[feature] as usize..offsets[feature + 1] as usize];
            match self.slots[feature] {
                SPARSE => {
                    let own = &self.postings[self.starts[feature]..];
                    let large = own.iter().filter(|posting| is_kept(posting.weight()));
                    place.iter_mut().zip(large).for_each(|(to, from)| *to = *from);
                    self.postings.truncate(self.starts[feature]);
                    give_back(&mut self.postings);
                }
                slot => {
                    let own = (0u32..).zip(&self.dense[slot as usize * row..]);
                    let large = own.filter(|(_, weight)| is_kept(**weight));
                    let made = large.map(|(class, &weight)| P::new(class, weight));
                    place.iter_mut().zip(made).for_each(|(to, from)| *to = from);
                    self.dense.truncate(slot as usize * row);
                    give_back(&mut self.dense);
                }
            }
        }
        (offsets, kept)
    }
}

/// Small weights that were taken out: a byte each where they fit one.
pub(in crate::train::softmax) struct Hidden {
    bytes: Vec<i8>,
    words: Vec<i16>,
}

impl Hidden {
    /// For so many weights, all smaller than `least`.
    fn new(least: i16, count: usize) -> Self {
        let fit = i8::try_from(least).is_ok();
        Self {
            bytes: Vec::with_capacity(if fit { count } else { 0 }),
            words: Vec::with_capacity(if fit { 0 } else { count }),
        }
    }

    fn push(&mut self, weight: i16) {
        match i8::try_from(weight) {
            Ok(weight) if self.words.capacity() == 0 => self.bytes.push(weight),
            _ => self.words.push(weight),
        }
    }

    fn into_values(self) -> impl Iterator<Item = i16> {
        self.bytes.into_iter().map(i16::from).chain(self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::fixed_point::Narrow;

    /// Two features of five classes: one as postings, one dense; zeros are among the weights.
    fn weights() -> LearnedWeights<Narrow> {
        let postings = [(0, 200), (1, -3), (2, 0), (4, 127)];
        let mut dense = vec![0; padded(5)];
        dense[..5].copy_from_slice(&[5, -300, 0, 128, -128]);
        LearnedWeights {
            classes: 5,
            starts: vec![0, 4, 4],
            postings: postings
                .map(|(class, weight)| Narrow::new(class, weight))
                .to_vec(),
            slots: vec![SPARSE, 0],
            dense_features: vec![1],
            dense,
            largest: vec![200, 300],
        }
    }

    fn values(weights: &LearnedWeights<Narrow>) -> Vec<(u32, i16)> {
        let postings = weights
            .postings
            .iter()
            .map(|posting| (posting.class(), posting.weight()));
        postings
            .chain((0u32..).zip(weights.dense.iter().copied()))
            .collect()
    }

    #[test]
    fn hidden_weights_come_back() {
        // Sizes below 128 fit a byte, larger ones do not.
        for least in [0, 1, 4, 127, 128, 129, 300, i16::MAX] {
            let mut changed = weights();
            let hidden = changed.hide(least);
            let expected = values(&weights()).into_iter().map(|(class, weight)| {
                let is_kept = weight.unsigned_abs() >= least.unsigned_abs();
                (class, if is_kept { weight } else { 0 })
            });
            assert_eq!(
                values(&changed),
                expected.collect::<Vec<_>>(),
                "hidden below {least}"
            );
            changed.unhide(hidden);
            assert_eq!(values(&changed), values(&weights()), "put back below {least}");
        }
    }

    #[test]
    fn large_weights_become_postings_by_feature() {
        let (offsets, postings) = weights().into_postings(127);
        let found: Vec<_> = postings
            .iter()
            .map(|posting| (posting.class(), posting.weight()))
            .collect();
        assert_eq!(offsets, [0, 2, 5]);
        assert_eq!(found, [(0, 200), (4, 127), (1, -300), (3, 128), (4, -128)]);
    }
}
