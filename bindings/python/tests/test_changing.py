"""Classifiers that are made of other ones: columns, kinds of labels, and what a file keeps of them."""

import memoir
import numpy as np
import pytest
from memoir import MemoirClassifier, MemoirTextClassifier
from memoir._labels import kind_of
from scipy import sparse

X = np.array([[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0], [1.5, 0, 0], [0, 1.5, 0], [0, 0, 1.5]])


def test_classes_are_renamed_merged_and_retired(data):
    X, y = data
    model = MemoirClassifier(n_jobs=1).fit(X, y)
    renamed = model.rename({3: 30, 4: 40})
    assert 30 in renamed.classes_ and 3 not in renamed.classes_ and renamed.classes_.dtype == y.dtype
    np.testing.assert_array_equal(renamed.predict(X) == 30, model.predict(X) == 3)
    assert 3 in model.classes_, "the old one stays"
    merged = model.merge([1, 2], 1)
    assert 2 not in merged.classes_
    assert merged.score(X, np.where(y == 2, 1, y)) > 0.9
    retired = model.retire([5])
    assert 5 not in retired.predict(X)
    small = model.compact(precision="int8", final=True)
    assert small.summary()["file_bytes"] < model.summary()["file_bytes"]
    assert small.score(X, y) > 0.9
    for wrong in ({"precision": "f8"}, {"max_size": 10}):
        with pytest.raises(ValueError):
            model.compact(**wrong)
    with pytest.raises(ValueError, match="no class"):
        model.retire([99])


TABLE = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]] * 2)
NAMES = ["sky", "apple", "never", "moss"]


@pytest.fixture
def columns():
    """A classifier whose columns have names, not in the order of the alphabet, and one of them no row."""
    pandas = pytest.importorskip("pandas")
    model = MemoirClassifier(n_jobs=1).fit(X, pandas.DataFrame(TABLE, columns=NAMES))
    assert model.score(X, TABLE) == 1.0
    return model


@pytest.mark.parametrize(
    ("change", "names", "table"),
    [
        (lambda model: model.compact(precision="f16"), NAMES, TABLE),
        (lambda model: model.rename({"apple": "zebra"}), ["sky", "zebra", "never", "moss"], TABLE),
        (
            lambda model: model.rename({"sky": "moss", "moss": "sky"}),
            ["moss", "apple", "never", "sky"],
            TABLE,
        ),
        (lambda model: model.rename({"never": "ever", "sky": "a"}), ["a", "apple", "ever", "moss"], TABLE),
        (lambda model: model.rename(dict(zip(NAMES, [9, 8, 7, 6]))), [9, 8, 7, 6], TABLE),
        (
            lambda model: model.merge(["moss", "sky"], "moss"),
            ["moss", "apple", "never"],
            TABLE[:, :3] + TABLE[:, [3, 2, 2]],
        ),
        (
            lambda model: model.merge(["never", "apple"], "fruit"),
            ["sky", "fruit", "moss"],
            TABLE[:, [0, 1, 3]],
        ),
        (lambda model: model.merge(["never"], "ever"), ["sky", "apple", "ever", "moss"], TABLE),
        (lambda model: model.retire(["never"]), ["sky", "apple", "moss"], TABLE[:, [0, 1, 3]]),
        (lambda model: model.retire(["apple"]), ["sky", "never", "moss"], TABLE[:, [0, 2, 3]]),
    ],
    ids=[
        "compact",
        "rename",
        "swap",
        "rename both",
        "numbers",
        "merge",
        "merge one",
        "call",
        "retire",
        "lose",
    ],
)
def test_columns_stay_where_they_are(columns, change, names, table):
    changed = change(columns)
    assert changed.classes_.tolist() == names
    rows = table.any(axis=1)
    np.testing.assert_array_equal(changed.predict(X)[rows], table[rows])
    assert changed.score(X[rows], table[rows]) == changed.evaluate(X[rows], table[rows])["accuracy"] == 1.0
    assert changed.predict_proba(X).shape == table.shape
    np.testing.assert_array_equal(
        changed.classes_[changed.predict_proba(X).argmax(axis=1)], changed.predict_topk(X, 1).classes[:, 0]
    )
    assert columns.classes_.tolist() == NAMES, "the old one stays"
    changed.partial_fit(X[rows], table[rows])
    assert changed.classes_.tolist() == names


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_without_names_keep_their_numbers(form):
    model = MemoirClassifier(n_jobs=1).fit(X, form(TABLE))
    assert model.compact(final=True).classes_.tolist() == [0, 1, 2, 3]
    assert model.compact(final=True).score(X, form(TABLE)) == 1.0
    fewer = model.retire([2])
    assert fewer.classes_.tolist() == [0, 1, 3] and fewer.predict(X).shape == (6, 3)
    assert fewer.score(X, form(TABLE[:, [0, 1, 3]])) == fewer.score(X, form(TABLE)) == 1.0


def test_classes_that_were_only_listed_stay():
    model = MemoirClassifier("centroid").partial_fit(X, ["b", "d", "c"] * 2, classes=["a", "b", "c", "d"])
    assert model.compact().classes_.tolist() == ["a", "b", "c", "d"]
    renamed = model.rename({"a": "z", "b": "y"})
    assert renamed.classes_.tolist() == ["c", "d", "y", "z"], "sorted, as in fit"
    assert renamed.predict(X).tolist() == ["y", "d", "c"] * 2
    assert model.retire(["a"]).classes_.tolist() == ["b", "c", "d"]


