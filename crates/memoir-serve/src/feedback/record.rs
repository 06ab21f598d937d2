//! What a feedback file says, and what follows from it: decisions that count, texts that wait, agreement.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Given by the client, so that a repeated request is no second record; or by the service.
    pub(crate) id: String,
    /// When, in seconds since 1970.
    pub(crate) at: u64,
    /// Records of one group were written together.
    pub(crate) group: u64,
    #[serde(flatten)]
    pub(crate) event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Event {
    /// A coder has decided on a text.
    Decided(Decision),
    /// A coder takes a decision back.
    Undone {
        /// Id of the decision.
        of: String,
    },
    /// A text waits for a decision.
    Queued {
        /// The text.
        text: String,
    },
}

/// What a coder has decided on a text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub(crate) struct Decision {
    /// The text.
    pub(crate) text: String,
    /// Its classes; none if the text was skipped.
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    /// Who has decided.
    #[serde(default)]
    pub(crate) coder: String,
    /// Why a text was skipped, or another remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The best class at the time of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) suggested: Option<String>,
    /// Its probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) probability: Option<f32>,
    /// The version that suggested it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
}

/// A record with whether it still counts.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Item {
    /// Its id.
    pub(crate) id: String,
    /// When it was made, in seconds since 1970.
    pub(crate) at: u64,
    /// Whether it was taken back.
    pub(crate) undone: bool,
    /// The decision.
    #[serde(flatten)]
    pub(crate) decision: Decision,
}

/// How far the work is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Progress {
    /// Texts that wait for a first decision.
    pub(crate) waiting: usize,
    /// Texts with a class.
    pub(crate) labelled: usize,
    /// Decisions that count.
    pub(crate) decisions: usize,
    /// Those of them that took the best suggestion.
    pub(crate) accepted: usize,
    /// Those of them that skipped the text.
    pub(crate) skipped: usize,
    /// Decisions of each coder.
    pub(crate) coders: BTreeMap<String, usize>,
    /// Texts that two coders or more gave a class.
    pub(crate) coded_twice: usize,
    /// Those of them whose coders all agree.
    pub(crate) agreed: usize,
}

/// Everything the file says, in order.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    decisions: Vec<(Record, Decision)>,
    by_id: HashMap<String, usize>,
    ids: HashSet<String>,
    undone: HashSet<String>,
    queued: Vec<String>,
    /// The queued texts, and whether each still waits for its first decision.
    queued_texts: HashMap<String, bool>,
    waiting: usize,
    group: u64,
}

impl Journal {
    pub(crate) fn of(records: Vec<Record>) -> Self {
        let mut journal = Self::default();
        for record in records {
            journal.add(record);
        }
        journal
    }

    pub(crate) fn add(&mut self, record: Record) {
        self.group = self.group.max(record.group);
        self.ids.insert(record.id.clone());
        match record.event.clone() {
            Event::Decided(decision) => {
                self.set_waiting(&decision.text, false);
                self.by_id.insert(record.id.clone(), self.decisions.len());
                self.decisions.push((record, decision));
            }
            Event::Undone { of } => {
                if let Some(&index) = self.by_id.get(&of) {
                    let text = self.decisions[index].1.text.clone();
                    self.set_waiting(&text, true);
                }
                self.undone.insert(of);
            }
            Event::Queued { text } => {
                if !self.is_queued(&text) {
                    self.queued_texts.insert(text.clone(), true);
                    self.waiting += 1;
                    self.queued.push(text);
                }
            }
        }
    }

    fn set_waiting(&mut self, text: &str, waits: bool) {
        if let Some(waited) = self.queued_texts.get_mut(text) {
            self.waiting = self.waiting + usize::from(waits) - usize::from(*waited);
            *waited = waits;
        }
    }

    /// The number of the last group.
    pub(crate) fn group(&self) -> u64 {
        self.group
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Whether there is a decision called `id`.
    pub(crate) fn has_decision(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(crate) fn is_queued(&self, text: &str) -> bool {
        self.queued_texts.contains_key(text)
    }

    /// About how many queued texts nobody has decided on: one that was taken back by one of two coders
    /// counts as well.
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting
    }

    /// All decisions, the latest first, also those that were taken back.
    pub(crate) fn items(&self) -> impl Iterator<Item = Item> + '_ {
        self.decisions.iter().rev().map(|(record, decision)| Item {
            id: record.id.clone(),
            at: record.at,
            undone: self.undone.contains(&record.id),
            decision: decision.clone(),
        })
    }

    /// The decisions that count: of each coder the last one on each text, if it was not taken back.
    fn counting(&self) -> impl Iterator<Item = &Decision> {
        let mut last: HashMap<(&str, &str), usize> = HashMap::new();
        for (index, (record, decision)) in self.decisions.iter().enumerate() {
            if !self.undone.contains(&record.id) {
                last.insert((&decision.coder, &decision.text), index);
            }
        }
        let mut indices: Vec<usize> = last.into_values().collect();
        indices.sort_unstable();
        indices.into_iter().map(|index| &self.decisions[index].1)
    }

