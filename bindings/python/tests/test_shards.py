"""Several workers make the model of one, whichever engine runs them; here it is threads."""

import json
import sys
import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from unittest import mock

import memoir
import memoir.ray
import numpy as np
import pytest
from memoir import _shards
from memoir.ray import Scorer


class ThreadEngine:
    """Workers as threads of this process. `kills` says which worker is lost, start after start."""

    def __init__(self, kills=()):
        self.kills = list(kills)
        self.started = 0

    def start(self, shards, token, patience):
        self.started += 1
        self.pool = ThreadPoolExecutor(shards)
        self.workers = [_shards.Worker(index, shards, token, patience) for index in range(shards)]
        return self.workers

    def call(self, worker, method, *arguments):
        if method == "listen":
            return self.pool.submit(worker.listen, "127.0.0.1")
        victims = self.kills[self.started - 1 : self.started]
        is_victim = self.workers.index(worker) in victims
        return self.pool.submit(self.leave if is_victim else type(worker).train, worker, *arguments)

    @staticmethod
    def leave(worker, job, host):
        """Leaves while it trains, as if it was killed."""

        def on_event(kind, *details):
            if kind == "progress" and details[0].startswith("training"):
                raise _shards.WorkerLost("killed by the test")

        worker.train(job, host, on_event)
        raise _shards.WorkerLost("killed by the test at the very end")

    def results(self, calls):
        done, _ = wait(calls, return_when=FIRST_EXCEPTION)
        for call in done:
            call.result()
        return [call.result() for call in calls]

    def stop(self, workers):
        self.pool.shutdown(wait=True)


def table(path, rows=1500, classes=90, mark="c"):
    lines = ["label,text"]
    for row in range(rows):
        kind = row * 7 % classes
        words = [f"wort{kind}ung", f"teil{kind // 4}", f"rest{row % 11}", f"ende{row * 31 % 50}"]
        lines.append(f"{mark}{kind}," + " ".join(words))
    path.write_text("\n".join(lines) + "\n")
    return path


def job(tmp_path, estimator, **more):
    return _shards.Job(
        data=str(table(tmp_path / "rows.csv")),
        model=str(tmp_path / "shards.memoir"),
        options=estimator._options(),
        running=estimator._running(None, 3),
        **more,
    )


@pytest.fixture
def estimator():
    return memoir.MemoirTextClassifier(n_jobs=1, random_state=3)


def bytes_of_one(tmp_path, estimator):
    path = tmp_path / "one.memoir"
    estimator.fit_file(table(tmp_path / "rows.csv")).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_workers_make_the_model_of_one_process(tmp_path, estimator, shards):
    told = _shards.drive(ThreadEngine(), job(tmp_path, estimator), shards=shards, restarts=0, patience=60)
    assert (tmp_path / "shards.memoir").read_bytes() == bytes_of_one(tmp_path, estimator)
    assert told.restarts == 0 and [shard["shard"] for shard in told.shards] == list(range(shards))
    assert sum(shard["sent"] for shard in told.shards) == sum(shard["received"] for shard in told.shards)
    assert (sum(shard["sent"] for shard in told.shards) > 0) == (shards > 1)
    assert all(shard["waited"] <= shard["seconds"] for shard in told.shards)


def test_prepared_data_is_read_in_place(tmp_path, estimator, program):
    folder = tmp_path / "set"
    prepared = _shards.Job(**{**vars(job(tmp_path, estimator)), "data": str(folder)})
    program("prepare", tmp_path / "rows.csv", "--out", folder)
    _shards.drive(ThreadEngine(), prepared, shards=2, restarts=0, patience=60)
    model = tmp_path / "program.memoir"
    program("train", folder, "--model", model, "--seed", 3)
    assert (tmp_path / "shards.memoir").read_bytes() == model.read_bytes()


def test_the_model_keeps_what_labels_are(tmp_path, estimator, program):
    """Labels of a dataset are what they were there; of a file, the bytes are those of the program."""
    told = job(tmp_path, estimator, label_kind="text")
    rows = table(tmp_path / "rows.csv", rows=300, mark="")
    _shards.drive(ThreadEngine(), told, shards=2, restarts=0, patience=60)
    assert memoir.load(tmp_path / "shards.memoir").classes_.dtype == object
    estimator.fit_file(rows).save(tmp_path / "one.memoir")
    assert (tmp_path / "shards.memoir").read_bytes() == (tmp_path / "one.memoir").read_bytes()
    for kind in (None, "whole"):
        again = _shards.Job(**{**vars(told), "label_kind": kind})
        _shards.drive(ThreadEngine(), again, shards=2, restarts=0, patience=60)
        program("train", rows, "--model", tmp_path / "program.memoir", "--seed", 3)
        assert (tmp_path / "shards.memoir").read_bytes() == (tmp_path / "program.memoir").read_bytes()


