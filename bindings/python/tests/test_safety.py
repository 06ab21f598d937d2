"""Files that change, labels that come back as they were, and input that is refused in words."""

import os
import signal
import subprocess
import sys
import time
import warnings

import memoir
import numpy as np
import pytest
from memoir import MemoirClassifier, MemoirTextClassifier
from memoir._targets import given, number
from memoir._weights import of_classes
from memoir.compat.fasttext import FastText
from sklearn.ensemble import AdaBoostClassifier


@pytest.mark.parametrize(
    "labels",
    [
        ["1", "2", "10"],
        [1, 2, 10],
        [1.0, 2.0, 10.0],
        [True, False, True],
        ["a", "b", "1"],
        ["01", "2", "3"],
    ],
    ids=["digits", "whole", "real", "truth", "texts", "codes"],
)
def test_labels_come_back_in_their_type(labels, tmp_path):
    X = np.eye(3)
    model = MemoirClassifier("centroid").fit(X, labels)
    model.save(tmp_path / "m")
    again = memoir.load(tmp_path / "m")
    assert again.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in again.predict(X).tolist()] == [type(label) for label in labels]
    assert again.score(X, labels) == model.score(X, labels)
    assert [type(label) for label in memoir.load(tmp_path / "m", labels="str").classes_] == [str] * len(
        model.classes_
    )


def test_a_changed_file_is_an_error(data, tmp_path):
    X, y = data
    path = tmp_path / "m"
    MemoirClassifier("centroid").fit(X, y).save(path)
    mapped, read = memoir.load(path), memoir.load(path, mapped=False)
    expected = mapped.predict(X)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="changed while it was open"):
        mapped.predict(X)
    np.testing.assert_array_equal(read.predict(X), expected)
    for attempt in (
        lambda: mapped.predict_proba(X),
        lambda: mapped.score(X, y),
        lambda: mapped.evaluate(X, y),
        lambda: mapped.explain(X[[0]]),
        lambda: mapped.top_features(y[0]),
        lambda: mapped.class_names(y[:1]),
        lambda: mapped.summary(),
        lambda: mapped.partial_fit(X, y),
        lambda: mapped.rename({y[0]: 99}),
        lambda: mapped.save(tmp_path / "other"),
    ):
        with pytest.raises(ValueError, match="changed while it was open"):
            attempt()
    shown = repr(mapped)
    assert shown.startswith("MemoirClassifier(algorithm='centroid'") and "#" not in shown
    assert read.evaluate(X, y)["accuracy"] == read.score(X, y)
    # Replaced by renaming, a file stays what it was for those who opened it.
    MemoirClassifier("centroid").fit(X, y).save(path)
    mapped = memoir.load(path)
    MemoirClassifier("centroid").fit(X[:, :50], y).save(path)
    np.testing.assert_array_equal(mapped.predict(X), expected)


def test_a_changed_file_of_texts_is_an_error(texts, tmp_path):
    X, y = texts
    path = tmp_path / "m"
    MemoirTextClassifier(n_jobs=1).fit(X, y).save(path)
    mapped = memoir.load(path)
    assert not mapped.overridden(X).any()
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size // 2)
    for attempt in (
        lambda: mapped.overridden(X),
        lambda: mapped.explain(X[0]),
        lambda: FastText(mapped).words,
        lambda: mapped.partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match="changed while it was open"):
            attempt()


def test_weights_have_any_scale(data):
    X, y = data
    weights = 1.0 + np.arange(len(y)) % 7
    for algorithm in ("softmax", "centroid", "ovr"):
        plain = MemoirClassifier(algorithm, n_jobs=1).fit(X, y, sample_weight=weights).predict_proba(X)
        for scale in (1e-12, 1.0 / weights.sum(), 1e9):
            scaled = MemoirClassifier(algorithm, n_jobs=1).fit(X, y, sample_weight=scale * weights)
            np.testing.assert_allclose(scaled.predict_proba(X), plain, atol=2e-3)


def test_boosting_gives_tiny_weights(data):
    X, y = data
    boosted = AdaBoostClassifier(MemoirClassifier("centroid", n_jobs=1), n_estimators=3)
    assert boosted.fit(X, y).score(X, y) > 0.9


