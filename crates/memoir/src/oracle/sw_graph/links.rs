//! The graph's links: undirected, with a bounded number at each node.

/// A link, as one of its ends has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    /// The other end.
    pub(super) to: u32,
    /// Inner product of the two vectors when the link was made; decides which link goes when there are too
    /// many.
    pub(super) score: f32,
}

/// The links of all nodes. A link is always at both of its ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Links {
    of: Vec<Vec<Link>>,
    most: usize,
}

impl Links {
    /// For so many nodes, with at most `most` links at each.
    pub(super) fn new(nodes: usize, most: usize) -> Self {
        Self {
            of: vec![Vec::new(); nodes],
            most,
        }
    }

    /// The links at a node.
    pub(super) fn at(&self, node: u32) -> &[Link] {
        &self.of[node as usize]
    }

    /// Links two nodes. An end with too many links loses its weakest.
    pub(super) fn join(&mut self, a: u32, b: u32, score: f32) {
        if a == b || self.at(a).iter().any(|link| link.to == b) {
            return;
        }
        self.of[a as usize].push(Link { to: b, score });
        self.of[b as usize].push(Link { to: a, score });
        self.trim(a);
        self.trim(b);
    }

    /// Drops weak links of a node that has too many, rather those whose other end has links to spare.
    fn trim(&mut self, node: u32) {
        while self.at(node).len() > self.most {
            let spare = |link: &Link| self.at(link.to).len() > self.most / 4;
            let weaker = |a: &&Link, b: &&Link| a.score.total_cmp(&b.score).then(b.to.cmp(&a.to));
            let links = self.at(node).iter();
            let weakest = links
                .clone()
                .filter(|link| spare(link))
                .min_by(weaker)
                .or_else(|| links.min_by(weaker));
            let Some(&Link { to, .. }) = weakest else {
                return;
            };
            self.part(node, to);
        }
    }

    /// Removes the link between two nodes.
    fn part(&mut self, a: u32, b: u32) {
        self.of[a as usize].retain(|link| link.to != b);
        self.of[b as usize].retain(|link| link.to != a);
    }

    /// Removes all links of a node and returns them.
    pub(super) fn isolate(&mut self, node: u32) -> Vec<Link> {
        let links = std::mem::take(&mut self.of[node as usize]);
        for link in &links {
            self.of[link.to as usize].retain(|back| back.to != node);
        }
        links
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn links_have_two_ends_and_nodes_few_links(
            changes in proptest::collection::vec((0u32..20, 0u32..20, -5i8..5, any::<bool>()), 0..200),
        ) {
            let mut links = Links::new(20, 4);
            for (a, b, score, isolate) in changes {
                if isolate && score > 2 {
                    links.isolate(a);
                    prop_assert!(links.at(a).is_empty());
                } else {
                    links.join(a, b, f32::from(score));
                }
                for node in 0..20 {
                    prop_assert!(links.at(node).len() <= 4);
                    for link in links.at(node) {
                        prop_assert!(link.to != node);
                        prop_assert_eq!(links.at(link.to).iter().filter(|back| back.to == node).count(), 1);
                    }
                }
            }
        }
    }
}
