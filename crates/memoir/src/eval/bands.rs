//! Head, middle and tail: classes grouped by how often training showed them.

use serde::{Deserialize, Serialize};

use crate::eval::report::{macro_f1, share};
use crate::eval::tally::{ClassTally, Evaluation};

/// How frequent a class is in training.
///
/// Classes are walked from the most frequent to the rarest (ties: lower number first). Those met before a
/// third of the training labels is covered are the head, before two thirds the middle, the others the tail:
/// each band holds about a third of the training labels, and usually far more classes than the one before
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Band {
    /// Few frequent classes.
    Head,
    /// In between.
    Middle,
    /// Many rare classes.
    Tail,
    /// Classes without a training row: they can be predicted only if a vocabulary names them.
    Unseen,
}

impl Band {
    /// All bands, most frequent classes first.
    pub const ALL: [Self; 4] = [Self::Head, Self::Middle, Self::Tail, Self::Unseen];

    /// The band's name, as in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Middle => "middle",
            Self::Tail => "tail",
            Self::Unseen => "unseen",
        }
    }

    /// The band of each class, given the training rows of each.
    pub fn assign(training_counts: &[u32]) -> Vec<Self> {
        let total: u64 = training_counts.iter().map(|&count| u64::from(count)).sum();
        let mut order: Vec<usize> = (0..training_counts.len()).collect();
        order.sort_by_key(|&class| std::cmp::Reverse(training_counts[class]));
        let mut bands = vec![Self::Unseen; training_counts.len()];
        let mut covered = 0;
        for class in order {
            let count = u64::from(training_counts[class]);
            if count == 0 {
                break;
            }
            bands[class] = match 3 * covered {
                thrice if thrice < total => Self::Head,
                thrice if thrice < 2 * total => Self::Middle,
                _ => Self::Tail,
            };
            covered += count;
        }
        bands
    }
}

/// Quality within one band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrequencyBand {
    /// Which band.
    pub band: Band,
    /// How many classes training put into it (for [`Band::Unseen`]: how many such classes the test data
    /// has).
    pub classes: u64,
    /// Test labels whose class is in the band.
    pub labels: u64,
    /// Share of those that are the best class of their row; with one label per row, the accuracy within the
    /// band.
    pub recall_at_1: f64,
    /// Share of those that are among the five best classes of their row.
    pub recall_at_5: f64,
    /// Mean F1 of the band's classes that occur in labels or among the best classes.
    pub macro_f1: f64,
}

impl FrequencyBand {
    /// The bands that have classes, from head to tail.
    pub(crate) fn all(evaluation: &Evaluation, bands: &[Band]) -> Vec<Self> {
        let band_of = |class: usize| bands.get(class).copied().unwrap_or(Band::Unseen);
        let tallies = |band: Band| {
            let classes = evaluation.classes.iter().enumerate();
            classes
                .filter(move |(class, _)| band_of(*class) == band)
                .map(|(_, tally)| tally)
        };
        let sum = |band: Band, part: fn(&ClassTally) -> u64| tallies(band).map(part).sum::<u64>();
        Band::ALL
            .into_iter()
            .map(|band| {
                let labels = sum(band, |tally| tally.truth);
                let classes = match band {
                    Band::Unseen => tallies(band).filter(|tally| tally.occurs()).count(),
                    _ => bands.iter().filter(|&&other| other == band).count(),
                };
                Self {
                    band,
                    classes: classes as u64,
                    labels,
                    recall_at_1: share(sum(band, |tally| tally.hits[0]), labels),
                    recall_at_5: share(sum(band, |tally| tally.hits[2]), labels),
                    macro_f1: macro_f1(tallies(band)),
                }
            })
            .filter(|band| band.classes > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thirds_of_the_training_rows() {
        use Band::{Head, Middle, Tail, Unseen};
        assert_eq!(
            Band::assign(&[1, 10, 0, 1, 5, 5, 1, 7]),
            [Tail, Head, Unseen, Tail, Middle, Tail, Tail, Middle]
        );
        assert_eq!(Band::assign(&[4]), [Head]);
        assert_eq!(Band::assign(&[0]), [Unseen]);
        assert_eq!(Band::assign(&[]), []);
    }

    proptest! {
        #[test]
        fn rarer_classes_are_never_in_a_more_frequent_band(counts in proptest::collection::vec(0u32..50, 0..80)) {
            let bands = Band::assign(&counts);
            for (a, &count_a) in counts.iter().enumerate() {
                for (b, &count_b) in counts.iter().enumerate() {
                    prop_assert!(count_a <= count_b || bands[a] <= bands[b]);
                }
                prop_assert_eq!(count_a == 0, bands[a] == Band::Unseen);
            }
        }
    }
}
