//! Texts that wait for a coder, first those whose decision is worth most.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use memoir::Scored;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::feedback::store;
use crate::api::page_length;
use crate::api::predict::{self, ClassAnswer};
use crate::api::statuses::Problems;
use crate::app::Shared;
use crate::engine::Question;
use crate::extract::{Json, Model, Query, in_background, json};
use crate::feedback::Event;
use crate::problem::{Answer, Problem};

/// Most texts that may wait.
pub(crate) const MOST: usize = 100_000;

/// Texts given if the request does not say how many, and at most.
const LIMIT: (usize, usize) = (20, 200);

/// Answers given with each text.
const CANDIDATES: usize = 9;

/// Texts to decide on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueRequest {
    /// The texts. Those that wait already are not added again.
    texts: Vec<String>,
}

/// What was added.
#[derive(Serialize, ToSchema)]
pub(crate) struct Queued {
    /// How many texts are new.
    added: usize,
}

/// What comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// Texts whose two best classes are nearly as probable.
    #[default]
    Uncertain,
    /// Texts of the class that causes most doubt in the whole queue: teaching it spares most later
    /// decisions.
    Automation,
    /// As they were added.
    Added,
}

/// Which texts to give.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueQuery {
    /// Who asks.
    coder: Option<String>,
    /// What comes first: `uncertain` (if not given), `automation` or `added`.
    #[param(inline)]
    order: Option<Order>,
    /// Whether to give texts that others have decided on and `coder` has not, for a second opinion.
    second_opinion: Option<bool>,
    /// How many: 1 to 200, and 20 if not given.
    limit: Option<usize>,
}

/// Texts that wait.
#[derive(Serialize, ToSchema)]
pub(crate) struct Waiting<'v> {
    /// The version that the answers are from.
    version: &'v str,
    /// How many wait in all.
    count: usize,
    /// The first of them.
    items: Vec<WaitingText<'v>>,
}

/// A text that waits.
#[derive(Serialize, ToSchema)]
pub(crate) struct WaitingText<'v> {
    /// The text.
    text: String,
    /// What the model says of it.
    answers: Vec<ClassAnswer<'v>>,
}

/// Adds texts. They are on disk before the answer.
#[utoipa::path(post, path = "/v1/models/{model}/queue", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model")),
    request_body(content = QueueRequest, example = json!({"texts": ["printer out of toner"]})),
    responses((status = 200, description = "The texts wait", body = Queued), Problems)
)]
pub(crate) async fn add(
    State(app): State<Shared>,
    Model(model): Model,
    Json(request): Json<QueueRequest>,
) -> Answer<Response> {
    let store = store(&app, &model)?;
    let version = model.current();
    let questions: Vec<_> = request.texts.into_iter().map(Question::Text).collect();
    predict::check(&questions, 1, &version.engine, &app.limits)?;
    let events: Vec<_> = {
        let journal = store.journal();
        let mut seen = std::collections::HashSet::new();
        let texts = questions.into_iter().filter_map(|question| match question {
            Question::Text(text) => Some(text.trim().to_owned()),
            Question::Vector(_) => None,
        });
        let new =
            texts.filter(|text| !text.is_empty() && !journal.is_queued(text) && seen.insert(text.clone()));
        new.map(|text| (None, Event::Queued { text })).collect()
    };
    if store.journal().waiting_count() + events.len() > MOST {
        return Err(Problem::conflict(format!("at most {MOST} texts can wait")));
    }
    let added = store.append(events).await?.ids.len();
    json(&version, &Queued { added })
}

/// Gives the texts that wait, first those whose decision is worth most.
#[utoipa::path(get, path = "/v1/models/{model}/queue", tag = "teaching",
    params(("model" = String, Path, description = "Name of the model"), QueueQuery),
    responses((status = 200, description = "The texts", body = Waiting), Problems)
)]
pub(crate) async fn list(
    State(app): State<Shared>,
    Model(model): Model,
    Query(query): Query<QueueQuery>,
) -> Answer<Response> {
    let limit = page_length(query.limit, LIMIT)?;
    let coder = query.coder.unwrap_or_default();
    let texts = store(&app, &model)?
        .journal()
        .waiting(&coder, query.second_opinion.unwrap_or(false));
    in_background(move || {
        let version = model.current();
        let engine = &version.engine;
        if !engine.takes_text() {
            return Err(Problem::invalid(
                "this model takes vectors; only texts can be reviewed",
            ));
        }
        let questions: Vec<_> = texts.into_iter().map(Question::Text).collect();
        let answers = engine.answer_all(&questions, CANDIDATES, &app.session)?;
        let order = in_order(&answers, query.order.unwrap_or_default());
        let mut items: Vec<_> = questions.into_iter().zip(answers).map(Some).collect();
        let first = order.into_iter().take(limit).filter_map(|index| {
            let (Question::Text(text), best) = items[index].take()? else {
                return None;
            };
            Some(WaitingText {
                text,
                answers: best
                    .into_iter()
                    .map(|scored| ClassAnswer::new(engine, scored))
                    .collect(),
            })
        });
        let first = first.collect();
        json(
            &version,
            &Waiting {
                version: engine.version(),
                count: items.len(),
                items: first,
            },
        )
    })
    .await
}

/// The indices of all rows, most valuable first.
fn in_order(answers: &[Vec<Scored>], order: Order) -> Vec<usize> {
    let score = |best: &[Scored], rank: usize| best.get(rank).map_or(0.0, |scored| scored.score);
    let margin = |index: usize| score(&answers[index], 0) - score(&answers[index], 1);
    let mut indices: Vec<usize> = (0..answers.len()).collect();
    match order {
        Order::Added => {}
        Order::Uncertain => indices.sort_by(|&a, &b| margin(a).total_cmp(&margin(b))),
        Order::Automation => {
            let class = |index: usize| answers[index].first().map(|scored| scored.class);
            let mut doubt: HashMap<Option<u32>, f32> = HashMap::new();
            for (index, best) in answers.iter().enumerate() {
                *doubt.entry(class(index)).or_default() += 1.0 - score(best, 0).clamp(0.0, 1.0);
            }
            let doubt = |index: usize| doubt.get(&class(index)).copied().unwrap_or_default();
            indices.sort_by(|&a, &b| {
                let by_doubt = doubt(b).total_cmp(&doubt(a));
                by_doubt
                    .then(class(a).cmp(&class(b)))
                    .then(margin(a).total_cmp(&margin(b)))
            });
        }
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> Vec<Vec<Scored>> {
        let row = |class, first, second| {
            vec![
                Scored { class, score: first },
                Scored {
                    class: class + 1,
                    score: second,
                },
            ]
        };
        vec![
            row(0, 0.9, 0.05),
            row(1, 0.4, 0.39),
            row(2, 0.6, 0.2),
            row(2, 0.5, 0.3),
            Vec::new(),
        ]
    }

    #[test]
    fn near_ties_come_first() {
        assert_eq!(in_order(&answers(), Order::Uncertain), [4, 1, 3, 2, 0]);
        assert_eq!(in_order(&answers(), Order::Added), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_class_with_most_doubt_comes_first() {
        // Doubt: no answer 1.0, class 2 0.9 in two rows, class 1 0.6, class 0 0.1.
        assert_eq!(in_order(&answers(), Order::Automation), [4, 3, 2, 1, 0]);
    }
}
