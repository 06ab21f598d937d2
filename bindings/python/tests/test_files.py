"""One model file for Python and the command line, byte for byte."""

import csv
import json

import memoir
import numpy as np
import pytest
from memoir import MemoirClassifier, MemoirTextClassifier


def write_xmc(path, X, y):
    with open(path, "w") as out:
        out.write(f"{X.shape[0]} {X.shape[1]} {int(y.max()) + 1}\n")
        for row, label in enumerate(y):
            start, end = X.indptr[row], X.indptr[row + 1]
            entries = zip(X.indices[start:end], X.data[start:end])
            out.write(f"{label} " + " ".join(f"{column}:{value:g}" for column, value in entries) + "\n")


def write_csv(path, texts, labels):
    with open(path, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["label", "text"])
        table.writerows(zip(labels, texts))


@pytest.mark.parametrize(
    "options", [{}, {"passes": 2, "random_state": 5}, {"algorithm": "centroid", "precision": "f16"}]
)
def test_vectors_make_the_same_file(data, tmp_path, program, options):
    X, y = data
    write_xmc(tmp_path / "t.xmc", X, y)
    arguments = {
        "--algorithm": options.get("algorithm", "softmax"),
        "--seed": options.get("random_state", 0),
    }
    arguments |= {f"--{name}": options[name] for name in ("passes", "precision") if name in options}
    flat = [part for pair in arguments.items() for part in pair]
    program("train", tmp_path / "t.xmc", "--format", "xmc", "--model", tmp_path / "cli", "--quiet", *flat)
    model = MemoirClassifier(**options).fit(X, y)
    model.save(tmp_path / "python")
    assert (tmp_path / "python").read_bytes() == (tmp_path / "cli").read_bytes()


def test_texts_make_the_same_file(texts, tmp_path, program):
    X, y = texts
    write_csv(tmp_path / "t.csv", X, y)
    program(
        "train",
        tmp_path / "t.csv",
        "--model",
        tmp_path / "cli",
        "--quiet",
        "--word-ngrams",
        2,
        "--valid-fraction",
        0.2,
    )
    model = MemoirTextClassifier(word_ngrams=2, valid_fraction=0.2).fit(X, y)
    model.save(tmp_path / "python")
    expected = (tmp_path / "cli").read_bytes()
    assert (tmp_path / "python").read_bytes() == expected
    assert (
        MemoirTextClassifier(word_ngrams=2, valid_fraction=0.2)
        .fit_file(tmp_path / "t.csv")
        ._model.to_bytes()
        == expected
    )


def test_several_labels_make_the_same_file(texts, tmp_path, program):
    X, y = texts
    sets = [[label, "all"] if row % 3 else [label] for row, label in enumerate(y)]
    write_csv(tmp_path / "t.csv", X, ["|".join(labels) for labels in sets])
    program("train", tmp_path / "t.csv", "--model", tmp_path / "cli", "--quiet")
    model = MemoirTextClassifier().fit(X, sets)
    assert model._model.to_bytes() == (tmp_path / "cli").read_bytes()


@pytest.mark.parametrize("algorithm", ["softmax", "centroid", "knn"])
def test_models_of_several_labels_are_known_as_such(texts, tmp_path, program, algorithm):
    """Predictions of a file are lists if its rows had several labels, whoever wrote it; else one label a
    row."""
    X, y = texts
    sets = [[label, "all"] if row % 3 else [label] for row, label in enumerate(y)]
    write_csv(tmp_path / "several.csv", X, ["|".join(labels) for labels in sets])
    write_csv(tmp_path / "single.csv", X, y)
    for name in ("several", "single"):
        source = tmp_path / f"{name}.csv"
        program("train", source, "--algorithm", algorithm, "--model", tmp_path / name, "--quiet")
    fitted = MemoirTextClassifier(algorithm).fit(X, sets)
    fitted.save(tmp_path / "python")
    for model in (
        memoir.load(tmp_path / "several"),
        memoir.load(tmp_path / "python"),
        MemoirTextClassifier(algorithm).fit_file(tmp_path / "several.csv"),
    ):
        assert model.predict(X, k=2) == fitted.predict(X, k=2)
        assert model.score(X, sets) == fitted.score(X, sets)
        assert model.score(X, y) == fitted.score(X, [[label] for label in y])
        if algorithm == "softmax":
            assert model.partial_fit(X, sets).predict(X[:1])[0][0] in sets[0]
    if algorithm == "softmax":
        # Without the counts of classes, the calibration tells it.
        program("compact", tmp_path / "several", "--final", "--out", tmp_path / "final")
        assert memoir.load(tmp_path / "final").predict(X) == fitted.predict(X)
    single = memoir.load(tmp_path / "single")
    assert single.predict(X).shape == (400,) and single.score(X, y) > 0.9
    with pytest.raises(ValueError, match="call predict_topk"):
        single.predict(X, k=2)


