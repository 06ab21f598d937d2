//! Nearest neighbours against a search through all rows, in memory and through a model file.

use std::num::NonZeroUsize;

use memoir::catalogue::Method;
use memoir::model::{Precision, Scorer, Scratch, Storage, TensorSource};
use memoir::prepare::{Examples, WeightingChoice};
use memoir::train::FitOptions;
use memoir::{Catalogue, Dataset, Error, Model, RowView, Scored, Session, maths, train};
use memoir_baselines::knn::{Knn, KnnParams, NEIGHBOURS, Neighbours};
use proptest::prelude::*;

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn params(neighbours: u32) -> KnnParams {
    KnnParams::default().neighbours(neighbours)
}

fn fit(data: &Dataset, neighbours: usize) -> Neighbours {
    Knn::new(&params(neighbours as u32))
        .fit(data, &session(1))
        .unwrap()
}

type Row = (Vec<(u32, i8)>, Vec<u32>);

fn dataset(rows: &[Row], classes: usize) -> Dataset {
    let mut data = Dataset {
        classes: (0..classes).map(|class| class.to_string()).collect(),
        ..Dataset::default()
    };
    for (entries, labels) in rows {
        let mut entries = entries.iter().map(|&(f, v)| (f, f32::from(v))).collect();
        data.rows.push_unsorted(&mut entries);
        data.labels.push(labels.iter().copied());
    }
    data
}

fn cosine(left: RowView<'_>, right: RowView<'_>) -> f64 {
    let mut product = 0.0;
    for (feature, value) in left.iter() {
        for (other, weight) in right.iter() {
            if feature == other {
                product += f64::from(value) * f64::from(weight);
            }
        }
    }
    let length = |row: RowView<'_>| {
        row.iter()
            .map(|(_, v)| maths::square(f64::from(v)))
            .sum::<f64>()
            .sqrt()
    };
    let lengths = length(left) * length(right);
    if lengths > 0.0 { product / lengths } else { 0.0 }
}

/// The score of every class, from all cosines; `None` where neighbours at the border are too close to tell.
fn brute_force(data: &Dataset, row: RowView<'_>, neighbours: usize) -> Option<Vec<f64>> {
    let mut all: Vec<(usize, f64)> = (0..data.len())
        .filter(|&other| !data.labels.row(other).is_empty())
        .map(|other| (other, cosine(row, data.rows.row(other))))
        .filter(|(_, cosine)| *cosine > 1e-6)
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    if all.len() > neighbours && all[neighbours - 1].1 - all[neighbours].1 < 1e-6 {
        return None;
    }
    let mut scores = vec![0.0; data.classes.len()];
    for (other, cosine) in all.into_iter().take(neighbours) {
        for &class in data.labels.row(other) {
            scores[class as usize] += cosine;
        }
    }
    Some(scores)
}

fn top(scorer: &dyn Scorer, row: RowView<'_>, k: usize, scratch: &mut Scratch) -> Vec<Scored> {
    let mut out = Vec::new();
    scorer.top_k(row, k, scratch, &mut out);
    out
}

proptest! {
    #[test]
    fn votes_are_those_of_a_search_through_all_rows(
        rows in proptest::collection::vec(
            (proptest::collection::vec((0u32..10, -2i8..4), 0..6), proptest::collection::vec(0u32..6, 0..3)), 1..40),
        queries in proptest::collection::vec(proptest::collection::vec((0u32..12, -2i8..4), 0..6), 1..6),
        neighbours in 1usize..8,
    ) {
        let mut data = dataset(&rows, 6);
        data.labels.push([0]);
        data.rows.push_unsorted(&mut vec![(9, 1.0)]);
        let scorer = fit(&data, neighbours);
        let queries = dataset(&queries.into_iter().map(|entries| (entries, vec![])).collect::<Vec<_>>(), 0);
        let mut scratch = Scratch::default();
        for row in queries.rows.iter() {
            let got = top(&scorer, row, 6, &mut scratch);
            prop_assert!(got.is_sorted_by(|a, b| a.order(b).is_lt()) && got.len() == 6);
            prop_assert_eq!(&top(&scorer, row, 2, &mut scratch), &got[..2]);
            if let Some(expected) = brute_force(&data, row, neighbours) {
                for scored in got {
                    let expected = expected[scored.class as usize];
                    prop_assert!((f64::from(scored.score) - expected).abs() < 1e-4, "{scored:?}, not {expected}");
                }
            }
        }
    }
}

