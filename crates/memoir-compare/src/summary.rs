//! From single runs to comparable figures: means over repeats, their noise, who is best, who is on the
//! Pareto front.

use memoir::eval::FrequencyBand;
use memoir::maths;
use memoir_report::sizes::show_size;

use crate::results::{Outcome, Status};

/// Something that is measured of every method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measure {
    TrainCpu,
    PredictCpu,
    TrainWall,
    PredictWall,
    TrainMemory,
    PredictMemory,
    ModelBytes,
    Accuracy,
    MacroF1,
    PrecisionAt3,
    PrecisionAt5,
}

impl Measure {
    pub(crate) const ALL: [Self; 11] = [
        Self::TrainCpu,
        Self::PredictCpu,
        Self::TrainWall,
        Self::PredictWall,
        Self::TrainMemory,
        Self::PredictMemory,
        Self::ModelBytes,
        Self::Accuracy,
        Self::MacroF1,
        Self::PrecisionAt3,
        Self::PrecisionAt5,
    ];
    /// The lines of the paper's table, with both memories and the model's size in place of "total memory".
    pub(crate) const MAIN: [Self; 7] = [
        Self::TrainCpu,
        Self::PredictCpu,
        Self::TrainMemory,
        Self::PredictMemory,
        Self::ModelBytes,
        Self::Accuracy,
        Self::MacroF1,
    ];

    /// Head of a column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TrainCpu => "train, CPU",
            Self::PredictCpu => "predict, CPU",
            Self::TrainWall => "train, wall",
            Self::PredictWall => "predict, wall",
            Self::TrainMemory => "train, memory",
            Self::PredictMemory => "predict, memory",
            Self::ModelBytes => "model",
            Self::Accuracy => "accuracy",
            Self::MacroF1 => "macro-F1",
            Self::PrecisionAt3 => "precision@3",
            Self::PrecisionAt5 => "precision@5",
        }
    }

    /// Name in addresses and attributes.
    pub(crate) fn key(self) -> String {
        self.name().replace(", ", "-").replace('@', "-at-").to_lowercase()
    }

    pub(crate) fn is_quality(self) -> bool {
        self >= Self::Accuracy
    }

    /// The value of one run.
    fn of(self, outcome: &Outcome) -> Option<f64> {
        let (train, predict) = (outcome.train.as_ref(), outcome.predict.as_ref());
        let quality = outcome.quality.as_ref();
        match self {
            Self::TrainCpu => train.map(|cost| cost.cpu_seconds),
            Self::PredictCpu => predict.map(|cost| cost.cpu_seconds),
            Self::TrainWall => train.map(|cost| cost.wall_seconds),
            Self::PredictWall => predict.map(|cost| cost.wall_seconds),
            Self::TrainMemory => train.map(|cost| cost.peak_bytes as f64),
            Self::PredictMemory => predict.map(|cost| cost.peak_bytes as f64),
            Self::ModelBytes => outcome.model_bytes.map(|bytes| bytes as f64),
            Self::Accuracy => quality.map(|quality| quality.accuracy),
            Self::MacroF1 => quality.map(|quality| quality.macro_f1),
            Self::PrecisionAt3 => quality.and_then(|quality| quality.precision_at_3),
            Self::PrecisionAt5 => quality.and_then(|quality| quality.precision_at_5),
        }
    }

    /// A value for people.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            _ if self.is_quality() => format!("{:.2}%", 100.0 * value),
            Self::TrainMemory | Self::PredictMemory | Self::ModelBytes => show_size(value as u64),
            _ if value < 9.95 => format!("{value:.2} s"),
            _ if value < 99.5 => format!("{value:.1} s"),
            _ => format!("{value:.0} s"),
        }
    }

    /// Whether `a` is better than `b`.
    pub(crate) fn prefers(self, a: f64, b: f64) -> bool {
        if self.is_quality() { a > b } else { a < b }
    }
}

/// Mean and standard deviation over repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    pub(crate) runs: usize,
}

