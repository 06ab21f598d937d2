//! The features of training texts, with blocks chosen by held-out rows where the user leaves that to us.

use rayon::prelude::*;

use super::{Described, PrepOptions};
use crate::catalogue::AlgorithmParams;
use crate::dataset::{Dataset, LabelSets};
use crate::model::Scratch;
use crate::model::calibration::SET_CANDIDATES;
use crate::sparse::Scored;
use crate::text::{TextCounter, TextFeatures, TextKinds, TextParams, WordSource, choose};
use crate::train::{SoftmaxParams, TrainRequest, average_best, compare_with_usual, hold_out};
use crate::{Result, Session, maths};

/// Answers that are looked at.
const ANSWERS: usize = 5;

/// The features of the texts of `counter`, whose labels are `labels`. The last of them are those that
/// `described` has, if it has any.
pub(super) fn text_features(
    counter: TextCounter,
    params: &TextParams,
    labels: &LabelSets,
    described: Option<&Described>,
    prep: &PrepOptions,
    session: &Session<'_>,
) -> Result<TextFeatures> {
    let chosen = choose_params(&counter, params, labels, described, prep, session)?;
    counter.finish(&chosen, session)
}

/// `params` with the blocks that suit the texts of `counter`, where the user leaves that to us. What was
/// chosen is told.
pub(super) fn choose_params<S: WordSource>(
    counter: &TextCounter<S>,
    params: &TextParams,
    labels: &LabelSets,
    described: Option<&Described>,
    prep: &PrepOptions,
    session: &Session<'_>,
) -> Result<TextParams> {
    if !params.automatic {
        return Ok(params.clone());
    }
    let examples = counter.len() - described.map_or(0, Described::counted_texts);
    // What is held out later must not have a say.
    let held_out = match prep.held_out_share {
        Some(share) => held_out(labels, examples, share, session),
        None => Vec::new(),
    };
    let kinds = TextKinds {
        examples,
        held_out: &held_out,
    };
    let chosen = choose(
        counter,
        labels,
        &kinds,
        params,
        (prep.needs, prep.views),
        &judge,
        session,
    )?;
    let score = |blocks: &str| chosen.tried.iter().find(|tried| tried.blocks == blocks);
    let blocks = chosen.blocks_list();
    if let (Some(best), Some(words)) = (score(&blocks), score("words")) {
        let languages: Vec<_> = chosen.languages.iter().map(|language| language.name()).collect();
        let of = if languages.is_empty() { "" } else { " of " };
        session.note(format!(
            "text: {blocks}{of}{} ({:.1} on held-out rows of a sample, words alone {:.1})",
            languages.join(" and "),
            100.0 * best.score,
            100.0 * words.score
        ));
    }
    if !chosen.column_weights.is_empty() {
        let weights = chosen.column_weights.iter();
        let weights: Vec<String> = weights.map(|(name, weight)| format!("{name}:{weight}")).collect();
        session.note(format!("weights of columns: {}", weights.join(", ")));
    }
    Ok(chosen)
}

/// Which of the first `examples` rows will be held out.
fn held_out(labels: &LabelSets, examples: usize, share: f64, session: &Session<'_>) -> Vec<bool> {
    let mut own = LabelSets::new();
    for labels in labels.iter().take(examples) {
        own.push(labels.iter().copied());
    }
    let classes = own.iter().flatten().max().map_or(0, |&class| class as usize + 1);
    hold_out::choose(&own, classes, share, session)
}

/// Trains the default algorithm and says how well it answers: the mean of accuracy and NDCG@5, which tells
/// settings apart with fewer rows than accuracy alone.
pub(crate) fn judge(views: Vec<(Dataset, Dataset)>, session: &Session<'_>) -> Result<f64> {
    // Of what these runs tell, nothing is about the model that the user waits for.
    // A budget is for that model: told by a sample, what it needs would be wrong.
    let quiet = session.quiet()?.with_memory_budget(None);
    let trainer = SoftmaxParams::default().trainer()?;
    let mut answered = Vec::with_capacity(views.len());
    for (mut training, held_out) in views {
        compare_with_usual(&mut training, None);
        let scorer = trainer.train(TrainRequest::new(training), &quiet)?.scorer;
        answered.push((scorer, held_out));
    }
    // One view's answers are final, of several the best of all are averaged.
    let wanted = if answered.len() > 1 {
        SET_CANDIDATES
    } else {
        ANSWERS
    };
    let labels = &answered[0].1.labels;
    let share = 1.0 / answered.len() as f32;
    let score = |scratch: &mut Vec<Scratch>, row: usize| {
        scratch.resize_with(answered.len(), Scratch::default);
        let lists: Vec<Vec<Scored>> = answered
            .iter()
            .zip(scratch)
            .map(|((scorer, held_out), scratch)| {
                let mut best = Vec::new();
                scorer.top_k(held_out.rows.row(row), wanted, scratch, &mut best);
                best
            })
            .collect();
        let mut best = match &lists[..] {
            [only] => only.clone(),
            several => average_best(&several.iter().map(Vec::as_slice).collect::<Vec<_>>(), share),
        };
        best.truncate(ANSWERS);
        let labels = labels.row(row);
        let gain = |rank: usize| 1.0 / maths::log2((rank + 2) as f64);
        let hits = (0..best.len()).filter(|&rank| labels.contains(&best[rank].class));
        let found: f64 = hits.clone().map(gain).sum();
        let ideal: f64 = (0..labels.len().min(ANSWERS)).map(gain).sum();
        let first = hits.take(1).filter(|&rank| rank == 0).count();
        f64::midpoint(first as f64, found / ideal.max(1.0))
    };
    let rows = 0..labels.len();
    let scores: Vec<f64> = quiet.run(|| rows.into_par_iter().map_init(Vec::new, score).collect());
    // In order: sums of floating-point numbers depend on it.
    Ok(scores.iter().sum::<f64>() / scores.len().max(1) as f64)
}
