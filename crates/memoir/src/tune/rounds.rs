//! Successive halving: many candidates on few rows, a third of them on three times as many, and so on.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::log::{Header, Log};
use super::space::Space;
use super::{JudgedBy, Outcome, Settings, Trial, TuneOptions};
use crate::dataset::ClassSample;
use crate::params::Parameters;
use crate::prepare::{ExamplePart, ExampleSet};
use crate::text::TextSettings;
use crate::train::hold_out::{check_share, choose};
use crate::train::{FitOptions, fit};
use crate::{Error, Result, Session};

/// One candidate in so many goes on to the next round, which has so many times more rows.
const ONE_IN: usize = 3;

/// With so few candidates left there is no further round.
const FEW: usize = 3;

/// Fewest rows of the first round: with fewer, chance decides.
const FEWEST_ROWS: usize = 3000;

/// Fewest classes of a sample: few classes are easy to tell apart.
const FEWEST_CLASSES: usize = 100;

/// How many candidates each round has, and how many rows each of them learns from.
fn plan(candidates: usize, rows: usize) -> Vec<(usize, usize)> {
    let mut counts = vec![candidates.max(1)];
    while counts[counts.len() - 1] > FEW && rows / ONE_IN.pow(counts.len() as u32) >= FEWEST_ROWS {
        counts.push(counts[counts.len() - 1].div_ceil(ONE_IN));
    }
    let last = counts.len() - 1;
    let of_round = |(round, count)| (count, rows / ONE_IN.pow((last - round) as u32));
    counts.into_iter().enumerate().map(of_round).collect()
}

pub(super) fn run(
    data: &ExampleSet,
    judged_by: JudgedBy<'_>,
    options: &TuneOptions<'_>,
    session: &Session<'_>,
    mut each: impl FnMut(&Trial),
) -> Result<Outcome> {
    // Settings that cannot be used are found before hours of work.
    configured(options, &Settings::new())?;
    let space = Space::new(
        options.algorithm,
        &options.given,
        options.vary.as_deref(),
        data.is_text(),
    )?;
    let rows = Split::new(data, judged_by, session)?;
    let (mut log, mut known) = match options.log {
        Some(path) => {
            let (log, trials) = Log::open(path, &header(data, judged_by, options, session), options.resume)?;
            (Some(log), trials)
        }
        None => (None, Vec::new()),
    };
    let most_rows = rows.training.len().min(options.rows.unwrap_or(usize::MAX));
    let plan = plan(options.candidates, most_rows);
    let mut outcome = Outcome {
        trials: Vec::new(),
        best: None,
        finished_rounds: 0,
        rounds: plan.len(),
    };
    let mut candidates = vec![Settings::new()];
    let mut running: Vec<usize> = vec![0];
    for (round, &(count, most_rows)) in plan.iter().enumerate() {
        let mut sample = None;
        let mut done: Vec<Trial> = Vec::new();
        let mut index = 0;
        while index < running.len() {
            let candidate = running[index];
            let settings = &candidates[candidate];
            session.progress(
                &format!("trying settings, round {} of {}", round + 1, plan.len()),
                index as u64,
                count as u64,
                "settings",
            );
            let is_same = |trial: &Trial| trial.round == round + 1 && trial.candidate == candidate;
            let trial = if let Some(found) = known.iter().position(is_same) {
                known.swap_remove(found)
            } else {
                let sample = sample.get_or_insert_with(|| rows.sample(data, judged_by, most_rows, session));
                match try_settings(options, settings, sample, session) {
                    Err(Error::Cancelled) => {
                        outcome.finish(done, false);
                        return Ok(outcome);
                    }
                    Err(reason) if candidate == 0 => return Err(reason),
                    tried => {
                        let trial = to_trial(tried, round + 1, candidate, settings, sample.training.len());
                        if let Some(log) = &mut log {
                            log.add(&trial)?;
                        }
                        trial
                    }
                }
            };
            each(&trial);
            if round == 0 && candidate == 0 {
                // Where the others look follows from what became of the given settings.
                candidates = space.candidates(count, &trial.resolved, session);
                running = (0..candidates.len()).collect();
            }
            done.push(trial);
            index += 1;
        }
        running = plan
            .get(round + 1)
            .map_or_else(Vec::new, |next| survivors(&done, next.0));
        outcome.finish(done, true);
    }
    Ok(outcome)
}

