//! Finds classes by parts of their names: some milliseconds at 200,000 classes, by scanning them all.

/// Names of all classes in lower case, in one piece.
pub(crate) struct ClassSearch {
    folded: String,
    ends: Vec<usize>,
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
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let (mut folded, mut ends) = (String::new(), Vec::new());
        for name in names {
            folded.extend(name.chars().flat_map(char::to_lowercase));
            ends.push(folded.len());
        }
        Self { folded, ends }
    }

    /// The classes whose names hold every word of `query`: best fits first, then short names, then by
    /// number. Gives at most `limit` of them, and how many there are.
    pub(crate) fn find(&self, query: &str, limit: usize) -> (Vec<u32>, usize) {
        let query = query.trim().to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let mut found: Vec<(Fit, usize, u32)> = Vec::new();
        let mut start = 0;
        for (&end, class) in self.ends.iter().zip(0u32..) {
            let name = &self.folded[start..end];
            if let Some(fit) = fit(name, &query, &words) {
                found.push((fit, name.len(), class));
            }
            start = end;
        }
        let count = found.len();
        if count > limit && limit > 0 {
            found.select_nth_unstable(limit - 1);
            found.truncate(limit);
        }
        found.sort_unstable();
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

    fn search(query: &str, limit: usize) -> (Vec<u32>, usize) {
        ClassSearch::new(["Garden lamp", "Lamp", "Lampshade", "clamp", "Öl lamp", "chair"].into_iter())
            .find(query, limit)
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
    fn many_classes_are_searched_in_milliseconds() {
        let names: Vec<String> = (0..200_000)
            .map(|n| format!("class number {n} of things"))
            .collect();
        let search = ClassSearch::new(names.iter().map(String::as_str));
        let start = std::time::Instant::now();
        assert_eq!(search.find("199999 things", 10), (vec![199_999], 1));
        assert!(start.elapsed().as_millis() < 1_000, "{:?}", start.elapsed());
    }
}
