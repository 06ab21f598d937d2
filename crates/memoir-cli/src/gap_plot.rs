//! A plot of how often the gap between approximate and exact margin exceeds each size, as an SVG file.

use memoir::eval::margins::MarginReport;
use memoir_report::chart::{Axis, BLUE, Chart, ORANGE};

/// Points of the curve; more would not be seen.
const POINTS: usize = 400;

/// The plot: the sorted `gaps` along, the share of examples with a larger gap upwards.
pub(crate) fn svg(gaps: &[f64], report: &MarginReport) -> String {
    let largest = gaps.last().copied().unwrap_or(0.0);
    let title = format!(
        "Gap of oracle {}: {} examples, recall@1 {:.3}",
        report.oracle, report.examples, report.recall_at_1
    );
    // Without any gap the axis still needs a length.
    let span = if largest > 0.0 { largest } else { 1.0 };
    let mut chart = Chart::new(
        &title,
        Axis::linear("gap (approximate minus exact margin)", (0.0, span), 3),
        Axis::linear("share of examples with a larger gap", (0.0, 1.0), 2),
    );
    let step = gaps.len().div_ceil(POINTS).max(1);
    let points = gaps.iter().enumerate().step_by(step);
    let points = points.map(|(index, &gap)| (gap, 1.0 - (index + 1) as f64 / gaps.len() as f64));
    chart.line(points.chain([(largest, 0.0)]), BLUE);
    let note = format!("epsilon {:.4} at delta {}", report.epsilon, report.delta);
    chart.dashes((report.epsilon, 0.0), (report.epsilon, 1.0), ORANGE, &note);
    chart.finish()
}
