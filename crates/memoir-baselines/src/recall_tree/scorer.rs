//! The scorer kind `recall-tree`: nodes, their candidates, and one hashed table with the weights of routers
//! and classes.

use memoir::model::{
    LoadScorer, Precision, Scorer, ScorerKind, Scratch, Storage, Tensor, TensorSource, TopK,
};
use memoir::{Result, RowView, Scored};

use super::nodes::NO_CHILD;
use super::table::{Input, slot};
use crate::halves::{self, FloatWeights};
use crate::ranking::complete;

/// The kind of scorer, for a catalogue.
pub const RECALL_TREE_SCORER: ScorerKind = ScorerKind {
    kind: "recall-tree",
    load: |source| Ok(Box::new(RecallTreeScorer::load(source)?)),
};

/// A trained recall tree.
#[derive(Debug)]
pub(super) struct RecallTreeScorer {
    classes: usize,
    features: usize,
    /// Left and right child of each node; 0 where examples of that side stay.
    children: Storage<u32>,
    /// Node `n` owns the candidates `offsets[n]..offsets[n + 1]`.
    offsets: Storage<u64>,
    candidates: Storage<u32>,
    weights: FloatWeights,
    /// The table has `2^bits` weights.
    bits: u32,
}

#[derive(Default)]
struct TreeScratch {
    input: Input,
    best: TopK,
}

impl RecallTreeScorer {
    pub(super) fn new(
        (classes, features): (usize, usize),
        children: Vec<u32>,
        (offsets, candidates): (Vec<u64>, Vec<u32>),
        (bits, weights): (u32, Vec<f32>),
    ) -> Self {
        Self {
            classes,
            features,
            children: children.into(),
            offsets: offsets.into(),
            candidates: candidates.into(),
            weights: FloatWeights::from(weights),
            bits,
        }
    }

    fn load(source: &dyn TensorSource) -> Result<Self> {
        let (classes, features) = source.shape();
        let weights = FloatWeights::load(source, "weights.values")?;
        let scorer = Self {
            classes,
            features,
            children: source.u32("tree.children")?,
            offsets: source.u64("tree.candidate_offsets")?,
            candidates: source.u32("tree.candidates")?,
            bits: weights.len().checked_ilog2().unwrap_or(0),
            weights,
        };
        scorer.check().map_err(|message| source.invalid(message))?;
        Ok(scorer)
    }

    /// What could otherwise fail or never end later.
    fn check(&self) -> Result<(), String> {
        let nodes = self.children.len() / 2;
        if nodes == 0 || self.children.len() != 2 * nodes {
            return Err(format!(
                "`tree.children` must have two elements for each of its nodes, but has {}",
                self.children.len()
            ));
        }
        for (index, &child) in self.children.iter().enumerate() {
            // Children behind their parents: every way down ends.
            if child != NO_CHILD && (child as usize <= index / 2 || child as usize >= nodes) {
                return Err(format!(
                    "`tree.children` says that {child} is a child of node {} of {nodes}",
                    index / 2
                ));
            }
        }
        crate::ranking::check_offsets(
            ("tree.candidate_offsets", &self.offsets),
            nodes,
            ("tree.candidates", self.candidates.len()),
        )?;
        if self.bits == 0 || self.weights.len() != 1 << self.bits {
            return Err(format!(
                "`weights.values` must have a power of two as length, but has {}",
                self.weights.len()
            ));
        }
        Ok(())
    }

    fn score(&self, owner: u64, entries: &[(u64, f32)]) -> f32 {
        let terms = entries
            .iter()
            .map(|&(feature, value)| self.weights.get(slot(owner, feature, self.bits)) * value);
        terms.sum()
    }

    /// The node where `input` ends up; its way is added to `input`.
    fn descend(&self, input: &mut Input) -> usize {
        let mut node = 0;
        loop {
            let children = &self.children[2 * node..2 * node + 2];
            if children == [NO_CHILD; 2] {
                return node;
            }
            let router = (self.classes + node) as u64;
            let side = usize::from(self.score(router, input.row()) > 0.0);
            if children[side] == NO_CHILD {
                return node;
            }
            node = children[side] as usize;
            input.enter(node as u32);
        }
    }
}

impl Scorer for RecallTreeScorer {
    fn kind(&self) -> &'static str {
        RECALL_TREE_SCORER.kind
    }

    fn loader(&self) -> LoadScorer {
        RECALL_TREE_SCORER.load
    }

    fn check_content(&self) -> Result<(), String> {
        crate::ranking::check_classes(("tree.candidates", &self.candidates), self.classes)
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn features(&self) -> usize {
        self.features
    }

    /// Scores are those of the candidates' linear functions; all other classes follow at minus infinity.
    fn top_k(&self, row: RowView<'_>, k: usize, scratch: &mut Scratch, out: &mut Vec<Scored>) {
        let TreeScratch { input, best } = scratch.get();
        input.set(row, self.features);
        let node = self.descend(input);
        best.reset(k);
        let candidates = self.offsets[node] as usize..self.offsets[node + 1] as usize;
        for &class in &self.candidates[candidates] {
            if (class as usize) < self.classes {
                let score = self.score(u64::from(class), input.with_path());
                best.offer(Scored { class, score });
            }
        }
        best.finish(out);
        complete(out, k, self.classes, f32::NEG_INFINITY);
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        vec![
            ("tree.children".to_owned(), Tensor::U32(&self.children)),
            ("tree.candidate_offsets".to_owned(), Tensor::U64(&self.offsets)),
            ("tree.candidates".to_owned(), Tensor::U32(&self.candidates)),
            ("weights.values".to_owned(), self.weights.tensor()),
        ]
    }

    fn with_precision(mut self: Box<Self>, precision: Precision) -> Result<Box<dyn Scorer>> {
        halves::check(precision)?;
        self.weights = self.weights.with_precision(precision);
        Ok(self)
    }
}
