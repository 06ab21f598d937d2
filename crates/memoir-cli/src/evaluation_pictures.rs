//! The pictures of an evaluation: what probabilities are worth, how many rows can be answered, which classes
//! are taken for each other, and what small classes get. `write!` to a `String` cannot fail.

use std::fmt::Write as _;

use memoir::eval::{ConfidenceReport, Report};
use memoir_report::chart::{Axis, BLUE, Chart, GREY, ORANGE, Scale};
use memoir_report::html::escape;
use memoir_report::names::on_one_line;
use memoir_report::sizes::show_counted;

/// Classes in the picture of confusions at most.
const CLASSES: usize = 14;

/// Characters of a class's name that are shown.
const LONGEST_NAME: usize = 18;

/// All pictures that there is something to show in, each with the name of its file.
pub(crate) fn all(report: &Report) -> Vec<(&'static str, String)> {
    let mut pictures = Vec::new();
    if let Some(confidence) = &report.confidence {
        pictures.push(("reliability.svg", reliability(confidence)));
        pictures.push(("coverage.svg", coverage(confidence)));
    }
    if !report.by_frequency.is_empty() {
        pictures.push(("tail.svg", tail(report)));
    }
    if !report.confusions.is_empty() {
        pictures.push(("confusions.svg", confusions(report)));
    }
    pictures
}

/// A chart whose axes both are shares.
fn share_chart(title: &str, along: &str, upwards: &str) -> Chart {
    let [along, upwards] = [along, upwards].map(|name| Axis::linear(name, (0.0, 1.0), 2));
    Chart::new(title, along, upwards)
}

/// Mean probability against share of right answers.
fn reliability(report: &ConfidenceReport) -> String {
    let title = format!(
        "Reliability: expected calibration error {:.4}",
        report.expected_calibration_error
    );
    let upwards = "share of right answers; bars: share of rows";
    let mut chart = share_chart(&title, "probability given", upwards);
    let rows: u64 = report.reliability.iter().map(|bin| bin.rows).sum();
    for bin in &report.reliability {
        chart.bar((bin.from, bin.to), bin.rows as f64 / rows as f64, BLUE);
    }
    chart.dashes((0.0, 0.0), (1.0, 1.0), ORANGE, "");
    chart.line(
        report
            .reliability
            .iter()
            .map(|bin| (bin.confidence, bin.accuracy)),
        BLUE,
    );
    for bin in &report.reliability {
        let what = format!(
            "{}: probability {:.3}, right {:.3}",
            show_counted(bin.rows, "row"),
            bin.confidence,
            bin.accuracy
        );
        chart.dot((bin.confidence, bin.accuracy), BLUE, &what);
    }
    chart.finish()
}

/// Share of rows answered against accuracy on them.
fn coverage(report: &ConfidenceReport) -> String {
    let along = "share of rows answered, surest first";
    let mut chart = share_chart(
        "Rows that can be answered at each accuracy",
        along,
        "accuracy on them",
    );
    chart.line(report.curve.iter().copied(), BLUE);
    for coverage in &report.coverage {
        if let Some(threshold) = coverage.threshold {
            let what = format!("{:.1}% from probability {threshold}", 100.0 * coverage.coverage);
            chart.dot((coverage.coverage, coverage.accuracy), ORANGE, &what);
        }
    }
    chart.finish()
}

/// What classes get that have few training rows, and those that have many.
fn tail(report: &Report) -> String {
    let bands = &report.by_frequency;
    let along = Axis {
        name: "classes by their number of training rows".to_owned(),
        range: (0.0, bands.len() as f64),
        scale: Scale::Linear,
        ticks: (0..)
            .zip(bands)
            .map(|(index, band)| (f64::from(index) + 0.5, band.band.name().to_owned()))
            .collect(),
    };
    let upwards = Axis::linear("recall: of the best (blue), of five (grey)", (0.0, 1.0), 2);
    let mut chart = Chart::new("What small and large classes get", along, upwards);
    for (index, band) in (0..).zip(bands) {
        let left = f64::from(index);
        chart.bar((left + 0.12, left + 0.48), band.recall_at_1, BLUE);
        chart.bar((left + 0.52, left + 0.88), band.recall_at_5, GREY);
        let what = format!(
            "{}, {}: recall@1 {:.3}, recall@5 {:.3}",
            show_counted(band.classes, "class"),
            show_counted(band.labels, "label"),
            band.recall_at_1,
            band.recall_at_5
        );
        chart.dot((left + 0.3, band.recall_at_1), ORANGE, &what);
    }
    chart.finish()
}

/// Which classes are taken for which: a square for each pair among those that are confused most.
fn confusions(report: &Report) -> String {
    const CELL: f64 = 22.0;
    const NAMES: f64 = 130.0;
    let mut classes: Vec<(&str, &str)> = Vec::new();
    for pair in &report.confusions {
        let truth = (
            pair.truth.as_str(),
            pair.truth_name.as_deref().unwrap_or(&pair.truth),
        );
        let predicted = pair.predicted_name.as_deref().unwrap_or(&pair.predicted);
        for class in [truth, (pair.predicted.as_str(), predicted)] {
            if classes.len() < CLASSES && !classes.contains(&class) {
                classes.push(class);
            }
        }
    }
    let index = |class: &str| classes.iter().position(|known| known.0 == class);
    let most = report.confusions.iter().map(|pair| pair.count).max().unwrap_or(1);
    let side = NAMES + CELL * classes.len() as f64;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<text x=\"4\" y=\"14\" font-size=\"12\">Rows of the class on the left that are \
         taken for the one above</text>\n",
        side + 8.0,
        side + 24.0
    );
    for (number, (_, name)) in classes.iter().enumerate() {
        let middle = NAMES + CELL * (number as f64 + 0.5);
        let name: String = on_one_line(name).chars().take(LONGEST_NAME).collect();
        let name = escape(&name);
        let _ = writeln!(
            picture,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{name}</text>\n\
             <text transform=\"translate({:.0},{:.0}) rotate(-90)\">{name}</text>",
            NAMES - 4.0,
            middle + 23.0,
            middle + 3.0,
            NAMES + 16.0
        );
    }
    for row in 0..classes.len() {
        for column in 0..classes.len() {
            let (x, y) = (NAMES + CELL * column as f64, NAMES + 20.0 + CELL * row as f64);
            let fill = if row == column { GREY } else { "none" };
            let _ = writeln!(
                picture,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\" \
                 fill-opacity=\"0.15\" stroke=\"#ddd\"/>"
            );
        }
    }
    for pair in &report.confusions {
        let (Some(row), Some(column)) = (index(&pair.truth), index(&pair.predicted)) else {
            continue;
        };
        let (x, y) = (NAMES + CELL * column as f64, NAMES + 20.0 + CELL * row as f64);
        let _ = writeln!(
            picture,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{ORANGE}\" \
             fill-opacity=\"{:.2}\"/>\n<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            0.2 + 0.7 * pair.count as f64 / most as f64,
            x + CELL / 2.0,
            y + CELL / 2.0 + 3.0,
            pair.count
        );
    }
    picture + "</svg>\n"
}