fn model(data: Dataset, threads: usize) -> Model {
    let method = Method::new(&params(3)).unwrap();
    let options = FitOptions {
        weighting: WeightingChoice::Raw,
        ..FitOptions::default()
    };
    let examples = Examples::Vectors { data, first: 1 };
    train::fit(&method, examples, options, &session(threads)).unwrap()
}

fn catalogue() -> Catalogue {
    Catalogue::new().with(memoir_baselines::ALGORITHMS, memoir_baselines::SCORERS)
}

fn small() -> Dataset {
    let rows: Vec<Row> = (0..200u32)
        .map(|row| {
            let entries = (0..4)
                .map(|i| ((row * 7 + i * 5) % 23, (row % 5) as i8 + 1))
                .collect();
            (entries, vec![row % 9])
        })
        .collect();
    dataset(&rows, 9)
}

#[test]
fn a_model_file_answers_like_the_model_and_is_the_same_at_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<Vec<u8>> = [1, 2, 4]
        .map(|threads| {
            let path = folder.path().join(threads.to_string());
            model(small(), threads).save(&path).unwrap();
            std::fs::read(path).unwrap()
        })
        .into();
    assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2]);
    let made = model(small(), 1);
    let loaded = Model::load(&folder.path().join("2"), &catalogue()).unwrap();
    let data = small();
    let all = |model: &Model| model.predict_rows(&data.rows, 5, &session(2)).unwrap();
    assert_eq!(all(&made), all(&loaded));
    assert_eq!(loaded.scorer().kind(), "neighbours");
}

#[test]
fn a_scratch_serves_models_of_other_sizes() {
    let large = fit(&small(), 3);
    let tiny = fit(&dataset(&[(vec![(0, 1)], vec![1])], 2), 3);
    let data = small();
    let mut scratch = Scratch::default();
    let first = top(&large, data.rows.row(150), 3, &mut scratch);
    let row = RowView {
        indices: &[0],
        values: &[2.0],
    };
    assert_eq!(
        top(&tiny, row, 1, &mut scratch),
        [Scored { class: 1, score: 1.0 }]
    );
    assert_eq!(top(&large, data.rows.row(150), 3, &mut scratch), first);
}

