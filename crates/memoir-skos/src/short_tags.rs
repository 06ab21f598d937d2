//! A reader of XML that refuses very long tags, and entities that grow, before a parser sees them.
//!
//! The parser behind RDF/XML compares every attribute of a tag with all before it, and keeps all namespaces
//! that a tag declares (RUSTSEC-2026-0194 and RUSTSEC-2026-0195). With one long tag, a small file could keep
//! it busy for hours. What a tag is, is decided here as that parser does, or a file could hide one.
//!
//! Entities that a document type declares may stand for IRIs, as OWL files have them. They may not be made
//! of others, and a text or tag may refer to so many: a file of a few hundred bytes could fill all memory.

use std::fmt;
use std::io::{self, Read};

/// No vocabulary has tags of a hundredth of this; so many bytes of attributes take milliseconds.
const LONGEST_TAG: usize = 64 << 10;

/// References in one text or tag of a file that declares entities. Files use them at the start of IRIs.
const MOST_REFERENCES: usize = 1000;

/// Where in a file the next byte is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Text,
    /// Behind `<`.
    Opened,
    /// Behind `<!`.
    Declaration,
    /// In a tag that starts or ends something, of which so many bytes were seen; perhaps in the value of an
    /// attribute.
    Tag {
        quote: Option<u8>,
        length: usize,
    },
    /// `<?...?>`
    Instruction,
    /// `<!--...-->`, of which so many bytes were seen behind `<`.
    Comment {
        length: usize,
    },
    /// `<![CDATA[...]]>`
    CharacterData,
    /// `<!DOCTYPE...>`, with so many `<` inside that are not closed.
    DocumentType {
        depth: usize,
    },
}

/// What the parser is kept from.
#[derive(Debug, Clone, Copy)]
enum Refused {
    LongTag,
    LongDocumentType,
    NestedEntity,
    ManyReferences,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongTag => write!(
                f,
                "found a tag of more than {LONGEST_TAG} bytes, expected shorter ones"
            ),
            Self::LongDocumentType => write!(
                f,
                "found a document type of more than {LONGEST_TAG} bytes, expected a shorter one"
            ),
            Self::NestedEntity => f.write_str("found an entity that refers to others, expected plain text"),
            Self::ManyReferences => write!(
                f,
                "found more than {MOST_REFERENCES} references to entities in one text, expected fewer"
            ),
        }
    }
}

/// Hands on what `inner` reads; what is in [`Refused`] is an error.
#[derive(Debug)]
pub(crate) struct ShortTags<R> {
    inner: R,
    place: Place,
    /// The two bytes before.
    before: [u8; 2],
    line: u64,
    /// Bytes of the document type so far; 0 where there is none.
    document_type: usize,
    /// References in the text or tag so far.
    references: usize,
}

impl<R: Read> ShortTags<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            place: Place::Text,
            before: [0; 2],
            line: 1,
            document_type: 0,
            references: 0,
        }
    }

    /// Moves on by a byte.
    fn step(&mut self, byte: u8) -> Result<(), Refused> {
        let next = self.next_place(byte);
        match (self.place, next) {
            // A new tag, or the text behind one. What stands between two tags may become one text, whatever
            // comments divide it.
            (Place::Opened, Place::Tag { .. }) | (Place::Tag { .. }, Place::Text) => self.references = 0,
            _ => {}
        }
        self.place = next;
        match next {
            Place::Tag { length, .. } if length > LONGEST_TAG => return Err(Refused::LongTag),
            Place::DocumentType { .. } => {
                self.document_type += 1;
                if self.document_type > LONGEST_TAG {
                    return Err(Refused::LongDocumentType);
                }
                if byte == b'&' {
                    return Err(Refused::NestedEntity);
                }
            }
            Place::Tag { .. } | Place::Text if byte == b'&' && self.document_type > 0 => {
                self.references += 1;
                if self.references > MOST_REFERENCES {
                    return Err(Refused::ManyReferences);
                }
            }
            _ => {}
        }
        self.line += u64::from(byte == b'\n');
        self.before = [self.before[1], byte];
        Ok(())
    }

    fn next_place(&self, byte: u8) -> Place {
        match (self.place, byte) {
            (Place::Text, b'<') => Place::Opened,
            (Place::Opened, b'!') => Place::Declaration,
            (Place::Opened, b'?') => Place::Instruction,
            (Place::Opened | Place::Tag { quote: None, .. } | Place::DocumentType { depth: 0 }, b'>') => {
                Place::Text
            }
            (Place::Opened, b'"' | b'\'') => Place::Tag {
                quote: Some(byte),
                length: 1,
            },
            (Place::Opened, _) => Place::Tag {
                quote: None,
                length: 1,
            },
            (Place::Declaration, b'-') => Place::Comment { length: 2 },
            (Place::Declaration, b'[') => Place::CharacterData,
            (Place::Declaration, b'D' | b'd') => Place::DocumentType { depth: 0 },
            // An error, after which nothing is read any more.
            (Place::Declaration, _) => Place::Text,
            (Place::Tag { quote: None, length }, b'"' | b'\'') => Place::Tag {
                quote: Some(byte),
                length: length + 1,
            },
            (Place::Tag { quote, length }, _) => Place::Tag {
                quote: quote.filter(|&quote| quote != byte),
                length: length + 1,
            },
            (Place::Instruction, b'>') if self.before[1] == b'?' => Place::Text,
            (Place::Comment { length }, b'>') if length > 4 && self.before == *b"--" => Place::Text,
            (Place::Comment { length }, _) => Place::Comment { length: length + 1 },
            (Place::CharacterData, b'>') if self.before == *b"]]" => Place::Text,
            (Place::DocumentType { depth }, b'<') => Place::DocumentType { depth: depth + 1 },
            (Place::DocumentType { depth }, b'>') => Place::DocumentType { depth: depth - 1 },
            (place, _) => place,
        }
    }
}

