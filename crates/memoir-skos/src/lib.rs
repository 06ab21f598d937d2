//! Reads class vocabularies from files: SKOS in any RDF form, or a table.
//!
//! RDF is read as a stream of triples, in any order: a file of hundreds of megabytes needs memory for what
//! is kept of it only.

mod short_tags;
mod triples;

use std::path::Path;

use memoir::class_vocabulary::{
    BuilderOptions, HierarchyRule, UnmatchedVocabulary, VocabularyBuilder, read_table,
};
use memoir::data::Source;
use memoir::{Error, Result};
use oxrdfio::RdfFormat;

/// What `--vocabulary` takes in place of a file: the labels of the classes are their names.
pub const LABELS: &str = "labels";

/// Where a vocabulary comes from, and what is kept of it.
#[derive(Debug, Clone, Default)]
pub struct VocabularySource {
    /// A file, or [`LABELS`], or nothing: then the hierarchy rule alone makes the vocabulary.
    pub file: Option<std::path::PathBuf>,
    /// How codes tell broader codes.
    pub hierarchy: Option<HierarchyRule>,
    /// Languages to keep, the preferred one first; none: all.
    pub languages: Vec<String>,
}

impl VocabularySource {
    /// Reads the vocabulary; it is still to be matched with classes. Nothing if there is none.
    pub fn read(&self) -> Result<Option<UnmatchedVocabulary>> {
        let rule = self.hierarchy.as_ref();
        let file = match &self.file {
            Some(file) if file != Path::new(LABELS) => file,
            None if rule.is_none() => return Ok(None),
            labels => {
                return Ok(Some(UnmatchedVocabulary::Labels {
                    names: labels.is_some(),
                    rule: rule.cloned(),
                }));
            }
        };
        let mut builder = VocabularyBuilder::new();
        match rdf_format(file) {
            Some(format) => triples::read(Source::new(file), format, &mut builder)?,
            None => read_table(Source::new(file), &mut builder)?,
        }
        if let Some(rule) = rule {
            rule.apply(&mut builder)?;
        }
        let options = BuilderOptions {
            languages: self.languages.clone(),
        };
        let (vocabulary, defects) = builder.finish(&options)?;
        if vocabulary.is_empty() {
            return Err(Error::input(
                file.display().to_string(),
                "no concept found; expected SKOS concepts, or a table with a column `id`",
            ));
        }
        Ok(Some(UnmatchedVocabulary::Read(Box::new(vocabulary), defects)))
    }
}

/// The RDF form that a file's name stands for, if any; endings of compressed files are looked through.
fn rdf_format(path: &Path) -> Option<RdfFormat> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let plain = [".gz", ".zst", ".xz"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending));
    let (_, ending) = plain.unwrap_or(&name).rsplit_once('.')?;
    match ending {
        "rdf" | "xml" | "owl" | "skos" => Some(RdfFormat::RdfXml),
        "json" => RdfFormat::from_extension("jsonld"),
        "csv" | "tsv" | "txt" => None,
        other => RdfFormat::from_extension(other),
    }
}