impl Outcome {
    /// Adds the trials of a round, all of them if `finished`.
    fn finish(&mut self, done: Vec<Trial>, finished: bool) {
        if finished || self.finished_rounds == 0 {
            self.best = done
                .iter()
                .filter(|trial| trial.score.is_some())
                .min_by(|a, b| better(a, b))
                .cloned();
        }
        self.finished_rounds += usize::from(finished);
        self.trials.extend(done);
    }
}

/// The better trial first; of equal ones, the candidate that was there first.
fn better(a: &Trial, b: &Trial) -> Ordering {
    let score = |trial: &Trial| trial.score.unwrap_or(f64::NEG_INFINITY);
    score(b).total_cmp(&score(a)).then(a.candidate.cmp(&b.candidate))
}

/// The candidates that go on, the best first. What was given always does: the others are compared with it.
fn survivors(done: &[Trial], count: usize) -> Vec<usize> {
    let mut ranked: Vec<&Trial> = done
        .iter()
        .filter(|trial| trial.candidate > 0 && trial.score.is_some())
        .collect();
    ranked.sort_by(|a, b| better(a, b));
    let others = ranked.iter().take(count.saturating_sub(1));
    std::iter::once(0)
        .chain(others.map(|trial| trial.candidate))
        .collect()
}

/// What a trial found.
struct Tried {
    score: f64,
    model_bytes: u64,
    resolved: BTreeMap<String, crate::params::Value>,
}

fn to_trial(tried: Result<Tried>, round: usize, candidate: usize, settings: &Settings, rows: usize) -> Trial {
    let (tried, failure) = match tried {
        Ok(tried) => (Some(tried), None),
        Err(reason) => (None, Some(reason.to_string())),
    };
    Trial {
        round,
        candidate,
        settings: settings.clone(),
        rows,
        score: tried.as_ref().map(|tried| tried.score),
        failure,
        model_bytes: tried.as_ref().map_or(0, |tried| tried.model_bytes),
        resolved: tried.map_or_else(BTreeMap::new, |tried| tried.resolved),
    }
}

/// The method and the text settings of a candidate.
fn configured(
    options: &TuneOptions<'_>,
    settings: &Settings,
) -> Result<(crate::catalogue::Method, TextSettings)> {
    let all = || options.given.iter().chain(settings);
    let pairs = |is_of_text: bool| {
        let is_text = |name: &str| TextSettings::SPECS.iter().any(|spec| spec.name == name);
        let chosen = all().filter(move |(name, _)| is_text(name) == is_of_text);
        chosen.map(|(name, value)| (name.as_str(), value.as_str()))
    };
    let method = options.algorithm.configure(pairs(false))?;
    Ok((method, TextSettings::parse(pairs(true))?))
}

fn try_settings(
    options: &TuneOptions<'_>,
    settings: &Settings,
    sample: &Sample<'_>,
    session: &Session<'_>,
) -> Result<Tried> {
    session.check()?;
    let (method, text) = configured(options, settings)?;
    // What single trainings tell is of no interest.
    let threads = NonZeroUsize::new(session.threads()).unwrap_or(NonZeroUsize::MIN);
    let quiet = Session::new(threads)?
        .with_seed(session.seed())
        .with_cancel(session.cancel().clone())
        .with_memory_budget(session.memory_budget());
    let fit_options = FitOptions {
        text,
        weighting: options.weighting,
        ..FitOptions::default()
    };
    let model = fit(&method, sample.training.examples(), fit_options, &quiet)?;
    Ok(Tried {
        score: options.measure.of(&model, sample.held_out.examples(), &quiet)?,
        model_bytes: model.summary()?.file_bytes,
        resolved: model.origin().chosen.clone(),
    })
}

