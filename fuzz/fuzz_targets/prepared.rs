//! Prepared sets with hostile content: bytes of a shard and numbers of the manifest change, checksums are
//! repaired.
#![no_main]

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use memoir::data::{ReadOptions, Source};
use memoir::prepare::{self, DiskOptions, PrepOptions};
use memoir_fuzz::{FOLDER, SESSION};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

const MANIFEST: &str = "memoir-prepared.json";
const SHARD: &str = "shard-000000.bin";

/// What is prepared: texts, texts with weights, vectors, vectors of several labels; plain and compressed.
const DATA: [(&str, &str, bool); 4] = [
    ("a.csv", "label,text\na|b,\"red apple\"\nb,mud\n,pie\n", false),
    (
        "a.csv",
        "label,text,weight\na,red apple pie,2\nb,red mud,0.5\n",
        true,
    ),
    ("a.svm", "1 1:0.5 7:2\n2 2:1\n", false),
    ("a.svm", "1,3 1:1 7:2\n2 2:1e9\n 3:1\n", true),
];

/// The manifest and the shard of each set, with the folder where it lies.
static SETS: LazyLock<Vec<(PathBuf, Value, Vec<u8>)>> = LazyLock::new(|| {
    let sets = DATA.into_iter().enumerate();
    sets.map(|(number, (name, rows, compress))| {
        let folder = FOLDER.path().join(format!("set-{number}"));
        let mut how = DiskOptions::default();
        how.compress = compress;
        let options = ReadOptions {
            weight_column: rows.contains("weight").then(|| "weight".to_owned()),
            ..ReadOptions::default()
        };
        let source = Source::from_reader(name, Cursor::new(rows.as_bytes()));
        prepare::prepare_to_disk(source, &options, &folder, &how, &SESSION).expect("prepared");
        let manifest = fs::read_to_string(folder.join(MANIFEST)).expect("a manifest");
        let shard = fs::read(folder.join(SHARD)).expect("a shard");
        (folder, serde_json::from_str(&manifest).expect("JSON"), shard)
    })
    .collect()
});

/// One change of a set.
#[derive(Debug, Arbitrary)]
enum Edit {
    /// A byte of the shard becomes another.
    Byte { at: u16, byte: u8 },
    /// Four bytes of the shard become an extreme number.
    Extreme { at: u16, which: u8 },
    /// A number of the manifest becomes another.
    Number { which: u8, value: u64 },
    /// A truth value of the manifest becomes its contrary.
    Flag { which: u8 },
}

const NUMBERS: [&str; 7] = [
    "rows",
    "classes",
    "words",
    "width",
    "entries",
    "labels",
    "first_index",
];
const FLAGS: [&str; 5] = ["complete", "text", "counts", "weights", "compressed"];

fn edited(manifest: &Value, shard: &[u8], edits: &[Edit]) -> (Value, Vec<u8>) {
    let (mut manifest, mut shard) = (manifest.clone(), shard.to_vec());
    for edit in edits {
        match *edit {
            Edit::Byte { at, byte } => {
                let at = usize::from(at) % shard.len();
                shard[at] = byte;
            }
            Edit::Extreme { at, which } => {
                let at = usize::from(at) % (shard.len() - 3);
                let number = [0, 1, 0xffff, 0x7fff_ffff, u32::MAX][usize::from(which % 5)];
                shard[at..at + 4].copy_from_slice(&number.to_le_bytes());
            }
            Edit::Number { which, value } => {
                manifest[NUMBERS[usize::from(which) % NUMBERS.len()]] = value.into();
            }
            Edit::Flag { which } => {
                let flag = &mut manifest[FLAGS[usize::from(which) % FLAGS.len()]];
                *flag = (!flag.as_bool().unwrap_or(false)).into();
            }
        }
    }
    let entry = &mut manifest["shards"][0];
    let footer = entry["footer"].as_u64().unwrap_or(0).min(shard.len() as u64) as usize;
    entry["checksum"] = format!("{:016x}", xxh3_64(&shard[..footer])).into();
    entry["footer_checksum"] = format!("{:016x}", xxh3_64(&shard[footer..])).into();
    (manifest, shard)
}

/// Reads it to its end, to learn from it and to answer it.
fn read(folder: &Path) {
    let options = ReadOptions::default();
    let training =
        || prepare::read_training(Source::new(folder), &options, &PrepOptions::default(), &SESSION);
    if let Ok(training) = SESSION.run(training) {
        assert_eq!(training.data.rows.len(), training.data.labels.len());
    }
}

fuzz_target!(|input: (u8, Vec<Edit>)| {
    let (which, edits) = input;
    let (folder, manifest, shard) = &SETS[usize::from(which) % SETS.len()];
    let (manifest, shard) = edited(manifest, shard, &edits);
    fs::write(folder.join(MANIFEST), manifest.to_string()).expect("a manifest");
    fs::write(folder.join(SHARD), shard).expect("a shard");
    read(folder);
});
