use super::*;
use crate::data::Source;
use crate::dataset::ClassNames;
use crate::sparse::Scored;

fn build(table: &str, languages: &[&str]) -> (ClassVocabulary, Defects) {
    let mut builder = VocabularyBuilder::new();
    let source = Source::from_reader("v.csv", std::io::Cursor::new(table.as_bytes().to_vec()));
    read_table(source, &mut builder).unwrap();
    let languages = languages.iter().map(|&language| language.to_owned()).collect();
    builder.finish(&BuilderOptions { languages }).unwrap()
}

fn error(table: &str) -> String {
    let source = Source::from_reader("v.csv", std::io::Cursor::new(table.as_bytes().to_vec()));
    let outcome = read_table(source, &mut VocabularyBuilder::new());
    outcome.unwrap_err().to_string()
}

fn classes(names: &[&str]) -> ClassNames {
    names.iter().collect()
}

/// Living things; `bat` has two parents.
const ANIMALS: &str = "\
id,name,alternative,broader,definition
animal,Animal,,,
mammal,Mammal,,animal,feeds its young with milk
flier,Flying animal,,animal,
bat,Bat,flittermouse|Chiroptera,mammal|flier,
cow,Cow,,mammal,
sparrow,Sparrow,house sparrow,flier,
";

fn animals() -> ClassVocabulary {
    let (mut vocabulary, mut defects) = build(ANIMALS, &[]);
    vocabulary.attach(&classes(&["cow", "bat", "sparrow", "stone"]), &mut defects);
    assert_eq!(
        defects.to_string(),
        "1 class of the data is not in the vocabulary: stone"
    );
    vocabulary
}

#[test]
fn a_table_becomes_concepts() {
    let vocabulary = animals();
    let bat = vocabulary.concept_of_class(1).unwrap();
    let terms: Vec<_> = vocabulary.terms(bat).map(|term| (term.kind, term.text)).collect();
    assert_eq!(
        terms,
        [
            (TermKind::Id, "bat"),
            (TermKind::Name, "Bat"),
            (TermKind::Alternative, "flittermouse"),
            (TermKind::Alternative, "Chiroptera"),
        ]
    );
    let parents: Vec<_> = vocabulary
        .broader(bat)
        .iter()
        .map(|&p| vocabulary.id(p))
        .collect();
    assert_eq!(parents, ["mammal", "flier"]);
    assert_eq!(vocabulary.definition(1), Some("feeds its young with milk"));
    assert_eq!(vocabulary.concept_of_class(3), None);
}

#[test]
fn languages_are_chosen_and_ordered() {
    let table = "id\tname@en\tname@sv\tname@fi\n1\thorse\thäst\thevonen\n2\tcow\t\tlehmä\n3\t\t\tlammas\n";
    let (vocabulary, _) = build(table, &["sv", "en"]);
    assert_eq!(&vocabulary.languages()[..2], ["sv", "en"]);
    assert_eq!(vocabulary.name(0), Some("häst"));
    assert_eq!(vocabulary.name(1), Some("cow"));
    assert_eq!(
        vocabulary.name(2),
        Some("lammas"),
        "the only name stays, whatever its language"
    );
    assert_eq!(vocabulary.name_in(0, &["en".to_owned()]), Some("horse"));
    assert_eq!(
        vocabulary.terms(0).count(),
        3,
        "id and two names: Finnish was not asked for"
    );
    let (all, _) = build(table, &[]);
    assert_eq!(all.languages()[0], "fi", "the language with the most names");
    assert_eq!(all.terms(0).count(), 4);
}

#[test]
fn lines_in_several_languages_are_one_concept() {
    let (vocabulary, defects) = build("id;name;language\n1;horse;en\n1;häst;sv-FI\n", &["sv"]);
    assert_eq!((vocabulary.len(), vocabulary.name(0)), (1, Some("häst")));
    assert!(defects.is_empty());
}

