//! Best-first search in the graph.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::links::Links;
use crate::sparse::{ClassVectors, RowView, Scored, Spread, TopK};

/// A node to be looked at; the heap gives the best first.
#[derive(Clone, Copy, PartialEq)]
struct Candidate(Scored);

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.order(&self.0)
    }
}

/// Reusable memory of one searching thread.
#[derive(Default)]
pub(super) struct GraphScratch {
    /// Nodes already scored in this search have its number.
    visited: Vec<u32>,
    search: u32,
    candidates: BinaryHeap<Candidate>,
    top: TopK,
    pub(super) found: Vec<Scored>,
    pub(super) seeds: Vec<(f32, u32)>,
    spread: Spread,
}

/// What a search looks at and for.
pub(super) struct Search<'a, W> {
    pub(super) weights: &'a W,
    pub(super) links: &'a Links,
    pub(super) row: RowView<'a>,
    /// How many of the best nodes are kept: the search ends when the next is worse than all of them.
    pub(super) breadth: usize,
}

impl<W: ClassVectors> Search<'_, W> {
    /// Leaves the best nodes found from `starts` in `scratch.found`; returns how many inner products that
    /// took.
    pub(super) fn run(&self, starts: impl Iterator<Item = u32>, scratch: &mut GraphScratch) -> usize {
        let GraphScratch {
            visited,
            search,
            candidates,
            top,
            found,
            spread,
            ..
        } = scratch;
        if visited.len() < self.weights.classes() || *search == u32::MAX {
            visited.clear();
            visited.resize(self.weights.classes(), 0);
            *search = 0;
        }
        *search += 1;
        candidates.clear();
        top.reset(self.breadth);
        let is_spread = self.weights.is_sparse();
        if is_spread {
            spread.set(self.row, self.weights.width());
        }
        let mut inner_products = 0;
        let mut visit = |node: u32, candidates: &mut BinaryHeap<Candidate>, top: &mut TopK| {
            if std::mem::replace(&mut visited[node as usize], *search) == *search {
                return;
            }
            inner_products += 1;
            let score = if is_spread {
                self.weights.dot_spread(node, spread)
            } else {
                self.weights.dot(node, self.row)
            };
            // Adding zero turns -0 into 0, so that `<` agrees with the total order of scores.
            let scored = Scored {
                class: node,
                score: score + 0.0,
            };
            if scored.score >= top.threshold() {
                top.offer(scored);
                candidates.push(Candidate(scored));
            }
        };
        for start in starts {
            visit(start, candidates, top);
        }
        while let Some(Candidate(best)) = candidates.pop() {
            if best.score < top.threshold() {
                break;
            }
            for link in self.links.at(best.class) {
                visit(link.to, candidates, top);
            }
        }
        if is_spread {
            spread.clear(self.row);
        }
        top.finish(found);
        inner_products
    }
}
