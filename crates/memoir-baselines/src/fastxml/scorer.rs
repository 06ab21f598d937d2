//! The scorer kind `forest`: the mean over trees of the labels of the leaf that a row comes to, and for
//! `pfastrexml` the second opinion of class means on the classes found.

use memoir::model::{
    LoadScorer, Precision, Scorer, ScorerKind, Scratch, Storage, Tensor, TensorSource, TopK,
};
use memoir::{Result, RowView, Scored};

use super::grow::Tree;
use super::tail::Tail;
use crate::halves::{self, FloatWeights};
use crate::ranking::{check_offsets, complete};

/// The kind of scorer, for a catalogue.
pub const FOREST_SCORER: ScorerKind = ScorerKind {
    kind: "forest",
    load: |source| Ok(Box::new(Forest::load(source)?)),
};

/// Trees one after the other in flat arrays.
#[derive(Debug)]
pub(super) struct Forest {
    classes: usize,
    features: usize,
    /// The first node of each tree.
    roots: Storage<u32>,
    /// Left and right child of each node; 0 in leaves.
    children: Storage<u32>,
    bias: Storage<f32>,
    /// Node `n` owns the weights `separator_offsets[n]..separator_offsets[n + 1]`.
    separator_offsets: Storage<u64>,
    separator_features: Storage<u32>,
    separator_weights: FloatWeights,
    /// Node `n` owns the labels `leaf_offsets[n]..leaf_offsets[n + 1]`.
    leaf_offsets: Storage<u64>,
    leaf_classes: Storage<u32>,
    leaf_shares: Storage<f32>,
    tail: Option<Tail>,
}

/// Sums over trees of the shares of each class; 0 for classes that are not in `touched`.
#[derive(Default)]
struct ForestScratch {
    sums: Vec<f32>,
    touched: Vec<u32>,
    best: TopK,
}

impl Forest {
    /// Puts `trees` behind each other.
    pub(super) fn new((classes, features): (usize, usize), trees: Vec<Tree>, tail: Option<Tail>) -> Self {
        let (mut roots, mut children, mut bias) = (Vec::new(), Vec::new(), Vec::new());
        let (mut separator_offsets, mut leaf_offsets) = (vec![0], vec![0]);
        let (mut separator_features, mut separator_weights) = (Vec::new(), Vec::new());
        let (mut leaf_classes, mut leaf_shares) = (Vec::new(), Vec::new());
        for tree in trees {
            let first = bias.len() as u32;
            roots.push(first);
            let shifted = tree.children.iter().flatten();
            children.extend(shifted.map(|&child| if child == 0 { 0 } else { child + first }));
            bias.extend_from_slice(&tree.bias);
            let (separators, leaves) = (separator_weights.len() as u64, leaf_shares.len() as u64);
            separator_offsets.extend(tree.separator_ends.iter().map(|end| end + separators));
            leaf_offsets.extend(tree.leaf_ends.iter().map(|end| end + leaves));
            separator_features.extend_from_slice(&tree.features);
            separator_weights.extend_from_slice(&tree.weights);
            leaf_classes.extend_from_slice(&tree.classes);
            leaf_shares.extend_from_slice(&tree.shares);
        }
        Self {
            classes,
            features,
            roots: roots.into(),
            children: children.into(),
            bias: bias.into(),
            separator_offsets: separator_offsets.into(),
            separator_features: separator_features.into(),
            separator_weights: separator_weights.into(),
            leaf_offsets: leaf_offsets.into(),
            leaf_classes: leaf_classes.into(),
            leaf_shares: leaf_shares.into(),
            tail,
        }
    }

    fn load(source: &dyn TensorSource) -> Result<Self> {
        let (classes, features) = source.shape();
        let tail = match source.element("tail.settings") {
            Some(_) => Some(Tail::load(source)?),
            None => None,
        };
        let forest = Self {
            classes,
            features,
            roots: source.u32("forest.roots")?,
            children: source.u32("forest.children")?,
            bias: source.f32("forest.bias")?,
            separator_offsets: source.u64("weights.offsets")?,
            separator_features: source.u32("weights.features")?,
            separator_weights: FloatWeights::load(source, "weights.values")?,
            leaf_offsets: source.u64("leaves.offsets")?,
            leaf_classes: source.u32("leaves.classes")?,
            leaf_shares: source.f32("leaves.shares")?,
            tail,
        };
        forest.check().map_err(|message| source.invalid(message))?;
        Ok(forest)
    }

