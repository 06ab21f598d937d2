//! Follows the quotes of comma- or tab-separated values: where records end, where fields begin, what is
//! malformed.
//!
//! A record whose quotes are malformed ends with its first line: a quote that is never closed, or closed by
//! the opening quote of a later record, must not take the good records behind it along.

/// Where in a record the scanner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote in a quoted field: its end, or the first half of a doubled quote.
    QuoteSeen,
}

/// A state machine over the bytes of a table.
#[derive(Debug, Clone)]
pub(super) struct QuoteScanner {
    delimiter: u8,
    state: State,
    /// Whether the quotes of the record are malformed, so that the next line end is its end.
    malformed: bool,
}

/// What is wrong with a record's quotes, and at which byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadQuote {
    /// A quoted field that begins here never ends, or not in front of a delimiter or line end.
    Unclosed(usize),
    /// There is text behind a closing quote.
    TextAfter(usize),
}

impl QuoteScanner {
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            state: State::FieldStart,
            malformed: false,
        }
    }

    fn step(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::QuoteSeen,
            (State::FieldStart | State::QuoteSeen, b'"') | (State::Quoted, _) => State::Quoted,
            (_, b'\n' | b'\r') => State::FieldStart,
            (_, byte) if byte == self.delimiter => State::FieldStart,
            _ => State::Plain,
        };
    }

    /// Goes on in `block` at `from`, in a record that begins at `record`: one past the last record end, or
    /// `record` if there is none.
    pub(super) fn last_record_end(&mut self, block: &[u8], from: usize, record: usize) -> usize {
        let (mut index, mut record) = (from, record);
        while index < block.len() {
            if !self.malformed {
                let passed = self.pass(&block[index..]);
                if self.state != State::Quoted
                    && let Some(end) = memchr::memrchr(b'\n', &block[index..index + passed])
                {
                    record = index + end + 1;
                }
                index += passed;
                if index == block.len() {
                    break;
                }
            }
            let before = self.state;
            self.step(block[index]);
            index += 1;
            if (before, self.state) == (State::QuoteSeen, State::Plain) {
                self.malformed = true;
                if let Some(length) = memchr::memchr(b'\n', &block[record..index]) {
                    index = record + length + 1;
                    (record, self.state, self.malformed) = (index, State::FieldStart, false);
                }
            } else if block[index - 1] == b'\n' && (self.malformed || self.state == State::FieldStart) {
                (record, self.state, self.malformed) = (index, State::FieldStart, false);
            }
        }
        record
    }

    /// Passes the bytes before the next quote, and says how many there are. What follows a quote is left to
    /// [`QuoteScanner::step`].
    fn pass(&mut self, bytes: &[u8]) -> usize {
        if self.state == State::QuoteSeen {
            return 0;
        }
        let passed = memchr::memchr(b'"', bytes).unwrap_or(bytes.len());
        if self.state != State::Quoted && passed > 0 {
            self.step(bytes[passed - 1]);
        }
        passed
    }

    /// Checks the quotes of one whole record.
    pub(super) fn check(delimiter: u8, record: &[u8]) -> Result<(), BadQuote> {
        if memchr::memchr(b'"', record).is_none() {
            return Ok(());
        }
        let mut scanner = Self::new(delimiter);
        let mut opened = 0;
        // The quote that was open at the end of the first line: what is malformed after it is blamed on it.
        let mut across_lines = None;
        let mut next = 0;
        while next < record.len() {
            let passed = scanner.pass(&record[next..]);
            if scanner.state == State::Quoted
                && across_lines.is_none()
                && memchr::memchr(b'\n', &record[next..next + passed]).is_some()
            {
                across_lines = Some(opened);
            }
            let index = next + passed;
            let Some(&byte) = record.get(index) else { break };
            next = index + 1;
            let before = scanner.state;
            scanner.step(byte);
            match (before, scanner.state) {
                (State::FieldStart, State::Quoted) => opened = index,
                (State::QuoteSeen, State::Plain) => {
                    return Err(across_lines.map_or(BadQuote::TextAfter(index), BadQuote::Unclosed));
                }
                _ => {}
            }
        }
        if scanner.state == State::Quoted {
            return Err(BadQuote::Unclosed(across_lines.unwrap_or(opened)));
        }
        Ok(())
    }

    /// Where field number `field` of a record begins (its opening quote, if it has one).
    pub(super) fn field_start(delimiter: u8, record: &[u8], field: usize) -> usize {
        let mut scanner = Self::new(delimiter);
        let mut passed = 0;
        for (index, &byte) in record.iter().enumerate() {
            if passed == field {
                return index;
            }
            scanner.step(byte);
            passed += usize::from(scanner.state == State::FieldStart);
        }
        record.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_inside_quotes_end_nothing() {
        let ends = |text: &str| QuoteScanner::new(b',').last_record_end(text.as_bytes(), 0, 0);
        assert_eq!(ends("a,b\nc,\"d\n"), 4);
        assert_eq!(ends("a,\"b\"\"\n\"\n"), 9);
        assert_eq!(ends("a\"b\nc"), 4);
        assert_eq!(ends("\"a"), 0);
    }

    #[test]
    fn malformed_records_end_with_their_first_line() {
        let ends = |text: &str| QuoteScanner::new(b',').last_record_end(text.as_bytes(), 0, 0);
        // The quote of the first line is closed by the opening one of the third, behind which comes text.
        assert_eq!(ends("a,\"b\nc,d\ne,\"f\n"), 9);
        assert_eq!(ends("a,\"b\" c,\"d\ne,\"f\n"), 11);
        // The same, however the bytes come in.
        let text = b"a,\"b\nc,d\ne,\"f\"\ng,\"h\" i\nj\n";
        for cut in 0..text.len() {
            let mut scanner = QuoteScanner::new(b',');
            let record = scanner.last_record_end(&text[..cut], 0, 0);
            assert_eq!(
                scanner.last_record_end(text, cut, record),
                text.len(),
                "cut at {cut}"
            );
        }
    }

    /// Bytes that are passed at once lead to where every single one leads.
    #[test]
    fn passing_is_stepping() {
        let bytes = b"ab,\"\n\r";
        for number in 0..bytes.len().pow(6) {
            let text: Vec<u8> = (0..6)
                .map(|place| bytes[number / bytes.len().pow(place) % bytes.len()])
                .collect();
            let mut slow = QuoteScanner::new(b',');
            let mut ends = 0;
            let mut is_malformed = false;
            for (index, &byte) in text.iter().enumerate() {
                let before = slow.state;
                slow.step(byte);
                is_malformed |= (before, slow.state) == (State::QuoteSeen, State::Plain);
                if byte == b'\n' && slow.state == State::FieldStart {
                    ends = index + 1;
                }
            }
            assert_eq!(
                QuoteScanner::check(b',', &text).is_ok(),
                !is_malformed && slow.state != State::Quoted
            );
            if !is_malformed {
                let mut quick = QuoteScanner::new(b',');
                assert_eq!(quick.last_record_end(&text, 0, 0), ends, "{text:?}");
                assert_eq!(quick.state, slow.state, "{text:?}");
            }
        }
    }

    #[test]
    fn bad_quotes_are_located() {
        let check = |text: &str| QuoteScanner::check(b',', text.as_bytes());
        assert_eq!(check("a,\"b \"\" c\",d\r\n"), Ok(()));
        assert_eq!(check("a,b\"c"), Ok(()));
        assert_eq!(check("a,\"b\" c"), Err(BadQuote::TextAfter(5)));
        assert_eq!(check("a,\"b,c\n"), Err(BadQuote::Unclosed(2)));
        assert_eq!(check("a,\"b\nc,d,\"e\" f\n"), Err(BadQuote::Unclosed(2)));
    }

    #[test]
    fn fields_are_found() {
        let record = b"a,\"b,\",c";
        let starts = [0, 1, 2, 3].map(|field| QuoteScanner::field_start(b',', record, field));
        assert_eq!(starts, [0, 2, 7, 8]);
    }
}
