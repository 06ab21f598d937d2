//! Charts as SVG: two axes, with lines, bars and dots between them. `write!` to a `String` cannot fail.

use std::fmt::Write as _;

use crate::html::escape;

/// Width of a chart, in the units of its coordinates.
pub const WIDTH: f64 = 460.0;
/// Height of a chart.
pub const HEIGHT: f64 = 320.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 44.0;

/// The colour of what is shown.
pub const BLUE: &str = "#1f5fa8";
/// The colour of what stands out, or of what the rest is compared with.
pub const ORANGE: &str = "#c2410c";
/// The colour of what stands back.
pub const GREY: &str = "#64748b";
const TEXT_COLOUR: &str = "#475569";
const GRID_COLOUR: &str = "#e2e8f0";

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences take equal space.
    Linear,
    /// Equal ratios take equal space; values must be above 0.
    Logarithmic,
}

/// One axis.
#[derive(Debug)]
pub struct Axis {
    /// What it shows.
    pub name: String,
    /// The values at its ends.
    pub range: (f64, f64),
    /// How values are spread.
    pub scale: Scale,
    /// Values that get a grid line, with their text.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis with five ticks of `decimals` decimals.
    pub fn linear(name: &str, range: (f64, f64), decimals: usize) -> Self {
        let values = (0..=4).map(|step| range.0 + (range.1 - range.0) * f64::from(step) / 4.0);
        Self {
            name: name.to_owned(),
            range,
            scale: Scale::Linear,
            ticks: values
                .map(|value| (value, format!("{value:.decimals$}")))
                .collect(),
        }
    }

    /// Where a value lies, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let spread = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => libm::log10(value),
        };
        let (from, to) = (spread(self.range.0), spread(self.range.1));
        (spread(value) - from) / (to - from)
    }
}

/// A chart that is being drawn.
#[derive(Debug)]
pub struct Chart {
    svg: String,
    along: Axis,
    upwards: Axis,
}

impl Chart {
    /// A frame with a title and two axes.
    pub fn new(title: &str, along: Axis, upwards: Axis) -> Self {
        let title = escape(title);
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\" font-size=\"11\" aria-label=\"{title}\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"16\" font-weight=\"600\">{title}</text>\n"
        );
        let mut chart = Self { svg, along, upwards };
        chart.grid();
        chart
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.along.share(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.upwards.share(value) * (HEIGHT - TOP - BOTTOM)
    }

    fn grid(&mut self) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut lines = String::new();
        for (value, text) in &self.along.ticks {
            let (x, text) = (self.x(*value), escape(text));
            let _ = writeln!(
                lines,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"{GRID_COLOUR}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"{TEXT_COLOUR}\">{text}</text>",
                bottom + 15.0
            );
        }
        for (value, text) in &self.upwards.ticks {
            let (y, text) = (self.y(*value), escape(text));
            let _ = writeln!(
                lines,
                "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"{GRID_COLOUR}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{TEXT_COLOUR}\">{text}</text>",
                LEFT - 6.0,
                y + 3.5
            );
        }
        let _ = writeln!(
            lines,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{TEXT_COLOUR}\">{}</text>\
             <text transform=\"translate(12 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"{TEXT_COLOUR}\">{}</text>",
            f64::midpoint(LEFT, right),
            HEIGHT - 8.0,
            escape(&self.along.name),
            f64::midpoint(TOP, bottom),
            escape(&self.upwards.name)
        );
        self.svg += &lines;
    }

    /// A line through points.
    pub fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, colour: &str) {
        let points: Vec<_> = points
            .into_iter()
            .map(|(x, y)| format!("{:.1},{:.1}", self.x(x), self.y(y)))
            .collect();
        let _ = writeln!(
            self.svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
            points.join(" ")
        );
    }

    /// A dashed line between two points, with a note at its end.
    pub fn dashes(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, note: &str) {
        let (x1, y1) = (self.x(from.0), self.y(from.1));
        let (x2, y2) = (self.x(to.0), self.y(to.1));
        let (shift, anchor) = beside(x2, 4.0);
        let _ = writeln!(
            self.svg,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" \
             stroke-dasharray=\"4 3\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{}</text>",
            x2 + shift,
            y2 + 12.0,
            escape(note)
        );
    }

    /// A bar from the horizontal axis up to `height`.
    pub fn bar(&mut self, (from, to): (f64, f64), height: f64, colour: &str) {
        let (left, right, top) = (self.x(from), self.x(to), self.y(height));
        let _ = writeln!(
            self.svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\" \
             fill-opacity=\"0.25\"/>",
            right - left,
            HEIGHT - BOTTOM - top
        );
    }

    /// A dot; browsers show `what` when one points at it.
    pub fn dot(&mut self, (x, y): (f64, f64), colour: &str, what: &str) {
        let (x, y) = (self.x(x), self.y(y));
        let _ = writeln!(
            self.svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"><title>{}</title></circle>",
            escape(what)
        );
    }

    /// A large dot with a number in it; browsers show `what` when one points at it.
    pub fn numbered_dot(&mut self, (x, y): (f64, f64), number: usize, colour: &str, what: &str) {
        let (x, y) = (self.x(x), self.y(y));
        let _ = writeln!(
            self.svg,
            "<g><title>{}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\" fill=\"{colour}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"9\" fill=\"#fff\">{number}</text></g>",
            escape(what),
            y + 3.2
        );
    }

    /// A name beside a numbered dot.
    pub fn name(&mut self, (x, y): (f64, f64), colour: &str, name: &str) {
        let (x, y) = (self.x(x), self.y(y));
        let (shift, anchor) = beside(x, 11.0);
        let _ = writeln!(
            self.svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{}</text>",
            x + shift,
            y - 7.0,
            escape(name)
        );
    }

    /// The finished drawing.
    pub fn finish(mut self) -> String {
        self.svg += "</svg>\n";
        self.svg
    }
}

