"""Targets of every form: labels of any type, lists of labels, indicator matrices."""

import numpy as np
import pytest
from memoir import MemoirClassifier, MemoirTextClassifier
from scipy import sparse

X = np.array([[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0], [1.5, 0, 0], [0, 1.5, 0], [0, 0, 1.5]])


@pytest.mark.parametrize(
    "y",
    [
        [3, 1, 2] * 2,
        np.array([3, 1, 2] * 2, dtype=np.int16),
        np.array([3, 1, 2] * 2, dtype=np.uint64),
        np.array([3.0, 1.0, 2.0] * 2),
        ["c", "a", "b"] * 2,
        np.array(["c", "a", "b"] * 2),
        np.array(["c", "a", "b"] * 2, dtype=object),
        [True, False, True] * 2,
    ],
    ids=str,
)
def test_labels_come_back_as_they_were(y):
    model = MemoirClassifier().fit(X, y)
    expected = np.unique(np.asarray(y))
    np.testing.assert_array_equal(model.classes_, expected)
    assert model.classes_.dtype.kind == np.asarray(y).dtype.kind
    if len(expected) == 3:
        assert model.predict(X).tolist() == list(np.asarray(y).tolist())
    assert type(model.predict(X).tolist()[0]) is type(np.asarray(y).tolist()[0])


def test_pandas_targets():
    pandas = pytest.importorskip("pandas")
    for y in (
        pandas.Series(["c", "a", "b"] * 2),
        pandas.Series(["c", "a", "b"] * 2, dtype="category"),
        pandas.Series([3, 1, 2] * 2, index=[9, 8, 7, 6, 5, 4]),
    ):
        assert MemoirClassifier().fit(X, y).predict(X).tolist() == y.tolist()


def missing():
    import pandas
    import pyarrow

    labels = ["c", "a", None, "c", "a", "b"]
    return {
        "list": labels,
        "list of numbers": [1, 2, None, 3, 1, 2],
        "list with NaN": ["c", "a", float("nan"), "c", "a", "b"],
        "array": np.array(labels, dtype=object),
        "numbers": np.array([1, 2, np.nan, 3, 1, 2]),
        "column": np.array(labels, dtype=object).reshape(-1, 1),
        "pandas": pandas.Series(labels),
        "pandas strings": pandas.Series(labels, dtype="string"),
        "pandas whole": pandas.Series([1, 2, None, 3, 1, 2], dtype="Int64"),
        "category": pandas.Series(labels, dtype="category"),
        "pandas.NA": ["c", "a", pandas.NA, "c", "a", "b"],
        "arrow": pyarrow.array(labels),
    }


@pytest.mark.parametrize("form", list(missing()))
def test_missing_labels_are_told_by_their_row(form):
    y = missing()[form]
    for model, rows in ((MemoirClassifier(), X), (MemoirTextClassifier(), list("uvwuvw"))):
        with pytest.raises(
            ValueError, match=r"row 2 of y has no label \((None|NaN|<NA>)\); leave such rows out"
        ):
            model.fit(rows, y)
        fitted = model.fit(rows, ["c", "a", "b"] * 2)
        for measure in (fitted.score, fitted.evaluate):
            with pytest.raises(ValueError, match="row 2 of y has no label"):
                measure(rows, y)


def test_targets_of_other_libraries():
    import pandas
    import pyarrow

    for y in (
        pyarrow.array(["c", "a", "b"] * 2),
        pyarrow.chunked_array([["c", "a"], ["b", "c", "a", "b"]]),
        pyarrow.array(["c", "a", "b"] * 2).dictionary_encode(),
        (label for label in ["c", "a", "b"] * 2),
    ):
        assert MemoirClassifier().fit(X, y).predict(X).tolist() == ["c", "a", "b"] * 2
    whole = MemoirClassifier().fit(X, pandas.Series([3, 1, 2] * 2, dtype="Int64"))
    assert whole.classes_.tolist() == [1, 2, 3] and whole.classes_.dtype.kind == "i"
    lists = MemoirClassifier().fit(X, LISTS)
    for y in (pyarrow.array(LISTS), pandas.Series(LISTS)):
        assert MemoirClassifier().fit(X, y)._model.to_bytes() == lists._model.to_bytes()


LISTS = [["c", "z"], ["a"], ["b"], ["c"], ["a", "z"], ["b"]]


