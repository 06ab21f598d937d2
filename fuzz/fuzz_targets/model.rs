//! Sound model files with hostile content: every kind of scorer, every array and text, checksums repaired.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memoir::Model;
use memoir_fuzz::edits::{Edit, PARTS, edited};

fuzz_target!(|input: (u8, Vec<Edit>)| {
    let (which, edits) = input;
    let bytes = edited(&PARTS[usize::from(which) % PARTS.len()], &edits);
    if let Ok(model) = Model::from_bytes(&bytes, &memoir_fuzz::CATALOGUE) {
        memoir_fuzz::use_model(&model);
    }
});
