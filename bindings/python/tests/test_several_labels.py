"""Rows with several labels: which labels a row gets, and how predictions are measured."""

import numpy as np
import pytest
from memoir import MemoirClassifier
from scipy import sparse
from sklearn.metrics import f1_score


@pytest.fixture(scope="module")
def several():
    """Rows with one to three labels; each label has columns of its own."""
    random = np.random.default_rng(5)
    labels = [sorted(random.choice(12, random.integers(1, 4), replace=False).tolist()) for _ in range(900)]
    X = sparse.lil_array((900, 150), dtype=np.float32)
    for row, own in enumerate(labels):
        for label in own:
            for column in random.integers(0, 10, 4):
                X[row, 10 * label + column] += 1
        for column in random.integers(120, 150, 3):
            X[row, column] += 1
    indicator = np.zeros((900, 12), dtype=np.int64)
    for row, own in enumerate(labels):
        indicator[row, own] = 1
    return X.tocsr(), labels, indicator


def test_rows_get_as_many_labels_as_are_probable(several):
    X, labels, indicator = several
    model = MemoirClassifier(valid_fraction=0.3, n_jobs=1).fit(X[:600], indicator[:600])
    predicted = model.predict(X[600:])
    assert predicted.shape == (300, 12) and set(np.unique(predicted)) == {0, 1}
    assert len(set(predicted.sum(axis=1).tolist())) > 1, "rows have different numbers of labels"
    by_rank = np.zeros_like(predicted)
    np.put_along_axis(by_rank, np.argsort(-model.predict_proba(X[600:]), axis=1)[:, :1], 1, axis=1)
    assert f1_score(indicator[600:], predicted, average="micro") > f1_score(
        indicator[600:], by_rank, average="micro"
    )


def test_a_higher_threshold_gives_fewer_labels(several):
    X, labels, _ = several
    model = MemoirClassifier(n_jobs=1).fit(X, labels)
    sizes = [sum(map(len, model.predict(X, threshold=threshold))) for threshold in (0.0, 0.2, 0.5, 0.9, 1.0)]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]
    assert max(map(len, model.predict(X, threshold=0.01, at_most=2))) == 2
    assert {len(row) for row in model.predict(X, k=3)} == {3}
    for wrong in ({"threshold": 1.5}, {"k": 2, "at_most": 3}, {"at_most": 0}):
        with pytest.raises(ValueError):
            model.predict(X, **wrong)


def test_score_is_the_share_of_rows_whose_labels_are_all_right(several):
    X, labels, indicator = several
    model = MemoirClassifier(n_jobs=1).fit(X, indicator)
    expected = (model.predict(X) == indicator).all(axis=1)
    assert model.score(X, indicator) == expected.mean()
    weights = np.arange(900) % 5
    assert model.score(X, indicator, sample_weight=weights) == np.average(expected, weights=weights)
    lists = MemoirClassifier(n_jobs=1).fit(X, labels)
    found = [set(row) == set(truth) for row, truth in zip(lists.predict(X), labels)]
    assert lists.score(X, labels) == np.mean(found)


def test_sparse_indicators_come_back_sparse(several):
    X, _, indicator = several
    model = MemoirClassifier(n_jobs=1).fit(X, sparse.csr_array(indicator))
    predicted = model.predict(X)
    assert sparse.issparse(predicted) and predicted.dtype == np.int64
    dense = MemoirClassifier(n_jobs=1).fit(X, indicator)
    np.testing.assert_array_equal(predicted.toarray(), dense.predict(X))
    assert model.score(X, indicator) == dense.score(X, indicator)


def test_a_file_keeps_the_threshold(several, tmp_path):
    X, labels, _ = several
    model = MemoirClassifier(valid_fraction=0.3, n_jobs=1).fit(X, labels)
    assert {len(row) for row in model.predict(X)} > {1}
    model.save(tmp_path / "m")
    assert MemoirClassifier.load(tmp_path / "m").predict(X) == model.predict(X)
