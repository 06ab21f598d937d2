//! The settings that are tried: what the user has given stays, and some of the rest is changed at random.

use std::collections::BTreeMap;

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngExt};

use super::Settings;
use crate::catalogue::Algorithm;
use crate::params::{Kind, Parameters, Spec, Value};
use crate::text::TextSettings;
use crate::{Error, Result, Session, maths};

/// Parameters that do not change what is learned, or only how rivals are searched.
const LEFT_ALONE: [&str; 8] = [
    "keep-rows",
    "report-rivals",
    "report-theory",
    "search",
    "oracle",
    "patience",
    "bits",
    "svd-multiplications",
];

/// First letters of the options of oracles.
const OF_ORACLES: [&str; 2] = ["sw-", "hash-"];

/// Settings for text that are varied unless the user names others.
const OF_TEXT: [&str; 2] = ["blocks", "min-df"];

/// Settings that describe one block: with one of them given, there are no blocks to choose.
const ONE_BLOCK: [&str; 5] = [
    "text-preset",
    "word-ngrams",
    "char-ngrams",
    "char-ngrams-from",
    "stem",
];

/// Most parameters of the algorithm that a candidate changes. With more, most candidates are worse than what
/// they start from.
const MOST_CHANGES: usize = 3;

/// How far a value may move, in doublings.
const DOUBLINGS: f64 = 1.5;

/// How far a share between 0 and 1 may move.
const SHARE_STEP: f64 = 0.25;

/// How often a candidate is drawn again that is there already.
const DRAWS: usize = 50;

/// What can be varied.
pub(super) struct Space {
    text: Vec<&'static Spec>,
    method: Vec<&'static Spec>,
}

impl Space {
    /// What `vary` names, or all that is sensible, without what is `given`.
    pub(super) fn new(
        algorithm: &Algorithm,
        given: &Settings,
        vary: Option<&[String]>,
        is_text: bool,
    ) -> Result<Self> {
        let tables = TextSettings::SPECS.iter().chain(algorithm.params);
        if let Some(name) = vary.and_then(|vary| {
            vary.iter()
                .find(|name| !tables.clone().any(|spec| spec.name == **name))
        }) {
            let known: Vec<_> = tables.map(|spec| spec.name).collect();
            return Err(Error::Parameter(format!(
                "`vary` names `{name}`, but must be of {}",
                known.join(", ")
            )));
        }
        if let Some(name) = vary.and_then(|vary| vary.iter().find(|name| given.contains_key(*name))) {
            return Err(Error::Parameter(format!(
                "`vary` names `{name}`, but it is given, so it stays as it is"
            )));
        }
        let one_block = ONE_BLOCK.iter().any(|name| given.contains_key(*name));
        let is_free = |spec: &&Spec, is_sensible: bool| {
            let wanted = vary.map_or(is_sensible, |vary| vary.iter().any(|name| name == spec.name));
            wanted && !given.contains_key(spec.name) && !(one_block && spec.name == "blocks")
        };
        let text = TextSettings::SPECS.iter();
        let method = algorithm.params.iter();
        Ok(Self {
            text: text
                .filter(|spec| is_text && is_free(spec, OF_TEXT.contains(&spec.name)))
                .collect(),
            method: method
                .filter(|spec| {
                    let of_oracle = OF_ORACLES.iter().any(|start| spec.name.starts_with(start));
                    is_free(spec, !of_oracle && !LEFT_ALONE.contains(&spec.name))
                })
                .collect(),
        })
    }

    /// Up to `count` different candidates. The first changes nothing; `resolved` is what it made of
    /// parameters that are left to the algorithm, around which the others look.
    pub(super) fn candidates(
        &self,
        count: usize,
        resolved: &BTreeMap<String, Value>,
        session: &Session<'_>,
    ) -> Vec<Settings> {
        let mut candidates = vec![Settings::new()];
        let mut random = session.random("tune candidates");
        for _ in 0..count.saturating_mul(DRAWS) {
            if candidates.len() >= count {
                break;
            }
            let settings = self.draw(resolved, &mut random);
            if !candidates.contains(&settings) {
                candidates.push(settings);
            }
        }
        candidates
    }

