//! The classes of a model in the hierarchy of their concepts: ancestors, depths, distances, and
//! probabilities that add up from narrower to broader.

use super::ClassVocabulary;
use crate::sparse::Scored;

/// A node of the hierarchy with the probability that the right class lies at or under it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeProbability {
    /// The node: a concept, or a class that has none (see [`Hierarchy::node_name`]).
    pub node: u32,
    /// Sum of the probabilities of the classes at or under it.
    pub probability: f32,
}

/// Where the classes of a model stand in the hierarchy of its vocabulary.
///
/// Nodes are the concepts and, numbered behind them, the classes that have no concept.
#[derive(Debug)]
pub struct Hierarchy<'v> {
    vocabulary: &'v ClassVocabulary,
    /// Where the nodes of each class end.
    ends: Vec<usize>,
    /// The nodes of each class, itself first, then its ancestors, each with its distance from the class.
    nodes: Vec<(u32, u16)>,
    /// Depth of each concept: 1 for one without a broader concept, else one more than its deepest broader
    /// concept.
    depths: Vec<u16>,
    /// The only concept without broader ones, if all classes lie under it.
    common_root: Option<u32>,
}

impl ClassVocabulary {
    /// Where `classes` classes of a model stand; nothing if no concept has a broader one.
    pub fn hierarchy(&self, classes: usize) -> Option<Hierarchy<'_>> {
        self.has_hierarchy().then(|| Hierarchy::new(self, classes))
    }
}

impl<'v> Hierarchy<'v> {
    /// The hierarchy of `classes` classes.
    pub fn new(vocabulary: &'v ClassVocabulary, classes: usize) -> Self {
        let concepts = vocabulary.len();
        let depths = depths(vocabulary);
        let (mut ends, mut nodes) = (Vec::with_capacity(classes), Vec::<(u32, u16)>::new());
        // The class that last came by each concept.
        let mut seen = vec![u32::MAX; concepts];
        for class in 0..classes as u32 {
            let start = nodes.len();
            match vocabulary.concept_of_class(class) {
                Some(concept) => {
                    seen[concept as usize] = class;
                    nodes.push((concept, 0));
                    let mut next = start;
                    while let Some(&(concept, distance)) = nodes.get(next) {
                        next += 1;
                        for &parent in vocabulary.broader(concept) {
                            // A damaged file may name concepts that do not exist.
                            let Some(seen) = seen.get_mut(parent as usize) else {
                                continue;
                            };
                            if std::mem::replace(seen, class) != class {
                                nodes.push((parent, distance.saturating_add(1)));
                            }
                        }
                    }
                }
                None => nodes.push(((concepts + class as usize) as u32, 0)),
            }
            ends.push(nodes.len());
        }
        let mut hierarchy = Self {
            vocabulary,
            ends,
            nodes,
            depths,
            common_root: None,
        };
        hierarchy.common_root = hierarchy.find_common_root();
        hierarchy
    }

    fn find_common_root(&self) -> Option<u32> {
        let first = self.nodes(0).iter().find(|(node, _)| self.depth(*node) == 1)?.0;
        let classes = 0..self.ends.len() as u32;
        let has_it = |class: u32| self.nodes(class).iter().any(|&(node, _)| node == first);
        classes.clone().all(has_it).then_some(first)
    }

    /// The nodes of a class, itself first, then its ancestors, nearest first, each with its distance from
    /// the class.
    pub fn nodes(&self, class: u32) -> &[(u32, u16)] {
        let class = class as usize;
        if class >= self.ends.len() {
            return &[];
        }
        let start = if class == 0 { 0 } else { self.ends[class - 1] };
        &self.nodes[start..self.ends[class]]
    }