/// How text stands beside `x`: towards the middle of the chart, so that it stays inside.
fn beside(x: f64, distance: f64) -> (f64, &'static str) {
    if x < WIDTH * 0.6 {
        (distance, "start")
    } else {
        (-distance, "end")
    }
}

/// Finished charts side by side in one drawing, with lines of text on their right.
pub fn side_by_side(charts: &[String], legend: &[String]) -> String {
    const LINE_HEIGHT: f64 = 17.0;
    const LEGEND_WIDTH: f64 = 190.0;
    let width = charts.len() as f64 * WIDTH + LEGEND_WIDTH;
    let height = HEIGHT.max(TOP + LINE_HEIGHT * legend.len() as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (index, chart) in charts.iter().enumerate() {
        let size = format!("<svg width=\"{WIDTH}\" height=\"{HEIGHT}\" ");
        let _ = writeln!(
            svg,
            "<g transform=\"translate({} 0)\">{}</g>",
            index as f64 * WIDTH,
            chart.replacen("<svg ", &size, 1)
        );
    }
    for (index, line) in legend.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.0}\">{}</text>",
            width - LEGEND_WIDTH + 8.0,
            TOP + LINE_HEIGHT * index as f64,
            escape(line)
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(scale: Scale, range: (f64, f64)) -> Chart {
        let along = Axis {
            name: "a < b".to_owned(),
            range,
            scale,
            ticks: Vec::new(),
        };
        Chart::new("title", along, Axis::linear("share", (0.0, 1.0), 2))
    }

    #[test]
    fn values_lie_where_their_scale_puts_them() {
        let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
        assert!((chart(Scale::Linear, (0.0, 10.0)).x(5.0) - middle).abs() < 1e-9);
        assert!((chart(Scale::Logarithmic, (0.1, 1000.0)).x(10.0) - middle).abs() < 1e-9);
        assert_eq!(chart(Scale::Linear, (0.0, 1.0)).y(0.0), HEIGHT - BOTTOM);
        assert_eq!(chart(Scale::Linear, (0.0, 1.0)).y(1.0), TOP);
    }

    #[test]
    fn every_text_is_escaped() {
        let mut chart = chart(Scale::Linear, (0.0, 1.0));
        chart.dot((0.5, 0.5), BLUE, "<dot>");
        chart.numbered_dot((0.5, 0.5), 1, BLUE, "<number>");
        chart.name((0.5, 0.5), BLUE, "<name>");
        chart.dashes((0.0, 0.0), (1.0, 1.0), BLUE, "<note>");
        let svg = side_by_side(&[chart.finish()], &["<legend>".to_owned()]);
        for text in ["a < b", "<dot>", "<number>", "<name>", "<note>", "<legend>"] {
            assert!(
                svg.contains(&escape(text)) && !svg.contains(text),
                "{text} in {svg}"
            );
        }
    }
}
