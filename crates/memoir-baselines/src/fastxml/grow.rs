//! One tree: nodes are split until they are small or cannot be split, then keep the labels of their rows.

use memoir::{Dataset, Result, Session};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::gains::Gains;
use super::partition::{NodeLabels, Numbering};
use super::separator::{Separator, separate};

/// Nodes below this depth are not split: with balanced splits it is never reached.
const MAX_DEPTH: u32 = 100;

/// What shapes a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeParams {
    /// Nodes with at most so many rows are leaves.
    pub(super) max_leaf: usize,
    /// A leaf keeps so many labels.
    pub(super) labels_per_leaf: usize,
    /// Cost of the logistic loss of a separator against its L1 norm.
    pub(super) cost: f64,
}

/// A tree in flat arrays. A node is a leaf, with labels, or has children, which lie behind it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tree {
    /// Left and right child of each node; 0 in leaves.
    pub(super) children: Vec<[u32; 2]>,
    /// Constant of each node's separator.
    pub(super) bias: Vec<f32>,
    /// End of each node's separator in `features` and `weights`.
    pub(super) separator_ends: Vec<u64>,
    pub(super) features: Vec<u32>,
    pub(super) weights: Vec<f32>,
    /// End of each node's labels in `classes` and `shares`.
    pub(super) leaf_ends: Vec<u64>,
    pub(super) classes: Vec<u32>,
    pub(super) shares: Vec<f32>,
}

impl Tree {
    fn push(&mut self, separator: &Separator, leaf: &[(u32, f32)]) -> u32 {
        let number = self.children.len() as u32;
        self.children.push([0; 2]);
        self.bias.push(separator.bias);
        self.features
            .extend(separator.weights.iter().map(|entry| entry.0));
        self.weights.extend(separator.weights.iter().map(|entry| entry.1));
        self.separator_ends.push(self.features.len() as u64);
        self.classes.extend(leaf.iter().map(|entry| entry.0));
        self.shares.extend(leaf.iter().map(|entry| entry.1));
        self.leaf_ends.push(self.classes.len() as u64);
        number
    }
}

/// Rows waiting to become a node.
struct Pending {
    rows: std::ops::Range<usize>,
    depth: u32,
    /// The parent, and which of its children this is.
    parent: Option<(u32, usize)>,
}

/// Grows trees over one data set; each worker has its own.
pub(super) struct Grower<'a> {
    data: &'a Dataset,
    gains: &'a Gains,
    params: TreeParams,
    session: &'a Session<'a>,
    labels: Numbering,
    features: Numbering,
    /// The separator at hand, by feature; 0 elsewhere.
    dense: Vec<f32>,
}

