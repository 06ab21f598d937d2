//! One row: which features a row of a given class has.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::laws::PowerLaw;
use super::params::SynthParams;
use crate::maths;

/// Children of each node of the topic tree.
pub(super) const SIBLINGS: u32 = 10;

/// Number of features of a class's topic, its parent's and its grandparent's.
const TOPIC_SIZES: [u64; 3] = [30, 60, 120];

/// How many features a row takes from the topics above, for each one it takes from its class's own.
const ABOVE: [f64; 2] = [1.2, 0.8];

/// Topics may hold at most this share of a row.
const MOST_FROM_TOPICS: f64 = 0.8;

/// Share of its own topic's draws that a mixed row takes from its sibling's.
const MIX: f64 = 0.5;

/// Ranks of features flattened at the head of the background and of topics, as a share of all features. A
/// share, so that a data set with ten times the features, classes and rows has as many rivals for each word
/// as a smaller one: with a fixed number of ranks, words of topics meet more classes as the data grows.
const HEAD: f64 = 0.001;

/// Spread of row lengths: standard deviation of their logarithm.
const LENGTH_SPREAD: f64 = 0.5;

/// Times that a row tops itself up when draws fell on features it already had.
const TOP_UPS: usize = 4;

/// Draws rows.
pub(super) struct RowLaw {
    seed: u64,
    classes: u32,
    features: u32,
    /// Mean of the logarithm of a row's length.
    mean_log_length: f64,
    background: PowerLaw,
    mixed_rows: f64,
    /// Chance that a draw comes from the topic of the class, its parent, its grandparent; running sums.
    shares: [f64; 3],
}

impl RowLaw {
    pub(super) fn new(params: &SynthParams, seed: u64) -> Self {
        let own = params.signal / params.row_length;
        let all = own * (1.0 + ABOVE[0] + ABOVE[1]);
        let own = own * (MOST_FROM_TOPICS / all).min(1.0);
        // The mean of a log-normal distribution is exp(mu + sigma^2 / 2); rounding up adds a half.
        let mean_log_length =
            maths::ln((params.row_length - 0.5).max(0.5)) - LENGTH_SPREAD * LENGTH_SPREAD / 2.0;
        Self {
            seed,
            classes: params.classes,
            features: params.features,
            mean_log_length,
            background: PowerLaw::new(
                params.features,
                HEAD * f64::from(params.features),
                params.feature_exponent,
            ),
            mixed_rows: params.mixed_rows,
            shares: [own, own * (1.0 + ABOVE[0]), own * (1.0 + ABOVE[0] + ABOVE[1])],
        }
    }

    /// Draws the features of a row of `class`, as ranks by frequency: `draws` in the order drawn, repeats
    /// included, and `counts` sorted by rank.
    pub(super) fn draw(
        &self,
        class: u32,
        random: &mut Xoshiro256PlusPlus,
        draws: &mut Vec<u32>,
        counts: &mut Vec<(u32, u32)>,
    ) {
        // In single precision, so that it does not matter which logarithm `rand_distr` calls.
        let normal: f32 = StandardNormal.sample(random);
        let length = maths::exp(self.mean_log_length + LENGTH_SPREAD * f64::from(normal));
        let wanted = (length.ceil() as usize).clamp(1, self.features as usize);
        let sibling = (random.random::<f64>() < self.mixed_rows).then(|| self.sibling(class, random));
        draws.clear();
        counts.clear();
        for _ in 0..TOP_UPS {
            for _ in counts.len()..wanted {
                draws.push(self.feature(class, sibling, random));
            }
            counts.clear();
            counts.extend(draws.iter().map(|&rank| (rank, 1)));
            counts.sort_unstable();
            counts.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += u32::from(same);
                same
            });
            if counts.len() >= wanted {
                break;
            }
        }
    }

    fn sibling(&self, class: u32, random: &mut Xoshiro256PlusPlus) -> u32 {
        let first = class / SIBLINGS * SIBLINGS;
        let last = (first + SIBLINGS).min(self.classes);
        random.random_range(first..last)
    }

    fn feature(&self, class: u32, sibling: Option<u32>, random: &mut Xoshiro256PlusPlus) -> u32 {
        let choice = random.random::<f64>();
        let level = self.shares.iter().position(|&share| choice < share);
        let Some(level) = level else {
            return self.background.rank(random.random());
        };
        let node = match (level, sibling) {
            (0, Some(sibling)) if random.random::<f64>() < MIX => sibling,
            (0, _) => class,
            (1, _) => class / SIBLINGS,
            _ => class / SIBLINGS / SIBLINGS,
        };
        // The square makes the first features of a topic its favourites.
        let uniform = random.random::<f64>();
        let member = (uniform * uniform * TOPIC_SIZES[level] as f64) as u64;
        self.topic_feature(level, node, member)
    }

    /// Feature number `member` of a topic: the same background law decides how common the words of topics
    /// are.
    fn topic_feature(&self, level: usize, node: u32, member: u64) -> u32 {
        let key = (u64::from(node) << 16) | (member << 2) | level as u64;
        let hash = xxh3_64_with_seed(&key.to_le_bytes(), self.seed);
        let uniform = (hash >> 11) as f64 / (1u64 << 53) as f64;
        self.background.rank(uniform)
    }
}
