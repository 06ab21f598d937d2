//! Texts about classes as training rows: which of them are worth learning from, and how much they count.
//!
//! What helps differs: names nearly always do, definitions only where rows read like them. So the default
//! algorithm is trained on a sample of the classes, with all their rows but some, and answers for these tell
//! which texts help.

use rand::seq::SliceRandom;

use crate::class_vocabulary::TermKind;
use crate::dataset::Dataset;
use crate::prepare::{ClassTexts, Described, judge};
use crate::{Result, Session};

/// With fewer rows than this, what a sample says is mostly chance: names are taken as they are.
const LEAST_ROWS: usize = 1000;

/// At most one row in so many is looked at, unless there are few.
const ONE_ROW_IN: usize = 15;
const FEW_ROWS: usize = 6000;

/// Fewest classes of a sample.
const FEWEST_CLASSES: usize = 100;

/// One row in so many of the sample is kept to judge by.
const ONE_HELD_OUT_IN: usize = 4;

/// How much a name counts where nothing says otherwise, beside rows of weight 1. Other texts count once.
const USUAL_WEIGHT: f32 = 1.0;

/// How much each text about a class without rows counts: nothing else speaks for the class.
const UNSEEN_WEIGHT: f32 = 3.0;

/// What else a name may count.
const OTHER_WEIGHTS: [f32; 2] = [2.0, 0.5];

/// By what share a score must rise for something else than names that count as usual: what a sample says of
/// small differences is chance.
const GAIN: f64 = 1.02;

/// Which texts count, and how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DescriptionChoice {
    /// The least telling kind of text that is taken; nothing if none is.
    last_kind: Option<TermKind>,
    /// How much a name counts.
    weight: f32,
}

impl DescriptionChoice {
    const NOTHING: Self = Self {
        last_kind: None,
        weight: 0.0,
    };

    fn up_to(kind: TermKind) -> Self {
        Self {
            last_kind: Some(kind),
            weight: USUAL_WEIGHT,
        }
    }

    /// In words, for the user.
    pub(super) fn describe(self) -> String {
        match self.last_kind {
            None => "no texts about classes are learned from: they did not help on held-out rows".to_owned(),
            Some(kind) => {
                let others = match kind {
                    TermKind::Name => "",
                    TermKind::Alternative => "; alternative names as one",
                    _ => "; alternative names and definitions as one",
                };
                let rows = if self.weight == 1.0 { "row" } else { "rows" };
                format!("names of classes count as {} {rows} each{others}", self.weight)
            }
        }
    }

    fn takes(self, kind: TermKind) -> bool {
        self.last_kind.is_some_and(|last| kind <= last)
    }
}

impl Described {
    /// Chooses by some rows of `data`.
    pub(super) fn choose(&self, data: &Dataset, session: &Session<'_>) -> Result<DescriptionChoice> {
        let Some(sample) = Sample::draw(data, &self.texts, session) else {
            return Ok(DescriptionChoice::up_to(TermKind::Alternative));
        };
        sample.choose(session)
    }
}

/// Some classes with their rows and the texts about them.
struct Sample {
    training: Dataset,
    held_out: Dataset,
    texts: ClassTexts,
}

impl Sample {
    /// Nothing if there are too few rows.
    fn draw(data: &Dataset, texts: &ClassTexts, session: &Session<'_>) -> Option<Self> {
        let labelled = data.labels.iter().filter(|labels| !labels.is_empty()).count();
        if labelled < LEAST_ROWS {
            return None;
        }
        let most_rows = (labelled / ONE_ROW_IN).max(FEW_ROWS);
        let mut random = session.random("texts about classes");
        let counts = data.labels.class_counts(data.classes.len());
        let mut order: Vec<u32> = (0..)
            .zip(&counts)
            .filter(|(_, count)| **count > 0)
            .map(|(class, _)| class)
            .collect();
        order.shuffle(&mut random);
        let mut numbers = vec![None; counts.len()];
        let (mut chosen, mut labels_chosen) = (0u32, 0);
        for class in order {
            if chosen as usize >= FEWEST_CLASSES && labels_chosen >= most_rows {
                break;
            }
            numbers[class as usize] = Some(chosen);
            labels_chosen += counts[class as usize] as usize;
            chosen += 1;
        }
        let known = |row: usize| {
            let labels = data.labels.row(row).iter();
            labels.filter_map(|&class| numbers[class as usize])
        };
        let mut rows: Vec<usize> = (0..data.len())
            .filter(|&row| known(row).next().is_some())
            .collect();
        rows.shuffle(&mut random);
        rows.truncate(most_rows);
        let held_out = rows.split_off(rows.len() - rows.len() / ONE_HELD_OUT_IN);
        let part = |rows: &[usize]| {
            let mut part = Dataset {
                classes: (0..chosen).map(|class| class.to_string()).collect(),
                weights: data
                    .weights
                    .as_ref()
                    .map(|weights| rows.iter().map(|&row| weights[row]).collect()),
                ..Dataset::default()
            };
            for &row in rows {
                part.rows.push(data.rows.row(row));
                part.labels.push(known(row));
            }
            part.rows.set_width(data.rows.width());
            part
        };
        let mut of_classes = ClassTexts::default();
        for (row, &(class, kind)) in texts.rows.iter().zip(&texts.about) {
            if let Some(class) = numbers[class as usize] {
                of_classes.rows.push(row);
                of_classes.about.push((class, kind));
            }
        }
        Some(Self {
            training: part(&rows),
            held_out: part(&held_out),
            texts: of_classes,
        })
    }

