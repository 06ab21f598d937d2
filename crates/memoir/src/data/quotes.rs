//! Follows the quotes of comma- or tab-separated values: where records end, where fields begin, what is malformed.

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
}

/// What is wrong with a record's quotes, and at which byte of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadQuote {
    /// A quoted field never ends; it began here.
    Unclosed(usize),
    /// There is text behind a closing quote.
    TextAfter(usize),
}

impl QuoteScanner {
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            state: State::FieldStart,
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

    /// Goes on with `bytes`: one past the last line end outside quotes in them.
    pub(super) fn last_record_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut end = None;
        for (place, &byte) in bytes.iter().enumerate() {
            self.step(byte);
            if byte == b'\n' && self.state == State::FieldStart {
                end = Some(place + 1);
            }
        }
        end
    }

    /// Checks the quotes of one whole record.
    pub(super) fn check(delimiter: u8, record: &[u8]) -> Result<(), BadQuote> {
        if memchr::memchr(b'"', record).is_none() {
            return Ok(());
        }
        let mut scanner = Self::new(delimiter);
        let mut opened = 0;
        for (place, &byte) in record.iter().enumerate() {
            let before = scanner.state;
            scanner.step(byte);
            match (before, scanner.state) {
                (State::FieldStart, State::Quoted) => opened = place,
                (State::QuoteSeen, State::Plain) => return Err(BadQuote::TextAfter(place)),
                _ => {}
            }
        }
        if scanner.state == State::Quoted {
            return Err(BadQuote::Unclosed(opened));
        }
        Ok(())
    }

    /// Where field number `field` of a record begins (its opening quote, if it has one).
    pub(super) fn field_start(delimiter: u8, record: &[u8], field: usize) -> usize {
        let mut scanner = Self::new(delimiter);
        let mut passed = 0;
        for (place, &byte) in record.iter().enumerate() {
            if passed == field {
                return place;
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
        let ends = |text: &str| QuoteScanner::new(b',').last_record_end(text.as_bytes());
        assert_eq!(ends("a,b\nc,\"d\n"), Some(4));
        assert_eq!(ends("a,\"b\"\"\n\"\n"), Some(9));
        assert_eq!(ends("a\"b\nc"), Some(4));
        assert_eq!(ends("\"a"), None);
    }

    #[test]
    fn bad_quotes_are_located() {
        let check = |text: &str| QuoteScanner::check(b',', text.as_bytes());
        assert_eq!(check("a,\"b \"\" c\",d\r\n"), Ok(()));
        assert_eq!(check("a,b\"c"), Ok(()));
        assert_eq!(check("a,\"b\" c"), Err(BadQuote::TextAfter(5)));
        assert_eq!(check("a,\"b,c\n"), Err(BadQuote::Unclosed(2)));
    }

    #[test]
    fn fields_are_found() {
        let record = b"a,\"b,\",c";
        let starts = [0, 1, 2, 3].map(|field| QuoteScanner::field_start(b',', record, field));
        assert_eq!(starts, [0, 2, 7, 8]);
    }
}
