//! Models of the tree algorithms as files: what is saved is what was trained, at any thread count, and
//! damage is refused or harmless.

use std::num::NonZeroUsize;
use std::path::Path;

use memoir::model::{Predictions, Scratch, Storage, Tensor, TensorSource};
use memoir::prepare::{Examples, WeightingChoice};
use memoir::train::{FitOptions, fit};
use memoir::{Catalogue, ClassNames, Dataset, Error, Model, Result, Rows, Session};
use proptest::prelude::*;

const ALGORITHMS: [&str; 3] = ["recall-tree", "fastxml", "pfastrexml"];

fn catalogue() -> Catalogue {
    Catalogue::new().with(memoir_baselines::ALGORITHMS, memoir_baselines::SCORERS)
}

fn session(threads: usize) -> Session<'static> {
    Session::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

/// Rows of three features of which one belongs to the class; every fifth row has two labels, every ninth
/// none.
fn data() -> Dataset {
    let mut data = Dataset {
        classes: (0..14)
            .map(|class| format!("class {class}"))
            .collect::<ClassNames>(),
        ..Dataset::default()
    };
    for row in 0..350u32 {
        let class = row * 7 % 14;
        let noise = row * row % 31;
        data.rows.push_unsorted(&mut vec![
            (class * 2 + row % 2, 0.8),
            (28 + noise, 0.5),
            (60 + row % 3, 0.3),
        ]);
        let labels = [class, (class + 1) % 14];
        let count = if row % 9 == 0 {
            0
        } else {
            1 + usize::from(row % 5 == 0)
        };
        data.labels.push(labels[..count].iter().copied());
    }
    data
}

fn train(name: &str, threads: usize) -> Model {
    let catalogue = catalogue();
    let algorithm = catalogue.find(name).unwrap();
    let given: &[(&str, &str)] = if name == "recall-tree" {
        &[("bits", "14"), ("max-candidates", "5")]
    } else {
        &[("trees", "6"), ("max-leaf", "4")]
    };
    let method = algorithm.configure(given.iter().copied()).unwrap();
    let options = FitOptions {
        weighting: WeightingChoice::Raw,
        ..FitOptions::default()
    };
    let examples = Examples::Vectors {
        data: data(),
        first: 1,
    };
    fit(&method, examples, options, &session(threads)).unwrap()
}

fn predictions(model: &Model, rows: &Rows, threads: usize) -> Predictions {
    model.predict_rows(rows, 6, &session(threads)).unwrap()
}

#[test]
fn saved_and_loaded_models_predict_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let data = data();
    for name in ALGORITHMS {
        let model = train(name, 2);
        let before = predictions(&model, &data.rows, 1);
        let right = before.iter().zip(data.labels.iter());
        let right = right
            .filter(|(best, labels)| labels.contains(&best[0].class))
            .count();
        assert!(right > 175, "{name}: {right} of 350");
        model.save(&path).unwrap();
        Model::verify(&path, &catalogue(), &session(2)).unwrap();
        let loaded = Model::load(&path, &catalogue()).unwrap();
        assert_eq!(before, predictions(&loaded, &data.rows, 4), "{name}");
        let bytes = std::fs::read(&path).unwrap();
        loaded.save(&path).unwrap();
        assert_eq!(bytes, std::fs::read(&path).unwrap(), "{name}");
    }
}

#[test]
fn files_are_the_same_at_any_thread_count() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |name, threads| {
        let path = folder.path().join("model");
        train(name, threads).save(&path).unwrap();
        std::fs::read(&path).unwrap()
    };
    for name in ALGORITHMS {
        let one = bytes(name, 1);
        assert_eq!(one, bytes(name, 2), "{name}");
        assert_eq!(one, bytes(name, 4), "{name}");
    }
}

#[test]
fn half_precision_survives_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let data = data();
    for name in ALGORITHMS {
        let model = train(name, 1);
        let full = predictions(&model, &data.rows, 1);
        let model = model.with_precision(memoir::model::Precision::F16).unwrap();
        let half = predictions(&model, &data.rows, 1);
        model.save(&path).unwrap();
        let loaded = Model::load(&path, &catalogue()).unwrap();
        assert_eq!(half, predictions(&loaded, &data.rows, 1), "{name}");
        let same = full
            .iter()
            .zip(half.iter())
            .filter(|(a, b)| a[0].class == b[0].class);
        assert!(same.count() > 330, "{name}");
    }
}

