//! Options that name a vocabulary, and what is said about it.

use std::path::{Path, PathBuf};

use clap::Args;
use memoir::class_vocabulary::{Defects, HierarchyRule, UnmatchedVocabulary};
use memoir::model::VocabularySummary;
use memoir::prepare::VocabularyRequest;
use memoir_report::sizes::{show_count, show_counted};
use memoir_skos::VocabularySource;

// Where names and relations of classes come from. (A documentation comment would become the help of the
// verb.)
#[derive(Debug, Args)]
#[command(next_help_heading = "Vocabulary")]
pub(crate) struct VocabularyOptions {
    /// Names and relations of the classes: SKOS, a table, or `labels`
    ///
    /// SKOS is .ttl, .rdf, .nt or .jsonld; a table (.csv, .tsv) has the columns id, name, alternative,
    /// definition, broader; with `labels` the labels of the rows are the names
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: VocabularyRules,
}

// What is made of a vocabulary.
#[derive(Debug, Args)]
#[command(next_help_heading = "Vocabulary")]
pub(crate) struct VocabularyRules {
    /// How codes tell broader ones: `prefix:2,4,6` or `separator:/`
    #[arg(long, value_name = "RULE", value_parser = parse_rule, hide_short_help = true)]
    hierarchy: Option<HierarchyRule>,
    /// Languages of names to keep, the preferred one first, such as sv,en [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_short_help = true)]
    language: Vec<String>,
    /// Stop if the vocabulary has defects or lacks classes of the data
    #[arg(long, hide_short_help = true)]
    strict_vocabulary: bool,
}

impl VocabularyOptions {
    /// The vocabulary, if one is asked for.
    pub(crate) fn read(&self) -> anyhow::Result<Option<UnmatchedVocabulary>> {
        self.rules.read(self.vocabulary.as_deref())
    }

    /// What training is asked to make of it.
    pub(crate) fn request(&self, unseen_classes: bool) -> anyhow::Result<Option<VocabularyRequest>> {
        let request = |vocabulary| VocabularyRequest {
            vocabulary,
            unseen_classes,
            strict: self.rules.strict_vocabulary,
        };
        Ok(self.read()?.map(request))
    }
}

impl VocabularyRules {
    /// The vocabulary in `file`, or the one that the hierarchy's rule makes by itself.
    pub(crate) fn read(&self, file: Option<&Path>) -> anyhow::Result<Option<UnmatchedVocabulary>> {
        let source = VocabularySource {
            file: file.map(Path::to_owned),
            hierarchy: self.hierarchy.clone(),
            languages: self.language.clone(),
        };
        Ok(source.read()?)
    }

    /// Fails if defects must not be.
    pub(crate) fn check(&self, defects: &Defects) -> anyhow::Result<()> {
        if self.strict_vocabulary && !defects.is_empty() {
            anyhow::bail!("the vocabulary has defects: {defects}");
        }
        Ok(())
    }
}

fn parse_rule(text: &str) -> Result<HierarchyRule, String> {
    HierarchyRule::parse(text).map_err(|reason| reason.to_string())
}

/// A vocabulary in a line.
pub(crate) fn describe(vocabulary: &VocabularySummary, classes: usize) -> String {
    let languages = match vocabulary.languages.as_slice() {
        [] => String::new(),
        tags => format!(" in {}", tags.join(", ")),
    };
    format!(
        "{}, {}{languages}, {} to broader ones; it knows {} of {}",
        show_counted(vocabulary.concepts as u64, "concept"),
        show_counted(vocabulary.terms as u64, "text"),
        show_counted(vocabulary.relations as u64, "relation"),
        show_count(vocabulary.known_classes as u64),
        show_counted(classes as u64, "class")
    )
}
