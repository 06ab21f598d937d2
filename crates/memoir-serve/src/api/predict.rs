//! Predicting: one or many texts or vectors.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use memoir::Scored;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::queue;
use crate::api::statuses::Problems;
use crate::app::{App, Shared};
use crate::engine::{CANDIDATES, Engine, Question};
use crate::extract::{Json, Model, in_background, json};
use crate::problem::{Answer, Problem};
use crate::registry::{Served, Version};
use crate::settings::Limits;
use crate::watching::SAMPLED;

/// Requests of up to this many rows and bytes are answered where they arrive; handing them on would cost
/// more.
const AT_ONCE: (usize, usize) = (4, 8 << 10);

/// Longest text in bytes that is kept for review.
const LONGEST_KEPT: usize = 10_000;

/// How many answers a row gets if the request does not say.
const TOP_K: usize = 5;

/// What to predict: one of `text`, `texts` and `vectors`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PredictRequest {
    /// One text.
    text: Option<String>,
    /// Many texts.
    texts: Option<Vec<String>>,
    /// Many vectors, each a list of pairs of feature and value; features are numbered as in the training
    /// data.
    #[schema(value_type = Option<Vec<Vec<Vec<f64>>>>, example = json!([[[3, 1.0], [17, 0.5]]]))]
    vectors: Option<Vec<Vec<(u32, f32)>>>,
    /// How many answers each row gets; 5 if not given.
    #[schema(minimum = 1)]
    top_k: Option<usize>,
    /// Answers less probable than this are left out. The model must be calibrated.
    #[schema(minimum = 0.0, maximum = 1.0)]
    min_probability: Option<f32>,
    /// Also give the narrowest class or broader concept that is sure enough for this share of such answers
    /// to be right. The model must be calibrated and have a vocabulary with a hierarchy.
    #[schema(minimum = 0.0, maximum = 1.0)]
    back_off: Option<f32>,
    /// Whether a service that keeps uncertain texts for review may keep these; `true` if not given.
    keep: Option<bool>,
}

/// A request as all protocols have it.
pub(crate) struct Asked {
    questions: Vec<Question>,
    top_k: usize,
    /// Answers to compute, more than `top_k` where probabilities are added up.
    depth: usize,
    /// Least probability of an answer.
    least: f32,
    /// Whether texts may be kept for review.
    keep: bool,
}

impl Asked {
    /// A request whose texts are not kept.
    pub(crate) fn new(questions: Vec<Question>, top_k: usize, least: f32) -> Self {
        Self {
            questions,
            top_k,
            depth: top_k,
            least,
            keep: false,
        }
    }
}

/// The answers for all rows.
#[derive(Serialize, ToSchema)]
pub(crate) struct Predictions<'v> {
    /// Name of the model.
    model: &'v str,
    /// Its version: the checksum of its file.
    version: &'v str,
    /// The answers, row by row.
    rows: Vec<RowAnswers<'v>>,
}

/// The answers for one row.
#[derive(Serialize, ToSchema)]
pub(crate) struct RowAnswers<'v> {
    /// The best classes, best first.
    answers: Vec<ClassAnswer<'v>>,
    /// Whether even the best class was less probable than asked for.
    abstained: bool,
    /// Whether the first answer is a class that this text always gets.
    #[serde(rename = "override", skip_serializing_if = "std::ops::Not::not")]
    is_override: bool,
    /// The narrowest class or broader concept that is sure enough, if `back_off` was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    back_off: Option<ClassAnswer<'v>>,
}

/// A class with its probability, or its score if the model is not calibrated.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClassAnswer<'v> {
    /// The class.
    pub(crate) class: &'v str,
    /// What people call it, if the model has a vocabulary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'v str>,
    /// The code that people write for it, if the vocabulary has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notation: Option<&'v str>,
    /// How probable it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<f32>,
    /// The model's own score, if it has no probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f32>,
}

impl<'v> ClassAnswer<'v> {
    pub(crate) fn new(engine: &'v Engine, scored: Scored) -> Self {
        let calibrated = engine.is_calibrated();
        let class = engine.class(scored.class);
        Self {
            class: class.id,
            name: class.name,
            notation: class.notation,
            probability: calibrated.then_some(scored.score),
            score: (!calibrated).then_some(scored.score),
        }
    }
}

