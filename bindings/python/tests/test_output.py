"""What predictions look like: top-k, sparse, dense, and the limit of dense."""

import pickle
import re

import numpy as np
import pytest
from conftest import made_up
from memoir import MemoirClassifier, MemoirTextClassifier, _predicting
from memoir._predicting import falling
from scipy import sparse
from sklearn.base import clone


@pytest.fixture(scope="module")
def model(data):
    X, y = data
    return MemoirClassifier().fit(X, np.array([f"c{label:02}" for label in y]))


def test_topk_agrees_with_everything_else(model, data):
    X, _ = data
    classes, probabilities = model.predict_topk(X, 4)
    assert classes.shape == probabilities.shape == (600, 4)
    np.testing.assert_array_equal(classes[:, 0], model.predict(X))
    assert (np.diff(probabilities, axis=1) <= 0).all()
    dense = model.predict_proba(X)
    assert dense.shape == (600, 12)
    np.testing.assert_allclose(dense.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[dense.argmax(axis=1)], classes[:, 0])
    few = model.predict_proba(X, k=4)
    assert sparse.issparse(few) and few.format == "csr" and few.nnz == 2400 and few.has_sorted_indices
    columns = np.searchsorted(model.classes_, classes)
    np.testing.assert_array_equal(np.take_along_axis(few.toarray(), columns, axis=1), probabilities)


def tied():
    """Rows that say the same of several classes, in an order of first appearance that is not the order of
    the labels."""
    random = np.random.default_rng(4)
    y = np.array(["d", "b", "a", "c"])[np.arange(400) % 4]
    same = {"d": 0, "b": 0, "a": 1, "c": 2}
    X = np.zeros((400, 6))
    X[np.arange(400), [same[label] for label in y]] = 1
    X[np.arange(400), random.integers(3, 6, 400)] += random.integers(0, 2, 400)
    X[::50] = 0
    return X, y


@pytest.mark.parametrize("algorithm", ["softmax", "centroid", "knn", "recall-tree"])
def test_the_largest_number_is_that_of_the_predicted_class(algorithm):
    X, y = tied()
    model = MemoirClassifier(algorithm, n_jobs=1).fit(X, y)
    predicted = model.predict(X)
    for dense in (model.predict_proba(X), model.decision_function(X)):
        np.testing.assert_array_equal(model.classes_[dense.argmax(axis=1)], predicted)
        if algorithm == "softmax":
            order = np.argsort(-dense, axis=1, kind="stable")
            np.testing.assert_array_equal(model.classes_[order], model.predict_topk(X, 4).classes)
    known = X.any(axis=1)
    for few in (model.predict_proba(X, k=3), model.decision_function(X, k=3)):
        rows = [slice(start, end) for start, end in zip(few.indptr, few.indptr[1:])]
        best = np.array([few.indices[row][few.data[row].argmax()] for row in rows])
        np.testing.assert_array_equal(model.classes_[best][known], predicted[known])
    two = y != "c"
    model = MemoirClassifier(algorithm, n_jobs=1).fit(X[two], np.where(y[two] == "a", "b", y[two]))
    np.testing.assert_array_equal(
        model.classes_[(model.decision_function(X) > 0).astype(int)], model.predict(X)
    )


def test_ties_fall_by_the_least_step(monkeypatch):
    ranked = np.array([[3, 3, 1, 1, 0, 0, -0.0, -1, -1, -np.inf, -np.inf]], dtype=np.float32)
    for dtype in (np.float32, np.float64):
        fallen = falling(ranked.astype(dtype))
        assert fallen.dtype == dtype and (fallen[:, 1:-1] < fallen[:, :-2]).all()
        np.testing.assert_allclose(fallen, ranked, rtol=1e-6, atol=1e-40)
        probable = falling(np.abs(ranked[:, :6]).astype(dtype), 0.0)
        assert (np.diff(probable[0, :5]) < 0).all() and (probable[0, 4:] == 0).all()
    assert falling(np.empty((2, 0))).shape == (2, 0)
    many = np.repeat(ranked, 9, axis=0)
    monkeypatch.setattr(_predicting, "AT_ONCE", 30)
    np.testing.assert_array_equal(falling(many.copy()), np.repeat(falling(ranked), 9, axis=0))


def test_scores(model, data):
    X, _ = data
    dense = model.decision_function(X)
    few = model.decision_function(X, k=3)
    assert dense.shape == (600, 12) and few.nnz == 1800
    np.testing.assert_array_equal(model.classes_[dense.argmax(axis=1)], model.predict(X))
    there = few.toarray() != 0
    np.testing.assert_allclose(dense[there], few.toarray()[there])


def test_two_classes_have_one_score(data):
    X, y = data
    model = MemoirClassifier().fit(X, y % 2)
    scores = model.decision_function(X)
    assert scores.shape == (600,)
    np.testing.assert_array_equal((scores > 0).astype(int), model.predict(X))


def test_more_than_there_is(model, data):
    X, _ = data
    for more in (99, 2**70):
        assert model.predict_topk(X[:2], more).classes.shape == (2, 12)
    for wrong in (0, -1, 1.5, "3", True):
        with pytest.raises(ValueError, match="`k` must be a whole number of at least 1"):
            model.predict_topk(X, wrong)
    with pytest.raises(ValueError, match="call predict_topk"):
        model.predict(X, k=2)


