//! Figures as SVG: quality against cost, one point per method, and the line of those that nobody beats.

use memoir::maths;
use memoir_report::chart::{Axis, Chart, GREY, ORANGE, Scale, side_by_side};
use memoir_report::sizes::show_size;

use crate::results::Status;
use crate::summary::{Measure, Table};

/// The colour of names beside points of the front.
const NAME_COLOUR: &str = "#7c2d12";

struct Point {
    number: usize,
    method: String,
    cost: f64,
    quality: f64,
}

impl Point {
    fn at(&self) -> (f64, f64) {
        (self.cost, self.quality)
    }
}

/// The least and the largest of some values.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// Costs differ by orders of magnitude: their axis is logarithmic.
fn cost_axis(points: &[Point], cost: Measure) -> Axis {
    let (low, high) = range(points.iter().map(|point| point.cost));
    let range = (low / 1.6, high * 1.6);
    let (first, last) = (
        maths::log10(range.0).floor() as i32,
        maths::log10(range.1).ceil() as i32,
    );
    // Few decades need steps within them.
    let steps: &[f64] = if last - first <= 3 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let values = (first..=last).flat_map(|power| {
        steps
            .iter()
            .map(move |step| step * maths::powf(10.0, f64::from(power)))
    });
    Axis {
        name: format!("{} (logarithmic)", cost.name()),
        range,
        scale: Scale::Logarithmic,
        ticks: values
            .filter(|value| (range.0..=range.1).contains(value))
            .map(|value| (value, tick(cost, value)))
            .collect(),
    }
}

fn quality_axis(points: &[Point], quality: Measure) -> Axis {
    let (worst, best) = range(points.iter().map(|point| point.quality));
    let margin = ((best - worst) * 0.12).max(0.002);
    let mut axis = Axis::linear(quality.name(), ((worst - margin).max(0.0), best + margin), 3);
    for (value, text) in &mut axis.ticks {
        *text = format!("{:.1}%", 100.0 * *value);
    }
    axis
}

/// One panel; empty if no method came through.
pub(crate) fn pareto(table: &Table, cost: Measure, quality: Measure) -> String {
    let points: Vec<_> = table
        .rows
        .iter()
        .enumerate()
        .filter_map(|(index, row)| {
            Some(Point {
                number: index + 1,
                method: row.method.clone(),
                // Nothing is free, and a logarithm needs more than nothing.
                cost: row.get(cost)?.mean.max(1e-3),
                quality: row.get(quality)?.mean,
            })
        })
        .collect();
    if points.is_empty() {
        return String::new();
    }
    let mut chart = Chart::new(
        &format!("{} against {}", quality.name(), cost.name()),
        cost_axis(&points, cost),
        quality_axis(&points, quality),
    );
    let front = table.pareto_front(cost, quality);
    let line = front
        .iter()
        .filter_map(|row| points.iter().find(|point| point.method == row.method));
    chart.line(line.map(Point::at), ORANGE);
    for point in &points {
        let is_front = front.iter().any(|row| row.method == point.method);
        let what = format!(
            "{}: {}, {}",
            point.method,
            cost.show(point.cost),
            quality.show(point.quality)
        );
        let colour = if is_front { ORANGE } else { GREY };
        chart.numbered_dot(point.at(), point.number, colour, &what);
        if is_front {
            chart.name(point.at(), NAME_COLOUR, &point.method);
        }
    }
    chart.finish()
}

/// A figure of its own: accuracy and macro-F1 against the CPU time of training, with the methods' names.
pub(crate) fn standalone(table: &Table) -> String {
    let panels =
        [Measure::Accuracy, Measure::MacroF1].map(|quality| pareto(table, Measure::TrainCpu, quality));
    let legend: Vec<_> = table
        .rows
        .iter()
        .enumerate()
        .map(|(index, row)| match row.status {
            Status::Ok => format!("{} {}", index + 1, row.method),
            status => format!("{} {}: {}", index + 1, row.method, status.name()),
        })
        .collect();
    side_by_side(&panels, &legend)
}

/// Name of the file of a data set's figure.
pub(crate) fn file_name(table: &Table) -> String {
    format!("pareto-{}.svg", table.data.replace(' ', "-"))
}

/// A round number on the axis of costs.
fn tick(cost: Measure, value: f64) -> String {
    match cost {
        Measure::TrainMemory | Measure::PredictMemory | Measure::ModelBytes => {
            show_size(value as u64).replace(".0 ", " ")
        }
        _ => format!("{} s", (value * 1e6).round() / 1e6),
    }
}
