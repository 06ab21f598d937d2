//! Any bytes as a model file: refused, or a model that can be used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memoir::Model;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = Model::from_bytes(bytes, &memoir_fuzz::CATALOGUE) {
        memoir_fuzz::use_model(&model);
    }
});