def test_class_weights_move_answers():
    X = np.array([[1.0, 1.0]] * 9 + [[1.0, 1.0]] * 3 + [[1.0, 0.0], [0.0, 1.0]])
    y = ["often"] * 9 + ["rare"] * 3 + ["often", "rare"]
    answer = lambda **given: MemoirClassifier("ovr", **given).fit(X, y).predict([[1.0, 1.0]])[0]
    assert answer() == "often"
    assert answer(class_weight={"rare": 50.0}) == "rare"
    balanced = MemoirClassifier("ovr", class_weight="balanced").fit(X, y).decision_function(X)
    assert not np.array_equal(balanced, MemoirClassifier("ovr").fit(X, y).decision_function(X))
    for wrong in ("even", {"absent": 2.0}, {"rare": -1.0}):
        with pytest.raises(ValueError, match="class_weight"):
            answer(class_weight=wrong)


def test_class_weights_of_many_classes():
    y = np.arange(30_000)
    start = time.monotonic()
    weights = of_classes(dict.fromkeys(y.tolist(), 2.0), number(given(y)))
    assert time.monotonic() - start < 5.0 and (weights == 2.0).all()


@pytest.mark.parametrize(
    "weights", [{"sample_weight": [1.0, 1.0, 2.5]}, {"class_weight": {"b": 2.5}}], ids=str
)
@pytest.mark.parametrize("algorithm", ["ovr", "knn"])
def test_weights_that_repeat_no_row_count(algorithm, weights):
    X, y = [[1.0, 0.3], [1.0, 0.2], [0.6, 1.0]], ["a", "a", "b"]
    asked = [[1.0, 0.6]]
    plain = MemoirClassifier(algorithm, weighting="unit").fit(X, y)
    sample_weight = weights.get("sample_weight")
    weighted = MemoirClassifier(algorithm, weighting="unit", class_weight=weights.get("class_weight")).fit(
        X, y, sample_weight=sample_weight
    )
    assert weighted.summary()["rows"] == 3, "no row is repeated"
    assert weighted.decision_function(asked)[0] > plain.decision_function(asked)[0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("heavy", r"`sample_weight` \(str\) must hold a number for each row"),
        ({"a": 1}, r"`sample_weight` \(dict\) must hold a number for each row"),
        ([1, "b", 2], r"`sample_weight` \(list\) must hold a number for each row"),
        ([1, None, 2], "contains NaN"),
        ([1, 2], r"sample_weight.shape == \(2,\)"),
        ([1, -1, 1], "[Nn]egative"),
        ([[1, 1, 1]], "1D|1-D"),
    ],
    ids=str,
)
def test_weights_that_are_none(weights, message):
    X, y = np.eye(3), [1, 2, 3]
    model = MemoirClassifier("centroid").fit(X, y)
    for attempt in (model.fit, model.partial_fit, model.score):
        with pytest.raises(ValueError, match=message):
            attempt(X, y, sample_weight=weights)


def test_many_classes_are_no_regression(recwarn):
    X = np.eye(30)
    model = MemoirClassifier("centroid").fit(X, np.arange(30))
    model.score(X, np.arange(30))
    assert not [warning for warning in recwarn if "regression" in str(warning.message)]


def test_what_is_refused_is_said_in_words():
    X = np.eye(3)
    with pytest.raises(ValueError, match="bytes, expected texts"):
        MemoirClassifier().fit(X, [b"a", b"b", b"c"])
    for mixed in (["a", 1, "b"], ("a", 1, "b"), np.array(["a", 1, "b"], dtype=object), [["a"], [1], ["b"]]):
        with pytest.raises(ValueError, match="texts and int mixed"):
            MemoirClassifier().fit(X, mixed)
    with pytest.raises(ValueError, match="Unknown label type"):
        MemoirClassifier().fit(X, [0.5, 1.5, 2.25])

    class LazyFrame:
        pass

    for fit in (MemoirClassifier().fit, MemoirTextClassifier().fit):
        with pytest.raises(ValueError, match="collect"):
            fit(LazyFrame(), ["a", "b"])
    with pytest.raises(ValueError, match="collect"):
        MemoirClassifier().fit(X, LazyFrame())


