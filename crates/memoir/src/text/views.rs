//! Views of a text: selections of its blocks, each with weights of its own. A model may learn from each view
//! by itself and average what they say.
//!
//! Features that say much the same, such as a word and its stem, share the weight when they are learned
//! together. Learned from apart, each must say all it can, and their errors cancel out in the average.

use super::blocks::{Block, Blocks};
use super::params::TextParams;
use crate::sparse::Rows;

/// What stands between views.
const BETWEEN: char = '/';

/// The blocks of a list such as `words,pairs:0.5/stems,chars4`: all of them, and those of each view. With
/// one view there is nothing to average, and no views are given.
pub(super) fn parse_views(list: &str) -> Result<(Blocks, Vec<Blocks>), String> {
    let views = list.split(BETWEEN).map(str::parse);
    let mut views: Vec<Blocks> = views.collect::<Result<_, String>>()?;
    if views.len() == 1 {
        return Ok((views.remove(0), Vec::new()));
    }
    let kinds = |view: &Blocks| {
        let mut kinds: Vec<String> = view.iter().map(|block| block.kind.to_string()).collect();
        kinds.sort_unstable();
        kinds
    };
    for (index, view) in views.iter().enumerate() {
        if views[..index].iter().any(|other| kinds(other) == kinds(view)) {
            return Err(format!(
                "two views have the blocks {}; expected different ones, such as `words,pairs:0.5/stems,chars4`",
                kinds(view).join(",")
            ));
        }
    }
    Ok((union(&views)?, views))
}

/// Every block that a view has, with the largest of its weights.
pub(super) fn union(views: &[Blocks]) -> Result<Blocks, String> {
    let mut all: Vec<Block> = Vec::new();
    for block in views.iter().flatten() {
        match all.iter_mut().find(|known| known.kind == block.kind) {
            Some(known) => known.weight = known.weight.max(block.weight),
            None => all.push(*block),
        }
    }
    Blocks::new(all)
}

impl TextParams {
    /// The blocks as users write them.
    pub fn blocks_list(&self) -> String {
        if self.views.is_empty() {
            return self.blocks.to_string();
        }
        let views: Vec<String> = self.views.iter().map(ToString::to_string).collect();
        views.join(&BETWEEN.to_string())
    }

    /// For each view, what the values of each block's features are to be multiplied by, where all blocks
    /// were scaled together. Columns beside the text are in every view.
    pub(crate) fn view_factors(&self) -> Vec<Vec<f32>> {
        let blocks = self.column_blocks();
        let together: Vec<f32> = blocks.iter().map(|block| block.weight).collect();
        let of_view = |view: &Blocks| {
            let weights = blocks.iter().map(|all| match all.block {
                None => all.weight,
                Some(block) => view
                    .iter()
                    .find(|own| own.kind == block.kind)
                    .map_or(0.0, |own| all.weight / block.weight * own.weight),
            });
            let weights: Vec<f32> = weights.collect();
            let scale = length(&together) / length(&weights);
            let pairs = weights.iter().zip(&together);
            pairs.map(|(own, all)| own / all * scale).collect()
        };
        self.views.iter().map(of_view).collect()
    }
}

/// What the values of `feature` are multiplied by in a view with these factors of its blocks.
pub(crate) fn factor_of(factors: &[f32], block_of_feature: &[u8], feature: u32) -> f32 {
    let block = block_of_feature.get(feature as usize).copied().unwrap_or(0);
    factors.get(usize::from(block)).copied().unwrap_or(0.0)
}

/// Weighted rows as a view has them.
pub(crate) fn view_rows(rows: &Rows, factors: &[f32], block_of_feature: &[u8]) -> Rows {
    let factor = |feature: u32| factor_of(factors, block_of_feature, feature);
    let has = |&&feature: &&u32| factor(feature) > 0.0;
    let entries = rows.indices().iter().filter(has).count();
    let mut offsets = Vec::with_capacity(rows.len() + 1);
    let (mut indices, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    offsets.push(0);
    for row in rows.iter() {
        for (&feature, &value) in row.indices.iter().zip(row.values) {
            let factor = factor(feature);
            if factor > 0.0 {
                indices.push(feature);
                values.push(factor * value);
            }
        }
        offsets.push(indices.len());
    }
    Rows::from_parts(offsets, indices, values, rows.width())
}

fn length(values: &[f32]) -> f32 {
    values.iter().map(|value| value * value).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        let (blocks, views) = parse_views("words,pairs:0.5/stems,pairs:0.7").unwrap();
        assert_eq!(blocks.to_string(), "words,pairs:0.7,stems");
        assert_eq!(views.len(), 2);
        let params = TextParams::parse([("blocks", "words,pairs:0.5/stems,pairs:0.7")]).unwrap();
        assert_eq!(params.blocks_list(), "words,pairs:0.5/stems,pairs:0.7");
        assert_eq!(parse_views("words,pairs").unwrap().1, []);
        let message = |list: &str| parse_views(list).unwrap_err();
        assert!(message("words,pairs/pairs:2,words").starts_with("two views have the blocks pairs,words;"));
        assert!(message("words/").starts_with("`` is no block"));
        assert!(message("words,chars4/chars5").contains("both blocks of characters"));
    }

    #[test]
    fn every_view_has_the_length_of_a_row() {
        let params = TextParams::parse([("blocks", "words,pairs:0.5/stems:2,chars4,pairs:0.25")]).unwrap();
        let factors = params.view_factors();
        let together: Vec<f32> = params.column_blocks().iter().map(|block| block.weight).collect();
        for (view, factors) in params.views.iter().zip(&factors) {
            let own: Vec<f32> = factors.iter().zip(&together).map(|(f, w)| f * w).collect();
            assert!((length(&own) - length(&together)).abs() < 1e-5);
            assert_eq!(factors.iter().filter(|&&factor| factor > 0.0).count(), view.len());
        }
        // Stems and pairs of the second view keep their proportion.
        let (stems, pairs) = (2, 1);
        let proportion = factors[1][stems] * together[stems] / (factors[1][pairs] * together[pairs]);
        assert!((proportion - 8.0).abs() < 1e-4, "{proportion}");
    }
}