/// Predicts the best classes of each row.
#[utoipa::path(post, path = "/v1/models/{model}/predict", tag = "answers",
    params(("model" = String, Path, description = "Name of the model")),
    request_body(content = PredictRequest, example = json!({"text": "printer out of toner", "top_k": 3})),
    responses((status = 200, description = "The answers", body = Predictions), Problems)
)]
pub(crate) async fn predict(
    State(app): State<Shared>,
    Model(model): Model,
    Json(request): Json<PredictRequest>,
) -> Answer<Response> {
    let version = model.current();
    let top_k = request.top_k.unwrap_or(TOP_K);
    let least = least_probability(request.min_probability, &version.engine)?;
    let questions = match (request.text, request.texts, request.vectors) {
        (Some(text), None, None) => vec![Question::Text(text)],
        (None, Some(texts), None) => texts.into_iter().map(Question::Text).collect(),
        (None, None, Some(vectors)) => vectors.into_iter().map(Question::Vector).collect(),
        _ => {
            return Err(Problem::invalid(
                "expected exactly one of `text`, `texts` and `vectors`",
            ));
        }
    };
    let overridden = questions
        .iter()
        .map(|question| version.engine.override_of(question).is_some());
    let overridden: Vec<bool> = overridden.collect();
    let mut asked = Asked::new(questions, top_k, least);
    asked.keep = request.keep.unwrap_or(true);
    let back_off = back_off_probability(request.back_off, &version.engine)?;
    if back_off.is_some() {
        asked.depth = top_k.max(CANDIDATES);
    }
    answer(&app, &model, &version, asked, move |model, version, answers| {
        let rows = answers
            .into_iter()
            .zip(overridden)
            .map(|(best, is_override)| RowAnswers {
                is_override,
                ..row_answers(&version.engine, &best, (top_k, least), back_off)
            });
        let rows = rows.collect();
        let (model, version_name) = (&model.name, version.engine.version());
        json(
            version,
            &Predictions {
                model,
                version: version_name,
                rows,
            },
        )
    })
    .await
}

fn row_answers<'v>(
    engine: &'v Engine,
    best: &[Scored],
    (top_k, least): (usize, f32),
    back_off: Option<f32>,
) -> RowAnswers<'v> {
    let enough = best
        .iter()
        .take(top_k)
        .filter(|scored| !engine.is_calibrated() || scored.score >= least);
    let answers: Vec<_> = enough.map(|scored| ClassAnswer::new(engine, *scored)).collect();
    RowAnswers {
        abstained: answers.is_empty(),
        answers,
        is_override: false,
        back_off: back_off.and_then(|least| {
            let (concept, probability) = engine.back_off(best, least)?;
            Some(ClassAnswer {
                class: concept.id,
                name: concept.name,
                notation: concept.notation,
                probability: Some(probability),
                score: None,
            })
        }),
    }
}

/// The probability to back off to, if the model can.
fn back_off_probability(given: Option<f32>, engine: &Engine) -> Answer<Option<f32>> {
    match given {
        Some(least) if !(0.0..=1.0).contains(&least) => Err(Problem::invalid(format!(
            "`back_off` must be from 0 to 1, but is {least}"
        ))),
        Some(_) if !engine.is_calibrated() || !engine.has_hierarchy() => Err(Problem::invalid(
            "`back_off` needs a calibrated model that has a vocabulary with broader concepts",
        )),
        given => Ok(given),
    }
}

/// The threshold of a request; 0 takes every answer.
pub(crate) fn least_probability(given: Option<f32>, engine: &Engine) -> Answer<f32> {
    match given {
        None => Ok(0.0),
        Some(least) if !(0.0..=1.0).contains(&least) => Err(Problem::invalid(format!(
            "`min_probability` must be from 0 to 1, but is {least}"
        ))),
        Some(_) if !engine.is_calibrated() => Err(Problem::invalid(
            "this model is not calibrated: it gives scores, and a least probability means nothing to them",
        )),
        Some(least) => Ok(least),
    }
}

