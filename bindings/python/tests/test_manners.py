"""Manners: Ctrl-C, threads, progress, nothing on disk."""

import io
import os
import signal
import threading
import time

import numpy as np
import pytest
from conftest import made_up
from memoir import MemoirClassifier
from memoir._progress import ProgressLine


def interrupt_after(seconds):
    # A shell that starts the tests in the background has them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize(
    "endless",
    [MemoirClassifier(passes=1000, rescan="yes"), MemoirClassifier("memoir-l2", iterations=10_000_000)],
    ids=lambda model: model.algorithm,
)
def test_ctrl_c_stops_training_and_leaves_the_estimator_usable(endless):
    X, y = made_up(rows=20_000, classes=300, seed=2)
    small = X[:600], y[:600]
    model = MemoirClassifier("centroid").fit(*small)
    before = model.predict(X[:50])
    model.set_params(**endless.get_params())
    timer = interrupt_after(0.5)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - start < 0.5 + 1.0
    timer.join()
    np.testing.assert_array_equal(model.predict(X[:50]), before)
    model.set_params(algorithm="centroid", passes=None, rescan="auto", iterations="auto")
    assert model.fit(*small).score(*small) > 0.5


def test_ctrl_c_stops_prediction():
    X, y = made_up(rows=30_000, classes=300, seed=2)
    model = MemoirClassifier("knn", n_jobs=1).fit(X, y)
    timer = interrupt_after(0.3)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(50):
            model.predict(X)
    assert time.monotonic() - start < 0.3 + 1.0
    timer.join()


def test_other_threads_run_meanwhile():
    X, y = made_up(rows=20_000, classes=300, seed=2)
    turns = 0
    stop = threading.Event()

    def count():
        nonlocal turns
        while not stop.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    MemoirClassifier(n_jobs=1, passes=2).fit(X, y)
    took = time.monotonic() - start
    stop.set()
    thread.join()
    assert turns > 20 * took, f"{turns} turns in {took} s: the interpreter was not released"


def test_several_threads_train_and_predict_at_once(data):
    X, y = data
    expected = MemoirClassifier(n_jobs=1).fit(X, y)
    outcomes = [None] * 6

    def work(index):
        fresh = MemoirClassifier(n_jobs=1).fit(X, y)
        same = np.array_equal(expected.decision_function(X), fresh.decision_function(X))
        outcomes[index] = same and fresh._model.to_bytes() == expected._model.to_bytes()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 6


def test_verbose_shows_progress(data, capsys):
    MemoirClassifier(verbose=1, passes=2, valid_fraction=0.2).fit(*data)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "held-out accuracy" in shown.err
    MemoirClassifier().fit(*data)
    assert capsys.readouterr().err == ""


def test_progress_line():
    stream = io.StringIO()
    line = ProgressLine(stream)
    line("progress", "training", 0, 200, "rows")
    line("progress", "training", 200, 200, "rows")
    line("note", "something")
    line("progress", "reading", 5, 0, "bytes")
    line.close()
    shown = stream.getvalue()
    assert "\rtraining " in shown and "100%  200 of 200 rows" in shown
    assert shown.endswith("\nnote: something\n\rreading 5 bytes, 0 s\n")
    stream.close()
    line("note", "lost")


def test_an_exception_in_a_receiver_of_progress_stops_the_run():
    X, y = made_up(rows=20_000, classes=300, seed=2)
    model = MemoirClassifier(passes=1000, rescan="yes")

    def stop(*event):
        raise RuntimeError("enough")

    running = {**model._running(stop), "seed": 0}
    labels = {"numbers": y.astype(np.uint32), "ends": None, "names": [str(label) for label in range(300)]}
    from memoir import _memoir

    start = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        _memoir.Model.train(X, labels, model._options(), running)
    assert time.monotonic() - start < 2


def test_training_writes_nothing(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    MemoirClassifier().fit(*data).predict(data[0])
    assert list(tmp_path.iterdir()) == []


def test_training_curve(data):
    model = MemoirClassifier(passes=3, valid_fraction=0.2).fit(*data)
    assert [point["pass"] for point in model.training_curve_] == [1, 2, 3]
    assert 0 < model.training_curve_[-1]["accuracy"] <= 1
    X, y = data
    assert MemoirClassifier(passes=2).fit(X, y, valid=(X[:50], y[:50])).training_curve_
    assert MemoirClassifier().fit(X, y).training_curve_ == []