    /// The nodes of a class that tell something: without a root that all classes have in common.
    pub fn telling_nodes(&self, class: u32) -> impl Iterator<Item = u32> + '_ {
        let nodes = self.nodes(class).iter().map(|&(node, _)| node);
        nodes.filter(move |&node| Some(node) != self.common_root)
    }

    /// Depth of a node, 1 for the broadest; a root that all classes have in common has depth 0.
    pub fn depth(&self, node: u32) -> u16 {
        let depth = self.depths.get(node as usize).copied().unwrap_or(1);
        depth - u16::from(self.common_root.is_some())
    }

    /// Depth of the deepest class.
    pub(crate) fn deepest(&self) -> u16 {
        let nodes = self.nodes.iter().map(|&(node, _)| self.depth(node));
        nodes.max().unwrap_or(0)
    }

    /// The nodes of a class at a depth; if it has none there, the class itself.
    pub(crate) fn nodes_at(&self, class: u32, depth: u16) -> impl Iterator<Item = u32> + '_ {
        let nodes = self.nodes(class);
        let has_some = nodes.iter().any(|&(node, _)| self.depth(node) == depth);
        let own = nodes.iter().take(usize::from(!has_some));
        let above = nodes.iter().filter(move |&&(node, _)| self.depth(node) == depth);
        above.chain(own).map(|&(node, _)| node)
    }

    /// Number of steps from one class to another by way of their nearest common ancestor. Where they have
    /// none, by way of one thought above all.
    pub fn distance(&self, one: u32, other: u32) -> u32 {
        if one == other {
            return 0;
        }
        let (of_one, of_other) = (self.nodes(one), self.nodes(other));
        let up = |nodes: &[(u32, u16)]| nodes.iter().map(|&(_, distance)| u32::from(distance)).max();
        let around = up(of_one).unwrap_or(0) + up(of_other).unwrap_or(0) + 2;
        let mut nearest = around;
        for &(node, distance) in of_one {
            if let Some(&(_, back)) = of_other.iter().find(|&&(candidate, _)| candidate == node) {
                nearest = nearest.min(u32::from(distance) + u32::from(back));
            }
        }
        nearest
    }

    /// What identifies a node: the id of its concept, or nothing if it is a class without one.
    pub fn node_name(&self, node: u32) -> Option<&'v str> {
        ((node as usize) < self.vocabulary.len()).then(|| self.vocabulary.id(node))
    }

    /// The class that has no concept and is this node.
    pub fn class_of_node(&self, node: u32) -> Option<u32> {
        (node as usize)
            .checked_sub(self.vocabulary.len())
            .map(|class| class as u32)
    }

    /// Adds up the probabilities of `best` at each of their nodes; `out` is sorted by node. Each class
    /// counts once at each ancestor, however many ways lead there.
    pub fn add_up(&self, best: &[Scored], out: &mut Vec<NodeProbability>) {
        out.clear();
        for scored in best.iter().filter(|scored| scored.score > f32::NEG_INFINITY) {
            let nodes = self.nodes(scored.class).iter();
            out.extend(nodes.map(|&(node, _)| NodeProbability {
                node,
                probability: scored.score,
            }));
        }
        // Stable: sums are made in the order of the answers, so they are the same every time.
        out.sort_by_key(|entry| entry.node);
        out.dedup_by(|next, kept| {
            let same = next.node == kept.node;
            if same {
                kept.probability += next.probability;
            }
            same
        });
        for entry in out {
            entry.probability = entry.probability.min(1.0);
        }
    }

    /// The deepest node whose probability reaches `least`; of equally deep ones the most probable. A root
    /// that all classes have in common is no answer. `best` are answers with probabilities; `buffer` is used
    /// on the way.
    pub fn back_off(
        &self,
        best: &[Scored],
        least: f32,
        buffer: &mut Vec<NodeProbability>,
    ) -> Option<NodeProbability> {
        self.add_up(best, buffer);
        self.deepest_of(buffer, least)
    }

    /// The deepest of `nodes` whose probability reaches `least`; of equally deep ones the most probable. A
    /// root that all classes have in common says nothing and is no answer.
    pub(crate) fn deepest_of(&self, nodes: &[NodeProbability], least: f32) -> Option<NodeProbability> {
        let sure = nodes
            .iter()
            .filter(|entry| entry.probability >= least && Some(entry.node) != self.common_root);
        // The first of equals stays: nodes are in the order of their numbers.
        sure.copied().reduce(|held, next| {
            let key = |entry: &NodeProbability| (self.depth(entry.node), entry.probability);
            if key(&next) > key(&held) { next } else { held }
        })
    }
}

/// Depth of each concept. Where a damaged file has cycles, they end at the concept that closes them.
fn depths(vocabulary: &ClassVocabulary) -> Vec<u16> {
    let mut depths = vec![0u16; vocabulary.len()];
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..vocabulary.len() as u32 {
        if depths[root as usize] != 0 {
            continue;
        }
        path.push((root, 0));
        depths[root as usize] = 1;
        while let Some((concept, next)) = path.last_mut() {
            let concept = *concept;
            if let Some(&parent) = vocabulary.broader(concept).get(*next) {
                *next += 1;
                if depths.get(parent as usize) == Some(&0) {
                    depths[parent as usize] = 1;
                    path.push((parent, 0));
                }
            } else {
                let parents = vocabulary.broader(concept).iter();
                let above = parents.filter_map(|&parent| depths.get(parent as usize)).max();
                depths[concept as usize] = above.map_or(1, |above| above.saturating_add(1));
                path.pop();
            }
        }
    }
    depths
}