@pytest.mark.parametrize(
    ("labels", "kind", "written"),
    [
        (np.array(["1", "2"], dtype=object), "text", ["1", "2"]),
        (np.array([1, 2]), "whole", ["1", "2"]),
        (np.array([1.0, 2.0]), "real", ["1.0", "2.0"]),
        (np.array([True, False]), "truth", ["True", "False"]),
        ([np.array([1, 2]), np.array([])], "whole", [["1", "2"], []]),
        ([np.array(["1"], dtype=object), ["2", "3"]], "text", [["1"], ["2", "3"]]),
    ],
    ids=["texts", "whole", "real", "truth", "lists", "lists of texts"],
)
def test_labels_of_a_dataset_are_known(labels, kind, written, tmp_path, monkeypatch):
    class Dataset:
        def select_columns(self, names):
            assert names == ["text", "label"]
            return self

        def iter_batches(self, batch_size):
            column = np.empty(2, dtype=object)
            column[:] = labels
            for part in (slice(0, 1), slice(1, 2)):
                held = labels[part] if isinstance(labels, np.ndarray) else column[part]
                yield {"text": np.array(["a", "b"], dtype=object)[part], "label": held}

    monkeypatch.setattr(memoir.ray, "_ray", mock.MagicMock())
    path = tmp_path / "rows.jsonl"
    assert memoir.ray._write_rows(Dataset(), path, "text", "label") == kind
    assert [json.loads(line)["label"] for line in path.read_text().splitlines()] == written


def test_lost_workers_are_replaced_and_the_bytes_stay(tmp_path, estimator):
    # Small batches, so that there is something to lose.
    estimator.set_params(batch=64, passes=3)
    engine = ThreadEngine(kills=[1, 2, 0])
    restarts = []
    outcome = _shards.drive(
        engine,
        job(tmp_path, estimator, checkpoint=(str(tmp_path / "kept"), 500)),
        shards=3,
        restarts=5,
        patience=60,
        on_restart=lambda number, reason: restarts.append((number, str(reason))),
    )
    assert outcome.restarts == len(restarts) == 3, restarts
    assert (tmp_path / "shards.memoir").read_bytes() == bytes_of_one(tmp_path, estimator)
    assert not list(tmp_path.glob("kept*")), "checkpoints are removed"


def test_too_many_lost_workers_are_a_failure(tmp_path, estimator):
    with pytest.raises((ConnectionError, _shards.WorkerLost), match="gone|killed"):
        _shards.drive(
            ThreadEngine(kills=[1, 1]), job(tmp_path, estimator), shards=3, restarts=1, patience=60
        )
    for wrong in ({"shards": 0, "restarts": 0}, {"shards": 1, "restarts": -1}):
        with pytest.raises(ValueError, match="must be at least"):
            _shards.drive(ThreadEngine(), job(tmp_path, estimator), patience=60, **wrong)


def test_errors_of_the_data_are_not_tried_again(tmp_path, estimator):
    engine = ThreadEngine()
    missing = _shards.Job(**{**vars(job(tmp_path, estimator)), "data": str(tmp_path / "none.csv")})
    with pytest.raises((FileNotFoundError, ConnectionError)):
        _shards.drive(engine, missing, shards=1, restarts=3, patience=60)
    assert engine.started == 1


def test_a_shard_checks_what_it_is_told(tmp_path):
    native = memoir._memoir.Shard
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        native(0, 2, "ab", 1.0)
    with pytest.raises(ValueError, match="patience"):
        native(0, 2, "ab" * 32, 0.0)


def test_without_ray_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'memoir-xc\[ray\]'"):
        memoir.ray.train(tmp_path, model=tmp_path / "m.memoir")  # a folder, as prepared data is


def test_batches_are_answered(tmp_path, estimator):
    path = tmp_path / "one.memoir"
    estimator.fit_file(table(tmp_path / "rows.csv")).save(path)
    batch = {"id": np.arange(2), "text": np.array(["wort5ung teil1", "wort60ung teil15"], dtype=object)}
    answered = Scorer(str(path), "text", 1)(batch)
    assert answered["label"].tolist() == ["c5", "c60"] and (answered["probability"] > 0).all()
    assert answered["id"].tolist() == [0, 1]
    assert Scorer(str(path), "text", 3)(batch)["label"].shape == (2, 3)


def test_threads_are_gone_afterwards(tmp_path, estimator):
    before = threading.active_count()
    _shards.drive(ThreadEngine(), job(tmp_path, estimator), shards=2, restarts=0, patience=60)
    assert threading.active_count() <= before + 2
