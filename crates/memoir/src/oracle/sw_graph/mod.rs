//! `sw-graph`: the navigable small world graph of Malkov et al. (2014) on the inner product of class
//! vectors.
//!
//! Each class is a node, linked to classes of similar vectors. A search walks from node to neighbour towards
//! higher scores and keeps the best few it has met. Batches of changed classes are searched for in parallel
//! in the frozen graph and linked in a fixed order, so the graph is the same at any number of threads.

mod links;
mod search;
mod seeds;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::SplitMix64;
use rayon::prelude::*;

use self::links::Links;
use self::search::{GraphScratch, Search};
use self::seeds::Seeds;
use super::{Oracle, Query};
use crate::model::Scratch;
use crate::sparse::{ClassVectors, Scored, VectorBuffer};
use crate::{Result, Session};

/// The search for the neighbours of a node starts from one in so many of the seeds that a search for rivals
/// has: a class's vector has more features than a row, and its neighbours need not be the very best.
const SEEDS_TO_LINK: usize = 4;

/// Random nodes that a search starts from, besides the seeds.
const RANDOM_STARTS: usize = 2;

/// A batch of searches grows the graph by at most one in so many nodes: those of one batch do not see each
/// other.
const GROWTH: usize = 4;

/// Nodes that one worker searches neighbours for between two looks at the cancel flag.
const STRIDE: usize = 8;

/// Parameters of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwGraphParams {
    /// Neighbours that a new node is linked to (nmslib's NN); a node has at most four times as many links.
    pub neighbors: usize,
    /// Breadth of the search for the neighbours of a new node.
    pub ef_construction: usize,
    /// Breadth of the search for rivals.
    pub ef_search: usize,
    /// Classes that a search starts from because they share features with the row; 0 starts at random nodes
    /// alone.
    pub seeds: usize,
}

/// Finds rivals by walking in a graph.
#[derive(Debug, Clone)]
pub struct SwGraph {
    params: SwGraphParams,
    links: Links,
    /// The nodes that are in the graph, in the order of insertion.
    nodes: Vec<u32>,
    /// Place of each class in `nodes`, plus one; 0 for classes that are not there.
    indices: Vec<u32>,
    seeds: Seeds,
}

impl SwGraph {
    /// A graph without nodes.
    pub fn new(params: SwGraphParams) -> Self {
        Self {
            params,
            links: Links::default(),
            nodes: Vec::new(),
            indices: Vec::new(),
            seeds: Seeds::default(),
        }
    }

    fn is_member(&self, class: u32) -> bool {
        self.indices[class as usize] != 0
    }

    fn add_member(&mut self, class: u32) {
        self.nodes.push(class);
        self.indices[class as usize] = self.nodes.len() as u32;
    }

    /// Takes a class out of the graph; its neighbours are linked to each other, so that no way through it is
    /// lost.
    fn remove<W: ClassVectors>(&mut self, weights: &W, class: u32) {
        let index = std::mem::take(&mut self.indices[class as usize]) as usize;
        self.nodes.swap_remove(index - 1);
        if let Some(&moved) = self.nodes.get(index - 1) {
            self.indices[moved as usize] = index as u32;
        }
        let orphans = self.links.isolate(class);
        self.repair(weights, orphans.iter().map(|link| link.to).collect());
    }

    /// Links each of the former neighbours of a node to that one of the others which is most like it.
    fn repair<W: ClassVectors>(&mut self, weights: &W, mut orphans: Vec<u32>) {
        orphans.sort_unstable();
        for &orphan in &orphans {
            let others = orphans.iter().filter(|&&other| other != orphan);
            let scored = others.map(|&class| Scored {
                class,
                score: weights.dot_between(orphan, class),
            });
            if let Some(nearest) = scored.min_by(Scored::order) {
                self.links.join(orphan, nearest.class, nearest.score);
            }
        }
    }