impl<'a> Grower<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        gains: &'a Gains,
        params: TreeParams,
        session: &'a Session<'a>,
    ) -> Self {
        Self {
            data,
            gains,
            params,
            session,
            labels: Numbering::new(data.classes.len()),
            features: Numbering::new(data.rows.width()),
            dense: vec![0.0; data.rows.width()],
        }
    }

    /// A tree over all rows that have a label.
    pub(super) fn grow(&mut self, random: &mut Xoshiro256PlusPlus) -> Result<Tree> {
        let mut rows: Vec<u32> = (0..self.data.len() as u32)
            .filter(|&row| !self.data.labels.row(row as usize).is_empty())
            .collect();
        let mut tree = Tree::default();
        let mut waiting = vec![Pending {
            rows: 0..rows.len(),
            depth: 0,
            parent: None,
        }];
        while let Some(pending) = waiting.pop() {
            self.session.check()?;
            let node_rows = &mut rows[pending.rows.clone()];
            let may_split = node_rows.len() > self.params.max_leaf && pending.depth < MAX_DEPTH;
            let split = if may_split {
                self.split(node_rows, random)?
            } else {
                None
            };
            let number = match &split {
                Some((separator, _)) => tree.push(separator, &[]),
                None => tree.push(&Separator::default(), &self.leaf(node_rows)),
            };
            if let Some((parent, side)) = pending.parent {
                tree.children[parent as usize][side] = number;
            }
            if let Some((_, left)) = split {
                let middle = pending.rows.start + left;
                for (side, rows) in [(1, middle..pending.rows.end), (0, pending.rows.start..middle)] {
                    waiting.push(Pending {
                        rows,
                        depth: pending.depth + 1,
                        parent: Some((number, side)),
                    });
                }
            }
        }
        Ok(tree)
    }

    /// A separator for `rows`, which are reordered: those of the left child first, with their number. `None`
    /// if all rows end up on one side.
    fn split(
        &mut self,
        rows: &mut [u32],
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<Option<(Separator, usize)>> {
        let node = NodeLabels::new(self.data, rows, self.gains, &mut self.labels);
        let sides = node.partition(random, self.session, |_| ())?;
        let on_right = sides.iter().filter(|&&side| side).count();
        if on_right == 0 || on_right == rows.len() {
            return Ok(None);
        }
        // Both sides weigh the same in the separator, so that it does not send all rows to the larger one.
        let total = rows.len() as f64;
        let by_side = [total / (total - on_right as f64), total / on_right as f64];
        let costs: Vec<f64> = rows
            .iter()
            .zip(&sides)
            .map(|(&row, &side)| {
                let weight = self
                    .data
                    .weights
                    .as_ref()
                    .map_or(1.0, |weights| weights[row as usize]);
                self.params.cost * by_side[usize::from(side)] * f64::from(weight)
            })
            .collect();
        let separator = separate(
            &self.data.rows,
            rows,
            (&sides, &costs),
            &mut self.features,
            self.session,
            |_| (),
        )?;
        let left = self.route(rows, &separator);
        Ok((left > 0 && left < rows.len()).then_some((separator, left)))
    }

    /// Brings the rows that `separator` sends to the left to the front, both parts in order, and counts
    /// them.
    fn route(&mut self, rows: &mut [u32], separator: &Separator) -> usize {
        for &(feature, weight) in &separator.weights {
            self.dense[feature as usize] = weight;
        }
        let goes_right = |row: u32| {
            let entries = self.data.rows.row(row as usize).iter();
            let score = entries.fold(separator.bias, |sum, (feature, value)| {
                sum + value * self.dense[feature as usize]
            });
            score > 0.0
        };
        let (right, left): (Vec<u32>, Vec<u32>) = rows.iter().partition(|&&row| goes_right(row));
        for &(feature, _) in &separator.weights {
            self.dense[feature as usize] = 0.0;
        }
        rows[..left.len()].copy_from_slice(&left);
        rows[left.len()..].copy_from_slice(&right);
        left.len()
    }

    /// The labels of a leaf with these rows: the share of rows that have each, times its gain, by class.
    fn leaf(&mut self, rows: &[u32]) -> Vec<(u32, f32)> {
        self.labels.clear();
        let mut sums: Vec<f64> = Vec::new();
        let mut total = 0.0;
        for &row in rows {
            let weight = self
                .data
                .weights
                .as_ref()
                .map_or(1.0, |weights| weights[row as usize]);
            total += f64::from(weight);
            for &label in self.data.labels.row(row as usize) {
                let number = self.labels.number(label) as usize;
                if number == sums.len() {
                    sums.push(0.0);
                }
                sums[number] += f64::from(weight) * self.gains.of_class[label as usize];
            }
        }
        let shares = self.labels.items().iter().zip(&sums);
        let mut leaf: Vec<(u32, f32)> = shares
            .map(|(&class, &sum)| (class, (sum / total) as f32))
            .filter(|(_, share)| *share > 0.0)
            .collect();
        leaf.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        leaf.truncate(self.params.labels_per_leaf);
        leaf.sort_unstable_by_key(|&(class, _)| class);
        leaf
    }
}