    /// What could otherwise fail or never end later; looks at the nodes, never at weights and leaves.
    fn check(&self) -> Result<(), String> {
        let nodes = self.bias.len();
        if self.roots.is_empty() {
            return Err("`forest.roots` is empty".to_owned());
        }
        if let Some(root) = self.roots.iter().find(|&&root| root as usize >= nodes) {
            return Err(format!("`forest.roots` names node {root} of {nodes}"));
        }
        for (name, found, expected) in [
            ("forest.children", self.children.len(), 2 * nodes),
            (
                "weights.features",
                self.separator_features.len(),
                self.separator_weights.len(),
            ),
            ("leaves.classes", self.leaf_classes.len(), self.leaf_shares.len()),
        ] {
            if found != expected {
                return Err(format!("`{name}` must have {expected} elements, but has {found}"));
            }
        }
        for (node, children) in self.children.chunks(2).enumerate() {
            let is_leaf = children == [0, 0];
            // Children behind their parents: every way down ends.
            let fits = |&child: &u32| child as usize > node && (child as usize) < nodes;
            if !is_leaf && !children.iter().all(fits) {
                return Err(format!(
                    "`forest.children` gives node {node} of {nodes} the children {children:?}"
                ));
            }
        }
        let weights = self.separator_weights.len();
        check_offsets(
            ("weights.offsets", &self.separator_offsets),
            nodes,
            ("weights.values", weights),
        )?;
        let shares = self.leaf_shares.len();
        check_offsets(
            ("leaves.offsets", &self.leaf_offsets),
            nodes,
            ("leaves.shares", shares),
        )
    }

    /// Whether `row` goes to the right child of `node`.
    fn goes_right(&self, node: usize, row: RowView<'_>) -> bool {
        let range = self.separator_offsets[node] as usize..self.separator_offsets[node + 1] as usize;
        let features = &self.separator_features[range.clone()];
        let mut score = self.bias[node];
        for (feature, value) in row.iter() {
            if let Ok(index) = features.binary_search(&feature) {
                score += value * self.separator_weights.get(range.start + index);
            }
        }
        score > 0.0
    }

    /// The leaf of the tree at `root` that `row` comes to.
    fn leaf(&self, root: u32, row: RowView<'_>) -> usize {
        let mut node = root as usize;
        while self.children[2 * node] != 0 {
            let side = usize::from(self.goes_right(node, row));
            node = self.children[2 * node + side] as usize;
        }
        node
    }
}

impl Scorer for Forest {
    fn kind(&self) -> &'static str {
        FOREST_SCORER.kind
    }

    fn loader(&self) -> LoadScorer {
        FOREST_SCORER.load
    }

    fn check_content(&self) -> Result<(), String> {
        crate::ranking::check_classes(("leaves.classes", &self.leaf_classes), self.classes)
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.features
    }

    /// Scores are mean shares, 0 for a class in none of the leaves; with class means, logarithms, and minus
    /// infinity.
    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        let ForestScratch { sums, touched, best } = scratch.get();
        let known = row
            .indices
            .partition_point(|&feature| (feature as usize) < self.features);
        let row = RowView {
            indices: &row.indices[..known],
            values: &row.values[..known],
        };
        if sums.len() < self.classes {
            sums.resize(self.classes, 0.0);
        }
        for &root in &*self.roots {
            let leaf = self.leaf(root, row);
            let range = self.leaf_offsets[leaf] as usize..self.leaf_offsets[leaf + 1] as usize;
            let labels = self.leaf_classes[range.clone()].iter();
            for (&class, &share) in labels.zip(&self.leaf_shares[range]) {
                // A class that does not exist or a share that is none: damage, which must not spread.
                if (class as usize) < self.classes && share > 0.0 {
                    let sum = &mut sums[class as usize];
                    if *sum == 0.0 {
                        touched.push(class);
                    }
                    *sum += share;
                }
            }
        }
        best.reset(k);
        let squared_norm = row.squared_norm();
        for class in touched.drain(..) {
            let share = std::mem::take(&mut sums[class as usize]) / self.roots.len() as f32;
            let score = match &self.tail {
                Some(tail) => tail.score(class, share, row, squared_norm),
                None => share,
            };
            best.offer(Scored { class, score });
        }
        best.finish(out);
        let rest = if self.tail.is_some() {
            f32::NEG_INFINITY
        } else {
            0.0
        };
        complete(out, k, self.classes, rest);
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let mut tensors = vec![
            ("forest.roots".to_owned(), Tensor::U32(&self.roots)),
            ("forest.children".to_owned(), Tensor::U32(&self.children)),
            ("forest.bias".to_owned(), Tensor::F32(&self.bias)),
            ("weights.offsets".to_owned(), Tensor::U64(&self.separator_offsets)),
            (
                "weights.features".to_owned(),
                Tensor::U32(&self.separator_features),
            ),
            ("weights.values".to_owned(), self.separator_weights.tensor()),
            ("leaves.offsets".to_owned(), Tensor::U64(&self.leaf_offsets)),
            ("leaves.classes".to_owned(), Tensor::U32(&self.leaf_classes)),
            ("leaves.shares".to_owned(), Tensor::F32(&self.leaf_shares)),
        ];
        tensors.extend(self.tail.iter().flat_map(Tail::tensors));
        tensors
    }

    fn with_precision(mut self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        halves::check(precision)?;
        self.separator_weights = self.separator_weights.with_precision(precision);
        Ok(self)
    }
}
