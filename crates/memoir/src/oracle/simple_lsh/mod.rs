//! `simple-lsh`: the `SimpleLSH` of Neyshabur and Srebro. Class vectors, divided by a bound on their
//! lengths, are completed to unit length by one coordinate, rows are scaled to unit length; then the larger
//! the inner product, the smaller the angle, and the more signs along random directions agree.
//!
//! Classes whose codes are near the row's are scored exactly. They are found by comparing all codes
//! (`hamming`) or only those that share a part of the row's code (`buckets`: one table per part, which is
//! also looked up with its least certain bits flipped). As in the paper, the nearest code may also be the
//! answer itself (`nearest`).

mod codes;
mod projection;

use rayon::prelude::*;

use self::codes::{Codes, Tables};
use self::projection::Projection;
use super::{Oracle, Query};
use crate::model::Scratch;
use crate::sparse::{ClassVectors, Scored, TopK, VectorBuffer};
use crate::{Result, Session, choices};

/// Vectors that one worker projects between two looks at the cancel flag.
const STRIDE: usize = 64;

/// The bound on lengths is this much above the longest vector, so that it need not grow with every batch.
const HEADROOM: f64 = 1.1;

choices! {
    /// How classes with similar codes are found.
    pub enum HashSearch {
        /// All codes are compared.
        Hamming = "hamming",
        /// Codes that share a part with the row's.
        Buckets = "buckets",
        /// All codes are compared, and the nearest is the answer: scores play no part, as in the paper.
        Nearest = "nearest",
    }
}

/// Parameters of the hashing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimpleLshParams {
    /// Signs in a code.
    pub bits: usize,
    /// How similar codes are found.
    pub search: HashSearch,
    /// `hamming`: classes with the nearest codes that are scored exactly.
    pub candidates: usize,
    /// `buckets`: signs in the part of a code that a table is looked up by; there are as many tables as
    /// parts.
    pub key_bits: usize,
    /// `buckets`: how many of a key's least certain signs are flipped for further look-ups, one at a time.
    pub probes: usize,
}

/// Finds rivals by the signs of random projections.
#[derive(Debug, Clone)]
pub struct SimpleLsh {
    params: SimpleLshParams,
    seed: u64,
    projection: Option<Projection>,
    /// Components of each class's unscaled vector along the directions: what codes follow from.
    components: Vec<f32>,
    /// The bound U on the lengths of unscaled vectors.
    bound: f64,
    codes: Codes,
    tables: Tables,
}

#[derive(Default)]
struct LshScratch {
    drawn: Vec<f32>,
    components: Vec<f32>,
    code: Vec<u64>,
    candidates: Vec<u32>,
    distances: Vec<u16>,
    top: TopK,
}

impl SimpleLsh {
    /// An index of no classes, with directions drawn from `seed`.
    pub fn new(params: SimpleLshParams, seed: u64) -> Self {
        Self {
            params,
            seed,
            projection: None,
            components: Vec::new(),
            bound: 0.0,
            codes: Codes::default(),
            tables: Tables::default(),
        }
    }

    /// Projects the vectors of `classes`, in parallel.
    fn project<W: ClassVectors>(
        &mut self,
        weights: &W,
        classes: &[u32],
        projection: &Projection,
        session: &Session<'_>,
    ) -> Result<()> {
        let bits = self.params.bits;
        let projected: Vec<Vec<f32>> = session.run(|| {
            let strides = classes.par_chunks(STRIDE).map_init(
                || (Vec::new(), VectorBuffer::default()),
                |(drawn, buffer), classes| {
                    session.check()?;
                    let mut components = vec![0.0; bits * classes.len()];
                    for (&class, out) in classes.iter().zip(components.chunks_exact_mut(bits)) {
                        projection.project(weights.vector(class, buffer), drawn, out);
                    }
                    Ok(components)
                },
            );
            strides.collect::<Result<_>>()
        })?;
        let each = projected.iter().flat_map(|stride| stride.chunks_exact(bits));
        for (&class, components) in classes.iter().zip(each) {
            let start = class as usize * bits;
            self.components[start..start + bits].copy_from_slice(components);
        }
        Ok(())
    }

