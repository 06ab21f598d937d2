//! What classes are called and how they are related: the model's vocabulary, if it has one.

use memoir::Scored;
use memoir::class_vocabulary::{ClassVocabulary, Hierarchy, TermKind};

use super::Engine;
use crate::class_search::ClassSearch;

/// Classes whose probabilities are added up to back off. Those behind them have next to none.
pub(crate) const CANDIDATES: usize = 50;

/// A class, or a concept of the vocabulary that is no class of the model.
pub(crate) struct Concept<'v> {
    /// The class, or the id of the concept.
    pub(crate) id: &'v str,
    pub(crate) name: Option<&'v str>,
    pub(crate) notation: Option<&'v str>,
    /// The number of the class, if the model knows it.
    pub(crate) class: Option<u32>,
}

/// Where each class stands in the hierarchy. The library's own form borrows the vocabulary, which a model
/// that is kept cannot lend for ever.
pub(super) struct Levels {
    /// Where the nodes of each class end in `nodes`.
    ends: Vec<usize>,
    /// The nodes of each class: itself, then its ancestors.
    nodes: Vec<u32>,
    /// Depth of each node.
    depths: Vec<u16>,
    /// The class that each node is, if it is one.
    classes: Vec<Option<u32>>,
}

impl Levels {
    fn new(vocabulary: &ClassVocabulary, classes: usize) -> Self {
        let hierarchy = Hierarchy::new(vocabulary, classes);
        // Classes without a concept stand behind the concepts.
        let all = vocabulary.len() + classes;
        let mut levels = Self {
            ends: Vec::with_capacity(classes),
            nodes: Vec::new(),
            depths: (0..all as u32).map(|node| hierarchy.depth(node)).collect(),
            classes: vec![None; all],
        };
        for class in 0..classes as u32 {
            let nodes = hierarchy.nodes(class).iter().map(|&(node, _)| node);
            if let Some(own) = nodes.clone().next() {
                levels.classes[own as usize].get_or_insert(class);
            }
            levels.nodes.extend(nodes);
            levels.ends.push(levels.nodes.len());
        }
        levels
    }

    /// The deepest node whose classes have at least the probability `least` together; of equally deep ones
    /// the most probable.
    fn back_off(&self, best: &[Scored], least: f32) -> Option<Scored> {
        let mut sums: Vec<Scored> = Vec::new();
        for scored in best {
            let class = scored.class as usize;
            let start = class.checked_sub(1).map_or(0, |before| self.ends[before]);
            for &node in &self.nodes[start..self.ends[class]] {
                match sums.iter_mut().find(|sum| sum.class == node) {
                    Some(sum) => sum.score = (sum.score + scored.score).min(1.0),
                    None => sums.push(Scored {
                        class: node,
                        score: scored.score,
                    }),
                }
            }
        }
        let depth = |sum: &Scored| self.depths[sum.class as usize];
        // A root that all classes have in common has depth 0. It says nothing and is no answer.
        sums.retain(|sum| sum.score >= least && depth(sum) > 0);
        sums.into_iter().max_by(|one, other| {
            let by_depth = depth(one).cmp(&depth(other));
            let by_score = by_depth.then(one.score.total_cmp(&other.score));
            // Of equals the lower number, as the library has it.
            by_score.then(other.class.cmp(&one.class))
        })
    }
}

/// A concept that is no class of the model.
fn no_class(vocabulary: &ClassVocabulary, concept: u32) -> Concept<'_> {
    Concept {
        id: vocabulary.id(concept),
        name: vocabulary.name(concept),
        notation: vocabulary.notation(concept),
        class: None,
    }
}

impl Engine {
    fn vocabulary(&self) -> Option<&ClassVocabulary> {
        self.model.vocabulary()
    }

    /// Whether classes have broader ones.
    pub(crate) fn has_hierarchy(&self) -> bool {
        self.vocabulary().is_some_and(ClassVocabulary::has_hierarchy)
    }

