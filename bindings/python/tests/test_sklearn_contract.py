"""scikit-learn's contract: its own checks, and the tools people use estimators with."""

import pickle

import numpy as np
import pytest
from memoir import MemoirClassifier, MemoirTextClassifier
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

# The rows of this check lie around the origin, and it wants nearly all of them in one class. softmax has no
# intercept: what it says of x is the contrary of what it says of -x, however much a class counts.
EXPECTED_FAILURES = {
    "check_class_weight_classifiers": (
        "without an intercept, x and -x are never both of the same of two classes"
    ),
}


@pytest.mark.filterwarnings("ignore")
def test_check_estimator():
    outcomes = check_estimator(
        MemoirClassifier(), expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None
    )
    failed = {
        outcome["check_name"]: outcome["exception"] for outcome in outcomes if outcome["status"] == "failed"
    }
    assert not failed
    excused = {outcome["check_name"] for outcome in outcomes if outcome["status"] == "xfail"}
    assert excused == set(EXPECTED_FAILURES), "an excuse that is not needed must go"
    assert sum(outcome["status"] == "passed" for outcome in outcomes) > 50


@pytest.mark.filterwarnings("ignore")
def test_check_text_estimator():
    # scikit-learn has no checks for estimators of strings beyond those of construction; our own tests do the
    # rest.
    check_estimator(MemoirTextClassifier())


def test_tags():
    tags = get_tags(MemoirClassifier())
    assert is_classifier(MemoirClassifier())
    assert tags.input_tags.sparse and tags.classifier_tags.multi_label and tags.target_tags.required
    assert get_tags(MemoirTextClassifier()).input_tags.string


def test_clone_and_parameters(data):
    model = MemoirClassifier("centroid", min_weight=0.1, n_jobs=1).fit(*data)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert clone(MemoirClassifier(dense_limit="2G")).dense_limit == "2G"
    assert not hasattr(copy, "classes_")
    assert (
        copy.set_params(algorithm="knn", min_weight=None, neighbours=3)
        .fit(*data)
        .summary()["params"]["neighbours"]
        == 3
    )


def test_grid_search(data):
    X, y = data
    search = GridSearchCV(
        MemoirClassifier(n_jobs=1), {"passes": np.array([1, 2]), "algorithm": ["softmax"]}, cv=2
    )
    assert search.fit(X, y).best_score_ > 0.9
    assert search.predict(X[:3]).shape == (3,)


def test_pipeline_with_tfidf(texts):
    X, y = texts
    scores = cross_val_score(make_pipeline(TfidfVectorizer(), MemoirClassifier()), X, y, cv=2)
    assert scores.mean() > 0.95


def test_text_estimator_in_cross_validation(texts):
    X, y = texts
    assert cross_val_score(MemoirTextClassifier(), X, y, cv=2).mean() > 0.95


def test_pickles_are_model_files(data):
    X, y = data
    model = MemoirClassifier(random_state=7).fit(X, y)
    stored = pickle.dumps(model)
    again = pickle.loads(stored)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.get_params() == model.get_params()
    content = model._model.to_bytes()
    assert content in stored
    damaged = bytearray(stored)
    damaged[stored.index(content) + len(content) // 2] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        pickle.loads(bytes(damaged))


def test_feature_names(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X.toarray(), columns=[f"word{column}" for column in range(X.shape[1])])
    model = MemoirClassifier().fit(frame, y)
    assert model.feature_names_in_[3] == "word3"
    assert model.explain(frame.iloc[[0]]).features[0].name.startswith("word")
    assert model.top_features(model.classes_[0], top=1)[0].name.startswith("word")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"word3": "other"}))


def test_not_fitted():
    for call in ("predict", "predict_proba", "predict_topk", "decision_function", "explain"):
        with pytest.raises(NotFittedError):
            getattr(MemoirClassifier(), call)([[1.0]])
    with pytest.raises(NotFittedError):
        MemoirTextClassifier().save("nowhere")


class Recorder:
    """A callback that writes down what it is told."""

    def __init__(self):
        self.tasks = []

    def setup(self, estimator, context):
        self.tasks.append("setup")

    def teardown(self, estimator, context):
        self.tasks.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.tasks.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        pass