/// Which rows are learned from, and which are held out.
struct Split {
    training: Vec<usize>,
    held_out: Vec<usize>,
}

/// Rows of one round.
struct Sample<'a> {
    training: ExamplePart<'a>,
    held_out: ExamplePart<'a>,
}

impl Split {
    fn new(data: &ExampleSet, judged_by: JudgedBy<'_>, session: &Session<'_>) -> Result<Self> {
        match judged_by {
            JudgedBy::Examples(held_out) => Ok(Self {
                training: (0..data.len()).collect(),
                held_out: (0..held_out.len()).collect(),
            }),
            JudgedBy::Share(share) => {
                check_share(share)?;
                let chosen = choose(data.labels(), data.classes().len(), share, session);
                if !chosen.contains(&true) {
                    return Err(Error::Unlearnable(format!(
                        "`valid-fraction` of {share} holds out none of the {} rows: each class must keep one to learn from",
                        data.len()
                    )));
                }
                let part = |held_out: bool| (0..data.len()).filter(|&row| chosen[row] == held_out).collect();
                Ok(Self {
                    training: part(false),
                    held_out: part(true),
                })
            }
        }
    }

    /// At most `most_rows` training rows of some classes, and the held-out rows of these.
    fn sample<'a>(
        &self,
        data: &'a ExampleSet,
        judged_by: JudgedBy<'a>,
        most_rows: usize,
        session: &Session<'_>,
    ) -> Sample<'a> {
        let judges = match judged_by {
            JudgedBy::Examples(held_out) => held_out,
            JudgedBy::Share(_) => data,
        };
        if most_rows >= self.training.len() {
            return Sample {
                training: data.part(&self.training, |_| true),
                held_out: judges.part(&self.held_out, |_| true),
            };
        }
        let mut usable = vec![false; data.len()];
        for &row in &self.training {
            usable[row] = true;
        }
        let mut random = session.random("tune sample");
        let chosen = ClassSample::draw(
            data.labels(),
            |row| usable[row],
            most_rows,
            FEWEST_CLASSES,
            &mut random,
        );
        // Held-out rows may number their classes in another way.
        let is_known = |class: u32| {
            let name = judges.classes().name(class);
            data.classes()
                .find(name)
                .is_some_and(|class| chosen.contains(class))
        };
        let known: Vec<bool> = (0..judges.classes().len() as u32).map(is_known).collect();
        let has_known = |row: &usize| {
            let of_row = judges.labels().row(*row).iter();
            of_row.clone().any(|&class| known[class as usize])
        };
        let held_out: Vec<usize> = self.held_out.iter().copied().filter(has_known).collect();
        Sample {
            training: data.part(&chosen.rows, |class| chosen.contains(class)),
            held_out: judges.part(&held_out, |class| known[class as usize]),
        }
    }
}

fn header(
    data: &ExampleSet,
    judged_by: JudgedBy<'_>,
    options: &TuneOptions<'_>,
    session: &Session<'_>,
) -> Header {
    Header {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        algorithm: options.algorithm.name.to_owned(),
        given: options.given.clone(),
        vary: options.vary.clone(),
        weighting: options.weighting.word().to_owned(),
        measure: options.measure.to_string(),
        candidates: options.candidates,
        rows: options.rows,
        seed: session.seed(),
        memory_budget: session.memory_budget(),
        data: format!("{:016x}", data.fingerprint()),
        held_out: match judged_by {
            JudgedBy::Share(share) => share.to_string(),
            JudgedBy::Examples(held_out) => format!("{:016x}", held_out.fingerprint()),
        },
    }
}
