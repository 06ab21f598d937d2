"""Training and scoring on Ray itself; runs where Ray is installed."""

import memoir
import memoir.ray
import numpy as np
import pytest
from test_shards import table

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def bytes_of_one(tmp_path, data):
    path = tmp_path / "one.memoir"
    memoir.MemoirTextClassifier(n_jobs=1).fit_file(data).save(path)
    return path.read_bytes()


def test_actors_make_the_model_of_one_process(cluster, tmp_path):
    data, model = table(tmp_path / "rows.csv"), tmp_path / "m.memoir"
    outcome = memoir.ray.train(data, model=model, shards=2)
    assert model.read_bytes() == bytes_of_one(tmp_path, data)
    assert outcome.restarts == 0 and len(outcome.shards) == 2


def test_a_dataset_is_trained_on_and_answered(cluster, tmp_path):
    data, model = table(tmp_path / "rows.csv"), tmp_path / "m.memoir"
    dataset = ray.data.read_csv(str(data))
    memoir.ray.train(dataset, model=model, shards=2)
    assert not list(tmp_path.glob("*.jsonl"))
    answers = memoir.ray.predict(dataset, model, concurrency=1, batch_size=500).to_pandas()
    expected = memoir.load(model).predict(answers["text"].tolist())
    assert answers["label"].tolist() == expected.tolist() and len(answers) == 1500


def test_workers_share_a_block(cluster, tmp_path):
    """Ray's own block holds all rows; one worker would answer it alone."""
    data = table(tmp_path / "rows.csv")
    model = memoir.MemoirTextClassifier(n_jobs=1).fit_file(data)
    model.save(tmp_path / "m.memoir")
    dataset = ray.data.read_csv(str(data)).repartition(1)
    answers = memoir.ray.predict(dataset, tmp_path / "m.memoir", k=3, concurrency=(1, 2), batch_size=20)
    answers = answers.materialize()
    assert answers.num_blocks() == -(-1500 // (20 * memoir.ray.BATCHES_AT_ONCE))
    frame = answers.to_pandas()
    expected = model.predict_topk(frame["text"].tolist(), 3)
    assert frame["label"].map(list).tolist() == expected.classes.tolist()
    assert np.array_equal(np.stack(frame["probability"]), expected.probabilities)


def test_vectors_are_answered(cluster, tmp_path):
    X = np.random.default_rng(0).random((600, 8), dtype=np.float32)
    model = memoir.MemoirClassifier(n_jobs=1).fit(X, X.argmax(axis=1))
    model.save(tmp_path / "m.memoir")
    dataset = ray.data.from_numpy(X)
    answers = memoir.ray.predict(dataset, tmp_path / "m.memoir", column="data", concurrency=1, batch_size=10)
    rows = answers.take_all()
    assert len(rows) == 600
    expected = memoir.load(tmp_path / "m.memoir").predict(np.stack([row["data"] for row in rows]))
    assert [row["label"] for row in rows] == expected.tolist()


def test_a_killed_actor_changes_nothing(cluster, tmp_path, monkeypatch):
    data, model = table(tmp_path / "rows.csv"), tmp_path / "m.memoir"
    started = []
    start = memoir.ray.RayEngine.start

    def and_kill(self, *arguments):
        workers = start(self, *arguments)
        if not started:
            ray.kill(workers[1])
        started.append(len(workers))
        return workers

    monkeypatch.setattr(memoir.ray.RayEngine, "start", and_kill)
    outcome = memoir.ray.train(data, model=model, shards=2, checkpoint=tmp_path / "kept", patience=60)
    assert outcome.restarts >= 1 and len(started) == outcome.restarts + 1
    assert model.read_bytes() == bytes_of_one(tmp_path, data)