impl Spread {
    fn new(values: &[f64]) -> Option<Self> {
        let runs = values.len();
        if runs == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|value| maths::square(value - mean)).sum();
        let deviation = (squares / (runs - 1).max(1) as f64).sqrt();
        Some(Self {
            mean,
            deviation,
            runs,
        })
    }

    /// Whether the repeats of both tell them apart: the difference of the means exceeds twice its
    /// standard error. With a single run of either nothing is known of the noise, and nothing is
    /// claimed.
    pub(crate) fn is_noise(&self, other: &Self) -> bool {
        if self.runs < 2 || other.runs < 2 {
            return false;
        }
        let variance = |spread: &Self| maths::square(spread.deviation) / spread.runs as f64;
        let error = (variance(self) + variance(other)).sqrt();
        (self.mean - other.mean).abs() < 2.0 * error
    }
}

/// A method on a data set, over all its repeats.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    pub(crate) method: String,
    pub(crate) about: String,
    /// Repeats that came through, and all that were made.
    pub(crate) finished: usize,
    pub(crate) made: usize,
    /// How the first repeat ended that did not come through, if any.
    pub(crate) status: Status,
    pub(crate) reason: Option<String>,
    /// Over the repeats that came through.
    values: Vec<Option<Spread>>,
    /// By class frequency, of the first repeat that came through.
    pub(crate) bands: Vec<FrequencyBand>,
    pub(crate) train_command: String,
    pub(crate) predict_command: String,
}

impl Summary {
    /// Of the repeats of one method on one data set; none if there are none.
    pub(crate) fn new(about: &str, outcomes: &[&Outcome]) -> Option<Self> {
        let first = outcomes.first()?;
        let worst = outcomes.iter().find(|outcome| outcome.status != Status::Ok);
        let finished = || outcomes.iter().filter(|outcome| outcome.status == Status::Ok);
        let values = Measure::ALL.map(|measure| {
            let values: Vec<_> = finished().filter_map(|outcome| measure.of(outcome)).collect();
            Spread::new(&values)
        });
        Some(Self {
            method: first.method.clone(),
            about: about.to_owned(),
            finished: finished().count(),
            made: outcomes.len(),
            status: worst.map_or(Status::Ok, |outcome| outcome.status),
            reason: worst.and_then(|outcome| outcome.reason.clone()),
            values: values.to_vec(),
            bands: finished()
                .next()
                .and_then(|outcome| outcome.quality.as_ref())
                .map_or(Vec::new(), |quality| quality.by_frequency.clone()),
            train_command: first.train_command.clone(),
            predict_command: first.predict_command.clone(),
        })
    }

    /// The method's name, with how often it came through where that is not always.
    pub(crate) fn title(&self) -> String {
        if self.finished == 0 || self.finished == self.made {
            self.method.clone()
        } else {
            format!("{} ({} of {} repeats)", self.method, self.finished, self.made)
        }
    }

    /// Mean and noise of the repeats that came through.
    pub(crate) fn get(&self, measure: Measure) -> Option<Spread> {
        let index = Measure::ALL.iter().position(|&other| other == measure)?;
        self.values[index]
    }

    fn mean(&self, measure: Measure) -> Option<f64> {
        self.get(measure).map(|spread| spread.mean)
    }
}

/// All methods on one data set.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) data: String,
    pub(crate) fingerprint: String,
    pub(crate) rows: Vec<Summary>,
}

/// How a value stands among those of the other methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Best,
    /// Not distinguishable from the best by the repeats.
    LikeBest,
    Behind,
}

impl Table {
    /// The best value of a measure.
    fn best(&self, measure: Measure) -> Option<Spread> {
        let values = self.rows.iter().filter_map(|row| row.get(measure));
        values.reduce(|best, value| {
            if measure.prefers(value.mean, best.mean) {
                value
            } else {
                best
            }
        })
    }

    pub(crate) fn standing(&self, row: &Summary, measure: Measure) -> Standing {
        match (row.get(measure), self.best(measure)) {
            (Some(value), Some(best)) if value.mean == best.mean => Standing::Best,
            (Some(value), Some(best)) if value.is_noise(&best) => Standing::LikeBest,
            _ => Standing::Behind,
        }
    }

