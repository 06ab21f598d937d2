//! What nobody could open is not written, and a file that changes while it is open is noticed.

use memoir::model::Narrow;

use super::*;

/// The error of writing a model whose file held this, and what is left in its folder.
fn refused(bench: &Bench, hostile: &[u8]) -> String {
    let model = bench.load(hostile).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let error = model.save(folder.path().join("out")).unwrap_err().to_string();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    assert!(model.to_bytes().is_err(), "pickles are refused, too");
    let unwritten = "the model is not written, because no reader would accept it: ";
    let reason = error.split_once(unwritten).unwrap_or_else(|| panic!("{error}")).1;
    reason.to_owned()
}

#[test]
fn classes_that_do_not_exist_are_not_written_again() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    let hostile = with_array(&bytes, "weights.classes", |ids| ids[0] = 7);
    let reason = "`weights.classes` names class 7 for feature 0, but there are 3 classes";
    assert_eq!(refused(&bench, &hostile), reason);
    let bytes = bench.save(&fixed_model::<Narrow>());
    let hostile = with_array(&bytes, "weights.postings", |postings| postings[2] = 9);
    let reason = refused(&bench, &hostile);
    assert_eq!(
        reason,
        "`weights.postings` names class 9, but there are 3 classes"
    );
}

#[test]
fn kept_rows_that_are_damaged_are_not_written_again() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    let hostile = with_array(&bytes, "rehearsal.rows", |rows| rows[0] = 100);
    assert_eq!(refused(&bench, &hostile), "row 1 of the kept rows is damaged");
}

#[test]
fn weights_that_are_not_finite_are_neither_written_nor_read() {
    let bench = Bench::new();
    for precision in [Precision::F32, Precision::F16] {
        let mut builder = LinearBuilder::new(3);
        builder.push_feature([(0, 0.5), (2, f32::INFINITY)]);
        for _ in 0..3 {
            builder.push_feature([]);
        }
        let mut parts = model(vectors(), precision).into_parts();
        parts.scorer = Box::new(builder.finish(precision));
        let error = Model::from(parts).save(bench.path()).unwrap_err().to_string();
        let holds = "its array `weights.values` holds an infinite number, or one that is not a number";
        assert!(error.ends_with(holds), "{error}");
        let bytes = bench.save(&model(vectors(), precision));
        let hostile = with_array(&bytes, "weights.values", |values| values.fill(0xff));
        assert_eq!(bench.complaint(&hostile), holds);
        bench.write(&hostile);
        assert!(verify(&bench.path()).unwrap_err().to_string().ends_with(holds));
    }
    // A weight that 16 bits cannot hold.
    let mut builder = LinearBuilder::new(3);
    builder.push_feature([(0, 1e6)]);
    for _ in 0..3 {
        builder.push_feature([]);
    }
    let mut parts = model(vectors(), Precision::F32).into_parts();
    parts.scorer = Box::new(builder.finish(Precision::F32));
    let half = Model::from(parts).with_precision(Precision::F16).unwrap();
    assert!(half.save(bench.path()).is_err());
}

#[test]
fn numbers_in_the_header_are_finite() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    for (from, to) in [
        ("mean_length\\\":1.0", "mean_length\\\":1e39"),
        ("mean_length\\\":1.0", "mean_length\\\":-1.0"),
        ("length_power\\\":1.0", "length_power\\\":1e39"),
        ("length_power\\\":1.0", "length_power\\\":1.5"),
    ] {
        let hostile = with_header(&bytes, |header| {
            assert!(header.contains(from), "{header}");
            header.replace(from, to)
        });
        let complaint = bench.complaint(&hostile);
        assert!(
            complaint.contains("expected a number from 0 to 1 and a positive one"),
            "{complaint}"
        );
    }
    bench.write(&bytes);
    // What JSON has no word for becomes `null`, which no reader takes for a number.
    let mut parts = model(vectors(), Precision::F32).into_parts();
    parts.preprocessing.weighting.mean_length = f32::NAN;
    let error = Model::from(parts).save(bench.path()).unwrap_err().to_string();
    assert!(error.contains("the model is not written"), "{error}");
    assert!(
        fs::read(bench.path()).unwrap() == bytes,
        "the file before is untouched"
    );
}

#[test]
fn an_array_of_weights_must_not_be_empty() {
    let bench = Bench::new();
    let mut parts = model(vectors(), Precision::F32).into_parts();
    parts.preprocessing.weighting.feature_weights = Vec::new().into();
    let error = Model::from(parts).save(bench.path()).unwrap_err().to_string();
    assert!(
        error.ends_with("it lacks the array `weighting.feature_weights`"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_is_written_over_is_noticed() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    let open = || Model::load(&bench.path(), &Catalogue::new()).unwrap();
    let in_memory = Model::read(&bench.path(), &Catalogue::new()).unwrap();
    let predict = |model: &Model| model.predict_rows(&rows(), 1, &session(1)).map(|_| ());
    let expected = in_memory.predict_rows(&rows(), 2, &session(1)).unwrap();

    // Replaced by renaming: the open model stays what it was.
    let replaced = open();
    model(vectors(), Precision::F16).save(bench.path()).unwrap();
    assert_eq!(replaced.predict_rows(&rows(), 2, &session(1)).unwrap(), expected);

    // Written over with the same size and time: the checksums tell.
    bench.write(&bytes);
    let (mapped, time) = (open(), fs::metadata(bench.path()).unwrap().modified().unwrap());
    predict(&mapped).unwrap();
    let other = with_array(&bytes, "weights.values", |values| values[0] ^= 1);
    fs::write(bench.path(), other).unwrap();
    let file = fs::File::options().write(true).open(bench.path()).unwrap();
    file.set_modified(time).unwrap();
    let error = predict(&mapped).unwrap_err().to_string();
    assert!(
        error.contains("it was changed while it was open (its checksums are others)"),
        "{error}"
    );

    // Cut short: found by its size, before anything is read.
    let mapped = open();
    file.set_len(100).unwrap();
    let error = predict(&mapped).unwrap_err().to_string();
    assert!(error.contains("it has 100 bytes now, and had"), "{error}");
    assert_eq!(in_memory.predict_rows(&rows(), 2, &session(1)).unwrap(), expected);
}