    /// A class as people see it.
    pub(crate) fn class(&self, class: u32) -> Concept<'_> {
        Concept {
            id: self.class_name(class),
            name: self.model.name_of_class(class, &[]),
            notation: self.model.notation_of_class(class),
            class: Some(class),
        }
    }

    /// What is broader than a class or concept; nothing if the vocabulary does not know it.
    pub(crate) fn broader(&self, id: &str) -> Option<Vec<Concept<'_>>> {
        let vocabulary = self.vocabulary()?;
        let concept = match self.find_class(id) {
            Some(class) => vocabulary.concept_of_class(class)?,
            None => (0..vocabulary.len() as u32).find(|&concept| vocabulary.id(concept) == id)?,
        };
        let shown = |concept: u32| {
            let mut classes = 0..self.classes() as u32;
            let class = classes.find(|&class| vocabulary.concept_of_class(class) == Some(concept));
            class.map_or_else(|| no_class(vocabulary, concept), |class| self.class(class))
        };
        Some(vocabulary.broader(concept).iter().copied().map(shown).collect())
    }

    /// The narrowest class or concept that is sure enough for this share of such answers to be right, with
    /// its probability. `best` are [`CANDIDATES`] answers.
    pub(crate) fn back_off(&self, best: &[Scored], precision: f32) -> Option<(Concept<'_>, f32)> {
        let vocabulary = self.vocabulary()?;
        let sets = self
            .model
            .calibration()
            .and_then(|calibration| calibration.sets.as_ref());
        let measured = sets.and_then(|sets| sets.back_off_from(precision));
        let least = measured.unwrap_or(precision);
        let levels = self
            .levels
            .get_or_init(|| Levels::new(vocabulary, self.classes()));
        let found = levels.back_off(best, least)?;
        let concept = match levels.classes[found.class as usize] {
            Some(class) => self.class(class),
            None => no_class(vocabulary, found.class),
        };
        Some((concept, found.score))
    }

    /// Searches the names of the classes, and what else the vocabulary calls them.
    pub(crate) fn search(&self) -> &ClassSearch {
        self.search.get_or_init(|| {
            let mut search = ClassSearch::default();
            for class in 0..self.classes() as u32 {
                search.add(class, self.class_name(class));
                let found = self
                    .vocabulary()
                    .and_then(|vocabulary| Some((vocabulary, vocabulary.concept_of_class(class)?)));
                let terms = found
                    .into_iter()
                    .flat_map(|(vocabulary, concept)| vocabulary.terms(concept));
                for term in terms.filter(|term| term.kind != TermKind::Definition) {
                    search.add(class, term.text);
                }
            }
            search
        })
    }
}

#[cfg(test)]
mod tests {
    use memoir::ClassNames;
    use memoir::class_vocabulary::{BuilderOptions, VocabularyBuilder};

    use super::*;

    /// Printers and routers are hardware, hardware and bills are things; `other` is in no vocabulary.
    fn vocabulary() -> (ClassVocabulary, usize) {
        let mut builder = VocabularyBuilder::new();
        for name in ["printer", "router", "hardware", "bill", "thing"] {
            let concept = builder.concept(name);
            builder.describe(concept);
        }
        for (narrow, broad) in [
            ("printer", "hardware"),
            ("router", "hardware"),
            ("hardware", "thing"),
        ] {
            let (narrow, broad) = (builder.concept(narrow), builder.concept(broad));
            builder.broader(narrow, broad);
        }
        let (bill, thing) = (builder.concept("bill"), builder.concept("thing"));
        builder.broader(bill, thing);
        let (mut vocabulary, mut defects) = builder.finish(&BuilderOptions::default()).unwrap();
        let mut classes = ClassNames::default();
        for name in ["printer", "other", "bill", "router"] {
            classes.intern(name);
        }
        vocabulary.attach(&classes, &mut defects);
        (vocabulary, classes.len())
    }

    #[test]
    fn backing_off_finds_what_the_library_finds() {
        let (vocabulary, classes) = vocabulary();
        let hierarchy = Hierarchy::new(&vocabulary, classes);
        let levels = Levels::new(&vocabulary, classes);
        let mut found = std::collections::HashSet::new();
        for parts in 0..256u32 {
            // Four shares of the whole, in every mixture of quarters.
            let shares = (0..4).map(|class| (class, (parts >> (2 * class)) % 4));
            let best: Vec<_> = shares
                .map(|(class, share)| Scored {
                    class,
                    score: share as f32 / 12.0,
                })
                .collect();
            for least in [0.0, 0.2, 0.4, 0.6, 0.9] {
                let expected = hierarchy.back_off(&best, least, &mut Vec::new());
                let expected = expected.map(|node| (node.node, node.probability));
                let own = levels.back_off(&best, least).map(|node| (node.class, node.score));
                assert_eq!(
                    own.map(|own| own.0),
                    expected.map(|expected| expected.0),
                    "{best:?}"
                );
                found.extend(own.map(|own| own.0));
            }
        }
        assert_eq!(found.len(), vocabulary.len() + 1, "{found:?}");
    }
}