#[test]
fn every_defect_is_counted_and_named() {
    let table = "\
id,name,broader,deprecated,replaced_by
a,A,b,,
b,B,c,,
c,C,a,,
d,D,nowhere,,
e,E,nowhere,,
f,F,,yes,g
g,same,,,
h,same,,,
a,A again,,,
i,I,,true,gone
";
    let (mut vocabulary, mut defects) = build(table, &[]);
    assert_eq!(defects.first(Defect::RepeatedId), ["a"]);
    assert_eq!(defects.first(Defect::MissingBroader), ["nowhere"]);
    assert_eq!(defects.first(Defect::Cycle), ["c"]);
    assert_eq!(defects.first(Defect::MissingReplacement), ["gone"]);
    vocabulary.attach(&classes(&["a", "f", "same", "lost"]), &mut defects);
    assert_eq!(defects.first(Defect::UnknownClass), ["lost"]);
    assert_eq!(defects.first(Defect::AmbiguousClass), ["same"]);
    assert_eq!(defects.first(Defect::DeprecatedClass), ["f (replaced by g)"]);
    assert_eq!(defects.lines().count(), 7);
    assert_eq!(
        vocabulary.relation_count(),
        2,
        "the cycle of three lost one relation"
    );
}

#[test]
fn bad_tables_are_errors_with_their_place() {
    assert_eq!(
        error("name,broader\na,b\n"),
        "v.csv:1:1: the header of a vocabulary needs a column `id`; found `name`, `broader`"
    );
    assert_eq!(error("id,name\n1,a\n,b\n"), "v.csv:3:1: the concept has no id");
}

#[test]
fn classes_are_found_by_id_local_name_notation_or_name() {
    let table =
        "id,notation,name\nhttp://x.org/v#c1,,one\nhttp://x.org/v/c2,2.2,two\nhttp://x.org/v/c3,,three\n";
    let (mut vocabulary, mut defects) = build(table, &[]);
    vocabulary.attach(&classes(&["three", "2.2", "c1"]), &mut defects);
    assert!(defects.is_empty());
    let concepts: Vec<_> = (0..3).map(|class| vocabulary.concept_of_class(class)).collect();
    assert_eq!(concepts, [Some(2), Some(1), Some(0)]);
}

#[test]
fn codes_tell_broader_codes() {
    let prefix = HierarchyRule::parse("prefix:2,4,6").unwrap();
    assert_eq!(prefix.broader_codes("15-1252.00"), ["15", "15-12", "15-1252"]);
    assert_eq!(prefix.broader_codes("15-12"), ["15"]);
    assert!(prefix.broader_codes("1").is_empty());
    let path = HierarchyRule::parse("separator: > ").unwrap();
    assert_eq!(path.broader_codes("a > b > c"), ["a", "a > b"]);
    for wrong in [
        "prefix",
        "prefix:",
        "prefix:4,2",
        "prefix:0",
        "separator:",
        "depth:3",
    ] {
        let message = HierarchyRule::parse(wrong).unwrap_err().to_string();
        assert!(message.ends_with(&format!("but is `{wrong}`")), "{message}");
    }
}

#[test]
fn labels_alone_make_a_hierarchy() {
    let rule = HierarchyRule::parse("prefix:1,2,3").unwrap();
    let labels = classes(&["512.5", "512", "53"]);
    let unmatched = UnmatchedVocabulary::Labels {
        names: false,
        rule: Some(rule),
    };
    let (vocabulary, defects) = unmatched.for_classes(&labels).unwrap();
    assert!(defects.is_empty());
    let hierarchy = Hierarchy::new(&vocabulary, 3);
    let names = |class| -> Vec<&str> {
        let nodes = hierarchy.nodes(class).iter();
        nodes.map(|&(node, _)| vocabulary.id(node)).collect()
    };
    assert_eq!(names(0), ["512.5", "512", "51", "5"]);
    assert_eq!(names(1), ["512", "51", "5"]);
    assert_eq!(names(2), ["53", "5"]);
    assert_eq!(hierarchy.telling_nodes(2).count(), 1, "all lie under 5");
    assert_eq!((hierarchy.distance(0, 1), hierarchy.distance(0, 2)), (1, 4));
}

