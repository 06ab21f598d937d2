//! Which blocks suit the texts: a few settings tried on a sample of the training rows, judged on others of
//! them.
//!
//! The sample is one of classes, with all their rows: as many rows per class as the whole data has, but
//! fewer classes. A sample of rows would leave classes with few rows each, where every kind of subword looks
//! better than it is.

use super::blocks::Blocks;
use super::counting::TextCounter;
use super::params::{TextParams, Tried};
use super::views::{parse_views, view_rows};
use super::weighting::{RowNeeds, Weighting, WeightingScheme};
use super::word_source::WordSource;
use crate::dataset::{ClassSample, Dataset, LabelSets, parse_mark};
use crate::{Result, Session};

/// With fewer labelled rows than this, what a sample says is mostly chance.
const LEAST_ROWS: usize = 1000;

/// One word in so many is looked at, within these limits.
const ONE_WORD_IN: usize = 15;
const FEWEST_WORDS: usize = 100_000;
const MOST_WORDS: usize = 1_000_000;

/// At most one row in so many is looked at, unless there are few.
const ONE_ROW_IN: usize = 6;
const FEW_ROWS: usize = 4000;

/// Fewest classes of a sample: with fewer, rows are easy to tell apart by words alone.
const FEWEST_CLASSES: usize = 100;

/// One row in so many of the sample is kept to judge by.
const ONE_HELD_OUT_IN: usize = 4;

/// By what share a score must rise for more to be counted. Runs of characters cost most, and a sample, whose
/// rows know fewer words than all rows do, makes too much of them.
const STEMS_GAIN: f64 = 1.005;
const BOTH_GAIN: f64 = 1.01;
// In a sample most pairs are met once, so it makes too little of them. Still they must gain beside runs of
// characters, which tell what is rare.
const PAIRS_GAIN: f64 = 0.99;
const PAIRS_BESIDE_CHARS_GAIN: f64 = 1.0;
// In long texts they double the time of training, and gained nothing where this was measured.
const LONG_PAIRS_GAIN: f64 = 1.01;
const CHARS_GAIN: f64 = 1.03;
// They may weigh most only where they gain much. Where they gain less, light ones did better on all rows,
// even if a sample said otherwise.
const HEAVY_GAIN: f64 = 1.08;
const LONGER_GAIN: f64 = 1.01;
// It costs little, and a sample of few classes makes too little of it.
const OPENING_GAIN: f64 = 0.995;

/// Blocks that are better learned from in views, these views, and what they must gain. Words and stems were
/// better apart than together on every set of short texts that was looked at, unless runs of characters
/// stood beside them; there it made no difference. In long texts such runs come in only in a view of their
/// own, and must gain, because they cost much.
const VIEWS: &[(&str, &str, f64)] = &[
    ("words,stems", "words/stems", 0.995),
    (
        "words,stems,stem-pairs:0.5",
        "words,stem-pairs:0.5/stems,stem-pairs:0.5",
        0.995,
    ),
    (
        "words,stems,opening:0.6",
        "words,opening:0.5/stems:0.5,opening:0.5,chars5",
        1.01,
    ),
];

/// Texts of more words than this, on average, are long. Runs of characters are not tried there: long texts
/// have words enough in common, and what a sample of classes promised was lost again among all of them.
/// Words that open the text are tried there alone: most of a short text is its opening.
const LONG_TEXT: usize = 40;

/// Columns beside the text whose weights are tried, at most: each takes two trials or more.
const MOST_WEIGHED: usize = 8;

/// Weights of such a column, from the usual one down, and up.
const USUAL_WEIGHT: f32 = 0.5;
const LIGHTER: &[f32] = &[0.25, 0.1, 0.03];
const HEAVIER: &[f32] = &[1.0, 2.0];

/// Trains on the first rows and says how well the second are answered, from 0 to 1. There is a pair for each
/// view of the texts; what they answer is averaged.
pub(crate) type Judge<'j> = dyn Fn(Vec<(Dataset, Dataset)>, &Session<'_>) -> Result<f64> + 'j;

/// What the texts are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextKinds<'k> {
    /// The first texts are examples. Those behind them are names of classes: they are trained on, but not
    /// judged by.
    pub(crate) examples: usize,
    /// Which examples are held out and must have no say; empty for none.
    pub(crate) held_out: &'k [bool],
}

/// `params` with the blocks that suit the texts of `counter`, whose labels are `labels`. What is given by
/// hand stays.
pub(crate) fn choose<S: WordSource>(
    counter: &TextCounter<S>,
    labels: &LabelSets,
    kinds: &TextKinds<'_>,
    params: &TextParams,
    (needs, views): (RowNeeds, bool),
    judge: &Judge<'_>,
    session: &Session<'_>,
) -> Result<TextParams> {
    let mut params = params.clone();
    params.automatic = false;
    let Some((sample, about, fitted)) = draw(counter, labels, kinds, session)? else {
        params.blocks = Blocks::words();
        return Ok(params);
    };
    if params.languages.is_empty() {
        params.languages = counter.languages(session)?;
    }
    let mut look = Look {
        sample,
        about,
        fitted,
        params,
        needs,
        views,
        judge,
        session,
    };
    // First, because beside a column that tells nothing and weighs much, other text features look best.
    look.weigh_columns()?;
    let best = look.search()?;
    let Look { mut params, .. } = look;
    (params.blocks, params.views) = best;
    if !params.blocks.has_stems() {
        params.languages.clear();
    }
    Ok(params)
}

