"""Going on: new rows, new classes, new words."""

import threading

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
    with pytest.raises(ValueError, match="labels are <U3 now and int64 in the model"):
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


def test_labels_keep_their_type():
    X = np.eye(4)
    model = MemoirClassifier().partial_fit(X, [1, 2, 1, 2]).partial_fit(X, [1.0, 1.0, 3.0, 3.0])
    assert model.classes_.tolist() == [1, 2, 3] and model.classes_.dtype.kind == "i"
    assert set(model.predict(X).tolist()) <= {1, 2, 3}
    assert model.evaluate(X, [1.0, 2.0, 1.0, 2.0])["accuracy"] == model.score(X, [1.0, 2.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="labels are <U1 now"):
        model.evaluate(X, ["1", "2", "1", "2"])


def test_listed_classes_are_not_cut():
    X = np.eye(3)
    model = MemoirClassifier().partial_fit(X, np.array(["a", "b", "c"]), classes=["zzlong", "zzother", "a"])
    assert model.classes_.tolist() == ["a", "b", "c", "zzlong", "zzother"]
    with pytest.raises(ValueError, match="1d array"):
        MemoirClassifier().partial_fit(X, [1, 2, 3], classes=[[1, 2], [3, 4]])
    model = MemoirClassifier().partial_fit(X, np.array([1, 2, 3], dtype=np.uint8), classes=[300])
    assert model.classes_.tolist() == [1, 2, 3, 300]


@pytest.mark.parametrize("wrong", [{"passes": -1}, {"algorithm": "magic"}])
def test_a_failed_fit_changes_nothing(wrong):
    X, y = np.eye(6), [0, 1, 2, 0, 1, 2]
    model = MemoirClassifier().fit(X, y)
    before, shown = model.predict(X), model.n_features_in_
    model.set_params(**wrong)
    with pytest.raises(ValueError):
        model.fit(np.eye(12), np.arange(12) % 3)
    model.set_params(passes="auto", algorithm="softmax")
    assert model.n_features_in_ == shown
    assert (model.predict(X) == before).all()


def test_predicting_while_another_thread_fits_gives_answers_of_one_model():
    generator = np.random.default_rng(3)
    X = generator.random((300, 20))
    few, many = generator.integers(0, 3, 300), 1000 + generator.integers(0, 40, 300)
    model = MemoirClassifier("centroid", n_jobs=1).fit(X, few)
    expected = [MemoirClassifier("centroid", n_jobs=1).fit(X, y).predict(X).tolist() for y in (few, many)]
    stop = threading.Event()

    def refit():
        while not stop.is_set():
            model.fit(X, many)
            model.fit(X, few)

    fitting = threading.Thread(target=refit)
    fitting.start()
    try:
        for _ in range(300):
            assert model.predict(X).tolist() in expected
    finally:
        stop.set()
        fitting.join()


@pytest.mark.parametrize("weight", [1e-300, 1e-9, 1e9, 1e300])
def test_weights_of_any_scale_are_alike(weight):
    model = MemoirClassifier().fit(np.eye(4), [0, 1, 0, 1], sample_weight=np.full(4, weight))
    plain = MemoirClassifier().fit(np.eye(4), [0, 1, 0, 1], sample_weight=np.ones(4))
    assert model._model.to_bytes() == plain._model.to_bytes()


def test_rows_without_weight_are_left_out_of_arrow_tables():
    arrow = pytest.importorskip("pyarrow")
    texts, labels = ["a b", "c d", "a e", "c f"], ["x", "y", "x", "y"]
    weights = [0, 1, 1, 1]
    again = MemoirTextClassifier().fit(texts[1:], labels[1:], sample_weight=weights[1:])
    for given in (arrow.table({"t": texts}), arrow.array(["", *texts])[1:], arrow.chunked_array([texts])):
        model = MemoirTextClassifier().fit(given, labels, sample_weight=weights)
        assert model._model.to_bytes() == again._model.to_bytes()
