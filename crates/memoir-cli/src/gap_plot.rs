//! A plot of how often the gap between approximate and exact margin exceeds each size, as an SVG file.

use memoir::eval::margins::MarginReport;

use crate::chart::{Axes, BLUE, Chart, RED};

/// Points of the curve; more would not be seen.
const POINTS: usize = 400;

/// The plot: the sorted `gaps` along, the share of examples with a larger gap upwards.
pub(crate) fn svg(gaps: &[f64], report: &MarginReport) -> String {
    let largest = gaps.last().copied().unwrap_or(0.0);
    let mut chart = Chart::new(&Axes {
        title: &format!(
            "Gap of oracle {}: {} examples, recall@1 {:.3}",
            report.oracle, report.examples, report.recall_at_1
        ),
        along: "gap (approximate minus exact margin)",
        upwards: "share of examples with a larger gap",
        // Without any gap the axis still needs a length.
        span: if largest > 0.0 { largest } else { 1.0 },
        decimals: 3,
    });
    let step = gaps.len().div_ceil(POINTS).max(1);
    let points = gaps.iter().enumerate().step_by(step);
    let points = points.map(|(place, &gap)| (gap, 1.0 - (place + 1) as f64 / gaps.len() as f64));
    chart.line(points.chain([(largest, 0.0)]), BLUE);
    let note = format!("epsilon {:.4} at delta {}", report.epsilon, report.delta);
    chart.dashes((report.epsilon, 0.0), (report.epsilon, 1.0), RED, &note);
    chart.finish()
}