def test_the_package_shows_what_is_public():
    assert set(dir(memoir)) == set(memoir.__all__)


def test_texts_without_a_known_word(texts):
    X, y = texts
    model = MemoirTextClassifier(n_jobs=1).fit(X, y)
    with pytest.warns(UserWarning, match="2 of the texts hold no word"):
        answers = model.predict(["zzz", *X[:3], "qqq qqq"])
    assert answers.tolist() == ["", *y[:3], ""]
    assert model.score(["zzz"], [y[0]]) == 0
    with pytest.warns(UserWarning, match="1 of the texts"):
        best = model.predict_topk(["zzz"], k=3)
    assert best.classes.tolist() == [[""] * 3] and best.probabilities.tolist() == [[0.0] * 3]
    assert model.predict_proba(["zzz", X[0]], k=3).indptr.tolist() == [0, 0, 3]
    np.testing.assert_allclose(model.predict_proba(["zzz"]), 1 / len(model.classes_))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(["zzz", X[0]], unknown="no idea").tolist() == ["no idea", y[0]]
        assert model.predict_topk(["zzz"], 2, unknown="none").classes.tolist() == [["none"] * 2]
    with pytest.raises(ValueError, match="`unknown` must be a label"):
        model.predict(["zzz"], unknown=-1)
    lists = MemoirTextClassifier(n_jobs=1).fit(X, [[label] for label in y])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lists.predict(["zzz", X[0]]) == [[], [y[0]]]
    with pytest.raises(ValueError, match="one class"):
        lists.predict(["zzz"], unknown="x")


def test_texts_without_a_known_word_where_labels_are_numbers(texts):
    X, y = texts
    numbers = {label: 100 + number for number, label in enumerate(dict.fromkeys(y))}
    model = MemoirTextClassifier(n_jobs=1).fit(X, [numbers[label] for label in y])
    with pytest.warns(UserWarning, match="they get the first class"):
        assert model.predict(["zzz"]).dtype.kind == "i"
    assert model.predict(["zzz", X[0]], unknown=-1).tolist() == [-1, numbers[y[0]]]
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = model.predict_frame(pandas.DataFrame({"text": ["zzz", X[0]]}))
    assert answers["class_1"].isna().tolist() == [True, False]
    assert answers["probability_1"].isna().tolist() == [True, False]
    assert answers["class_1"][1] == numbers[y[0]] and str(answers["class_1"].dtype) == "Int64"


def test_explanations_show_themselves(data):
    X, y = data
    model = MemoirClassifier(n_jobs=1).fit(X, y)
    names = [f"<w{column}>" for column in range(X.shape[1])]
    told = model.explain(X[[0]], feature_names=names)
    assert told.features[0].name.startswith("<w")
    page = told._repr_html_()
    assert "&lt;w" in page and "<w" not in page and page.count("<tr>") == len(told.features) + 1

    class Vectoriser:
        def get_feature_names_out(self):
            return np.array(names)

    assert model.top_features(y[0], top=1, feature_names=Vectoriser())[0].name.startswith("<w")
    with pytest.raises(ValueError, match="a name for each of"):
        model.explain(X[[0]], feature_names=names[:3])
    assert "MemoirClassifier" in model._repr_html_()


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("asked", ["predict(texts)", "explain(4 * texts[0])"])
def test_ctrl_c_in_a_long_text(tmp_path, asked):
    script = tmp_path / "long.py"
    script.write_text(
        "import memoir\n"
        "texts = [' '.join(f'word{n * m % 99991}' for n in range(900_000)) for m in (3, 7)]\n"
        "model = memoir.MemoirTextClassifier(char_ngrams=5, word_ngrams=1, n_jobs=1)\n"
        "model.fit(['red one', 'blue two'], ['a', 'b'])\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        f"    model.{asked}\n"
    )
    running = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert running.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        start = time.monotonic()
        running.send_signal(signal.SIGINT)
        running.wait(timeout=20)
        assert b"KeyboardInterrupt" in running.stderr.read()
        assert time.monotonic() - start < 2.0
    finally:
        running.kill()
        running.wait()
