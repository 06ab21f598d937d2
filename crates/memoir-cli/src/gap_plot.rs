//! A plot of how often the gap between approximate and exact margin exceeds each size, as an SVG file.

use std::fmt::Write as _;

use memoir::eval::margins::MarginReport;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// Points of the curve; more would not be seen.
const POINTS: usize = 400;

/// The plot: the sorted `gaps` along, the share of examples with a larger gap upwards.
pub(crate) fn svg(gaps: &[f64], report: &MarginReport) -> String {
    let largest = gaps.last().copied().unwrap_or(0.0);
    // Without any gap the axis still needs a length.
    let span = if largest > 0.0 { largest } else { 1.0 };
    let x = |gap: f64| LEFT + (WIDTH - LEFT - RIGHT) * gap / span;
    let y = |share: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">Gap of oracle {}: {} examples, recall@1 {:.3}</text>",
        report.oracle, report.examples, report.recall_at_1
    );
    for tick in 0..=4 {
        let share = f64::from(tick) / 4.0;
        let (right, beside, below) = (WIDTH - RIGHT, LEFT - 6.0, HEIGHT - BOTTOM + 18.0);
        let (height, gap) = (y(share), share * span);
        let along = x(gap);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{height}\" y2=\"{height}\" stroke=\"#ddd\"/>\n\
             <text x=\"{beside}\" y=\"{height}\" text-anchor=\"end\" dy=\"4\">{share}</text>\n\
             <text x=\"{along:.1}\" y=\"{below}\" text-anchor=\"middle\">{gap:.3}</text>"
        );
    }
    let mut points = String::new();
    let step = gaps.len().div_ceil(POINTS).max(1);
    for (place, &gap) in gaps.iter().enumerate().step_by(step) {
        let larger = 1.0 - (place + 1) as f64 / gaps.len() as f64;
        let _ = write!(points, "{:.2},{:.2} ", x(gap), y(larger));
    }
    let _ = writeln!(
        svg,
        "<polyline points=\"{}{:.2},{:.2}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\"/>",
        points,
        x(largest),
        y(0.0)
    );
    let _ = writeln!(
        svg,
        "<line x1=\"{0:.2}\" x2=\"{0:.2}\" y1=\"{TOP}\" y2=\"{1:.2}\" stroke=\"#c33\" stroke-dasharray=\"4 3\"/>\n\
         <text x=\"{0:.2}\" y=\"{2}\" dx=\"4\" dy=\"12\" fill=\"#c33\">epsilon {3:.4} at delta {4}</text>\n\
         <text x=\"{5}\" y=\"{6}\" text-anchor=\"middle\">gap (approximate minus exact margin)</text>\n\
         <text x=\"16\" y=\"{7}\" transform=\"rotate(-90 16 {7})\" text-anchor=\"middle\">share of examples with a larger gap</text>\n</svg>",
        x(report.epsilon),
        y(0.0),
        TOP,
        report.epsilon,
        report.delta,
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 10.0,
        f64::midpoint(TOP, HEIGHT - BOTTOM)
    );
    svg
}
