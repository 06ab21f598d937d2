//! fastText's format: `__label__a __label__b text …`, one row per line. Labels stand in front; a line
//! without them is a row without labels.

use super::lines::for_each_line;
use super::parsed::{Parsed, Problem};

const MARK: &str = "__label__";

/// Parses whole lines; `keep` says whether texts go to the output, too.
pub(super) fn parse(bytes: &[u8], skip_bad_rows: bool, keep: bool, parsed: &mut Parsed) {
    let mut labels = Vec::new();
    for_each_line(bytes, skip_bad_rows, parsed, |line, number, parsed| {
        let mut rest = line.trim_start();
        if rest.is_empty() {
            return Ok(());
        }
        labels.clear();
        while let Some(marked) = rest.strip_prefix(MARK) {
            let end = marked.find(char::is_whitespace).unwrap_or(marked.len());
            if end == 0 {
                let column = line.len() - marked.len();
                return Err(Problem::new(
                    column,
                    format!("expected a label after `{MARK}`, found nothing"),
                ));
            }
            labels.push(&marked[..end]);
            rest = marked[end..].trim_start();
        }
        if keep {
            parsed.kept.push(rest.trim_end());
        }
        parsed.texts.push(rest.trim_end());
        let classes: Vec<u32> = labels.iter().map(|label| parsed.names.intern(label)).collect();
        parsed.push_row(number, classes.into_iter(), None);
        Ok(())
    });
}
