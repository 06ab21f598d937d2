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


LISTS = [["c", "z"], ["a"], ["b"], ["c"], ["a", "z"], ["b"]]


def test_lists_of_labels():
    model = MemoirClassifier().fit(X, LISTS)
    assert model.classes_.tolist() == ["a", "b", "c", "z"]
    assert model.predict(X) == [["c"], ["a"], ["b"], ["c"], ["a"], ["b"]]
    assert all(len(labels) == 2 for labels in model.predict(X, k=2))
    assert model.score(X, LISTS) == 1.0
    report = model.evaluate(X, LISTS)
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


def test_text_with_several_labels():
    texts = ["red paint", "blue sea", "green grass"] * 5
    model = MemoirTextClassifier().fit(texts, [["red", "colour"], ["blue", "colour", "water"], ["green"]] * 5)
    assert model.predict(["some grass"]) == [["green"]]
    assert set(model.predict_topk(["sea"], 3).classes[0]) == {"blue", "colour", "water"}


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a"], "b", ["c"], ["a"], ["b"], ["c"]], "row 1 of y is 'b', expected a list of labels"),
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
