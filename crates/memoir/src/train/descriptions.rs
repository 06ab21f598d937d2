//! Texts about classes as training rows: which of them are worth learning from, and how much they count.
//!
//! Names nearly always help, and how much they should count differs. So the default algorithm is trained on
//! a sample of the classes, with all their rows but some, and answers for these tell what helps.

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

/// How much names count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DescriptionChoice {
    /// The weight of a preferred name; 0 if names are not learned from. Alternative names count once.
    weight: f32,
}

impl DescriptionChoice {
    const NOTHING: Self = Self { weight: 0.0 };
    const USUAL: Self = Self { weight: USUAL_WEIGHT };

    /// In words, for the user.
    pub(super) fn describe(self) -> String {
        match self.weight {
            0.0 => "names of classes are not learned from: they did not help on held-out rows".to_owned(),
            1.0 => "names of classes are learned from".to_owned(),
            weight => format!("names of classes are learned from and count as {weight} rows each"),
        }
    }

    /// How much a text of this kind about a class counts.
    fn weight_of(self, kind: TermKind, is_unseen: bool) -> f32 {
        match kind {
            _ if is_unseen => UNSEEN_WEIGHT,
            TermKind::Name => self.weight,
            _ if self == Self::NOTHING => 0.0,
            _ => 1.0,
        }
    }
}

impl Described {
    /// Chooses by some rows of `data`.
    pub(super) fn choose(&self, data: &Dataset, session: &Session<'_>) -> Result<DescriptionChoice> {
        let Some(sample) = Sample::draw(data, &self.texts, session) else {
            return Ok(DescriptionChoice::USUAL);
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
        let mut best = DescriptionChoice::USUAL;
        let mut score = self.score(best, session)?;
        let mut try_out = |choice: DescriptionChoice, best: &mut DescriptionChoice| -> Result<()> {
            let of_choice = self.score(choice, session)?;
            if of_choice > score * GAIN {
                (*best, score) = (choice, of_choice);
            }
            Ok(())
        };
        for weight in OTHER_WEIGHTS {
            try_out(DescriptionChoice { weight }, &mut best)?;
        }
        try_out(DescriptionChoice::NOTHING, &mut best)?;
        Ok(best)
    }

    /// How well held-out rows are answered with this choice.
    fn score(&self, choice: DescriptionChoice, session: &Session<'_>) -> Result<f64> {
        session.check()?;
        let mut data = self.training.clone();
        self.texts.append_to(&mut data, choice);
        judge(vec![(data, self.held_out.clone())], session)
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
            let weight = choice.weight_of(kind, counts[class as usize] == 0);
            if weight > 0.0 && !row.is_empty() {
                data.rows.push(row);
                data.labels.push([class]);
                added.push(weight);
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
        assert!(chosen(1000, true).unwrap().weight > 0.0);
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
        for class in [2, 41] {
            texts.about[class].1 = TermKind::Alternative;
        }
        let choice = DescriptionChoice { weight: 2.0 };
        texts.append_to(&mut data, choice);
        assert_eq!((data.len(), data.description_rows), (90, 50));
        let weights = data.weights.unwrap();
        assert_eq!(weights[39..44], [1.0, 2.0, 2.0, 1.0, 2.0]);
        assert_eq!(weights[80..], [UNSEEN_WEIGHT; 10]);
    }
}
