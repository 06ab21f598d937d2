//! Sound model files with hostile content: every kind of scorer, every array and text, checksums repaired.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memoir::Model;
use memoir_fuzz::edits::{Edit, edited};
use memoir_fuzz::models::MODELS;

fuzz_target!(|input: (u8, Vec<Edit>)| {
    let (which, edits) = input;
    let file = &MODELS[usize::from(which) % MODELS.len()];
    let Some(bytes) = edited(file, &edits) else { return };
    if let Ok(model) = Model::from_bytes(&bytes, &memoir_fuzz::CATALOGUE) {
        memoir_fuzz::use_model(&model);
    }
});