/// Checks the questions, answers them where that is quickest, counts what was seen, and lets `finish` write
/// the answer.
pub(crate) async fn answer(
    app: &Shared,
    model: &Arc<Served>,
    version: &Arc<Version>,
    asked: Asked,
    finish: impl FnOnce(&Served, &Version, Vec<Vec<Scored>>) -> Answer<Response> + Send + 'static,
) -> Answer<Response> {
    check(&asked.questions, asked.top_k, &version.engine, &app.limits)?;
    let bytes: usize = asked.questions.iter().map(length).sum();
    if asked.questions.len() <= AT_ONCE.0 && bytes <= AT_ONCE.1 {
        let questions = asked.questions.iter();
        let answers: memoir::Result<Vec<_>> = questions
            .map(|question| version.engine.answer(question, asked.depth))
            .collect();
        let answers = answers?;
        count(app, version, &asked, &answers);
        keep_uncertain(app, model, version, asked, &answers);
        return finish(model, version, answers);
    }
    let (app, model, version) = (Arc::clone(app), Arc::clone(model), Arc::clone(version));
    in_background(move || {
        let answers = version
            .engine
            .answer_all(&asked.questions, asked.depth, &app.session)?;
        count(&app, &version, &asked, &answers);
        keep_uncertain(&app, &model, &version, asked, &answers);
        finish(&model, &version, answers)
    })
    .await
}

fn length(question: &Question) -> usize {
    match question {
        Question::Text(text) => text.len(),
        Question::Vector(entries) => entries.len() * 8,
    }
}

/// Fails if there are too many questions, or one is too long or of the wrong kind.
pub(crate) fn check(questions: &[Question], top_k: usize, engine: &Engine, limits: &Limits) -> Answer<()> {
    if questions.len() > limits.rows {
        return Err(Problem::invalid(format!(
            "a request may have at most {} rows, but this one has {}",
            limits.rows,
            questions.len()
        )));
    }
    if !(1..=limits.top_k).contains(&top_k) {
        return Err(Problem::invalid(format!(
            "`top_k` must be from 1 to {}, but is {top_k}",
            limits.top_k
        )));
    }
    for (question, row) in questions.iter().zip(1..) {
        match question {
            Question::Text(text) if text.len() > limits.text => {
                return Err(Problem::invalid(format!(
                    "row {row}: a text may have at most {} bytes, but this one has {}",
                    limits.text,
                    text.len()
                )));
            }
            Question::Vector(entries) if entries.iter().any(|entry| !entry.1.is_finite()) => {
                return Err(Problem::invalid(format!("row {row}: a value is not finite")));
            }
            Question::Text(_) if !engine.takes_text() => {
                return Err(Problem::invalid("this model takes `vectors`, not text"));
            }
            Question::Vector(_) if engine.takes_text() => {
                return Err(Problem::invalid(
                    "this model takes `text` or `texts`, not vectors",
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The probability of the best class, if the model knows; 0 where nothing is known of the text.
fn best_probability(engine: &Engine, best: &[Scored]) -> Option<f32> {
    let first = best.first().map_or(0.0, |first| first.score);
    engine.is_calibrated().then_some(first)
}

fn count(app: &App, version: &Version, asked: &Asked, answers: &[Vec<Scored>]) {
    let engine = &version.engine;
    let best = answers.iter().map(|best| {
        let probability = best_probability(engine, best);
        let too_low = probability.is_some_and(|probability| probability < asked.least);
        (probability, best.is_empty() || too_low)
    });
    version.watching.count(best);
    for question in &asked.questions {
        if app.is_sampled(SAMPLED) {
            let (all, known) = engine.count_features(question);
            version.watching.count_features(all, known);
        }
    }
}

/// Lets texts wait for review whose best class is less probable than the service is told to accept.
fn keep_uncertain(app: &App, model: &Served, version: &Version, asked: Asked, answers: &[Vec<Scored>]) {
    let (Some(least), Some(store)) = (app.queue_below, app.feedback.get(&model.name)) else {
        return;
    };
    if !asked.keep {
        return;
    }
    let uncertain = asked
        .questions
        .into_iter()
        .zip(answers)
        .filter_map(|(question, best)| {
            let is_uncertain = best_probability(&version.engine, best).is_some_and(|found| found < least);
            match question {
                Question::Text(text) if is_uncertain && text.len() <= LONGEST_KEPT => Some(text),
                _ => None,
            }
        });
    let mut texts: Vec<String> = uncertain.map(|text| text.trim().to_owned()).collect();
    {
        let journal = store.journal();
        texts.retain(|text| !text.is_empty() && !journal.is_queued(text));
        texts.truncate(queue::MOST.saturating_sub(journal.waiting_count()));
    }
    if !texts.is_empty() {
        store.queue_soon(texts);
    }
}
