//! The features by which a name is found in a text.

use super::analyzer::AnalyzerScratch;
use super::parts::{OPENING_MARK, STEM_MARK};
use super::preprocessing::TextPipeline;
use super::words::CHARACTER_MARK;
use crate::model::NameFeatures;

impl TextPipeline {
    /// Whether names can be looked for in rows: where there are several text columns, features are of one of
    /// them.
    pub(crate) fn can_find_names(&self) -> bool {
        self.params.text_column_names().is_empty()
    }

    /// The features of `name`. What it has behind it in brackets tells it from others and is hardly ever
    /// written in a text, so it is left out.
    pub(crate) fn name_features(&self, name: &str, scratch: &mut AnalyzerScratch) -> NameFeatures {
        let mut forms: [Option<Vec<u32>>; 3] = [const { Some(Vec::new()) }; 3];
        self.analyzer.tokens(unqualified(name), scratch, |token| {
            let form = if token.starts_with(CHARACTER_MARK) || token.contains(' ') {
                return;
            } else if token.starts_with(STEM_MARK) {
                1
            } else if token.starts_with(OPENING_MARK) {
                2
            } else {
                0
            };
            match self.vocabulary.find(token) {
                Some(feature) => forms[form].iter_mut().for_each(|known| known.push(feature)),
                None => forms[form] = None,
            }
        });
        let [words, stems, opening] = forms.map(|form| {
            let mut features = form.unwrap_or_default();
            features.sort_unstable();
            features.dedup();
            features
        });
        NameFeatures {
            words,
            stems,
            opening,
        }
    }
}

/// `name` without what stands in brackets behind it.
fn unqualified(name: &str) -> &str {
    let end = [" (", " <"].iter().filter_map(|bracket| name.find(bracket)).min();
    match end.map(|end| name[..end].trim()) {
        Some(before) if !before.is_empty() => before,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::unqualified;

    #[test]
    fn qualifiers_are_left_out() {
        assert_eq!(unqualified("Mars (Planet)"), "Mars");
        assert_eq!(unqualified("Hybrid <Technik> (Auto)"), "Hybrid");
        assert_eq!(unqualified(" (only this)"), " (only this)");
        assert_eq!(unqualified("f(x)"), "f(x)");
    }
}
