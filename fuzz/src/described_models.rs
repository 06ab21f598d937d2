//! Small models that know more of their classes than examples: names that texts contain, a hierarchy, both.

use memoir::class_vocabulary::{HierarchyRule, UnmatchedVocabulary};
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{Examples, VocabularyRequest};
use memoir::text::TextSettings;
use memoir::train::{self, FitOptions, HeldOut};
use memoir::{Model, Result};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{CATALOGUE, SESSION};

const AREAS: u64 = 8;
const TOPICS: u64 = 12;

/// What a model knows of its classes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Knowledge {
    Names,
    Hierarchy,
    Both,
}

impl Knowledge {
    pub(crate) const ALL: [Self; 3] = [Self::Names, Self::Hierarchy, Self::Both];

    /// The kind of scorer that comes of it.
    pub(crate) fn scorer(self) -> &'static str {
        match self {
            Self::Hierarchy => "mixed",
            Self::Names | Self::Both => "named",
        }
    }
}

/// Rows of classes `areaN/topicN`, with words of the area and of the topic. Most open with the name of their
/// class, and all end with names of others.
fn table() -> String {
    let mut content = "label,text\n".to_owned();
    for row in 0..500u32 {
        let drawn = |salt: u64, below: u64| xxh3_64_with_seed(&row.to_le_bytes(), salt) % below;
        let (area, topic) = (drawn(0, AREAS), drawn(1, TOPICS).min(drawn(2, TOPICS)));
        content += &format!("area{area}/topic{topic},");
        if drawn(3, 10) < 7 {
            content += &format!("area{area}/topic{topic}");
        }
        for salt in 4..8 {
            content += &format!(" of{area}x{}", drawn(salt, 30));
        }
        for salt in 8..10 {
            content += &format!(" kind{topic}x{}", drawn(salt, 3));
        }
        for salt in 10..13 {
            content += &format!(" word{}", drawn(salt, 40));
        }
        for salt in [13, 15, 17] {
            content += &format!(" area{}/topic{}", drawn(salt, AREAS), drawn(salt + 1, TOPICS));
        }
        content.push('\n');
    }
    content
}

/// Trains such a model.
pub(crate) fn described(knowledge: Knowledge) -> Result<Model> {
    let (names, rule) = match knowledge {
        Knowledge::Names => (true, None),
        Knowledge::Hierarchy => (false, Some(HierarchyRule::parse("separator:/")?)),
        Knowledge::Both => (true, Some(HierarchyRule::parse("separator:/")?)),
    };
    let method = CATALOGUE.find("softmax")?.configure([])?;
    let options = ReadOptions {
        format: Some("csv".parse()?),
        ..ReadOptions::default()
    };
    let fit = FitOptions {
        text: TextSettings {
            blocks: Some("words,opening:0.2".to_owned()),
            ..TextSettings::default()
        },
        vocabulary: Some(VocabularyRequest::from(UnmatchedVocabulary::Labels {
            names,
            rule,
        })),
        held_out: HeldOut::Share(0.4),
        ..FitOptions::default()
    };
    let source = Source::from_reader("a.csv", std::io::Cursor::new(table().into_bytes()));
    let examples = Examples::Read {
        source,
        options: &options,
    };
    train::fit(&method, examples, fit, &SESSION)
}