#[test]
fn probabilities_add_up_the_tree() {
    let vocabulary = animals();
    let hierarchy = Hierarchy::new(&vocabulary, 4);
    let scored = |class, score| Scored { class, score };
    let best = [scored(1, 0.5), scored(0, 0.3), scored(2, 0.1), scored(3, 0.05)];
    let mut sums = Vec::new();
    hierarchy.add_up(&best, &mut sums);
    let of = |id: &str| {
        let found = sums.iter().find(|sum| hierarchy.node_name(sum.node) == Some(id));
        (found.unwrap().probability * 1000.0).round() / 1000.0
    };
    // The bat counts once for the animals, though two ways lead there.
    assert_eq!(
        (of("animal"), of("mammal"), of("flier"), of("bat")),
        (0.9, 0.8, 0.6, 0.5)
    );
    let stone = sums
        .iter()
        .find(|sum| hierarchy.class_of_node(sum.node) == Some(3));
    assert_eq!(stone.unwrap().probability, 0.05);
    let mut answer = |least| {
        let node = hierarchy.back_off(&best, least, &mut sums)?.node;
        hierarchy.node_name(node)
    };
    assert_eq!(answer(0.5), Some("bat"));
    assert_eq!(
        answer(0.55),
        Some("mammal"),
        "the more probable of two equally deep ones"
    );
    assert_eq!(answer(0.85), Some("animal"));
    assert_eq!(answer(0.95), None);
}

#[test]
fn names_are_found_by_parts() {
    let vocabulary = animals();
    let find = |query: &str, only_classes| -> Vec<(&str, MatchKind)> {
        let search = VocabularySearch::new(&vocabulary, only_classes);
        let found = search.find(query, 10).into_iter();
        found
            .map(|found| (vocabulary.id(found.concept), found.kind))
            .collect()
    };
    assert_eq!(find("BAT", false), [("bat", MatchKind::Whole)]);
    assert_eq!(find("flit", true), [("bat", MatchKind::Beginning)]);
    assert_eq!(find("animal", true), []);
    assert_eq!(
        find("animal", false),
        [("animal", MatchKind::Whole), ("flier", MatchKind::Words)]
    );
    assert_eq!(find("sparrow hou", false), [("sparrow", MatchKind::Words)]);
    assert_eq!(find("arro", false), [("sparrow", MatchKind::Inside)]);
    assert_eq!(find("  ", false), []);
}

#[test]
fn texts_about_classes_are_names_and_other_names() {
    let vocabulary = animals();
    let texts: Vec<_> = vocabulary
        .class_texts()
        .into_iter()
        .map(|text| (text.class, text.kind, text.text))
        .collect();
    let expected = [
        (0, TermKind::Name, "Cow"),
        (1, TermKind::Name, "Bat"),
        (1, TermKind::Alternative, "flittermouse Chiroptera"),
        (2, TermKind::Name, "Sparrow"),
        (2, TermKind::Alternative, "house sparrow"),
    ];
    assert_eq!(
        texts,
        expected.map(|(class, kind, text)| (class, kind, text.to_owned()))
    );
}

#[test]
fn codes_that_look_like_ids_are_concepts_of_their_own() {
    let mut builder = VocabularyBuilder::new();
    let table = "id,notation\n1,110\n2,120\n11,210\n";
    let source = Source::from_reader("v.csv", std::io::Cursor::new(table));
    read_table(source, &mut builder).unwrap();
    let rule = HierarchyRule::parse("prefix:1,2").unwrap();
    rule.apply(&mut builder).unwrap();
    let (vocabulary, _) = builder.finish(&BuilderOptions::default()).unwrap();
    let above = vocabulary.broader(0)[0];
    assert_eq!(
        (vocabulary.id(above), vocabulary.notation(above)),
        ("11*", Some("11"))
    );
    let top = vocabulary.broader(above)[0];
    assert_eq!((vocabulary.id(top), vocabulary.notation(top)), ("1*", Some("1")));
    assert_eq!(vocabulary.broader(vocabulary.broader(1)[0]), [top]);
}