/// Arrays as a model file would hand them over.
struct Arrays {
    shape: (usize, usize),
    arrays: Vec<(String, &'static str, Vec<u8>)>,
}

impl Arrays {
    fn of(model: &Model) -> Self {
        let tensors = model.scorer().tensors().into_iter();
        Self {
            shape: (model.scorer().classes(), model.scorer().features()),
            arrays: tensors
                .map(|(name, tensor): (String, Tensor<'_>)| (name, tensor.element(), tensor.bytes().to_vec()))
                .collect(),
        }
    }

    fn array<T: bytemuck::Pod>(&self, name: &str, element: &str) -> Result<Storage<T>> {
        let found = self
            .arrays
            .iter()
            .find(|array| array.0 == name && array.1 == element);
        let (_, _, bytes) = found.ok_or_else(|| self.invalid(format!("it lacks the array `{name}`")))?;
        let size = size_of::<T>();
        let elements: Vec<T> = bytes
            .chunks_exact(size)
            .map(bytemuck::pod_read_unaligned)
            .collect();
        Ok(elements.into())
    }
}

macro_rules! arrays {
    ($($method:ident: $type:ty, $element:literal;)*) => {
        $(fn $method(&self, name: &str) -> Result<Storage<$type>> { self.array(name, $element) })*
    };
}

impl TensorSource for Arrays {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn element(&self, name: &str) -> Option<&'static str> {
        self.arrays
            .iter()
            .find(|array| array.0 == name)
            .map(|array| array.1)
    }

    arrays! {
        u8: u8, "U8"; u16: u16, "U16"; u32: u32, "U32"; u64: u64, "U64";
        i8: i8, "I8"; i16: i16, "I16"; f16: half::f16, "F16"; f32: f32, "F32";
    }

    fn invalid(&self, message: String) -> Error {
        Error::ModelFile {
            path: Path::new("arrays").to_owned(),
            message,
        }
    }
}

/// Makes a scorer of `arrays`; if that succeeds, predicts with it.
fn exercise(kind: &str, arrays: &Arrays, rows: &Rows) -> Result<()> {
    let catalogue = catalogue();
    let kind = catalogue
        .scorers()
        .iter()
        .find(|known| known.kind == kind)
        .unwrap();
    let scorer = (kind.load)(arrays)?;
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    for row in rows.iter().take(20) {
        scorer.top_k(row, 6, &mut scratch, &mut out);
        assert!(out.len() <= 6 && out.iter().all(|scored| (scored.class as usize) < arrays.shape.0));
    }
    Ok(())
}

#[test]
fn missing_and_shortened_arrays_are_refused() {
    let rows = data().rows;
    for name in ALGORITHMS {
        let model = train(name, 1);
        let kind = model.scorer().kind();
        exercise(kind, &Arrays::of(&model), &rows).unwrap();
        for place in 0..Arrays::of(&model).arrays.len() {
            let mut shortened = Arrays::of(&model);
            let bytes = &mut shortened.arrays[place].2;
            bytes.truncate(bytes.len() - 8.min(bytes.len()));
            let array = shortened.arrays[place].0.clone();
            assert!(
                array == "forest.roots" || exercise(kind, &shortened, &rows).is_err(),
                "{name}: {array}"
            );
            let mut missing = Arrays::of(&model);
            missing.arrays.remove(place);
            // Without its settings a forest has no second opinion, and is a whole one.
            assert!(
                array == "tail.settings" || exercise(kind, &missing, &rows).is_err(),
                "{name}: {array}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn damaged_arrays_never_panic_or_hang(place: prop::sample::Index, at: prop::sample::Index, value: u32, which in 0usize..3) {
        static MODELS: std::sync::OnceLock<Vec<Model>> = std::sync::OnceLock::new();
        let models = MODELS.get_or_init(|| ALGORITHMS.iter().map(|name| train(name, 1)).collect());
        let mut arrays = Arrays::of(&models[which]);
        let place = place.index(arrays.arrays.len());
        let bytes = &mut arrays.arrays[place].2;
        if bytes.len() >= 4 {
            let at = at.index(bytes.len() / 4) * 4;
            // Small numbers are the dangerous ones: they pass for nodes and offsets.
            let value = if value % 2 == 0 { value % 200 } else { value };
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        let _ = exercise(models[which].scorer().kind(), &arrays, &data().rows);
    }
}
