//! From triples to concepts.

use std::io::Read;

use memoir::class_vocabulary::{TermKind, VocabularyBuilder};
use memoir::data::Source;
use memoir::{Error, Result};
use oxrdf::{NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};

use crate::short_tags::ShortTags;

/// Relative addresses in a file are resolved against this one.
const BASE: &str = "urn:vocabulary:";

const SKOS: &str = "http://www.w3.org/2004/02/skos/core#";
const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const OWL_DEPRECATED: &str = "http://www.w3.org/2002/07/owl#deprecated";
const REPLACED_BY: &str = "http://purl.org/dc/terms/isReplacedBy";

/// Reads all triples of `source` into `builder`.
pub(crate) fn read(source: Source, format: RdfFormat, builder: &mut VocabularyBuilder) -> Result<()> {
    let file = source.name().to_owned();
    let parser = RdfParser::from_format(format);
    let parser = parser
        .with_base_iri(BASE)
        .map_err(|reason| Error::input(&file, reason.to_string()))?;
    let reader = source.into_reader()?;
    let reader: Box<dyn Read> = if format == RdfFormat::RdfXml {
        Box::new(ShortTags::new(reader))
    } else {
        reader
    };
    for quad in parser.for_reader(reader) {
        let quad = quad.map_err(|reason| located(&file, reason))?;
        take(&quad, builder)?;
    }
    Ok(())
}

fn take(quad: &Quad, builder: &mut VocabularyBuilder) -> Result<()> {
    // Labels and definitions that are nodes of their own have no name that a class could have.
    let NamedOrBlankNode::NamedNode(subject) = &quad.subject else {
        return Ok(());
    };
    let predicate = quad.predicate.as_str();
    if let Some(local) = predicate.strip_prefix(SKOS) {
        take_skos(subject.as_str(), local, &quad.object, builder)
    } else {
        let concept = |builder: &mut VocabularyBuilder| builder.concept(subject.as_str());
        match (predicate, &quad.object) {
            (RDF_TYPE, Term::NamedNode(class)) => match class.as_str().strip_prefix(SKOS) {
                Some("Concept") => {
                    let concept = concept(builder);
                    builder.describe(concept);
                }
                Some("ConceptScheme" | "Collection" | "OrderedCollection") => {
                    let concept = concept(builder);
                    builder.exclude(concept);
                }
                _ => {}
            },
            (OWL_DEPRECATED, Term::Literal(value)) if matches!(value.value(), "true" | "1") => {
                let concept = concept(builder);
                builder.deprecate(concept);
            }
            (REPLACED_BY, Term::NamedNode(by)) => {
                let (concept, by) = (concept(builder), builder.concept(by.as_str()));
                builder.replace(concept, by);
            }
            _ => {}
        }
        Ok(())
    }
}

fn take_skos(subject: &str, local: &str, object: &Term, builder: &mut VocabularyBuilder) -> Result<()> {
    let kind = match local {
        "notation" => Some(TermKind::Notation),
        "prefLabel" => Some(TermKind::Name),
        "altLabel" => Some(TermKind::Alternative),
        "hiddenLabel" => Some(TermKind::Hidden),
        "definition" => Some(TermKind::Definition),
        _ => None,
    };
    match (kind, object) {
        (Some(kind), Term::Literal(literal)) => {
            let concept = builder.concept(subject);
            if kind == TermKind::Name {
                // Files that do not say what is a concept still name all of them.
                builder.describe(concept);
            }
            let language = literal.language().unwrap_or("");
            builder.term(concept, kind, language, literal.value())
        }
        (None, Term::NamedNode(other)) if matches!(local, "broader" | "narrower") => {
            let (subject, other) = (builder.concept(subject), builder.concept(other.as_str()));
            let (narrow, broad) = if local == "broader" {
                (subject, other)
            } else {
                (other, subject)
            };
            builder.broader(narrow, broad);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn located(file: &str, reason: RdfParseError) -> Error {
    match reason {
        RdfParseError::Io(reason) => Error::io(std::path::Path::new(file), "cannot read", reason),
        RdfParseError::Syntax(reason) => match reason.location() {
            // The parser counts lines and columns from 0.
            Some(location) => Error::Data {
                file: file.to_owned(),
                line: location.start.line + 1,
                column: location.start.column + 1,
                message: reason.to_string(),
            },
            None => Error::input(file, reason.to_string()),
        },
    }
}
