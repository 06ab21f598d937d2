//! Blocks: kinds of features that are counted side by side, each weighed and scaled to a length by itself.
//!
//! In one block with the words, the many n-grams of a text take over the length of its row. In a block of
//! their own they get a share of it that does not depend on their number.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longest run of characters that may be counted.
const LONGEST_CHARS: u8 = 10;

/// Runs of characters in a larger share of the rows are left out, where there are [`MANY_ROWS`] at least.
const FREQUENT_CHARS: f64 = 0.02;
const MANY_ROWS: usize = 5000;

/// Weights beyond these would leave one block or the others without a say.
const WEIGHTS: std::ops::RangeInclusive<f32> = 0.01..=100.0;

/// A kind of feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Single words.
    Words,
    /// Words reduced to their stems.
    Stems,
    /// Two words that follow each other.
    Pairs,
    /// Two stems that follow each other.
    StemPairs,
    /// The first words of a text, beside all of them: what a text opens with, its title or its first
    /// sentence, often says what it is about.
    Opening,
    /// Runs of characters inside words.
    Chars {
        /// Fewest characters.
        shortest: u8,
        /// Most characters.
        longest: u8,
    },
}

impl BlockKind {
    /// Whether features are made of stems.
    pub fn is_stemmed(self) -> bool {
        matches!(self, Self::Stems | Self::StemPairs)
    }

    /// Fewest training rows that a feature must be in. What is seen once teaches little unless it is a word,
    /// and pairs and runs of characters are mostly seen once.
    pub(super) fn fewest_rows(self) -> u32 {
        match self {
            Self::Words | Self::Stems => 1,
            Self::Pairs | Self::StemPairs | Self::Opening | Self::Chars { .. } => 2,
        }
    }

    /// Largest share of `rows` training rows that a feature may be in. Frequent runs of characters tell
    /// nothing of the class, and scoring them takes most of the time.
    pub(super) fn largest_share(self, rows: usize) -> f64 {
        match self {
            Self::Chars { .. } if rows >= MANY_ROWS => FREQUENT_CHARS,
            _ => 1.0,
        }
    }

    /// Whether two blocks would give the same name to different features.
    fn clashes(self, other: Self) -> bool {
        self == other || matches!((self, other), (Self::Chars { .. }, Self::Chars { .. }))
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words => f.write_str("words"),
            Self::Stems => f.write_str("stems"),
            Self::Pairs => f.write_str("pairs"),
            Self::StemPairs => f.write_str("stem-pairs"),
            Self::Opening => f.write_str("opening"),
            Self::Chars { shortest, longest } if shortest == longest => write!(f, "chars{shortest}"),
            Self::Chars { shortest, longest } => write!(f, "chars{shortest}-{longest}"),
        }
    }
}

impl FromStr for BlockKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "words" => return Ok(Self::Words),
            "stems" => return Ok(Self::Stems),
            "pairs" => return Ok(Self::Pairs),
            "stem-pairs" => return Ok(Self::StemPairs),
            "opening" => return Ok(Self::Opening),
            _ => {}
        }
        let lengths = name.strip_prefix("chars").and_then(|lengths| {
            let (shortest, longest) = lengths.split_once('-').unwrap_or((lengths, lengths));
            Some((shortest.parse().ok()?, longest.parse().ok()?))
        });
        match lengths {
            Some((shortest, longest)) if 1 <= shortest && shortest <= longest && longest <= LONGEST_CHARS => {
                Ok(Self::Chars { shortest, longest })
            }
            _ => Err(format!(
                "`{name}` is no block; expected `words`, `stems`, `pairs`, `stem-pairs`, `opening`, `chars4` or \
                 `chars4-5` (lengths from 1 to {LONGEST_CHARS})"
            )),
        }
    }
}

/// A block of features and how much it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// What its features are.
    pub kind: BlockKind,
    /// Its share of a row's length, relative to the weights of the other blocks.
    pub weight: f32,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if self.weight != 1.0 {
            write!(f, ":{}", self.weight)?;
        }
        Ok(())
    }
}

