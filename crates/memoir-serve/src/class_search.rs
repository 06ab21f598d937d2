//! Finds classes by parts of their names: some milliseconds at 200,000 classes, by scanning them all.

use std::collections::HashSet;

/// Names of all classes in lower case, in one piece.
#[derive(Default)]
pub(crate) struct ClassSearch {
    folded: String,
    ends: Vec<usize>,
    /// The class of each name.
    classes: Vec<u32>,
}

/// How well a name fits; the smaller the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Whole,
    Start,
    StartOfWord,
    Inside,
}

impl ClassSearch {
    /// Adds a name of a class; a class may have several.
    pub(crate) fn add(&mut self, class: u32, name: &str) {
        self.folded.extend(name.chars().flat_map(char::to_lowercase));
        self.ends.push(self.folded.len());
        self.classes.push(class);
    }

    /// The classes of which a name holds every word of `query`: best fits first, then short names, then by
    /// number. Gives at most `limit` of them, and how many there are.
    pub(crate) fn find(&self, query: &str, limit: usize) -> (Vec<u32>, usize) {
        let query = query.trim().to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let mut found: Vec<(Fit, usize, u32)> = Vec::new();
        let mut start = 0;
        for (&end, &class) in self.ends.iter().zip(&self.classes) {
            let name = &self.folded[start..end];
            if let Some(fit) = fit(name, &query, &words) {
                found.push((fit, name.len(), class));
            }
            start = end;
        }
        found.sort_unstable();
        let mut seen = HashSet::new();
        found.retain(|(_, _, class)| seen.insert(*class));
        let count = found.len();
        found.truncate(limit);
        (found.into_iter().map(|(_, _, class)| class).collect(), count)
    }
}

fn fit(name: &str, query: &str, words: &[&str]) -> Option<Fit> {
    let (first, others) = words.split_first()?;
    let at = name.find(first)?;
    if !others.iter().all(|word| name.contains(word)) {
        return None;
    }
    let inside_word = name[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    Some(match at {
        0 if name == query => Fit::Whole,
        0 => Fit::Start,
        _ if inside_word => Fit::Inside,
        _ => Fit::StartOfWord,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> ClassSearch {
        let mut search = ClassSearch::default();
        for (class, name) in (0..).zip(names) {
            search.add(class, name);
        }
        search
    }

    fn search(query: &str, limit: usize) -> (Vec<u32>, usize) {
        of(["Garden lamp", "Lamp", "Lampshade", "clamp", "Öl lamp", "chair"]).find(query, limit)
    }

    #[test]
    fn best_fits_come_first() {
        assert_eq!(search("lamp", 10), (vec![1, 2, 4, 0, 3], 5));
        assert_eq!(search("LAMP", 2), (vec![1, 2], 5));
    }

    #[test]
    fn every_word_must_occur() {
        assert_eq!(search("lamp garden", 10).0, [0]);
        assert_eq!(search("öl", 10).0, [4]);
        assert_eq!(search("table", 10), (vec![], 0));
        assert_eq!(search("  ", 10), (vec![], 0));
    }

    #[test]
    fn a_class_with_several_names_is_found_once() {
        let mut search = of(["lamp", "chair"]);
        search.add(1, "lampshade");
        search.add(1, "lamp of another kind");
        assert_eq!(search.find("lamp", 10), (vec![0, 1], 2));
    }

    #[test]
    fn many_classes_are_searched_in_milliseconds() {
        let names: Vec<String> = (0..200_000)
            .map(|n| format!("class number {n} of things"))
            .collect();
        let search = of(names.iter().map(String::as_str));
        let start = std::time::Instant::now();
        assert_eq!(search.find("199999 things", 10), (vec![199_999], 1));
        assert!(start.elapsed().as_millis() < 1_000, "{:?}", start.elapsed());
    }
}
