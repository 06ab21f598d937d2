"""Going on: new rows, new classes, new words."""

import numpy as np
import pytest
from memoir import MemoirClassifier, MemoirTextClassifier


def test_partial_fit_learns_new_classes(data):
    X, y = data
    old = y < 8
    model = MemoirClassifier().partial_fit(X[old], y[old])
    assert model.classes_.tolist() == list(range(8))
    model.partial_fit(X[~old], y[~old])
    assert model.classes_.tolist() == list(range(12))
    assert model.score(X, y) > 0.9
    assert model.summary()["rows"] == 600


def test_classes_may_be_told_in_advance(data):
    X, y = data
    model = MemoirClassifier().partial_fit(X[y < 3], y[y < 3], classes=np.arange(12))
    assert model.classes_.tolist() == list(range(12))
    assert model.predict_proba(X[:2]).shape == (2, 12)
    assert set(model.predict(X)) <= {0, 1, 2}
    model.partial_fit(X, y)
    assert set(model.predict(X)) == set(range(12))


def test_new_words(texts):
    X, y = texts
    model = (
        MemoirTextClassifier()
        .partial_fit(X, y)
        .partial_fit(["juggles burning torches"] * 5, ["job-juggle"] * 5)
    )
    assert model.predict(["torches", X[0]]).tolist() == ["job-juggle", y[0]]


def test_warm_start_goes_on_and_a_cold_one_does_not(data):
    X, y = data
    old = y < 8
    warm = MemoirClassifier(warm_start=True).fit(X[old], y[old]).fit(X[~old], y[~old])
    assert len(warm.classes_) == 12
    partial = MemoirClassifier().partial_fit(X[old], y[old]).partial_fit(X[~old], y[~old])
    assert warm._model.to_bytes() == partial._model.to_bytes()
    cold = MemoirClassifier().fit(X[old], y[old]).fit(X[~old], y[~old])
    assert len(cold.classes_) == 4


def test_going_on_from_a_file(data, tmp_path):
    X, y = data
    MemoirClassifier().fit(X[y < 8], y[y < 8]).save(tmp_path / "m")
    model = MemoirClassifier.load(tmp_path / "m").partial_fit(X[y >= 8], y[y >= 8])
    assert len(model.classes_) == 12


def test_what_cannot_go_on_stays_as_it_was(data):
    X, y = data
    model = MemoirClassifier("ovr").partial_fit(X, y)
    before = model._model.to_bytes()
    with pytest.raises(ValueError, match="`ovr` cannot continue from a model"):
        model.partial_fit(X, y)
    assert model._model.to_bytes() == before
    model = MemoirClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="labels were int64 before"):
        model.partial_fit(X, [f"c{label}" for label in y])
    with pytest.raises(ValueError, match="has the form 'lists' now"):
        model.partial_fit(X, [[label] for label in y])
    with pytest.raises(ValueError, match="150 features"):
        model.partial_fit(X[:, :5], y)
    assert model.score(X, y) > 0.9


def test_lists_go_on(data):
    X, y = data
    sets = [[f"c{label}"] for label in y]
    model = MemoirClassifier().partial_fit(X[:300], sets[:300]).partial_fit(X[300:], sets[300:])
    assert model.score(X, sets) > 0.9
