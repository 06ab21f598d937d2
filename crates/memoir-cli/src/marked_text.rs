//! A text with its words marked: for the answer or for the runner-up, the stronger the more they decide.

use std::fmt::Write as _;

use memoir::model::{Candidate, Explanation, Mark};
use memoir_report::html::{self, escape};
use memoir_report::names::with_name;

/// Shades of green and red in the palette of terminals with 256 colours, from weak to strong.
const FOR: [u8; 4] = [194, 157, 120, 83];
const AGAINST: [u8; 4] = [224, 217, 210, 203];

/// Parts that decide less than this share of the strongest are not marked.
const FAINT: f64 = 0.02;

const STYLE: &str = "\
body { font-family: sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222 }
.text { font-size: 1.2em; line-height: 1.8; white-space: pre-wrap }
mark { padding: 0.1em; border-radius: 0.2em }
td, th { padding: 0.2em 0.8em; text-align: right }
td:last-child, th:last-child { text-align: left }
h2 { border-top: 1px solid #ddd; padding-top: 1em; font-size: 1em }
pre { white-space: pre-wrap }
.answer b { color: #176b1c }
.runner-up b { color: #a11 }
";

fn strongest(marks: &[Mark]) -> f64 {
    marks.iter().map(|mark| mark.decides.abs()).fold(0.0, f64::max)
}

/// The text for a terminal: green speaks for the answer, red for the runner-up. `write!` to a `String`
/// cannot fail.
pub(crate) fn for_terminal(text: &str, marks: &[Mark]) -> String {
    let strongest = strongest(marks);
    let mut shown = String::new();
    for mark in marks {
        let part = text.get(mark.range.clone()).unwrap_or_default();
        // Nothing in the text may steer the terminal.
        let part: String = part
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let strength = mark.decides.abs() / strongest;
        if strength > FAINT {
            let shades = if mark.decides > 0.0 { FOR } else { AGAINST };
            let shade = shades[((strength * 4.0) as usize).min(3)];
            let _ = write!(shown, "\x1b[30;48;5;{shade}m{part}\x1b[0m");
        } else {
            shown += &part;
        }
    }
    shown + "\n"
}

fn candidate(name: &str, candidate: &Candidate) -> String {
    let probability = candidate.probability.map_or(String::new(), |probability| {
        format!(", probability {probability:.4}")
    });
    format!(
        "<p class=\"{name}\">{name}: <b>{}</b> (score {:.4}{probability})</p>\n",
        escape(&with_name(&candidate.name, candidate.vocabulary_name.as_deref())),
        candidate.score
    )
}

/// The whole explanation as one page.
pub(crate) fn page(text: &str, marks: &[Mark], explanation: &Explanation) -> String {
    html::page("Explanation", STYLE, &part(text, marks, explanation))
}

/// What stands in front of the explanations of many rows on one page.
pub(crate) fn page_start() -> String {
    let whole = html::page("Explanations", STYLE, BODY);
    whole.split(BODY).next().unwrap_or_default().to_owned()
}

/// What stands behind them.
pub(crate) fn page_end() -> String {
    let whole = html::page("Explanations", STYLE, BODY);
    whole.split(BODY).nth(1).unwrap_or_default().to_owned()
}

/// Stands for the body of a page.
const BODY: &str = "<!-- rows -->";

/// The heading of one row of many.
pub(crate) fn heading(lines: &[String]) -> String {
    let (first, others) = lines
        .split_first()
        .map_or(("", &[][..]), |(first, others)| (first.as_str(), others));
    let others: Vec<String> = others.iter().map(|line| escape(line)).collect();
    format!("<h2>{}</h2>\n<pre>{}</pre>\n", escape(first), others.join("\n"))
}

/// A text as it may stand on a page, with its columns.
fn shown(text: &str) -> String {
    escape(text).replace('\u{1f}', " [").replace('\u{1e}', "] ")
}

/// The explanation as a part of a page.
pub(crate) fn part(text: &str, marks: &[Mark], explanation: &Explanation) -> String {
    let mut page = String::new();
    if explanation.features.is_empty() {
        return format!(
            "<p class=\"text\">{}</p>\n<p>No answer: nothing in it is known to the model.</p>\n",
            shown(text)
        );
    }
    page += &candidate("answer", &explanation.answer);
    if let Some(runner_up) = &explanation.runner_up {
        page += &candidate("runner-up", runner_up);
    }
    let strongest = strongest(marks);
    page += "<p class=\"text\">";
    for mark in marks {
        let part = shown(text.get(mark.range.clone()).unwrap_or_default());
        let strength = mark.decides.abs() / strongest;
        if strength > FAINT {
            let color = if mark.decides > 0.0 {
                "60,170,70"
            } else {
                "220,70,60"
            };
            let _ = write!(
                page,
                "<mark style=\"background:rgba({color},{:.2})\" title=\"{:+.4}\">{part}</mark>",
                0.15 + 0.6 * strength,
                mark.decides
            );
        } else {
            page += &part;
        }
    }
    page += "</p>\n<table>\n<tr><th>answer</th><th>runner-up</th><th>feature</th></tr>\n";
    for share in &explanation.features {
        let _ = writeln!(
            page,
            "<tr><td>{:+.4}</td><td>{:+.4}</td><td>{}</td></tr>",
            share.for_answer,
            share.for_runner_up,
            escape(share.shown())
        );
    }
    if let Some(others) = &explanation.others {
        let _ = writeln!(
            page,
            "<tr><td>{:+.4}</td><td>{:+.4}</td><td>({} more)</td></tr>",
            others.for_answer, others.for_runner_up, others.count
        );
    }
    page + "</table>\n"
}

#[cfg(test)]
mod tests {
    use memoir::model::FeatureShare;

    use super::*;

    fn marks() -> Vec<Mark> {
        let mark = |range, decides| Mark { range, decides };
        vec![mark(0..2, 1.0), mark(2..3, 0.0), mark(3..6, -0.5)]
    }

    #[test]
    fn words_are_coloured_and_control_characters_are_not_passed_on() {
        assert_eq!(
            for_terminal("ab \x1b<d", &marks()),
            "\x1b[30;48;5;83mab\x1b[0m \x1b[30;48;5;210m <d\x1b[0m\n"
        );
        let nothing = [Mark {
            range: 0..2,
            decides: 0.0,
        }];
        assert_eq!(for_terminal("zz", &nothing), "zz\n");
    }

    #[test]
    fn html_is_escaped() {
        let side = |name: &str| Candidate {
            class: 0,
            name: name.to_owned(),
            notation: None,
            vocabulary_name: None,
            score: 1.0,
            bias: 0.0,
            rounding: 0.0,
            probability: Some(0.5),
        };
        let explanation = Explanation {
            answer: side("<b>"),
            runner_up: Some(side("&")),
            features: vec![FeatureShare {
                feature: 0,
                name: "ab".to_owned(),
                block: None,
                in_word: None,
                value: 1.0,
                for_answer: 1.0,
                for_runner_up: 0.0,
            }],
            others: None,
        };
        let page = page("ab \"<d", &marks(), &explanation);
        assert!(
            page.contains("<b>&lt;b&gt;</b> (score 1.0000, probability 0.5000)"),
            "{page}"
        );
        assert!(page.contains("\">&quot;&lt;d</mark>"), "{page}");
    }
}