def test_going_on_makes_the_same_file(texts, tmp_path, program):
    X, y = texts
    half = len(X) // 2
    write_csv(tmp_path / "1.csv", X[:half], y[:half])
    write_csv(tmp_path / "2.csv", X[half:] + ["a new trade"], y[half:] + ["job-new"])
    program("train", tmp_path / "1.csv", "--model", tmp_path / "m1", "--quiet")
    program("train", tmp_path / "2.csv", "--from", tmp_path / "m1", "--model", tmp_path / "m2", "--quiet")
    model = MemoirTextClassifier().partial_fit(X[:half], y[:half])
    assert model._model.to_bytes() == (tmp_path / "m1").read_bytes()
    model.partial_fit(X[half:] + ["a new trade"], y[half:] + ["job-new"])
    assert model._model.to_bytes() == (tmp_path / "m2").read_bytes()
    assert "job-new" in model.classes_


def test_python_reads_what_the_command_line_writes(texts, tmp_path, program):
    X, y = texts
    write_csv(tmp_path / "t.csv", X, y)
    program(
        "train", tmp_path / "t.csv", "--model", tmp_path / "m", "--quiet", "--stem", "english", "--passes", 3
    )
    model = memoir.load(tmp_path / "m")
    assert isinstance(model, MemoirTextClassifier)
    assert (model.stem, model.passes, model.random_state) == ("english", 3, 0)
    told = program("predict", tmp_path / "m", tmp_path / "t.csv", "--top-k", 3, "--output", "jsonl")
    expected = [json.loads(line)["classes"] for line in told.splitlines()]
    assert model.predict_topk(X, 3).classes.tolist() == expected
    report = json.loads(program("evaluate", tmp_path / "m", tmp_path / "t.csv", "--json"))
    del report["seconds"]
    assert model.evaluate(X, y).items() <= report.items()
    shown = json.loads(program("inspect", tmp_path / "m", "--json"))
    assert model.summary() == shown
    refitted = MemoirTextClassifier(**model.get_params()).fit(X, y)
    assert refitted._model.to_bytes() == (tmp_path / "m").read_bytes()


def test_the_command_line_reads_what_python_writes(data, tmp_path, program):
    X, y = data
    write_xmc(tmp_path / "t.xmc", X, y)
    model = MemoirClassifier().fit(X, y)
    model.save(tmp_path / "m")
    told = program("predict", tmp_path / "m", tmp_path / "t.xmc", "--format", "xmc", "--quiet")
    assert [int(line) for line in told.split()] == model.predict(X).tolist()


def test_labels_after_loading(tmp_path):
    X = [[1.0, 0.0], [0.0, 1.0]]
    for given, labels, expected in [
        ([7, -3], "auto", [-3, 7]),
        ([7, -3], "str", ["-3", "7"]),
        (["07", "3"], "auto", ["07", "3"]),
        (["x", "y"], "auto", ["x", "y"]),
    ]:
        MemoirClassifier("centroid").fit(X, given).save(tmp_path / "m")
        assert memoir.load(tmp_path / "m", labels=labels).classes_.tolist() == expected
    with pytest.raises(ValueError, match="not all whole numbers"):
        memoir.load(tmp_path / "m", labels="int")


def test_wrong_files(data, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        memoir.load(tmp_path / "absent")
    assert caught.value.filename == str(tmp_path / "absent")
    (tmp_path / "other").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="not a usable model file"):
        memoir.load(tmp_path / "other")
    model = MemoirClassifier("centroid").fit(*data)
    with pytest.raises(OSError):
        model.save(tmp_path / "no" / "folder")
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="open it with MemoirClassifier.load"):
        MemoirTextClassifier.load(tmp_path / "m")


def test_repr_tells_size_and_classes(data):
    model = MemoirClassifier(passes=2)
    assert repr(model) == "MemoirClassifier(passes=2)"
    shown = repr(model.fit(*data))
    assert shown.startswith("MemoirClassifier(passes=2)  # 12 classes, 150 features, ")
    assert "weights" in shown and shown.endswith("kB")


def test_loaded_models_keep_predicting_when_the_file_is_replaced(data, tmp_path):
    X, y = data
    model = MemoirClassifier("centroid").fit(X, y)
    model.save(tmp_path / "m")
    loaded = memoir.load(tmp_path / "m")
    MemoirClassifier("centroid").fit(X, y % 3).save(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_paths_that_cannot_be_files_are_told_as_such(tmp_path):
    model = MemoirClassifier().fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(FileNotFoundError) as told:
        model.save(tmp_path / "none" / "m.memoir")
    assert "partial" not in str(told.value)
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)
    for load in (MemoirClassifier.load, memoir.load):
        with pytest.raises(IsADirectoryError):
            load(tmp_path)


def test_files_of_vectors_are_not_for_the_text_estimator(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:2\n2 2:3\n")
    model = MemoirTextClassifier()
    with pytest.raises(ValueError, match="t.svm holds vectors, not texts: fit MemoirClassifier"):
        model.fit_file(tmp_path / "t.svm")
    assert not hasattr(model, "classes_")