def test_lists_of_labels():
    model = MemoirClassifier().fit(X, LISTS)
    assert model.classes_.tolist() == ["a", "b", "c", "z"]
    assert model.predict(X) == [["c"], ["a"], ["b"], ["c"], ["a"], ["b"]]
    assert all(len(labels) == 2 for labels in model.predict(X, k=2))
    assert model.score(X, LISTS) == 4 / 6, "two rows have one label more"
    report = model.evaluate(X, LISTS)
    assert report["accuracy"] == 1.0
    assert report["labels"] == 8 and report["recall_at_3"] > report["recall_at_1"]
    same = MemoirClassifier().fit(X, [set(labels) for labels in LISTS])
    assert same._model.to_bytes() == model._model.to_bytes()
    as_arrays = np.empty(6, dtype=object)
    as_arrays[:] = LISTS
    assert MemoirClassifier().fit(X, as_arrays)._model.to_bytes() == model._model.to_bytes()


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_array, lambda table: table.tolist()]
)
def test_indicator_matrices(form):
    table = np.zeros((6, 5), dtype=int)
    for row, labels in enumerate([[2, 3], [0], [1], [2], [0, 3], [1]]):
        table[row, labels] = 1
    model = MemoirClassifier().fit(X, form(table))
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    predicted = model.predict(X)
    assert predicted.shape == (6, 5) and sparse.issparse(predicted) == sparse.issparse(form(table))
    predicted = predicted.toarray() if sparse.issparse(predicted) else predicted
    assert predicted.sum(axis=1).tolist() == [1] * 6
    assert (predicted <= table).all()
    assert model.predict_proba(X).shape == (6, 5)
    lists = MemoirClassifier().fit(X, [np.flatnonzero(row).tolist() for row in table])
    assert lists._model.to_bytes() == model._model.to_bytes()


def test_columns_with_names():
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    table = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]] * 2)
    frame = pandas.DataFrame(table, columns=["sky", "apple", "moss", "never"])
    for y in (frame, pyarrow.Table.from_pandas(frame)):
        model = MemoirClassifier().fit(X, y)
        assert model.classes_.tolist() == ["sky", "apple", "moss", "never"]
        np.testing.assert_array_equal(model.predict(X), table)
        assert model.predict_topk(X, 1).classes[:3, 0].tolist() == ["sky", "apple", "moss"]
        np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), table.argmax(axis=1))
    # Columns are told apart by their names; without names they are those of the model.
    for same in (frame, frame[["never", "moss", "apple", "sky"]], table):
        assert model.score(X, same) == model.evaluate(X, same)["accuracy"] == 1.0
    with pytest.raises(ValueError, match="y has 3 columns without names, but there are 4 classes"):
        model.evaluate(X, table[:, :3])
    model.partial_fit(X, frame.rename(columns={"never": "now"}))
    assert model.classes_.tolist() == ["sky", "apple", "moss", "never", "now"]
    with pytest.raises(ValueError, match="several columns of y have the same name"):
        MemoirClassifier().fit(X, frame.set_axis(["a", "b", "a", "c"], axis=1))


def test_text_with_several_labels():
    texts = ["red paint", "blue sea", "green grass"] * 5
    model = MemoirTextClassifier().fit(
        texts, [["red", "colour"], ["blue", "colour", "water"], ["green"]] * 5
    )
    assert model.predict(["some grass"]) == [["green"]]
    assert set(model.predict_topk(["sea"], 3).classes[0]) == {"blue", "colour", "water"}


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a"], "b", ["c"], ["a"], ["b"], ["c"]], "row 1 of y is 'b', expected a list of labels"),
        (
            [["a"], ["b", None], ["c"], ["a"], ["b"], ["c"]],
            r"row 1 of y holds a label that is missing: \['b', None\]",
        ),
        (["a", "\ud800", "c"] * 2, "label 1 is not valid Unicode"),
        ("abcabc", "y must be a list or an array .* it is a str"),
        (7, "y must be a list or an array .* it is a int"),
        ([[], [], [], [], [], []], "no row of y has a label"),
        (np.full((6, 2), 3), "may hold only 0 and 1"),
        (np.zeros((6, 2), dtype=int), "no row of y has a label"),
        ([[1, 0]] * 5, "X has 6 rows, but y has 5"),
        ([0.5, 1.25, 2.75, 0.1, 1.1, 2.2], "Unknown label type"),
        ([1, 2], "inconsistent"),
        ([np.nan, 1, 2, 1, 1, 1], "NaN"),
    ],
    ids=str,
)
def test_wrong_targets(y, message):
    with pytest.raises(ValueError, match=message):
        MemoirClassifier().fit(X, y)


def test_names_that_collide_as_text():
    with pytest.raises(ValueError, match="same name as text|Unknown label type|mix"):
        MemoirClassifier().fit(X, np.array([1, "1", 2, 1, "1", 2], dtype=object))