def test_kinds_of_labels_do_not_mix():
    whole = MemoirClassifier("centroid").fit(X, [1, 2, 3] * 2)
    texts = MemoirClassifier("centroid").fit(X, ["a", "b", "c"] * 2)
    for mixed in (
        lambda: whole.rename({1: "x"}),
        lambda: whole.merge([1, 2], "x"),
        lambda: texts.rename({"a": 1}),
        lambda: whole.rename({1: "x", 2: 5}),
    ):
        with pytest.raises(ValueError, match="texts and (numbers|int) mixed"):
            mixed()
    with pytest.raises(ValueError, match="labels are float64 now and int64 in the model"):
        whole.rename({1: 2.5})
    for none in (None, np.nan, ["x"], b"x"):
        with pytest.raises(ValueError, match="expected a label|bytes, expected texts"):
            texts.rename({"a": none})
    assert whole.rename({1: 7.0}).predict(X).tolist() == [7, 2, 3] * 2
    assert whole.rename({1: np.int32(7)}).classes_.tolist() == [2, 3, 7]
    assert whole.rename({1: "x", 2: "y", 3: "z"}).predict(X).tolist() == ["x", "y", "z"] * 2
    short = MemoirClassifier("centroid").fit(X, np.array([1, 2, 3] * 2, dtype=np.int16))
    assert short.rename({1: 7}).classes_.dtype == np.int16
    assert short.rename({1: 70_000}).classes_.tolist() == [2, 3, 70_000]
    narrow = MemoirClassifier("centroid").fit(X, np.array(["a", "b", "c"] * 2))
    assert narrow.rename({"a": "much longer"}).classes_.tolist() == ["b", "c", "much longer"]
    assert narrow.rename({"a": "much longer"}).classes_.dtype.kind == "U"


def test_changes_that_cannot_be(columns):
    for wrong, message in (
        (lambda: columns.rename({"sky": "never"}), "two classes would be called 'never'"),
        (lambda: columns.merge(["sky", "moss"], "never"), "there is another class 'never' already"),
        (lambda: columns.merge([], "x"), "no class to merge"),
        (lambda: columns.merge("sky", "x"), "expected a list of classes, got 'sky'"),
        (lambda: columns.retire("sky"), "expected a list of classes, got 'sky'"),
        (lambda: columns.retire([["sky"]]), r"there is no class \['sky'\]"),
        (lambda: columns.rename({"absent": "x"}), "there is no class 'absent'"),
        (lambda: columns.retire(NAMES), "at least one class"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    whole = MemoirClassifier("centroid").fit(X, [1, 2, 3] * 2)
    with pytest.raises(ValueError, match="renamed twice"):
        whole.rename({1: 5, "1": 6})


@pytest.mark.parametrize(
    ("labels", "change"),
    [
        (["a", "b", "c"], lambda model: model.rename({"a": "1", "b": "2", "c": "3"})),
        (["1", "2", "3"], lambda model: model.rename({"1": "a"})),
        (["1", "2", "3"], lambda model: model.rename({"1": 1, "2": 2, "3": 3})),
        ([1, 2, 3], lambda model: model.rename({1: "a", 2: "b", 3: "c"})),
        ([1, 2, 3], lambda model: model.rename({1: "1", 2: "2", 3: "3"})),
        ([1, 2, 3], lambda model: model.rename({1: 4})),
        ([1.0, 2.0, 3.0], lambda model: model.rename({1.0: 4})),
        ([1.0, 2.0, 3.0], lambda model: model.rename({1: 4, 2: 5, 3: 6})),
        (["1", "2", "x"], lambda model: model.retire(["x"])),
        (["1", "2", "x"], lambda model: model.merge(["2", "x"], "2")),
        (["1", "2", "3"], lambda model: model.merge(["1", "3"], "x")),
        (["1", "2", "3"], lambda model: model.compact(precision="f16")),
        ([True, False, True], lambda model: model.rename({True: "yes", False: "no"})),
        (np.array([1, 2, 3], dtype=object), lambda model: model.compact()),
        (["x", "x", "x"], lambda model: model.partial_fit(X[:2], ["1", "2"])),
        (["1", "2", "2"], lambda model: model.partial_fit(X[:2], ["3", "4"])),
    ],
)
def test_a_file_keeps_what_labels_are_after_a_change(labels, change, tmp_path):
    model = change(MemoirClassifier("centroid").fit(X, np.concatenate([labels, labels])))
    model.save(tmp_path / "m")
    again = memoir.load(tmp_path / "m")
    for ours, theirs in ((again.classes_, model.classes_), (again.predict(X), model.predict(X))):
        assert ours.tolist() == theirs.tolist()
        assert list(map(type, ours.tolist())) == list(map(type, theirs.tolist()))


def test_kinds_of_objects():
    for labels, kind in (([np.int64(1), 2], "whole"), ([np.True_, False], "truth"), ([1, 2.0], "real")):
        assert kind_of(np.array(labels, dtype=object)) == kind
    for labels in (["1"], [np.str_("1"), "2"], [], [None]):
        assert kind_of(np.array(labels, dtype=object)) == "text"


def test_what_learned_from_a_file_keeps_texts(tmp_path):
    lines = ["label,text", "1,red apple", "02,blue sky"]
    for codes in (lines, [*lines[:2], "2,blue sky"]):
        (tmp_path / "t.csv").write_text("\n".join(codes) + "\n")
        model = MemoirTextClassifier(n_jobs=1).fit_file(tmp_path / "t.csv")
        model.save(tmp_path / "m")
        assert memoir.load(tmp_path / "m").predict(["apple"]).tolist() == ["1"]
        assert (
            memoir.load(tmp_path / "m").score(["apple", "sky"], [codes[1][0], codes[2].split(",")[0]]) == 1
        )
        same = MemoirTextClassifier(n_jobs=1).fit(["red apple", "blue sky"], model._met.tolist())
        assert same._model.to_bytes() == model._model.to_bytes()
