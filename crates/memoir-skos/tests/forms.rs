//! The same vocabulary in every form gives the same concepts; what is wrong is said with its place.

use std::fs;
use std::path::Path;

use memoir::ClassNames;
use memoir::class_vocabulary::{ClassVocabulary, Defect, Defects, HierarchyRule};
use memoir_skos::VocabularySource;

const TURTLE: &str = r#"
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix : <http://example.org/v/> .
:scheme a skos:ConceptScheme ; skos:prefLabel "All of it"@en .
:tools a skos:Concept ; skos:prefLabel "tools"@en, "verktyg"@sv ; skos:narrower :hammer .
:hammer a skos:Concept ; skos:prefLabel "hammer"@en, "hammare"@sv ; skos:altLabel "slägga"@sv ;
    skos:hiddenLabel "hamer"@en ; skos:notation "7.1" ; skos:definition "drives nails"@en .
:saw a skos:Concept ; skos:prefLabel "saw"@en ; skos:broader :tools, :nowhere .
:mallet a skos:Concept ; skos:prefLabel "mallet"@en ; owl:deprecated true ; dct:isReplacedBy :hammer .
"#;

const RDF_XML: &str = r#"<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#"
  xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:dct="http://purl.org/dc/terms/">
<skos:ConceptScheme rdf:about="http://example.org/v/scheme"><skos:prefLabel xml:lang="en">All of it</skos:prefLabel></skos:ConceptScheme>
<skos:Concept rdf:about="http://example.org/v/tools"><skos:prefLabel xml:lang="en">tools</skos:prefLabel>
  <skos:prefLabel xml:lang="sv">verktyg</skos:prefLabel><skos:narrower rdf:resource="http://example.org/v/hammer"/></skos:Concept>
<skos:Concept rdf:about="http://example.org/v/hammer"><skos:prefLabel xml:lang="en">hammer</skos:prefLabel>
  <skos:prefLabel xml:lang="sv">hammare</skos:prefLabel><skos:altLabel xml:lang="sv">slägga</skos:altLabel>
  <skos:hiddenLabel xml:lang="en">hamer</skos:hiddenLabel><skos:notation>7.1</skos:notation>
  <skos:definition xml:lang="en">drives nails</skos:definition></skos:Concept>
<skos:Concept rdf:about="http://example.org/v/saw"><skos:prefLabel xml:lang="en">saw</skos:prefLabel>
  <skos:broader rdf:resource="http://example.org/v/tools"/><skos:broader rdf:resource="http://example.org/v/nowhere"/></skos:Concept>
<skos:Concept rdf:about="http://example.org/v/mallet"><skos:prefLabel xml:lang="en">mallet</skos:prefLabel>
  <owl:deprecated rdf:datatype="http://www.w3.org/2001/XMLSchema#boolean">true</owl:deprecated>
  <dct:isReplacedBy rdf:resource="http://example.org/v/hammer"/></skos:Concept>
</rdf:RDF>"#;

const N_TRIPLES: &str = r#"<http://example.org/v/scheme> <http://www.w3.org/2004/02/skos/core#prefLabel> "All of it"@en .
<http://example.org/v/tools> <http://www.w3.org/2004/02/skos/core#prefLabel> "tools"@en .
<http://example.org/v/tools> <http://www.w3.org/2004/02/skos/core#prefLabel> "verktyg"@sv .
<http://example.org/v/tools> <http://www.w3.org/2004/02/skos/core#narrower> <http://example.org/v/hammer> .
<http://example.org/v/hammer> <http://www.w3.org/2004/02/skos/core#altLabel> "slägga"@sv .
<http://example.org/v/hammer> <http://www.w3.org/2004/02/skos/core#prefLabel> "hammer"@en .
<http://example.org/v/hammer> <http://www.w3.org/2004/02/skos/core#prefLabel> "hammare"@sv .
<http://example.org/v/hammer> <http://www.w3.org/2004/02/skos/core#hiddenLabel> "hamer"@en .
<http://example.org/v/hammer> <http://www.w3.org/2004/02/skos/core#notation> "7.1" .
<http://example.org/v/hammer> <http://www.w3.org/2004/02/skos/core#definition> "drives nails"@en .
<http://example.org/v/saw> <http://www.w3.org/2004/02/skos/core#broader> <http://example.org/v/tools> .
<http://example.org/v/saw> <http://www.w3.org/2004/02/skos/core#broader> <http://example.org/v/nowhere> .
<http://example.org/v/saw> <http://www.w3.org/2004/02/skos/core#prefLabel> "saw"@en .
<http://example.org/v/mallet> <http://www.w3.org/2002/07/owl#deprecated> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .
<http://example.org/v/mallet> <http://purl.org/dc/terms/isReplacedBy> <http://example.org/v/hammer> .
<http://example.org/v/mallet> <http://www.w3.org/2004/02/skos/core#prefLabel> "mallet"@en .
<http://example.org/v/scheme> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/2004/02/skos/core#ConceptScheme> .
"#;