    /// Texts with their classes, to learn from. Where coders differ, the last one decides.
    pub(crate) fn labelled(&self) -> Vec<Decision> {
        let mut by_text: HashMap<&str, usize> = HashMap::new();
        let mut rows: Vec<&Decision> = Vec::new();
        for decision in self.counting().filter(|decision| !decision.labels.is_empty()) {
            if let Some(&row) = by_text.get(decision.text.as_str()) {
                rows[row] = decision;
            } else {
                by_text.insert(&decision.text, rows.len());
                rows.push(decision);
            }
        }
        rows.into_iter().cloned().collect()
    }

    /// Queued texts that wait for `coder`: those that nobody has decided on, or, for a second opinion, those
    /// that others have and `coder` has not.
    pub(crate) fn waiting(&self, coder: &str, second_opinion: bool) -> Vec<String> {
        let mut deciders: HashMap<&str, (bool, bool)> = HashMap::new();
        for decision in self.counting() {
            let entry = deciders.entry(&decision.text).or_default();
            let own = decision.coder == coder;
            *entry = (entry.0 || own, entry.1 || !own);
        }
        let waits = |text: &&String| {
            let (own, others) = deciders.get(text.as_str()).copied().unwrap_or_default();
            !own && others == second_opinion
        };
        self.queued.iter().filter(waits).cloned().collect()
    }

    pub(crate) fn progress(&self) -> Progress {
        let mut coders = BTreeMap::new();
        let (mut decisions, mut accepted, mut skipped) = (0, 0, 0);
        let mut by_text: HashMap<&str, Vec<Vec<&str>>> = HashMap::new();
        for decision in self.counting() {
            decisions += 1;
            *coders.entry(decision.coder.clone()).or_insert(0) += 1;
            skipped += usize::from(decision.labels.is_empty());
            let best = decision.suggested.as_ref();
            accepted += usize::from(best.is_some_and(|best| decision.labels == [best.as_str()]));
            if !decision.labels.is_empty() {
                let mut labels: Vec<&str> = decision.labels.iter().map(String::as_str).collect();
                labels.sort_unstable();
                by_text.entry(&decision.text).or_default().push(labels);
            }
        }
        let twice = || by_text.values().filter(|all| all.len() > 1);
        Progress {
            waiting: self.waiting("", false).len(),
            labelled: by_text.len(),
            decisions,
            accepted,
            skipped,
            coders,
            coded_twice: twice().count(),
            agreed: twice()
                .filter(|all| all.windows(2).all(|pair| pair[0] == pair[1]))
                .count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(id: &str, coder: &str, text: &str, labels: &[&str]) -> Record {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let decision = Decision {
            text: text.to_owned(),
            labels,
            coder: coder.to_owned(),
            suggested: Some("lamp".to_owned()),
            ..Decision::default()
        };
        record(id, Event::Decided(decision))
    }

    fn record(id: &str, event: Event) -> Record {
        Record {
            id: id.to_owned(),
            at: 0,
            group: 1,
            event,
        }
    }

    fn journal() -> Journal {
        let queued = |id: &str, text: &str| {
            record(
                id,
                Event::Queued {
                    text: text.to_owned(),
                },
            )
        };
        Journal::of(vec![
            queued("q1", "t1"),
            queued("q2", "t2"),
            queued("q3", "t3"),
            queued("q4", "t1"),
            decided("1", "anna", "t1", &["lamp"]),
            decided("2", "ben", "t1", &["chair"]),
            decided("3", "anna", "t2", &["lamp"]),
            decided("4", "ben", "t2", &["lamp"]),
            decided("5", "anna", "t3", &["chair"]),
            record("6", Event::Undone { of: "5".to_owned() }),
        ])
    }

    #[test]
    fn the_last_decision_counts_and_undone_ones_do_not() {
        let rows = journal().labelled();
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (row.text.as_str(), row.labels[0].as_str()))
            .collect();
        assert_eq!(rows, [("t1", "chair"), ("t2", "lamp")]);
    }

    #[test]
    fn texts_wait_for_a_first_decision_or_a_second_opinion() {
        let journal = journal();
        assert_eq!(journal.waiting("anna", false), ["t3"]);
        assert_eq!(journal.waiting_count(), 1);
        assert_eq!(journal.waiting("carl", true), ["t1", "t2"]);
        assert!(journal.waiting("anna", true).is_empty());
    }

    #[test]
    fn agreement_is_counted_by_text() {
        let progress = journal().progress();
        assert_eq!((progress.coded_twice, progress.agreed), (2, 1));
        assert_eq!(
            (progress.decisions, progress.accepted, progress.waiting),
            (4, 3, 1)
        );
        assert_eq!(progress.coders["anna"], 2);
    }
}