    fn draw(&self, resolved: &BTreeMap<String, Value>, random: &mut impl Rng) -> Settings {
        let mut settings = Settings::new();
        for spec in &self.text {
            // Blocks matter most, so most candidates have other ones.
            let chance = if spec.name == "blocks" { 0.75 } else { 0.15 };
            if !random.random_bool(chance) {
                continue;
            }
            let value = match spec.name {
                "blocks" => Some(blocks(random)),
                _ => value(spec, resolved.get(spec.name), random),
            };
            settings.extend(value.map(|value| (spec.name.to_owned(), value)));
        }
        let least = usize::from(settings.is_empty());
        let changes = random.random_range(least..=MOST_CHANGES).min(self.method.len());
        let mut method = self.method.clone();
        method.shuffle(random);
        for spec in &method[..changes] {
            let value = value(spec, resolved.get(spec.name), random);
            settings.extend(value.map(|value| (spec.name.to_owned(), value)));
        }
        settings
    }
}

/// A list of blocks.
fn blocks(random: &mut impl Rng) -> String {
    const UNITS: [&str; 4] = ["words", "stems", "words:0.5,stems:0.5", "words,stems:0.5"];
    const PAIRS: [&str; 6] = [
        "",
        ",pairs:0.5",
        ",stem-pairs:0.3",
        ",stem-pairs:0.5",
        ",stem-pairs:0.7",
        ",stem-pairs",
    ];
    const CHARS: [&str; 8] = [
        "",
        "",
        ",chars4:0.4",
        ",chars4:0.7",
        ",chars4",
        ",chars5:0.5",
        ",chars5",
        ",chars4-5:0.7",
    ];
    const OPENING: [&str; 3] = ["", "", ",opening:0.5"];
    let mut pick = |parts: &[&'static str]| parts.choose(random).copied().unwrap_or_default();
    [pick(&UNITS), pick(&PAIRS), pick(&CHARS), pick(&OPENING)].concat()
}

/// A value near the one that `spec` has by default, or near what the algorithm made of it.
fn value(spec: &Spec, resolved: Option<&Value>, random: &mut impl Rng) -> Option<String> {
    let default = spec.parse(spec.default).ok();
    let centre = match &default {
        Some(Value::Auto) | None => resolved,
        other => other.as_ref(),
    };
    let factor = maths::exp2(random.random_range(-DOUBLINGS..=DOUBLINGS));
    let upwards = random.random_bool(0.5);
    match (spec.kind, centre) {
        (Kind::Integer(low, high), Some(Value::Integer(centre))) => {
            let mut moved = (*centre as f64 * factor).round() as u64;
            if moved == *centre {
                moved = if upwards {
                    moved + 1
                } else {
                    moved.saturating_sub(1)
                };
            }
            Some(moved.clamp(low, high).to_string())
        }
        (Kind::Number(low, high), Some(Value::Number(centre))) => {
            let moved = if high - low <= 2.0 {
                centre + random.random_range(-SHARE_STEP..=SHARE_STEP)
            } else if *centre == 0.0 {
                // A hundredth to one: what has no size yet gives no hint of it.
                maths::powf(10.0, random.random_range(-2.0..=0.0))
            } else {
                centre * factor
            };
            Some(short(moved.clamp(low, high)))
        }
        (Kind::Choice(words), centre) => {
            let differs = |word: &&&str| !matches!(centre, Some(Value::Word(centre)) if centre == **word);
            let others: Vec<_> = words.iter().filter(differs).collect();
            others.choose(random).map(|word| (**word).to_owned())
        }
        _ => None,
    }
}

/// `value` with three digits that count, so that commands stay short.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    rounded.to_string()
}