    /// Makes the codes of `classes` from their components and the bound.
    fn encode<W: ClassVectors>(&mut self, weights: &W, classes: &[u32], completion: &[f32]) {
        let bits = self.params.bits;
        for &class in classes {
            let is_present = !weights.zeros().contains(class);
            let start = class as usize * bits;
            let components = &self.components[start..start + bits];
            // The completed vector is (w, sqrt(U^2 - |w|^2)) / U; the common factor 1/U changes no sign.
            let rest = (self.bound * self.bound - weights.squared_norm(class))
                .max(0.0)
                .sqrt() as f32;
            let signs = components
                .iter()
                .zip(completion)
                .map(|(along, last)| along + rest * last >= 0.0);
            if self.params.search == HashSearch::Buckets {
                self.tables.remove(class, &self.codes);
            }
            self.codes.set(class, is_present, signs);
            if self.params.search == HashSearch::Buckets {
                self.tables.insert(class, &self.codes);
            }
        }
    }
}

impl<W: ClassVectors> Oracle<W> for SimpleLsh {
    fn name(&self) -> &'static str {
        "simple-lsh"
    }

    fn update(&mut self, weights: &W, changed: &[u32], session: &Session<'_>) -> Result<()> {
        session.check()?;
        let (classes, bits) = (weights.classes(), self.params.bits);
        let projection = match self.projection.take() {
            Some(projection) => projection,
            None => Projection::new(weights.width(), bits, self.seed),
        };
        if self.codes.classes() != classes {
            self.components = vec![0.0; classes * bits];
            self.codes = Codes::new(classes, bits);
            self.tables = Tables::new(bits, self.params.key_bits);
        }
        let projected = self.project(weights, changed, &projection, session);
        let largest = (0..classes as u32)
            .map(|class| weights.squared_norm(class))
            .fold(0.0, f64::max)
            .sqrt();
        // A bound that is broken makes codes wrong, one that is far too large makes them all alike: then all
        // are new.
        if largest > self.bound || largest < self.bound / 2.0 {
            self.bound = HEADROOM * largest;
            let all: Vec<u32> = (0..classes as u32).collect();
            self.encode(weights, &all, &projection.completion);
        } else {
            self.encode(weights, changed, &projection.completion);
        }
        self.projection = Some(projection);
        projected
    }

    fn search(&self, weights: &W, query: &Query<'_>, scratch: &mut Scratch, out: &mut Vec<Scored>) -> usize {
        out.clear();
        let Some(projection) = &self.projection else {
            return 0;
        };
        let LshScratch {
            drawn,
            components,
            code,
            candidates,
            distances,
            top,
        } = scratch.get::<LshScratch>();
        components.resize(self.params.bits, 0.0);
        projection.project(query.row, drawn, components);
        codes::pack(components.iter().map(|&along| along >= 0.0), code);
        candidates.clear();
        let wanted = self.params.candidates.max(query.k) + query.labels.len();
        match self.params.search {
            HashSearch::Hamming => self.codes.nearest(code, wanted, distances, candidates),
            HashSearch::Buckets => self.tables.near(code, components, self.params.probes, candidates),
            HashSearch::Nearest => {
                let wanted = query.k + query.labels.len();
                self.codes.nearest(code, wanted, distances, candidates);
                candidates.retain(|class| query.labels.binary_search(class).is_err());
                candidates.sort_by_key(|&class| distances[class as usize]);
                candidates.truncate(query.k);
            }
        }
        top.reset(query.k);
        let mut inner_products = 0;
        for &class in candidates.iter() {
            if query.labels.binary_search(&class).is_err() {
                inner_products += 1;
                // Adding zero turns -0 into 0, so that scores have one order.
                let score = weights.dot(class, query.row) + 0.0;
                top.offer(Scored { class, score });
            }
        }
        top.finish(out);
        inner_products
    }
}

#[cfg(test)]
mod tests;