    /// The best neighbours for the (new) vector of a class in the frozen graph.
    fn neighbors<W: ClassVectors>(&self, weights: &W, class: u32, scratch: &mut GraphScratch) -> Vec<Scored> {
        let mut buffer = VectorBuffer::default();
        let row = weights.vector(class, &mut buffer);
        let search = Search {
            weights,
            links: &self.links,
            row,
            breadth: self.params.ef_construction,
        };
        let mut seeds = std::mem::take(&mut scratch.seeds);
        self.seeds
            .of(row, self.params.seeds.div_ceil(SEEDS_TO_LINK), &mut seeds);
        let starts = seeds
            .iter()
            .map(|seed| seed.1)
            .chain(self.random_starts(u64::from(class)));
        // A class that is replaced starts at its former neighbours: its vector has moved, but seldom far.
        let former = self.links.at(class).iter().map(|link| link.to);
        search.run(
            starts.chain(former).filter(|&start| self.is_member(start)),
            scratch,
        );
        scratch.seeds = seeds;
        let found = scratch.found.iter().filter(|other| other.class != class);
        found.take(self.params.neighbors).copied().collect()
    }

    fn random_starts(&self, draw: u64) -> impl Iterator<Item = u32> {
        let mut random = SplitMix64::seed_from_u64(draw);
        let count = if self.nodes.is_empty() { 0 } else { RANDOM_STARTS };
        (0..count).map(move |_| self.nodes[random.random_range(0..self.nodes.len())])
    }

    /// Inserts classes that are new, and links those anew that are there already.
    fn insert<W: ClassVectors>(&mut self, weights: &W, classes: &[u32], session: &Session<'_>) -> Result<()> {
        let mut rest = classes;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(rest.len().min((self.nodes.len() / GROWTH).max(1)));
            rest = later;
            let this = &*self;
            let found: Vec<Vec<Scored>> = session
                .run(|| {
                    let strides =
                        batch
                            .par_chunks(STRIDE)
                            .map_init(GraphScratch::default, |scratch, classes| {
                                session.check()?;
                                let found = classes
                                    .iter()
                                    .map(|&class| this.neighbors(weights, class, scratch));
                                Ok(found.collect::<Vec<_>>())
                            });
                    strides.collect::<Result<Vec<_>>>()
                })?
                .into_iter()
                .flatten()
                .collect();
            for (&class, neighbors) in batch.iter().zip(found) {
                if self.is_member(class) {
                    let former = self.links.isolate(class);
                    // A former neighbour that stays one, or has others, needs no help.
                    let alone = former
                        .iter()
                        .map(|link| link.to)
                        .filter(|&node| self.links.at(node).len() < 2);
                    let alone: Vec<u32> = alone.collect();
                    for orphan in alone {
                        self.links.join(class, orphan, weights.dot_between(class, orphan));
                    }
                } else {
                    self.add_member(class);
                }
                for neighbor in neighbors {
                    self.links.join(class, neighbor.class, neighbor.score);
                }
            }
        }
        Ok(())
    }
}

impl<W: ClassVectors> Oracle<W> for SwGraph {
    fn name(&self) -> &'static str {
        "sw-graph"
    }

    fn update(&mut self, weights: &W, changed: &[u32], session: &Session<'_>) -> Result<()> {
        let classes = weights.classes();
        if self.indices.len() != classes {
            self.links = Links::new(classes, 4 * self.params.neighbors);
            self.indices = vec![0; classes];
        }
        if self.params.seeds > 0 {
            self.seeds.update(weights, changed);
        }
        let mut present = Vec::with_capacity(changed.len());
        for (count, &class) in changed.iter().enumerate() {
            if count % STRIDE == 0 {
                session.check()?;
            }
            if !weights.zeros().contains(class) {
                present.push(class);
            } else if self.is_member(class) {
                self.remove(weights, class);
            }
        }
        self.insert(weights, &present, session)
    }

    fn search(&self, weights: &W, query: &Query<'_>, scratch: &mut Scratch, out: &mut Vec<Scored>) -> usize {
        out.clear();
        let scratch = scratch.get::<GraphScratch>();
        let search = Search {
            weights,
            links: &self.links,
            row: query.row,
            // Wide enough that the true classes, often the best, do not crowd their rivals out.
            breadth: self.params.ef_search.max(query.k) + query.labels.len(),
        };
        let mut seeds = std::mem::take(&mut scratch.seeds);
        self.seeds.of(query.row, self.params.seeds, &mut seeds);
        let starts = seeds
            .iter()
            .map(|seed| seed.1)
            .chain(self.random_starts(query.draw));
        let inner_products = search.run(starts.filter(|&start| self.is_member(start)), scratch);
        scratch.seeds = seeds;
        let wrong = scratch
            .found
            .iter()
            .filter(|found| query.labels.binary_search(&found.class).is_err());
        out.extend(wrong.take(query.k));
        inner_products
    }
}
