//! Writes the seed corpus: `seeds FOLDER`.

use std::fs;
use std::path::Path;

use memoir_fuzz::models::MODELS;

/// Small inputs of every format, behind the two bytes that choose format and options.
const DATA: [(u8, &str); 10] = [
    (0, "1 1:0.5 7:2\n2,3 2:1 # weight=2\n"),
    (1, "2 5 3\n0,2 0:1 4:0.5\n1 3:2\n"),
    (2, "__label__a __label__b some text\n__label__a other\n"),
    (3, "label,text\na|b,\"some, text\"\nb,\"two\nlines\"\n"),
    (4, "text\tlabel\nsome text\ta\nother\tb\n"),
    (
        5,
        "{\"text\": \"some text\", \"label\": [\"a\", 3]}\n{\"label\": \"b\", \"features\": {\"1\": 2.5}}\n",
    ),
    (6, "label;text\na;some text\nb;other\n"),
    (7, "some text\nother text\n"),
    (3, "\u{feff}label,text,weight\r\na,x,0.5\r\nb,y,2\r\n"),
    (0, " 1:1\n-1 2:1e-3\n"),
];

const VOCABULARIES: [(u8, &str); 4] = [
    (
        0,
        "id,prefLabel@en,altLabel,broader\na,Apple,apples,f\nf,Fruit,,\n",
    ),
    (
        2,
        "@prefix s: <http://www.w3.org/2004/02/skos/core#> . <a> a s:Concept ; s:prefLabel \"Apple\"@en ; s:broader <f> . <f> a s:Concept .",
    ),
    (
        4,
        "<http://a> <http://www.w3.org/2004/02/skos/core#prefLabel> \"Apple\"@en .\n",
    ),
    (
        5,
        "{\"@id\": \"http://a\", \"@type\": \"http://www.w3.org/2004/02/skos/core#Concept\"}",
    ),
];

const EXPERIMENTS: [&str; 4] = [
    "title = 'a'\nrepeats = 2\n[limits]\ncpu-seconds = 1.5\nmemory = '2G'\n[[data]]\nname = 'd'\ntrain = 'a.svm'\n\
     test = 'b.svm'\nweighting = 'raw'\n[[method]]\nname = 'm'\nalgorithm = 'softmax'\noptions = { seed = 1 }\n",
    "title = 'b'\n[[data]]\nname = 'd'\nsynth = { rows = 10, classes = 3, format = 'csv' }\ntext = { blocks = 'words' }\n\
     [[method]]\nname = 'x'\nvectors = 'xmc'\ndepth = 3\ntrain = ['t', '{train}']\npredict = ['p', '{model}']\n\
     only = ['d']\n[[expect]]\ndata = 'd'\nmethod = 'x'\naccuracy = [0.5, 1]\n",
    "title = 'c'\n[[method]]\nname = 'm'\nalgorithm = 'centroid'\n[scale]\nfactors = [1, 2, 0.5]\ntest-rows = 5\n\
     base = { rows = 10, classes = 3, features = 9, row-length = 2 }\n[[scale.target]]\nname = 't'\n\
     sizes = { rows = 1e6, classes = 3e4, features = 1e5, row-length = 30 }\npublished = { m = 3 }\n",
    "title = 'd'\nabout = \"\"\"x\"\"\"\nthreads = 2\nexternals = []\n[[data]]\nname = 'd'\ntrain = 'a.svm'\ntest = 'b.svm'\n\
     format = 'libsvm'\nzero-based = true\nsingle-label = true\nlabel-separator = ';'\n[[method]]\nname = 'm'\n\
     about = 'y'\nalgorithm = 'ovr'\n",
];

const TEXTS: [&str; 5] = [
    "Red apple, 3/4\" C++ pie",
    "größe İstanbul ΣΊΣΥΦΟΣ",
    "日本語のテキスト 👩‍🌾",
    "l'homme don't\u{ad}",
    "",
];

fn write(folder: &Path, name: usize, bytes: &[u8]) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join(format!("seed-{name:03}")), bytes).expect("a file");
}

fn main() {
    let folder = std::env::args().nth(1).expect("seeds FOLDER");
    let folder = Path::new(&folder);
    for (number, bytes) in MODELS.iter().enumerate() {
        write(&folder.join("container"), number, bytes);
        let choice = number as u8;
        write(
            &folder.join("model"),
            number,
            &[choice, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8],
        );
        write(
            &folder.join("answer"),
            number,
            &[&[choice, 3][..], "red apple in the mud".as_bytes()].concat(),
        );
    }
    for (number, (choice, text)) in DATA.iter().enumerate() {
        write(
            &folder.join("reader"),
            number,
            &[&[*choice, 0][..], text.as_bytes()].concat(),
        );
    }
    for (number, (choice, text)) in VOCABULARIES.iter().enumerate() {
        write(
            &folder.join("vocabulary"),
            number,
            &[&[*choice, 0][..], text.as_bytes()].concat(),
        );
    }
    for (number, text) in EXPERIMENTS.iter().enumerate() {
        write(&folder.join("experiment"), number, text.as_bytes());
    }
    for (number, text) in TEXTS.iter().enumerate() {
        write(
            &folder.join("text"),
            number,
            &[&[number as u8][..], text.as_bytes()].concat(),
        );
        write(&folder.join("checkpoint"), number, text.as_bytes());
    }
}