    /// Names that count as usual, unless something else is clearly better.
    fn choose(&self, session: &Session<'_>) -> Result<DescriptionChoice> {
        let mut best = DescriptionChoice::up_to(TermKind::Alternative);
        let mut score = self.score(best, session)?;
        let mut try_out = |choice: DescriptionChoice, best: &mut DescriptionChoice| -> Result<()> {
            let of_choice = self.score(choice, session)?;
            if of_choice > score * GAIN {
                (*best, score) = (choice, of_choice);
            }
            Ok(())
        };
        let has_definitions = |(_, kind): &(u32, TermKind)| *kind == TermKind::Definition;
        if self.texts.about.iter().any(has_definitions) {
            try_out(DescriptionChoice::up_to(TermKind::Definition), &mut best)?;
        }
        for weight in OTHER_WEIGHTS {
            try_out(DescriptionChoice { weight, ..best }, &mut best)?;
        }
        try_out(DescriptionChoice::NOTHING, &mut best)?;
        Ok(best)
    }

    /// How well held-out rows are answered with this choice.
    fn score(&self, choice: DescriptionChoice, session: &Session<'_>) -> Result<f64> {
        session.check()?;
        let mut data = self.training.clone();
        self.texts.append_to(&mut data, choice);
        judge(data, &self.held_out, session)
    }
}

impl ClassTexts {
    /// Appends the chosen rows to `data`.
    pub(super) fn append_to(&self, data: &mut Dataset, choice: DescriptionChoice) {
        let before = data.len();
        let width = data.rows.width();
        let counts = data.labels.class_counts(data.classes.len());
        let mut added = Vec::new();
        for (row, &(class, kind)) in self.rows.iter().zip(&self.about) {
            let is_unseen = counts[class as usize] == 0;
            if (is_unseen || choice.takes(kind)) && !row.is_empty() {
                data.rows.push(row);
                data.labels.push([class]);
                added.push(match kind {
                    _ if is_unseen => UNSEEN_WEIGHT,
                    TermKind::Name => choice.weight,
                    _ => 1.0,
                });
            }
        }
        data.rows.set_width(width);
        data.description_rows = added.len();
        if !added.is_empty() {
            let weights = data.weights.get_or_insert_with(|| vec![1.0; before]);
            weights.extend(added);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    /// Rows of 50 classes, each with one of its class's ten features and two at random. `telling` says
    /// whether the texts about classes have these features.
    fn world(rows: usize, telling: bool) -> (Dataset, ClassTexts) {
        let mut data = Dataset {
            classes: (0..50).map(|class| class.to_string()).collect(),
            ..Dataset::default()
        };
        for row in 0..rows as u32 {
            let class = row % 50;
            let noise = |salt: u32| 500 + row.wrapping_mul(2_654_435_761).wrapping_add(salt) % 300;
            let own = 10 * class + row / 50 * 7 % 10;
            data.rows
                .push_unsorted(&mut vec![(own, 1.0), (noise(1), 1.0), (noise(97), 1.0)]);
            data.labels.push([class]);
        }
        let mut texts = ClassTexts::default();
        for class in 0..50 {
            let about = if telling { class } else { (class + 1) % 50 };
            let mut features = (0..10).map(|feature| (10 * about + feature, 1.0)).collect();
            texts.rows.push_unsorted(&mut features);
            texts.about.push((class, TermKind::Name));
        }
        for rows in [&mut data.rows, &mut texts.rows] {
            rows.set_width(800);
        }
        (data, texts)
    }

    fn chosen(rows: usize, telling: bool) -> Option<DescriptionChoice> {
        let (data, texts) = world(rows, telling);
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let sample = Sample::draw(&data, &texts, &session)?;
        Some(sample.choose(&session).unwrap())
    }

    #[test]
    fn texts_that_help_are_taken_and_others_are_not() {
        assert!(chosen(1000, true).unwrap().takes(TermKind::Name));
        assert_eq!(chosen(1000, false), Some(DescriptionChoice::NOTHING));
    }

    #[test]
    fn few_rows_are_no_sample() {
        assert_eq!(chosen(999, false), None);
    }

    #[test]
    fn appended_rows_count_as_chosen_and_are_marked() {
        let (mut data, mut texts) = world(40, true);
        // Classes from 40 on have no rows.
        for (class, kind) in [
            (2, TermKind::Alternative),
            (3, TermKind::Definition),
            (41, TermKind::Definition),
        ] {
            texts.about[class].1 = kind;
        }
        let choice = DescriptionChoice {
            weight: 2.0,
            ..DescriptionChoice::up_to(TermKind::Alternative)
        };
        texts.append_to(&mut data, choice);
        assert_eq!((data.len(), data.description_rows), (89, 49));
        let weights = data.weights.unwrap();
        assert_eq!(weights[39..44], [1.0, 2.0, 2.0, 1.0, 2.0]);
        assert_eq!(weights[79..], [UNSEEN_WEIGHT; 10]);
    }
}
