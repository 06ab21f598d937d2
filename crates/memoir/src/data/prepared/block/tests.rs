//! Blocks written as bytes and read again, whole and damaged.

use super::*;

fn entry(block: &EncodedBlock, classes: u32, words: u32) -> BlockEntry {
    BlockEntry {
        offset: 0,
        rows: block.rows as u32,
        classes,
        words,
        stored_bytes: block.payload.len() as u32,
        plain_bytes: block.plain_bytes as u32,
    }
}

fn vectors(values: &[f32]) -> Parsed {
    let mut parsed = Parsed::default();
    for (row, &value) in values.iter().enumerate() {
        let label = parsed.names.intern(&format!("class {}", row % 3));
        let more = (row % 4 == 1).then(|| parsed.names.intern("second"));
        parsed.push_row(
            row as u64,
            std::iter::once(label).chain(more),
            (row % 5 == 2).then_some(0.5),
        );
        parsed
            .rows
            .push_unsorted(&mut vec![(row as u32, value), (40, 1.0)]);
    }
    parsed.width = 50;
    parsed
}

/// Encodes and decodes.
fn there_and_back(parsed: &Parsed, compress: bool) -> (usize, Parsed) {
    let block = encode(parsed, None, compress);
    let mut bytes = Vec::new();
    put_u32(&mut bytes, 0..parsed.names.len() as u32);
    bytes.extend_from_slice(&block.payload);
    let mut decoded = Parsed::default();
    let entry = entry(&block, parsed.names.len() as u32, 0);
    decode(&bytes, &entry, (&parsed.names, 0), true, &mut decoded).unwrap();
    (block.payload.len(), decoded)
}

#[test]
fn vectors_come_back_and_short_values_take_less() {
    let ones: Vec<f32> = vec![1.0; 30];
    let whole: Vec<f32> = (0..30u16).map(f32::from).collect();
    let half: Vec<f32> = whole.iter().map(|value| value / 4.0 - 1.0).collect();
    let single: Vec<f32> = whole.iter().map(|value| value / 3.0).collect();
    let negative_zero: Vec<f32> = whole.iter().map(|value| value * -0.0).collect();
    let mut sizes = Vec::new();
    for values in [ones, whole, half, single, negative_zero] {
        let parsed = vectors(&values);
        let (size, decoded) = there_and_back(&parsed, false);
        let bits = |rows: &Rows| rows.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&decoded.rows), bits(&parsed.rows));
        assert_eq!(decoded.rows.indices(), parsed.rows.indices());
        assert_eq!((&decoded.labels, &decoded.names), (&parsed.labels, &parsed.names));
        assert_eq!((&decoded.weights, decoded.width), (&parsed.weights, 50));
        assert_eq!(there_and_back(&parsed, true).1.rows, decoded.rows);
        sizes.push(size);
    }
    assert!(sizes[0] < sizes[1] && sizes[1] == sizes[2] && sizes[2] < sizes[3]);
    assert_eq!(sizes[4], sizes[2], "a negative zero fits into a half");
}

#[test]
fn no_damage_panics() {
    let parsed = vectors(&[0.5; 40]);
    let block = encode(&parsed, None, false);
    let mut bytes = Vec::new();
    put_u32(&mut bytes, 0..parsed.names.len() as u32);
    bytes.extend_from_slice(&block.payload);
    let entry = entry(&block, parsed.names.len() as u32, 0);
    for place in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[place] ^= change;
            // Some changes give other rows, which only a checksum can tell.
            drop(decode(
                &damaged,
                &entry,
                (&parsed.names, 0),
                true,
                &mut Parsed::default(),
            ));
        }
        let cut = decode(
            &bytes[..place],
            &entry,
            (&parsed.names, 0),
            true,
            &mut Parsed::default(),
        );
        assert_eq!(cut, Err(Damaged), "cut at {place}");
    }
}
