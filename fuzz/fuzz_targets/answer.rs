//! Texts and vectors from strangers, answered and explained by models of every kind.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use memoir::Model;
use memoir_fuzz::models::MODELS;

static OPENED: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let open = |bytes: &Vec<u8>| Model::from_bytes(bytes, &memoir_fuzz::CATALOGUE).expect("a sound model");
    MODELS.iter().map(open).collect()
});

fuzz_target!(|input: (u8, u8, String, Vec<(u32, f32)>)| {
    let (which, k, text, mut entries) = input;
    let model = &OPENED[usize::from(which) % OPENED.len()];
    let classes = model.classes().len();
    let mut predictor = model.predictor();
    let check = |best: &[memoir::Scored]| {
        assert!(best.len() <= usize::from(k));
        assert!(
            best.iter()
                .all(|scored| (scored.class as usize) < classes && !scored.score.is_nan())
        );
    };
    if let Ok(best) = predictor.text(&text, usize::from(k)) {
        check(best);
        let _ = model.explain(&text);
    }
    entries.retain(|entry| entry.1.is_finite());
    if let Ok(best) = predictor.vector(&mut entries, usize::from(k)) {
        assert!(best.len() <= usize::from(k));
    }
});
