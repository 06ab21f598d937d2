//! Plots as SVG: a frame with axes, and lines, bars and dots in it. The vertical axis is a share, from 0 to 1.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// The colour of what is shown.
pub(crate) const BLUE: &str = "#1f5fa8";
/// The colour of what it is compared with.
pub(crate) const RED: &str = "#c33";

/// A plot that is being drawn. `write!` to a `String` cannot fail.
pub(crate) struct Chart {
    svg: String,
    span: f64,
}

/// What the axes say.
pub(crate) struct Axes<'a> {
    pub(crate) title: &'a str,
    pub(crate) along: &'a str,
    pub(crate) upwards: &'a str,
    /// Where the horizontal axis ends; it starts at 0.
    pub(crate) span: f64,
    /// Decimals of the numbers along it.
    pub(crate) decimals: usize,
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Where a share is drawn.
fn height_of(share: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share)
}

impl Chart {
    /// The frame.
    pub(crate) fn new(axes: &Axes<'_>) -> Self {
        let mut chart = Self {
            svg: String::new(),
            span: axes.span,
        };
        let _ = writeln!(
            chart.svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">{}</text>",
            escaped(axes.title)
        );
        for tick in 0..=4 {
            let share = f64::from(tick) / 4.0;
            let (right, beside, below) = (WIDTH - RIGHT, LEFT - 6.0, HEIGHT - BOTTOM + 18.0);
            let (height, value) = (height_of(share), share * axes.span);
            let (along, decimals) = (chart.x(value), axes.decimals);
            let _ = writeln!(
                chart.svg,
                "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{height}\" y2=\"{height}\" stroke=\"#ddd\"/>\n\
                 <text x=\"{beside}\" y=\"{height}\" text-anchor=\"end\" dy=\"4\">{share}</text>\n\
                 <text x=\"{along:.1}\" y=\"{below}\" text-anchor=\"middle\">{value:.decimals$}</text>"
            );
        }
        let (middle, bottom) = (f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - 10.0);
        let beside = f64::midpoint(TOP, HEIGHT - BOTTOM);
        let _ = writeln!(
            chart.svg,
            "<text x=\"{middle}\" y=\"{bottom}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"16\" y=\"{beside}\" transform=\"rotate(-90 16 {beside})\" text-anchor=\"middle\">{}</text>",
            escaped(axes.along),
            escaped(axes.upwards)
        );
        chart
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * value / self.span
    }

    /// A line through points.
    pub(crate) fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, color: &str) {
        let mut list = String::new();
        for (value, share) in points {
            let _ = write!(list, "{:.2},{:.2} ", self.x(value), height_of(share));
        }
        let _ = writeln!(
            self.svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            list.trim_end()
        );
    }

    /// A dashed line between two points, with a note at its end.
    pub(crate) fn dashes(&mut self, from: (f64, f64), to: (f64, f64), color: &str, note: &str) {
        let (x1, y1) = (self.x(from.0), height_of(from.1));
        let (x2, y2) = (self.x(to.0), height_of(to.1));
        let _ = writeln!(
            self.svg,
            "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{color}\" stroke-dasharray=\"4 3\"/>\n\
             <text x=\"{x2:.2}\" y=\"{y2:.2}\" dx=\"4\" dy=\"12\" fill=\"{color}\">{}</text>",
            escaped(note)
        );
    }

    /// A bar that stands on the horizontal axis.
    pub(crate) fn bar(&mut self, from: f64, to: f64, share: f64, color: &str) {
        let (left, right, top) = (self.x(from), self.x(to), height_of(share));
        let _ = writeln!(
            self.svg,
            "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{color}\" fill-opacity=\"0.25\"/>",
            right - left,
            height_of(0.0) - top
        );
    }

    /// A dot; what it stands for is shown when one points at it.
    pub(crate) fn dot(&mut self, value: f64, share: f64, color: &str, what: &str) {
        let _ = writeln!(
            self.svg,
            "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"4\" fill=\"{color}\"><title>{}</title></circle>",
            self.x(value),
            height_of(share),
            escaped(what)
        );
    }

    /// The finished file.
    pub(crate) fn finish(mut self) -> String {
        self.svg += "</svg>\n";
        self.svg
    }
}