#[test]
fn edges_and_errors() {
    let empty_row = dataset(&[(vec![], vec![0]), (vec![(3, 2)], vec![1])], 2);
    let scorer = fit(&empty_row, 1);
    let nothing = RowView {
        indices: &[],
        values: &[],
    };
    let best = top(&scorer, nothing, 2, &mut Scratch::default());
    assert_eq!(
        best,
        [Scored { class: 0, score: 0.0 }, Scored { class: 1, score: 0.0 }]
    );
    assert_eq!(
        top(&scorer, empty_row.rows.row(1), 1, &mut Scratch::default())[0].class,
        1
    );
    assert!(Box::new(scorer).with_precision(Precision::F16).is_err());
    let unlabelled = dataset(&[(vec![(0, 1)], vec![])], 1);
    let error = Knn::new(&params(1)).fit(&unlabelled, &session(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is nothing to learn from: no row has a label"
    );
    let cancelled = session(1);
    cancelled.cancel().raise();
    let outcome = Knn::new(&params(1)).fit(&small(), &cancelled);
    assert!(matches!(outcome, Err(Error::Cancelled)));
}

/// Arrays of a file that may be wrong: two classes, two features, two rows with a label each.
#[derive(Clone)]
struct Arrays {
    count: Vec<u32>,
    offsets: Vec<u64>,
    rows: Vec<u32>,
    values: Vec<f32>,
    label_ends: Vec<u64>,
    labels: Vec<u32>,
}

impl Arrays {
    fn sound() -> Self {
        Self {
            count: vec![2],
            offsets: vec![0, 1, 3],
            rows: vec![0, 0, 1],
            values: vec![0.6, 0.8, 1.0],
            label_ends: vec![0, 1, 2],
            labels: vec![0, 1],
        }
    }
}

impl TensorSource for Arrays {
    fn shape(&self) -> (usize, usize) {
        (2, 2)
    }
    fn element(&self, _name: &str) -> Option<&'static str> {
        None
    }
    fn u32(&self, name: &str) -> memoir::Result<Storage<u32>> {
        Ok(match name {
            "neighbours.count" => self.count.clone().into(),
            "neighbours.rows" => self.rows.clone().into(),
            _ => self.labels.clone().into(),
        })
    }
    fn u64(&self, name: &str) -> memoir::Result<Storage<u64>> {
        Ok(match name {
            "neighbours.offsets" => self.offsets.clone().into(),
            _ => self.label_ends.clone().into(),
        })
    }
    fn f32(&self, _name: &str) -> memoir::Result<Storage<f32>> {
        Ok(self.values.clone().into())
    }
    fn u8(&self, name: &str) -> memoir::Result<Storage<u8>> {
        Err(self.invalid(name.to_owned()))
    }
    fn u16(&self, name: &str) -> memoir::Result<Storage<u16>> {
        Err(self.invalid(name.to_owned()))
    }
    fn i8(&self, name: &str) -> memoir::Result<Storage<i8>> {
        Err(self.invalid(name.to_owned()))
    }
    fn i16(&self, name: &str) -> memoir::Result<Storage<i16>> {
        Err(self.invalid(name.to_owned()))
    }
    fn f16(&self, name: &str) -> memoir::Result<Storage<half::f16>> {
        Err(self.invalid(name.to_owned()))
    }
    fn invalid(&self, message: String) -> Error {
        Error::Mismatch(message)
    }
}

type Damage = fn(&mut Arrays);

#[test]
fn damaged_arrays_are_refused_or_passed_over() {
    let row = RowView {
        indices: &[1],
        values: &[2.0],
    };
    let sound = (NEIGHBOURS.load)(&Arrays::sound()).unwrap();
    let best = top(&*sound, row, 2, &mut Scratch::default());
    assert_eq!((best[0].class, best[0].score, best[1].score), (1, 1.0, 0.8));

    let refused: [(Damage, &str); 7] = [
        (
            |a| a.count = vec![0],
            "`neighbours.count` must hold one number of at least 1",
        ),
        (
            |a| a.count = vec![],
            "`neighbours.count` must hold one number of at least 1",
        ),
        (
            |a| a.offsets = vec![0, 3],
            "`neighbours.offsets` has 2 elements where 2 features need one more than that",
        ),
        (
            |a| a.values = vec![1.0],
            "`neighbours.rows` has 3 elements, but `neighbours.values` has 1",
        ),
        (
            |a| a.offsets = vec![0, 9, 3],
            "`neighbours.offsets` must start at 0, never decrease, and end at 3",
        ),
        (
            |a| a.label_ends = vec![0, 1, 7],
            "`neighbours.label_ends` must start at 0, never decrease, and end at 2",
        ),
        (
            |a| a.label_ends = vec![],
            "`neighbours.label_ends` must start at 0, never decrease, and end at 2",
        ),
    ];
    for (damage, message) in refused {
        let mut arrays = Arrays::sound();
        damage(&mut arrays);
        let Err(error) = (NEIGHBOURS.load)(&arrays) else {
            panic!("accepted, where expected: {message}");
        };
        assert_eq!(error.to_string(), message);
    }

    let mut arrays = Arrays::sound();
    arrays.rows = vec![7, 9, 1];
    arrays.labels = vec![0, 5];
    let scorer = (NEIGHBOURS.load)(&arrays).unwrap();
    let best = top(&*scorer, row, 2, &mut Scratch::default());
    assert!(best.iter().all(|scored| scored.score == 0.0) && best.len() == 2);
}