/// A sample and what was found out by it.
struct Look<'l> {
    sample: TextCounter,
    /// Labels and classes of the sample; its rows are made anew for each setting.
    about: Dataset,
    /// Texts to train on; the others are held out.
    fitted: usize,
    params: TextParams,
    needs: RowNeeds,
    /// Whether the algorithm can learn from views.
    views: bool,
    judge: &'l Judge<'l>,
    session: &'l Session<'l>,
}

impl Look<'_> {
    /// First which form of the words is best, then whether runs of characters help, or in long texts the
    /// words that open them, then pairs.
    fn search(&mut self) -> Result<(Blocks, Vec<Blocks>)> {
        let stems = !self.params.languages.is_empty();
        let (mut units, mut score) = (vec!["words"], self.score("words")?);
        if stems {
            let of_stems = self.score("stems")?;
            if of_stems > score * STEMS_GAIN {
                (units, score) = (vec!["stems"], of_stems);
            }
            let of_both = self.score("words,stems")?;
            if of_both > score * BOTH_GAIN {
                (units, score) = (vec!["words", "stems"], of_both);
            }
        }
        let list = |weight: &str, rest: &str| {
            let units: Vec<_> = units.iter().map(|unit| format!("{unit}{weight}")).collect();
            units.join(",") + rest
        };
        let pairs = if stems { ",stem-pairs:0.5" } else { ",pairs:0.5" };
        // Beside pairs, words and stems gain more than they do alone.
        let beside_pairs = |without: &str, rest: &str| {
            if stems {
                format!("words,stems{rest}")
            } else {
                without.to_owned()
            }
        };
        let mut best = list("", "");
        let (mut with_pairs, mut pairs_gain) = (best.clone() + pairs, LONG_PAIRS_GAIN);
        if self.sample.source.words() <= LONG_TEXT * self.sample.len() {
            let (light, heavy) = (list("", ",chars4:0.6"), list(":0.5", ",chars4"));
            let (of_light, of_heavy) = (self.score(&light)?, self.score(&heavy)?);
            let weigh_most = of_heavy > of_light && of_heavy > score * HEAVY_GAIN;
            if !weigh_most && of_light <= score * CHARS_GAIN {
                with_pairs = beside_pairs(&best, "") + pairs;
                pairs_gain = PAIRS_GAIN;
            } else if weigh_most {
                // Pairs would gain little beside runs that weigh most, and need much memory.
                let longer = heavy.replace("chars4", "chars5");
                best = if self.score(&longer)? > of_heavy * LONGER_GAIN {
                    longer
                } else {
                    heavy
                };
                return Ok(blocks(&best));
            } else {
                (best, score) = (light, of_light);
                with_pairs = beside_pairs(&best, ",chars4:0.6") + pairs;
                pairs_gain = PAIRS_BESIDE_CHARS_GAIN;
            }
        } else {
            // The same share of a row's length beside one block and beside two.
            let with_opening = if stems {
                "words,stems,opening:0.6"
            } else {
                "words,opening:0.45"
            }
            .to_owned();
            let of_opening = self.score(&with_opening)?;
            if of_opening > score * OPENING_GAIN {
                (best, score) = (with_opening, of_opening);
                with_pairs = best.clone() + pairs;
            }
        }
        let of_pairs = self.score(&with_pairs)?;
        if of_pairs > score * pairs_gain {
            (best, score) = (with_pairs, of_pairs);
        }
        let views = VIEWS
            .iter()
            .find(|(together, ..)| self.views && *together == best);
        if let Some(&(_, apart, gain)) = views
            && self.score(apart)? > score * gain
        {
            best = apart.to_owned();
        }
        Ok(blocks(&best))
    }

    /// How much columns beside the text should weigh, one by one, where nobody has said it: a column that
    /// tells nothing costs accuracy, and more the more it weighs. Words stand for the text.
    fn weigh_columns(&mut self) -> Result<()> {
        let names = self.sample.names.iter().filter_map(parse_mark);
        let mut columns: Vec<String> = Vec::new();
        for (column, _) in names.filter(|(column, _)| column.is_auto) {
            if !columns.iter().any(|known| known == column.name) {
                columns.push(column.name.to_owned());
            }
        }
        if columns.is_empty() || columns.len() > MOST_WEIGHED {
            return Ok(());
        }
        self.params.column_weights = columns.into_iter().map(|name| (name, USUAL_WEIGHT)).collect();
        let mut best = self.score_columns()?;
        for column in 0..self.params.column_weights.len() {
            for weights in [LIGHTER, HEAVIER] {
                let mut has_gained = false;
                for &weight in weights {
                    let before = std::mem::replace(&mut self.params.column_weights[column].1, weight);
                    let score = self.score_columns()?;
                    if score <= best {
                        self.params.column_weights[column].1 = before;
                        break;
                    }
                    (best, has_gained) = (score, true);
                }
                if has_gained {
                    break;
                }
            }
        }
        Ok(())
    }

    /// How well held-out rows are answered with words and the columns as they weigh now.
    fn score_columns(&mut self) -> Result<f64> {
        let score = self.score("words")?;
        let columns = self.params.column_weights.iter();
        let columns: Vec<String> = columns
            .map(|(name, weight)| format!(" {name}:{weight}"))
            .collect();
        if let Some(tried) = self.params.tried.last_mut() {
            tried.blocks += &columns.concat();
        }
        Ok(score)
    }

    /// How well held-out rows are answered with these blocks.
    fn score(&mut self, blocks: &str) -> Result<f64> {
        self.session.check()?;
        let (all, views) = self::blocks(blocks);
        let params = TextParams {
            blocks: all,
            views,
            ..self.params.clone()
        };
        let mut features = self.sample.clone().features(params, self.fitted, self.session)?;
        let layout = features.take_layout();
        let mut data = self.about.clone();
        data.rows = features.rows;
        let mut training = data.subset(0..self.fitted);
        let mut held_out = data.subset(self.fitted..data.len());
        drop(data);
        let weighting = self.session.run(|| {
            let scheme = WeightingScheme::LogTfIdf;
            Weighting::fit_blocks(scheme, self.needs, &training.rows, &training.labels, layout)
        });
        for rows in [&mut training.rows, &mut held_out.rows] {
            weighting.apply_all(rows, self.session)?;
            if self.needs.constant {
                rows.extend_all(rows.width() as u32, 1.0);
            }
        }
        let sets = if features.params.views.is_empty() {
            vec![(training, held_out)]
        } else {
            let of_view = |factors: &Vec<f32>| {
                let own = |data: &Dataset| Dataset {
                    rows: view_rows(&data.rows, factors, &weighting.block_of_feature),
                    ..data.clone()
                };
                (own(&training), own(&held_out))
            };
            features.params.view_factors().iter().map(of_view).collect()
        };
        let score = (self.judge)(sets, self.session)?;
        self.params.tried.push(Tried {
            blocks: blocks.to_owned(),
            score: (score * 10_000.0).round() / 10_000.0,
        });
        Ok(score)
    }
}