impl<R: Read> Read for ShortTags<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        for &byte in &buffer[..count] {
            self.step(byte).map_err(|refused| {
                let message = format!("line {}: {refused}", self.line);
                io::Error::new(io::ErrorKind::InvalidData, message)
            })?;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<usize> {
        let whole = ShortTags::new(text.as_bytes()).read_to_end(&mut Vec::new());
        // The same in pieces of any size.
        let mut single = ShortTags::new(text.as_bytes());
        let mut byte = [0];
        let by_bytes = loop {
            match single.read(&mut byte) {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(reason) => break Err(reason),
            }
        };
        assert_eq!(whole.is_ok(), by_bytes.is_ok());
        whole
    }

    fn attributes(count: usize) -> String {
        let each = (0..count).map(|number| format!(" a{number}=\">\""));
        each.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_long_tag_is_refused() {
        let error = read(&format!("<r>\n<x{}/></r>", attributes(20_000))).unwrap_err();
        assert!(error.to_string().starts_with("line 2: found a tag"), "{error}");
        // `>` ends no tag inside of a value.
        assert!(read(&format!("<x a='>' b=\"'>\"{}/>", attributes(20_000))).is_err());
    }

    #[test]
    fn a_long_tag_cannot_be_hidden() {
        for before in [
            "<!-- > \" <a ' -->",
            "<!-->-->",
            "<![CDATA[ > <a \" ]] > ]]>",
            "<?xml > <a \" ?>",
            "<!DOCTYPE r [ <!ENTITY e \"'\"> ]>",
            "text with \" and > in it",
            "<r a='\"'>",
            "</r a=\">\">",
        ] {
            assert!(
                read(&format!("{before}<x{}/>", attributes(20_000))).is_err(),
                "{before}"
            );
        }
    }

    #[test]
    fn entities_that_grow_are_refused() {
        let declared = "<!DOCTYPE r [<!ENTITY a \"aaaa\">]>";
        let references = |count: usize| "&a;".repeat(count);
        for (text, message) in [
            (
                "<!DOCTYPE r [<!ENTITY a \"aa\">\n<!ENTITY b \"&a;&a;\">]>".to_owned(),
                "line 2: found an entity that refers to others",
            ),
            (
                format!("<!DOCTYPE r [<!ENTITY a \"{}\">]>", "a".repeat(70_000)),
                "line 1: found a document type of more",
            ),
            (
                format!("{declared}<r>{}</r>", references(1001)),
                "found more than 1000 references",
            ),
            (
                format!("{declared}<r a='{}'/>", references(1001)),
                "found more than 1000 references",
            ),
            // A comment does not make two texts of one, nor does a `>` in a value.
            (
                format!("{declared}<r>{0}<!-- x -->{0}</r>", references(600)),
                "found more than 1000 references",
            ),
            (
                format!("{declared}<r a='{0}>{0}'/>", references(600)),
                "found more than 1000 references",
            ),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn usual_entities_are_fine() {
        let tag = "<a b='&a;x' c='&a;y'>&amp;&lt;</a>".repeat(2000);
        for text in [
            format!("<!DOCTYPE r [<!ENTITY a \"http://example.org/a#\">]><r>{tag}</r>"),
            format!("<r>{}</r>", "&lt;p&gt;".repeat(20_000)),
        ] {
            assert_eq!(read(&text).unwrap(), text.len());
        }
    }

    #[test]
    fn other_long_things_are_fine() {
        let long = "x ' \" < y".repeat(20_000);
        for text in [
            format!("<!-- {long} --><r/>"),
            format!("<r><![CDATA[ {long} ]]></r>"),
            format!("<r>{}</r>", "'".repeat(200_000)),
            format!("<?xml {long} ?><r/>"),
            format!("<r>{}</r>", "<a b='c'/>".repeat(20_000)),
        ] {
            assert_eq!(read(&text).unwrap(), text.len());
        }
    }
}
