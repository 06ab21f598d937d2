//! Writes damaged model files of every kind, whose checksums are right: `mutants FOLDER COUNT SEED`.

use std::fs;
use std::path::Path;

use arbitrary::{Arbitrary, Unstructured};
use memoir_fuzz::edits::{Edit, PARTS, edited};
use xxhash_rust::xxh3::xxh3_64_with_seed;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, count, seed] = &arguments[..] else {
        panic!("mutants FOLDER COUNT SEED");
    };
    let (count, seed): (u64, u64) = (count.parse().expect("a number"), seed.parse().expect("a number"));
    fs::create_dir_all(folder).expect("a folder");
    for number in 0..count {
        let noise: Vec<u8> = (0..32u64)
            .flat_map(|word| xxh3_64_with_seed(&(number * 64 + word).to_le_bytes(), seed).to_le_bytes())
            .collect();
        let parts = &PARTS[number as usize % PARTS.len()];
        let mut source = Unstructured::new(&noise);
        let edits: Vec<Edit> = (0..1 + number % 3)
            .filter_map(|_| Edit::arbitrary(&mut source).ok())
            .collect();
        let path = Path::new(folder).join(format!("{number:06}.memoir"));
        fs::write(path, edited(parts, &edits)).expect("a file");
    }
}