/// The blocks of a list that is made here, so that it is a legal one, and its views.
fn blocks(list: &str) -> (Blocks, Vec<Blocks>) {
    parse_views(list).unwrap_or_else(|_| (Blocks::words(), Vec::new()))
}

/// Some texts, those to train on first, with their labels among the classes of the sample, and how many are
/// to train on.
fn draw<S: WordSource>(
    counter: &TextCounter<S>,
    labels: &LabelSets,
    kinds: &TextKinds<'_>,
    session: &Session<'_>,
) -> Result<Option<(TextCounter, Dataset, usize)>> {
    if labels.len() != counter.len() {
        return Ok(None);
    }
    let is_held_out = |row: usize| kinds.held_out.get(row) == Some(&true);
    let is_usable = |row: usize| row < kinds.examples && !is_held_out(row) && !labels.row(row).is_empty();
    let labelled = (0..kinds.examples).filter(|&row| is_usable(row)).count();
    if labelled < LEAST_ROWS {
        return Ok(None);
    }
    let words = (counter.source.words() / ONE_WORD_IN).clamp(FEWEST_WORDS, MOST_WORDS);
    let words_per_row = (counter.source.words() / counter.len()).max(1);
    let most_rows = (words / words_per_row).min((labelled / ONE_ROW_IN).max(FEW_ROWS));
    let mut random = session.random("text choice");
    let sample = ClassSample::draw(labels, is_usable, most_rows, FEWEST_CLASSES, &mut random);
    // Names are trained on.
    let is_chosen = |row: &usize| labels.row(*row).iter().any(|&class| sample.contains(class));
    let mut rows: Vec<usize> = (kinds.examples..labels.len()).filter(is_chosen).collect();
    let fitted = rows.len() + sample.rows.len() - sample.rows.len() / ONE_HELD_OUT_IN;
    rows.extend(&sample.rows);
    let mut about = Dataset::default();
    for class in 0..sample.classes {
        about.classes.intern(&class.to_string());
    }
    for &row in &rows {
        let of_row = labels.row(row).iter();
        about
            .labels
            .push(of_row.filter_map(|&class| sample.numbers[class as usize]));
    }
    Ok(Some((counter.subset(&rows, session)?, about, fitted)))
}

#[cfg(test)]
mod tests;