impl FromStr for Block {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, weight) = text.split_once(':').unwrap_or((text, "1"));
        let weight = weight
            .parse()
            .ok()
            .filter(|weight| WEIGHTS.contains(weight))
            .ok_or_else(|| {
                format!(
                    "expected a weight from {} to {} behind `{kind}:`, found `{weight}`",
                    WEIGHTS.start(),
                    WEIGHTS.end()
                )
            })?;
        Ok(Self {
            kind: kind.parse()?,
            weight,
        })
    }
}

/// The blocks of a text model, in the order in which their features are numbered. Written
/// `words,pairs:0.5,chars4-5:0.7`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Blocks(Vec<Block>);

impl TryFrom<String> for Blocks {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Blocks> for String {
    fn from(blocks: Blocks) -> Self {
        blocks.to_string()
    }
}

impl Blocks {
    /// Checks that there is a block, that none comes twice, and that weights are in range.
    pub fn new(blocks: Vec<Block>) -> Result<Self, String> {
        if blocks.is_empty() {
            return Err("there is no block; expected a list such as `words,pairs:0.5`".to_owned());
        }
        for (index, block) in blocks.iter().enumerate() {
            block.to_string().parse::<Block>()?;
            if let Some(other) = blocks[..index]
                .iter()
                .find(|other| block.kind.clashes(other.kind))
            {
                return Err(match block.kind {
                    BlockKind::Chars { .. } => format!(
                        "`{}` and `{}` are both blocks of characters; expected one, such as `chars4-5`",
                        other.kind, block.kind
                    ),
                    kind => format!("the block `{kind}` is there twice"),
                });
            }
        }
        Ok(Self(blocks))
    }

    /// Words alone.
    pub fn words() -> Self {
        Self(vec![Block {
            kind: BlockKind::Words,
            weight: 1.0,
        }])
    }

    /// One after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, Block> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none: then words and runs are counted in one block, as the other parameters say.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them needs stems.
    pub fn has_stems(&self) -> bool {
        self.iter().any(|block| block.kind.is_stemmed())
    }
}

impl<'a> IntoIterator for &'a Blocks {
    type Item = &'a Block;
    type IntoIter = std::slice::Iter<'a, Block>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, block) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{block}")?;
        }
        Ok(())
    }
}

impl FromStr for Blocks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let blocks = text.split(',').map(|block| block.trim().parse());
        Self::new(blocks.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_are_written() {
        for text in [
            "words",
            "stems,stem-pairs:0.5",
            "words,pairs:0.5,chars4-5:0.7",
            "chars3",
        ] {
            assert_eq!(text.parse::<Blocks>().unwrap().to_string(), text);
        }
        let spaced: Blocks = "words:1, chars4-4:2".parse().unwrap();
        assert_eq!(spaced.to_string(), "words,chars4:2");
    }

    #[test]
    fn each_mistake_has_its_message() {
        let message = |text: &str| text.parse::<Blocks>().unwrap_err();
        assert_eq!(
            message("word"),
            "`word` is no block; expected `words`, `stems`, `pairs`, `stem-pairs`, `opening`, `chars4` or `chars4-5` \
             (lengths from 1 to 10)"
        );
        for text in ["", "chars", "chars5-4", "chars0", "chars4-11", "chars-4"] {
            assert!(message(text).contains("is no block"), "{text}");
        }
        for text in ["words:0", "words:-1", "words:x", "words:NaN", "words:inf"] {
            assert!(
                message(text).starts_with("expected a weight from 0.01 to 100 behind `words:`"),
                "{text}"
            );
        }
        assert_eq!(message("words,pairs,words:2"), "the block `words` is there twice");
        assert_eq!(
            message("chars3,chars4-5"),
            "`chars3` and `chars4-5` are both blocks of characters; expected one, such as `chars4-5`"
        );
        assert!(Blocks::new(Vec::new()).is_err());
        let bad = Block {
            kind: BlockKind::Words,
            weight: f32::NAN,
        };
        assert!(Blocks::new(vec![bad]).is_err());
    }
}
