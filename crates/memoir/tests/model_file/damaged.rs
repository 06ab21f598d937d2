//! Damage by accident: cut, flipped and foreign files. All of it must be noticed.

use super::*;

#[test]
fn a_file_cut_at_any_length_is_refused() {
    let bench = Bench::new();
    for input in [vectors(), text()] {
        let bytes = bench.save(&model(input, Precision::F32));
        assert!(bench.load(&bytes).is_ok());
        for length in 0..bytes.len() {
            bench.complaint(&bytes[..length]);
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bench = Bench::new();
    let mut bytes = bench.save(&model(text(), Precision::F16));
    for position in 0..bytes.len() {
        // In the header also the bit that tells capital from small letters: the text stays legal.
        let bits = [position % 8, 5];
        let count = if position < header_length(&bytes) { 2 } else { 1 };
        for bit in &bits[..count] {
            bytes[position] ^= 1 << bit;
            bench.complaint(&bytes);
            bytes[position] ^= 1 << bit;
        }
    }
    assert!(bench.load(&bytes).is_ok());
}

#[test]
fn complaints_say_what_is_wrong() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    let start = header_length(&bytes);
    let length = bytes.len();
    assert_eq!(bench.complaint(b""), "it is empty");
    assert_eq!(bench.complaint(b"{"), "it has only 1 byte");
    assert_eq!(bench.complaint(b"{\"a\":1}"), "it has only 7 bytes");
    let foreign = "it does not start like one (it is something else, or damaged)";
    assert_eq!(bench.complaint(b"label 1:0.5 2:0.25\n"), foreign);
    assert_eq!(
        bench.complaint(&bytes[..100]),
        format!(
            "its header has {} bytes, but only 92 follow (it was cut off)",
            start - 8
        )
    );
    assert_eq!(
        bench.complaint(&bytes[..length - 1]),
        format!(
            "its header declares {length} bytes, but it has {} (it was cut off)",
            length - 1
        )
    );
    let longer = [bytes.as_slice(), b"\n"].concat();
    assert_eq!(
        bench.complaint(&longer),
        format!(
            "its header declares {length} bytes, but it has {} (something was appended)",
            length + 1
        )
    );
    let damaged = |position: usize| {
        let mut bytes = bytes.clone();
        bytes[position] ^= 1;
        bench.complaint(&bytes)
    };
    assert_eq!(
        damaged(length - 1),
        "its header is damaged: the checksum does not match"
    );
    for name in ["classes.names", "weights.values", "weighting.feature_weights"] {
        assert_eq!(
            damaged(place(&bytes, name).start),
            format!("its array `{name}` is damaged: the checksum does not match")
        );
    }
}

#[test]
fn other_formats_and_versions_are_named() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    let changed = |from: &str, to: &str| {
        let changed = with_header(&bytes, |header| {
            assert!(header.contains(from));
            header.replace(from, to)
        });
        bench.complaint(&changed)
    };
    assert_eq!(
        changed("\"format\":\"memoir\"", "\"format\":\"pt\""),
        "it is a safetensors file, but does not hold a memoir model"
    );
    assert_eq!(
        changed("\"version\":\"1\"", "\"version\":\"2\""),
        "it is of format version 2, and this program knows version 1: use a newer program"
    );
    assert_eq!(
        changed("\"version\":\"1\"", "\"version\":\"0\""),
        "it is of format version 0, and this program knows version 1"
    );
    assert_eq!(
        changed("\"version\":\"1\"", "\"version\":\"1.5\""),
        "`version` in its header should be a whole number, but is `1.5`"
    );
    assert_eq!(
        changed("\"scorer\":\"linear\"", "\"scorer\":\"oblique-tree\""),
        "it holds a scorer of kind `oblique-tree`, and this program knows: linear, fixed, reduced, packed"
    );
}

#[test]
fn what_is_not_a_file_is_refused() {
    let bench = Bench::new();
    let message = |path: &Path| load(path).err().unwrap().to_string();
    assert!(message(bench.folder.path()).ends_with(": not a usable model file: it is a directory"));
    assert!(message(&bench.path()).contains("model: cannot open: "));
    assert!(verify(&bench.path()).is_err());
    bench.save(&model(vectors(), Precision::F32));
    verify(&bench.path()).unwrap();
}
