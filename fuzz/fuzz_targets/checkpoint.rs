//! Any bytes as a checkpoint, and as the content of one whose checksums are right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memoir::checkpoint::{Checkpoints, State};

fuzz_target!(|bytes: &[u8]| {
    let path = memoir_fuzz::FOLDER.path().join("run.checkpoint");
    let checkpoints = Checkpoints::new(path.clone(), None, true);
    if bytes.first().is_some_and(|first| first % 4 == 0) {
        let (left, right) = bytes.split_at(bytes.len() / 2);
        let state = State {
            numbers: left.iter().map(|&byte| u64::from(byte)).collect(),
            arrays: vec![left, right],
        };
        checkpoints.save(&[], &state).expect("written");
        let saved = checkpoints.load(&[]).expect("sound").expect("there");
        assert_eq!(saved.numbers, state.numbers);
        assert_eq!(saved.arrays, [left.to_vec(), right.to_vec()]);
        let mut damaged = std::fs::read(&path).expect("there");
        let place = bytes.len() * 7919 % damaged.len();
        damaged[place] ^= 1 + bytes.len() as u8 % 255;
        std::fs::write(&path, damaged).expect("written");
        assert!(checkpoints.load(&[]).is_err(), "damage at {place} is noticed");
    } else {
        std::fs::write(&path, bytes).expect("written");
        let _ = checkpoints.load(&[]);
    }
});