def test_callbacks_see_the_stages(data, texts, tmp_path):
    callback = pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    assert isinstance(recorder, callback.FitCallback)
    MemoirClassifier(passes=3).set_callbacks(recorder).fit(*data)
    assert recorder.tasks[:2] == ["setup", "fit"] and recorder.tasks[-1] == "teardown"
    assert len(recorder.tasks) > 3
    lines = [f"__label__{label} {text}\n" for text, label in zip(*texts)]
    (tmp_path / "lines.txt").write_text("".join(lines))
    recorder = Recorder()
    MemoirTextClassifier().set_callbacks(recorder).fit_file(tmp_path / "lines.txt", format="fasttext")
    assert recorder.tasks[:2] == ["setup", "fit"] and recorder.tasks[-1] == "teardown"


def test_callbacks_hear_of_the_end_of_a_fit_that_fails(data, tmp_path):
    pytest.importorskip("sklearn.callback")
    X, y = data
    recorder = Recorder()
    with pytest.raises(ValueError):
        MemoirClassifier(passes=-1).set_callbacks(recorder).fit(X, y)
    assert recorder.tasks[0] == "setup" and recorder.tasks[-1] == "teardown"
    recorder = Recorder()
    with pytest.raises(FileNotFoundError):
        MemoirTextClassifier().set_callbacks(recorder).fit_file(tmp_path / "absent.csv")
    assert recorder.tasks[0] == "setup" and recorder.tasks[-1] == "teardown"


def test_sample_weight_changes_the_answer():
    X = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    y = ["a", "b", "a", "b"]
    for heavy, expected in ((0, "a"), (1, "b")):
        weights = np.ones(4)
        weights[heavy] = 50.0
        model = MemoirClassifier("centroid").fit(X, y, sample_weight=weights)
        assert model.predict([[1.0, 1.0]]) == [expected]


def test_what_weights_mean(data):
    """Only ratios of weights matter: softmax divides them by their mean."""
    X, y = data
    plain = MemoirClassifier().fit(X, y).decision_function(X)
    weighted = lambda weight: MemoirClassifier().fit(X, y, sample_weight=np.full(len(y), weight))
    for factor in (1.0, 100.0):
        np.testing.assert_array_equal(weighted(factor).decision_function(X), plain)
    uneven = MemoirClassifier().fit(X, y, sample_weight=1.0 + np.arange(len(y)) % 7)
    assert not np.array_equal(uneven.decision_function(X), plain)
    assert weighted(100.0).summary()["row_weights"] == len(y)


@pytest.mark.parametrize("algorithm", ["softmax", "centroid", "ovr", "knn", "recall-tree"])
def test_a_whole_weight_is_the_row_that_often(data, algorithm):
    X, y = data[0][:120], data[1][:120]
    weights = np.arange(120) % 4
    weights[y == y[5]] = 3
    repeated = MemoirClassifier(algorithm, n_jobs=1).fit(
        X[np.repeat(np.arange(120), weights)], y.repeat(weights)
    )
    shuffled = np.random.default_rng(1).permutation(120)
    for scale in (1, 0.1, 1e9):
        weighted = MemoirClassifier(algorithm, n_jobs=1)
        weighted.fit(X[shuffled], y[shuffled], sample_weight=scale * weights[shuffled])
        assert weighted.classes_.tolist() == repeated.classes_.tolist()
        np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


def test_a_whole_weight_is_the_text_that_often():
    texts, labels, weights = ["a b", "c d", "a e", "c f", "d g"], ["x", "y", "x", "y", "z"], [1, 2, 0, 3, 1]
    repeated = np.repeat(np.arange(5), weights)
    weighted = MemoirTextClassifier().fit(texts, labels, sample_weight=weights)
    plain = MemoirTextClassifier().fit([texts[row] for row in repeated], [labels[row] for row in repeated])
    np.testing.assert_array_equal(weighted.predict_proba(texts), plain.predict_proba(texts))


def test_weights_that_are_not_whole_or_very_different_repeat_nothing(data):
    X, y = data
    for weights in (1.0 + np.arange(len(y)) % 2 / 2, np.where(np.arange(len(y)) < 3, 1.0, 1000.0)):
        model = MemoirClassifier("centroid").fit(X, y, sample_weight=weights)
        assert model.summary()["rows"] == len(y)


def test_rows_of_weight_zero_are_left_out(data):
    X, y = data
    weights = (y != 3).astype(float)
    model = MemoirClassifier().fit(X, y, sample_weight=weights)
    assert 3 not in model.classes_
    without = MemoirClassifier().fit(X[y != 3], y[y != 3], sample_weight=np.ones((y != 3).sum()))
    assert model._model.to_bytes() == without._model.to_bytes()
