//! Any bytes as a vocabulary: a table, or SKOS in each of its forms.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memoir_skos::VocabularySource;

const NAMES: [&str; 6] = ["v.csv", "v.tsv", "v.ttl", "v.rdf", "v.nt", "v.jsonld"];

fuzz_target!(|bytes: &[u8]| {
    let Some((&[choice, rule], content)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let file = memoir_fuzz::FOLDER
        .path()
        .join(NAMES[usize::from(choice) % NAMES.len()]);
    std::fs::write(&file, content).expect("a file");
    let source = VocabularySource {
        file: Some(file),
        hierarchy: memoir::class_vocabulary::HierarchyRule::parse(
            ["", "prefix:2,4", "separator:/"][usize::from(rule % 3)],
        )
        .ok(),
        languages: if rule & 4 == 0 {
            Vec::new()
        } else {
            vec!["en".to_owned(), "sv".to_owned()]
        },
    };
    let _ = source.read();
});