const JSON_LD: &str = r#"{"@context": {"skos": "http://www.w3.org/2004/02/skos/core#", "owl": "http://www.w3.org/2002/07/owl#",
  "dct": "http://purl.org/dc/terms/", "v": "http://example.org/v/"},
 "@graph": [
  {"@id": "v:scheme", "@type": "skos:ConceptScheme", "skos:prefLabel": {"@value": "All of it", "@language": "en"}},
  {"@id": "v:tools", "@type": "skos:Concept", "skos:narrower": {"@id": "v:hammer"},
   "skos:prefLabel": [{"@value": "tools", "@language": "en"}, {"@value": "verktyg", "@language": "sv"}]},
  {"@id": "v:hammer", "@type": "skos:Concept", "skos:notation": "7.1",
   "skos:prefLabel": [{"@value": "hammer", "@language": "en"}, {"@value": "hammare", "@language": "sv"}],
   "skos:altLabel": {"@value": "slägga", "@language": "sv"}, "skos:hiddenLabel": {"@value": "hamer", "@language": "en"},
   "skos:definition": {"@value": "drives nails", "@language": "en"}},
  {"@id": "v:saw", "@type": "skos:Concept", "skos:prefLabel": {"@value": "saw", "@language": "en"},
   "skos:broader": [{"@id": "v:tools"}, {"@id": "v:nowhere"}]},
  {"@id": "v:mallet", "@type": "skos:Concept", "skos:prefLabel": {"@value": "mallet", "@language": "en"},
   "owl:deprecated": true, "dct:isReplacedBy": {"@id": "v:hammer"}}]}"#;

fn read(
    folder: &Path,
    name: &str,
    content: &str,
    languages: &[&str],
) -> memoir::Result<(ClassVocabulary, Defects)> {
    let file = folder.join(name);
    fs::write(&file, content).unwrap();
    let source = VocabularySource {
        file: Some(file),
        hierarchy: None,
        languages: languages.iter().map(|&language| language.to_owned()).collect(),
    };
    let classes: ClassNames = ["7.1", "saw", "mallet"].into_iter().collect();
    source.read()?.unwrap().for_classes(&classes)
}

#[test]
fn every_form_gives_the_same_concepts() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("v.ttl", TURTLE),
        ("v.rdf", RDF_XML),
        ("v.nt", N_TRIPLES),
        ("v.jsonld", JSON_LD),
    ] {
        let (vocabulary, defects) = read(folder.path(), name, content, &["sv", "en"]).unwrap();
        assert_eq!(vocabulary.len(), 4, "{name}: the scheme is no concept");
        let names: Vec<_> = (0..3)
            .map(|class| {
                vocabulary
                    .name(vocabulary.concept_of_class(class).unwrap())
                    .unwrap()
            })
            .collect();
        assert_eq!(names, ["hammare", "saw", "mallet"], "{name}");
        let hammer = vocabulary.concept_of_class(0).unwrap();
        let terms: Vec<_> = vocabulary.terms(hammer).map(|term| term.text).collect();
        let expected = [
            "http://example.org/v/hammer",
            "7.1",
            "hammare",
            "hammer",
            "slägga",
            "hamer",
            "drives nails",
        ];
        assert_eq!(terms, expected, "{name}");
        let above = |class| {
            let parents = vocabulary.broader(vocabulary.concept_of_class(class).unwrap());
            parents
                .iter()
                .map(|&parent| vocabulary.name(parent).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!((above(0), above(1)), (vec!["verktyg"], vec!["verktyg"]), "{name}");
        assert_eq!(
            defects.first(Defect::MissingBroader),
            ["http://example.org/v/nowhere"],
            "{name}"
        );
        assert_eq!(
            defects.first(Defect::DeprecatedClass),
            ["mallet (replaced by http://example.org/v/hammer)"],
            "{name}"
        );
    }
}

#[test]
fn bad_files_are_errors_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str, content: &str| {
        let outcome = read(folder.path(), name, content, &[]);
        outcome.unwrap_err().to_string()
    };
    let turtle = message(
        "v.ttl",
        "@prefix skos: <http://x.org/> .\nskos:a skos:b \"open .\n",
    );
    assert!(turtle.contains("v.ttl:2:"), "{turtle}");
    assert!(message("v.rdf", "<rdf:RDF").contains("v.rdf"));
    assert!(message("v.nt", "<a> <b>\n").contains("v.nt:1:"));
    assert!(
        message("empty.ttl", "")
            .ends_with("no concept found; expected SKOS concepts, or a table with a column `id`")
    );
    assert!(
        message("v.csv", "name\nx\n").contains("v.csv:1:1: the header of a vocabulary needs a column `id`")
    );
}

#[test]
fn a_rule_and_a_file_go_together() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("v.csv");
    fs::write(&file, "id,name\n5,science\n51,mathematics\n512,algebra\n").unwrap();
    let source = VocabularySource {
        file: Some(file),
        hierarchy: Some(HierarchyRule::parse("prefix:1,2").unwrap()),
        languages: Vec::new(),
    };
    let classes: ClassNames = ["512"].into_iter().collect();
    let (vocabulary, _) = source.read().unwrap().unwrap().for_classes(&classes).unwrap();
    let algebra = vocabulary.concept_of_class(0).unwrap();
    let above = vocabulary.broader(algebra);
    assert_eq!(
        above
            .iter()
            .map(|&c| vocabulary.name(c).unwrap())
            .collect::<Vec<_>>(),
        ["mathematics"]
    );
    assert_eq!(vocabulary.len(), 3);
}

/// The parser would take minutes for the tag, and hours for a longer one.
#[test]
fn a_tag_with_very_many_attributes_is_refused() {
    let attributes: Vec<String> = (0..200_000).map(|number| format!(" a{number}=''")).collect();
    let text = format!("<?xml version=\"1.0\"?>\n<rdf:RDF{}/>", attributes.concat());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("v.rdf");
    fs::write(&file, text).unwrap();
    let source = VocabularySource {
        file: Some(file),
        ..VocabularySource::default()
    };
    let error = source.read().unwrap_err().to_string();
    assert!(
        error.contains("line 2: found a tag of more than 65536 bytes"),
        "{error}"
    );
}