    /// The methods that no other beats in both cost and quality, from cheap to good.
    pub(crate) fn pareto_front(&self, cost: Measure, quality: Measure) -> Vec<&Summary> {
        let point = |row: &Summary| Some((row.mean(cost)?, row.mean(quality)?));
        let mut front: Vec<_> = self
            .rows
            .iter()
            .filter_map(|row| Some((row, point(row)?)))
            .filter(|(_, (own_cost, own_quality))| {
                !self
                    .rows
                    .iter()
                    .filter_map(point)
                    .any(|(other_cost, other_quality)| {
                        other_cost <= *own_cost
                            && other_quality >= *own_quality
                            && (other_cost < *own_cost || other_quality > *own_quality)
                    })
            })
            .collect();
        front.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
        front.into_iter().map(|(row, _)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        Spread::new(values).unwrap()
    }

    #[test]
    fn means_and_deviations() {
        let three = spread(&[1.0, 2.0, 3.0]);
        assert_eq!((three.mean, three.deviation), (2.0, 1.0));
        assert_eq!(spread(&[5.0]).deviation, 0.0);
        assert_eq!(Spread::new(&[]), None);
    }

    #[test]
    fn differences_within_the_noise_are_recognised() {
        let noisy = spread(&[1.0, 3.0, 2.0]);
        assert!(noisy.is_noise(&spread(&[2.2, 3.2, 1.9])));
        assert!(!noisy.is_noise(&spread(&[9.0, 9.1, 9.2])));
        assert!(
            !spread(&[1.0, 1.0]).is_noise(&spread(&[1.1, 1.1])),
            "no noise, a true difference"
        );
        assert!(!spread(&[1.0]).is_noise(&spread(&[1.1])), "one run tells nothing");
    }

    fn row(method: &str, seconds: f64, accuracy: f64) -> Summary {
        let mut values = vec![None; Measure::ALL.len()];
        values[0] = Some(spread(&[seconds]));
        values[7] = Some(spread(&[accuracy]));
        Summary {
            method: method.to_owned(),
            about: String::new(),
            finished: 1,
            made: 1,
            status: Status::Ok,
            reason: None,
            values,
            bands: Vec::new(),
            train_command: String::new(),
            predict_command: String::new(),
        }
    }

    #[test]
    fn what_was_reached_is_shown_even_if_a_repeat_met_a_limit() {
        let outcome = |seconds: f64, status: Status| Outcome {
            data: "d".to_owned(),
            method: "m".to_owned(),
            repeat: 0,
            threads: 1,
            status,
            reason: (status != Status::Ok).then(|| "the limit".to_owned()),
            fingerprint: String::new(),
            definition: String::new(),
            train: Some(crate::measured::Cost {
                cpu_seconds: seconds,
                ..crate::measured::Cost::default()
            }),
            predict: None,
            model_bytes: None,
            quality: None,
            train_command: String::new(),
            predict_command: String::new(),
        };
        let (first, second) = (outcome(1.0, Status::Ok), outcome(3.0, Status::Ok));
        let stopped = outcome(100.0, Status::OutOfTime);
        let row = Summary::new("", &[&first, &second, &stopped]).unwrap();
        assert_eq!(row.get(Measure::TrainCpu).unwrap().mean, 2.0);
        assert_eq!(row.title(), "m (2 of 3 repeats)");
        assert_eq!(row.reason.as_deref(), Some("the limit"));
        let never = Summary::new("", &[&stopped]).unwrap();
        assert_eq!(
            (never.get(Measure::TrainCpu), never.title().as_str()),
            (None, "m")
        );
    }

    #[test]
    fn the_front_has_those_that_nobody_beats() {
        let table = Table {
            data: "d".to_owned(),
            fingerprint: String::new(),
            rows: vec![
                row("slow and good", 9.0, 0.9),
                row("quick", 1.0, 0.5),
                row("beaten", 2.0, 0.4),
                row("between", 3.0, 0.7),
            ],
        };
        let front = table.pareto_front(Measure::TrainCpu, Measure::Accuracy);
        let names: Vec<_> = front.iter().map(|row| row.method.as_str()).collect();
        assert_eq!(names, ["quick", "between", "slow and good"]);
        assert_eq!(table.standing(&table.rows[1], Measure::TrainCpu), Standing::Best);
        assert_eq!(
            table.standing(&table.rows[2], Measure::TrainCpu),
            Standing::Behind
        );
    }
}
