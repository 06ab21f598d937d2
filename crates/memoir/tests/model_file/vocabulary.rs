//! A vocabulary in a model file.

use memoir::Classifier;
use memoir::class_vocabulary::{
    BuilderOptions, Defects, TermKind, UnmatchedVocabulary, VocabularyBuilder, read_table,
};
use memoir::data::Source;

use super::document_reader::Reader;
use super::*;

/// The model of [`model`] with concepts for two of its classes.
fn described() -> Model {
    let mut builder = VocabularyBuilder::new();
    let (smoke, fire) = (builder.concept("rök"), builder.concept("eld"));
    for concept in [smoke, fire] {
        builder.describe(concept);
    }
    builder.term(smoke, TermKind::Name, "sv", "rök").unwrap();
    builder.term(smoke, TermKind::Name, "en", "smoke").unwrap();
    builder.term(fire, TermKind::Alternative, "en", "blaze").unwrap();
    builder.broader(smoke, fire);
    builder.deprecate(fire);
    builder.replace(fire, smoke);
    let languages = vec!["en".to_owned()];
    let (mut vocabulary, _) = builder.finish(&BuilderOptions { languages }).unwrap();
    let mut model = model(text(), Precision::F32);
    vocabulary.attach(model.classes(), &mut Defects::default());
    model.set_vocabulary(vocabulary).unwrap();
    model
}

#[test]
fn what_is_written_is_read_back() {
    let bench = Bench::new();
    let bytes = bench.save(&described());
    let loaded = bench.load(&bytes).unwrap();
    let vocabulary = loaded.vocabulary().unwrap();
    assert_eq!(loaded.name_of_class(0, &[]), Some("smoke"));
    assert_eq!(loaded.name_of_class(1, &[]), None);
    assert_eq!(
        (vocabulary.broader(0), vocabulary.broader(1)),
        (&[1][..], &[][..])
    );
    assert_eq!(
        (vocabulary.is_deprecated(1), vocabulary.replaced_by(1)),
        (true, Some(0))
    );
    assert_eq!(bench.save(&loaded), bytes, "the same bytes again");
}

#[test]
fn a_reader_made_from_the_document_finds_names_and_relations() {
    let reader = Reader::new(&Bench::new().save(&described()));
    assert_eq!(reader.json("vocabulary")["languages"][0], "en");
    assert_eq!(reader.u32("vocabulary.class_concepts"), [0, u32::MAX, u32::MAX]);
    assert_eq!(reader.u32("vocabulary.concept_ends"), [2, 4]);
    assert_eq!(reader.u32("vocabulary.broader_ends"), [1, 1]);
    assert_eq!(reader.u32("vocabulary.replaced_by"), [u32::MAX, 0]);
}

fn vocabulary(table: &'static str) -> UnmatchedVocabulary {
    let mut builder = VocabularyBuilder::new();
    let source = Source::from_reader("table", std::io::Cursor::new(table));
    read_table(source, &mut builder).unwrap();
    let (vocabulary, defects) = builder.finish(&BuilderOptions::default()).unwrap();
    UnmatchedVocabulary::Read(Box::new(vocabulary), defects)
}

const TEXTS: [&str; 4] = ["red apple", "green apple", "blue sky", "grey sky"];
const LABELS: [&str; 4] = ["f", "f", "w", "w"];
const NAMES: &str = "id,notation,name,alternative\nf,1.1,Fruit,pome\nw,1.2,Weather,\n";

#[test]
fn names_are_learned_from_and_stand_in_answers() {
    let classifier = Classifier::softmax().threads(1);
    let unnamed = classifier.clone().fit(&TEXTS, &LABELS).unwrap();
    let known = |model: &Model, word| model.preprocessing().text().unwrap().vocabulary.find(word);
    assert_eq!(known(&unnamed, "pome"), None);
    let model = classifier.vocabulary(vocabulary(NAMES)).fit(&TEXTS, &LABELS);
    let model = model.unwrap();
    let bench = Bench::new();
    let model = bench.load(&bench.save(&model)).unwrap();
    for (text, expected) in [("a pome", "f"), ("the weather", "w"), ("apple", "f")] {
        let best = model.predict(text, 1).unwrap()[0];
        assert_eq!(best.class, expected, "{text}");
        assert_eq!(best.name, Some(if expected == "f" { "Fruit" } else { "Weather" }));
        assert_eq!(best.notation, Some(if expected == "f" { "1.1" } else { "1.2" }));
    }
    assert_eq!(model.origin().rows, 4, "names are no rows");
}

#[test]
fn names_tell_the_parts_of_a_split_class_apart() {
    let table = "id,name\nf1,green fruit\nf2,red fruit\nw,Weather\n";
    let model = Classifier::softmax().threads(1).fit(&TEXTS, &LABELS).unwrap();
    let (mut model, told) = model.crosswalk(&[("f", "f1"), ("f", "f2")]).unwrap();
    let (vocabulary, _) = vocabulary(table).for_classes(model.classes()).unwrap();
    model.set_vocabulary(vocabulary).unwrap();
    let scores = |model: &Model, text: &str| {
        let mut answers = model.predict(text, 3).unwrap();
        answers.sort_by_key(|answer| answer.class);
        [answers[0].score, answers[1].score, answers[2].score]
    };
    let copies = scores(&model, "a red apple");
    assert_eq!(copies[0], copies[1], "they begin as copies");
    let model = model.tell_apart_by_names(&told.split).unwrap();
    for (text, expected) in [("a red apple", "f2"), ("a green apple", "f1")] {
        assert_eq!(model.predict(text, 1).unwrap()[0].class, expected);
    }
    let apart = scores(&model, "a red apple");
    assert_eq!(apart[2], copies[2], "other classes stay as they are");
    let same = scores(&model, "an apple");
    assert_eq!(same[0], same[1], "what no name says tells nothing");
}
