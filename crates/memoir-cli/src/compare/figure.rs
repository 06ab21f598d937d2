//! Figures as SVG: quality against cost, one point per method, and the line of those that nobody beats.
//! `write!` to a `String` cannot fail.

use std::fmt::Write as _;

use super::html::escape;
use super::results::Status;
use super::summary::{Measure, Table};

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 44.0;

struct Point {
    number: usize,
    method: String,
    cost: f64,
    quality: f64,
}

/// Where values lie on the drawing. Costs differ by orders of magnitude: their axis is logarithmic.
struct Axes {
    cost: (f64, f64),
    quality: (f64, f64),
}

impl Axes {
    fn new(points: &[Point]) -> Self {
        let range = |value: fn(&Point) -> f64| {
            let values = points.iter().map(value);
            values.fold((f64::MAX, f64::MIN), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let (low, high) = range(|point| point.cost);
        let (worst, best) = range(|point| point.quality);
        let margin = ((best - worst) * 0.12).max(0.002);
        Self {
            cost: ((low / 1.6).log10(), (high * 1.6).log10()),
            quality: ((worst - margin).max(0.0), best + margin),
        }
    }

    fn x(&self, cost: f64) -> f64 {
        LEFT + (cost.log10() - self.cost.0) / (self.cost.1 - self.cost.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, quality: f64) -> f64 {
        let share = (quality - self.quality.0) / (self.quality.1 - self.quality.0);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }
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
    let axes = Axes::new(&points);
    let title = format!("{} against {}", quality.name(), cost.name());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pareto\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"11\" aria-label=\"{title}\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"16\" font-weight=\"600\">{title}</text>\n"
    );
    grid(&mut svg, &axes, cost, quality);
    let front = table.pareto_front(cost, quality);
    let path: Vec<_> = front
        .iter()
        .filter_map(|row| points.iter().find(|point| point.method == row.method))
        .map(|point| format!("{:.1},{:.1}", axes.x(point.cost), axes.y(point.quality)))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline class=\"front\" points=\"{}\" fill=\"none\" stroke=\"#c2410c\" stroke-width=\"1.5\"/>",
        path.join(" ")
    );
    for point in &points {
        let (x, y) = (axes.x(point.cost), axes.y(point.quality));
        let is_front = front.iter().any(|row| row.method == point.method);
        let colour = if is_front { "#c2410c" } else { "#64748b" };
        let _ = writeln!(
            svg,
            "<g><title>{}: {}, {}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\" fill=\"{colour}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"9\" fill=\"#fff\">{}</text></g>",
            escape(&point.method),
            cost.show(point.cost),
            quality.show(point.quality),
            y + 3.2,
            point.number
        );
        if is_front {
            // Towards the middle, so that names stay inside.
            let (shift, anchor) = if x < WIDTH * 0.6 {
                (11.0, "start")
            } else {
                (-11.0, "end")
            };
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"#7c2d12\">{}</text>",
                x + shift,
                y - 7.0,
                escape(&point.method)
            );
        }
    }
    svg + "</svg>\n"
}

/// A figure of its own: accuracy and macro-F1 against the CPU time of training, with the methods' names.
pub(crate) fn standalone(table: &Table) -> String {
    let panels =
        [Measure::Accuracy, Measure::MacroF1].map(|quality| pareto(table, Measure::TrainCpu, quality));
    let line_height = 17.0;
    let legend_width = 190.0;
    let width = 2.0 * WIDTH + legend_width;
    let height = HEIGHT.max(TOP + line_height * table.rows.len() as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"11\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (place, panel) in panels.iter().enumerate() {
        let panel = panel.replacen(
            "<svg ",
            &format!("<svg width=\"{WIDTH}\" height=\"{HEIGHT}\" "),
            1,
        );
        let _ = writeln!(
            svg,
            "<g transform=\"translate({} 0)\">{panel}</g>",
            place as f64 * WIDTH
        );
    }
    for (index, row) in table.rows.iter().enumerate() {
        let note = if row.status == Status::Ok {
            String::new()
        } else {
            format!(": {}", row.status.name())
        };
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.0}\">{} {}{note}</text>",
            2.0 * WIDTH + 8.0,
            TOP + line_height * index as f64,
            index + 1,
            escape(&row.method)
        );
    }
    svg + "</svg>\n"
}

/// Name of the file of a data set's figure.
pub(crate) fn file_name(table: &Table) -> String {
    format!("pareto-{}.svg", table.data.replace(' ', "-"))
}

/// Lines and numbers of both axes.
fn grid(svg: &mut String, axes: &Axes, cost: Measure, quality: Measure) {
    let bottom = HEIGHT - BOTTOM;
    let (first, last) = (axes.cost.0.floor() as i32, axes.cost.1.ceil() as i32);
    // Few decades need steps within them.
    let steps: &[f64] = if last - first <= 3 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    for (power, step) in (first..=last).flat_map(|power| steps.iter().map(move |step| (power, step))) {
        let value = step * 10f64.powi(power);
        let x = axes.x(value);
        if (LEFT..=WIDTH - RIGHT).contains(&x) {
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#e2e8f0\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#475569\">{}</text>",
                bottom + 15.0,
                tick(cost, value)
            );
        }
    }
    let (low, high) = axes.quality;
    for step in 0..=4 {
        let value = low + (high - low) * f64::from(step) / 4.0;
        let y = axes.y(value);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#e2e8f0\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#475569\">{:.1}%</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 3.5,
            100.0 * value
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#475569\">{} (logarithmic)</text>\
         <text transform=\"translate(12 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"#475569\">{}</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 8.0,
        cost.name(),
        f64::midpoint(TOP, bottom),
        quality.name()
    );
}

/// A round number on the axis of costs.
fn tick(cost: Measure, value: f64) -> String {
    match cost {
        Measure::TrainMemory | Measure::PredictMemory | Measure::ModelBytes => {
            crate::sizes::show_size(value as u64).replace(".0 ", " ")
        }
        _ => format!("{} s", (value * 1e6).round() / 1e6),
    }
}
