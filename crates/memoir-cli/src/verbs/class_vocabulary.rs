//! `memoir classes MODEL search` and `memoir classes MODEL vocabulary`: the names of a model's classes.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use memoir::Model;
use memoir::class_vocabulary::{MatchKind, VocabularySearch};
use memoir_report::names::on_one_line;
use memoir_report::sizes::show_size;
use serde::Serialize;

use crate::arguments::{parse_positive, silent_session};
use crate::output::print;
use crate::vocabulary_options::{VocabularyRules, describe};
use crate::{Context, interrupt};

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// What to look for: a name, a synonym, a code, or the beginnings of words
    query: String,
    /// How many classes to show
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_positive)]
    top: NonZeroUsize,
    /// Print one JSON object per class
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VocabularyArguments {
    /// The vocabulary: SKOS (.ttl, .rdf, .nt, .jsonld), a table (.csv, .tsv), or `labels`
    #[arg(required_unless_present = "hierarchy")]
    file: Option<PathBuf>,
    /// The model file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    rules: VocabularyRules,
}

/// A class that was found.
#[derive(Debug, Serialize)]
struct FoundClass<'m> {
    class: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    notation: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'m str>,
    /// How it was found: `whole`, `beginning`, `words`, `inside`, or `learned`.
    found_by: FoundBy,
    /// The term by which it was found, unless it was found by what it has learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    term: Option<&'m str>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FoundBy {
    Name(MatchKind),
    Learned(&'static str),
}

pub(crate) fn search(model: &Model, arguments: &SearchArguments) -> anyhow::Result<()> {
    let found = find(model, &arguments.query, arguments.top.get());
    if found.is_empty() {
        bail!("no class fits `{}`", on_one_line(&arguments.query));
    }
    let mut text = String::new();
    for class in &found {
        if arguments.json {
            let _ = writeln!(text, "{}", serde_json::to_string(class)?);
            continue;
        }
        let _ = write!(text, "{}", on_one_line(class.class));
        for part in [class.notation, class.name]
            .into_iter()
            .flatten()
            .filter(|part| *part != class.class)
        {
            let _ = write!(text, "  {}", on_one_line(part));
        }
        let other_name = class
            .term
            .filter(|term| Some(*term) != class.name && *term != class.class);
        if let Some(term) = other_name {
            let _ = write!(text, "  ({})", on_one_line(term));
        }
        if let FoundBy::Learned(_) = class.found_by {
            text += "  (learned)";
        }
        text.push('\n');
    }
    print(&text)
}

/// The classes that fit by name, and behind them those that the model gives for the query.
fn find<'m>(model: &'m Model, query: &str, top: usize) -> Vec<FoundClass<'m>> {
    let mut found = Vec::new();
    let mut taken = vec![false; model.classes().len()];
    let mut push = |class: u32, found_by: FoundBy, term: Option<&'m str>| {
        if found.len() < top && !std::mem::replace(&mut taken[class as usize], true) {
            found.push(FoundClass {
                class: model.classes().name(class),
                notation: model.notation_of_class(class),
                name: model.name_of_class(class, &[]),
                found_by,
                term,
            });
        }
    };
    if let Some(vocabulary) = model.vocabulary() {
        let mut classes: Vec<(u32, u32)> = (0..model.classes().len() as u32)
            .filter_map(|class| Some((vocabulary.concept_of_class(class)?, class)))
            .collect();
        classes.sort_unstable();
        for hit in VocabularySearch::new(vocabulary, true).find(query, top) {
            let first = classes.partition_point(|&(concept, _)| concept < hit.concept);
            let of_concept = classes[first..]
                .iter()
                .take_while(|(concept, _)| *concept == hit.concept);
            for &(_, class) in of_concept {
                push(class, FoundBy::Name(hit.kind), Some(hit.text));
            }
        }
    }
    if let Some(class) = model.classes().find(query) {
        push(class, FoundBy::Name(MatchKind::Whole), None);
    }
    // Words that a class has learned from its rows find it too; vectors have no words.
    let mut predictor = model.predictor();
    if let Ok(best) = predictor.text(query, top) {
        let best = best.to_vec();
        if model.known_features(predictor.row()) > 0 {
            for scored in best.iter().filter(|scored| scored.score > 0.0) {
                push(scored.class, FoundBy::Learned("learned"), None);
            }
        }
    }
    found
}

pub(crate) fn set_vocabulary(
    mut model: Model,
    arguments: &VocabularyArguments,
    context: &Context,
) -> anyhow::Result<()> {
    let Some(unmatched) = arguments.rules.read(arguments.file.as_deref())? else {
        bail!("expected a vocabulary or `--hierarchy`");
    };
    let (vocabulary, defects) = unmatched.for_classes(model.classes())?;
    arguments.rules.check(&defects)?;
    for line in defects.lines() {
        eprintln!("{}", on_one_line(&line));
    }
    model.set_vocabulary(vocabulary)?;
    let summary = model.summary()?;
    let described = summary
        .vocabulary
        .map_or(String::new(), |vocabulary| describe(&vocabulary, summary.classes));
    let session = silent_session(context)?;
    interrupt::while_writing(|| model.save_in(&arguments.out, &session))?;
    print(&format!(
        "{described}\nwrote {} ({})\n",
        arguments.out.display(),
        show_size(summary.file_bytes)
    ))
}