@pytest.mark.parametrize("limit", [50_000, "50k"])
def test_dense_beyond_the_limit_is_refused_in_bytes(model, data, limit):
    X, _ = data
    strict = pickle.loads(pickle.dumps(model)).set_params(dense_limit=limit)
    for method in (strict.predict_proba, strict.decision_function):
        message = f"{method.__name__} of 600 rows and 12 classes would take 57,600 bytes, "
        message += "more than dense_limit = 50,000"
        with pytest.raises(ValueError, match=re.escape(message) + r".*call predict_topk\(X, k\)"):
            method(X)
    texts = MemoirTextClassifier(dense_limit=limit).fit(["red", "blue"], ["a", "b"])
    with pytest.raises(ValueError, match="predict_proba of 4,000 rows"):
        texts.predict_proba("some text" for _ in range(4000))
    table = MemoirClassifier(dense_limit=limit).fit(X, np.eye(12, dtype=int)[data[1]])
    with pytest.raises(
        ValueError, match="predict of 600 rows .*: fit with a sparse indicator matrix, or raise"
    ):
        table.predict(X)
    assert strict.predict_proba(X, k=2).nnz == 1200
    assert strict.predict_proba(X[:100]).shape == (100, 12)
    assert clone(strict).dense_limit == limit


def test_few_rows_and_many_rows_give_the_same(model, data):
    X, _ = data
    many = model.decision_function(X)
    few = np.vstack([model.decision_function(X[start : start + 50]) for start in range(0, 600, 50)])
    np.testing.assert_array_equal(many, few)


def test_trees_that_score_few_classes():
    X, y = made_up(rows=400, classes=40, seed=3)
    model = MemoirClassifier("recall-tree", max_candidates=5).fit(X, y)
    best = model.predict_topk(X, 40)
    assert all(len(set(row)) == 40 for row in best.classes.tolist())
    assert (best.probabilities[:, -1] == 0).all()
    np.testing.assert_allclose(best.probabilities.sum(axis=1), 1, rtol=1e-5)
    assert model.decision_function(X, k=40).nnz < 400 * 40


def test_rows_without_known_features(model):
    empty = sparse.csr_array((3, 150))
    assert model.predict(empty).shape == (3,)
    np.testing.assert_allclose(model.predict_proba(empty).sum(axis=1), 1)
    assert "nothing in it is known" in str(model.explain(empty[[0]]))


def test_no_rows(model):
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(sparse.csr_array((0, 150)))


def test_explanations_add_up(model, data):
    X, _ = data
    told = model.explain(X[[0]], top=100)
    assert told.answer == model.predict(X[[0]])[0]
    assert sum(share.for_answer for share in told.features) == pytest.approx(told.answer_score, abs=1e-3)
    assert str(told).startswith(f"answer     {told.answer}")
    dense = model.explain(X[[0]].toarray()[0])
    assert dense.features == told.features[:10]
    assert model.explain(sparse.coo_array(X[[0]].toarray()[0])) == dense
    strongest = model.top_features(told.answer, top=3)
    assert len(strongest) == 3 and strongest[0].weight >= strongest[1].weight
    with pytest.raises(ValueError, match="there is no class 'x'"):
        model.top_features("x")
    with pytest.raises(ValueError, match=r"expected one class, got \['x', 'y'\]"):
        model.top_features(["x", "y"])
    with pytest.raises(ValueError, match="does not score feature by feature"):
        MemoirClassifier("knn").fit(*data).explain(X[[0]])


def test_evaluate_counts_unknown_labels(model, data):
    X, y = data
    labels = np.array([f"c{label:02}" for label in y])
    report = model.evaluate(X, labels)
    assert report["rows"] == 600 and report["accuracy"] == model.score(X, labels)
    labels[:30] = "new"
    assert model.evaluate(X, labels)["unknown_labels"] == 30


def test_no_class_is_impossible():
    """Log loss is finite, and not much worse than that of the best temperature of a softmax."""
    random = np.random.default_rng(3)
    topics = random.integers(0, 400, size=(60, 6))
    rows = [[*random.choice(topics[row % 60], 2), *random.integers(0, 400, 3)] for row in range(3000)]
    X = sparse.lil_array((3000, 400))
    for row, features in enumerate(rows):
        X[row, features] = 1.0
    X, y = X.tocsr(), np.arange(3000) % 60
    model = MemoirClassifier(n_jobs=1).fit(X[:2000], y[:2000])
    chances = model.predict_proba(X[2000:])
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-6)
    assert chances.min() > 0
    of_label = lambda matrix: matrix[np.arange(1000), y[2000:]]
    scores = model.decision_function(X[2000:])
    exponentials = [np.exp(factor * (scores - scores.max(axis=1, keepdims=True))) for factor in (0.5, 1, 2)]
    shares = [matrix / matrix.sum(axis=1, keepdims=True) for matrix in exponentials]
    by_temperature = min(-np.log(of_label(matrix)).mean() for matrix in shares)
    assert -np.log(of_label(chances)).mean() < by_temperature + 0.05
