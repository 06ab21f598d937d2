use std::num::NonZeroUsize;

use super::*;
use crate::sparse::{ClassRows, RowView};

/// Two vectors in the plane at `angle`; the share of signs on which they agree.
fn agreement(angle: f32) -> f64 {
    let projection = Projection::new(2, 4096, 11);
    let code = |values: &[f32]| {
        let mut components = vec![0.0; 4096];
        let row = RowView {
            indices: &[0, 1],
            values,
        };
        projection.project(row, &mut Vec::new(), &mut components);
        components.iter().map(|&along| along >= 0.0).collect::<Vec<_>>()
    };
    let (a, b) = (code(&[1.0, 0.0]), code(&[angle.cos(), angle.sin()]));
    a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / 4096.0
}

#[test]
fn signs_agree_with_probability_one_minus_angle_over_pi() {
    for degrees in [5, 30, 60, 90, 120, 175] {
        let angle = f64::from(degrees).to_radians();
        let expected = 1.0 - angle / std::f64::consts::PI;
        // Four standard deviations of a share of 4096 independent signs.
        let error = 4.0 * (expected * (1.0 - expected) / 4096.0).sqrt();
        let found = agreement(angle as f32);
        assert!(
            (found - expected).abs() < error,
            "{degrees} degrees: {found}, not {expected}"
        );
    }
}

#[test]
fn the_bound_follows_vectors_that_grow_and_shrink() {
    let session = Session::new(NonZeroUsize::MIN).unwrap();
    let params = SimpleLshParams {
        bits: 64,
        search: HashSearch::Hamming,
        candidates: 4,
        key_bits: 8,
        probes: 2,
    };
    let mut lsh = SimpleLsh::new(params, 0);
    let mut weights = ClassRows::new(3, 2);
    for length in [1.0f32, 1.05, 3.0, 2.0, 0.1] {
        weights.set(
            1,
            RowView {
                indices: &[0],
                values: &[length],
            },
        );
        weights.set(
            2,
            RowView {
                indices: &[1],
                values: &[0.05],
            },
        );
        lsh.update(&weights, &[1, 2], &session).unwrap();
        let length = f64::from(length);
        assert!(
            length <= lsh.bound && lsh.bound <= 2.0 * length.max(0.05) + 1e-6,
            "{length}: {}",
            lsh.bound
        );
    }
}

#[test]
fn more_bits_find_more() {
    let session = Session::new(NonZeroUsize::MIN).unwrap();
    let mut weights = ClassRows::new(400, 20);
    let number = |a: u32, b: u32| {
        let mixed = a.wrapping_mul(2_654_435_761).wrapping_add(b.wrapping_mul(40_503));
        f32::from((mixed >> 13) as u8) / 128.0 - 1.0
    };
    let vector = |of: u32| {
        (0..20)
            .map(|feature| number(of, feature * feature + 1))
            .collect::<Vec<_>>()
    };
    let indices: Vec<u32> = (0..20).collect();
    for class in 0..400 {
        weights.set(
            class,
            RowView {
                indices: &indices,
                values: &vector(class),
            },
        );
    }
    let all: Vec<u32> = (0..400).collect();
    let recall = |bits: usize| {
        let params = SimpleLshParams {
            bits,
            search: HashSearch::Hamming,
            candidates: 20,
            key_bits: 8,
            probes: 0,
        };
        let mut lsh = SimpleLsh::new(params, 5);
        lsh.update(&weights, &all, &session).unwrap();
        let hits = (1000..1200).filter(|&of| {
            let values = vector(of);
            let row = RowView {
                indices: &indices,
                values: &values,
            };
            let query = Query {
                row,
                labels: &[],
                k: 1,
                draw: 0,
            };
            let mut found = Vec::new();
            lsh.search(&weights, &query, &mut Scratch::default(), &mut found);
            let best = all
                .iter()
                .map(|&class| weights.dot(class, row))
                .fold(f32::MIN, f32::max);
            found[0].score >= best
        });
        hits.count()
    };
    let (few, some, many) = (recall(16), recall(64), recall(512));
    assert!(
        few < some && some < many && many > 150,
        "{few}, {some}, {many} of 200"
    );
}

/// Against codes made and compared bit by bit: the nearest code wins, although others score higher.
#[test]
fn the_nearest_code_is_the_answer_where_scores_play_no_part() {
    let session = Session::new(NonZeroUsize::MIN).unwrap();
    let mut weights = ClassRows::new(50, 6);
    let value = |of: u32, feature: u32| ((of * 7 + feature * feature * 3 + of * feature) % 11) as f32 - 5.0;
    let indices: Vec<u32> = (0..6).collect();
    let vector = |of: u32| (0..6).map(|feature| value(of, feature)).collect::<Vec<_>>();
    for class in 0..50 {
        weights.set(
            class,
            RowView {
                indices: &indices,
                values: &vector(class),
            },
        );
    }
    let params = SimpleLshParams {
        bits: 20,
        search: HashSearch::Nearest,
        candidates: 30,
        key_bits: 8,
        probes: 0,
    };
    let mut lsh = SimpleLsh::new(params, 3);
    lsh.update(&weights, &(0..50).collect::<Vec<_>>(), &session)
        .unwrap();
    let mut weaker = 0;
    for of in 100..140u32 {
        let (values, label) = (vector(of), of % 50);
        let row = RowView {
            indices: &indices,
            values: &values,
        };
        let mut components = vec![0.0; 20];
        lsh.projection
            .as_ref()
            .unwrap()
            .project(row, &mut Vec::new(), &mut components);
        let mut code = Vec::new();
        codes::pack(components.iter().map(|&along| along >= 0.0), &mut code);
        let distance = |class: u32| (lsh.codes.of(class).unwrap()[0] ^ code[0]).count_ones();
        let wrong = || (0..50).filter(|&class| class != label);
        let nearest = wrong().min_by_key(|&class| distance(class)).unwrap();
        let query = Query {
            row,
            labels: &[label],
            k: 1,
            draw: 0,
        };
        let mut found = Vec::new();
        let asked = lsh.search(&weights, &query, &mut Scratch::default(), &mut found);
        assert_eq!((asked, found[0].class), (1, nearest));
        assert_eq!(found[0].score, weights.dot(nearest, row));
        let best = wrong()
            .map(|class| weights.dot(class, row))
            .fold(f32::MIN, f32::max);
        weaker += usize::from(found[0].score < best);
    }
    assert!(weaker > 4, "{weaker} of 40");
}
