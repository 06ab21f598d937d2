"""Training and scoring on a Ray cluster: ``pip install 'memoir-xc[ray]'``.

:func:`train` shares the classes out among actors and makes the model of ``memoir train``, to the byte,
whatever the number of actors. :func:`predict` answers the rows of a Ray dataset. Ray is imported when one of
them is called.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _labels, _parameters, _shards
from ._classifier import MemoirClassifier
from ._keeping import file_path
from ._shards import Outcome

__all__ = ["Outcome", "predict", "train"]

# Rows between two checkpoints, if no other number is given: seconds to minutes of work.
CHECKPOINT_ROWS = 200_000

# Batches that a worker is given at a time. Ray's own blocks may hold a million texts, so that some workers
# would have nothing left to do long before others.
BATCHES_AT_ONCE = 16


def train(
    data: Any,
    *,
    model: str | os.PathLike[str],
    shards: int = 2,
    estimator: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_rows: int = CHECKPOINT_ROWS,
    text: str = "text",
    label: str = "label",
    format: str | None = None,
    restarts: int = 10,
    patience: float = 600.0,
    strategy: str = "SPREAD",
    resources: dict[str, float] | None = None,
    verbose: bool = False,
) -> Outcome:
    """Train a model by several Ray actors, each of which owns a part of the classes.

    The model file has the bytes that ``memoir train`` writes for the same data and parameters; of a Ray
    dataset, it also keeps what labels are. Every actor reads all rows and holds its share of the weights.
    Small data does not profit: see *Scale* in the documentation for when it pays.

    Parameters
    ----------
    data : path-like or ray.data.Dataset
        A file or the folder of ``memoir prepare``, at a path that all nodes can read. Or a Ray dataset of
        texts, which is written beside the model first, as JSON lines in the order of its blocks.
    model : path-like
        The model file to write, at a path that all nodes can reach.
    shards : int, default=2
        Number of actors.
    estimator : MemoirClassifier or MemoirTextClassifier, optional
        Tells algorithm, parameters, seed, memory budget and, by ``n_jobs``, threads of each actor. By
        default ``MemoirClassifier(n_jobs=1)``.
    checkpoint : path-like, optional
        Beginning of the paths of checkpoints, on shared storage. Without, a lost actor costs the whole run.
    checkpoint_rows : int, default=200000
        Rows that are learned from between two checkpoints.
    text, label : str
        Columns of a Ray dataset. A label may be a list of labels.
    format : str, optional
        Format of the file, where its name does not tell it.
    restarts : int, default=10
        How often actors may be lost before it counts as a failure.
    patience : float, default=600
        Seconds of silence after which an actor counts as lost. Reading the data is silence, too.
    strategy : {"SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK"}, default="SPREAD"
        How Ray places the actors on nodes.
    resources : dict, optional
        What each actor asks Ray for; by default as many processors as threads.
    verbose : bool, default=False
        Whether restarts are printed.

    Returns
    -------
    Outcome
        The path of the model, how often actors were started anew, and what each shard waited and sent.

    Examples
    --------
    >>> import memoir.ray
    >>> def on_a_cluster():
    ...     memoir.ray.train("/shared/tickets", model="/shared/tickets.memoir", shards=4)
    ...     return memoir.load("/shared/tickets.memoir")
    """
    if estimator is None:
        estimator = MemoirClassifier(n_jobs=1)
    if checkpoint_rows < 1:
        raise ValueError(f"`checkpoint_rows` must be at least 1, but is {checkpoint_rows}")
    threads = _parameters.threads(estimator.n_jobs)
    path, written, kind = file_path(model), None, None
    if not isinstance(data, str | os.PathLike):
        written = f"{path}.rows.jsonl"
        kind = _write_rows(data, written, text, label)
    job = _shards.Job(
        data=os.path.abspath(written or os.fspath(data)),
        model=os.path.abspath(path),
        options=estimator._options(),
        running=estimator._running(None, estimator._seed()),
        checkpoint=None if checkpoint is None else (os.path.abspath(file_path(checkpoint)), checkpoint_rows),
        format=format,
        label_kind=kind,
    )
    engine = RayEngine(resources or {"CPU": threads}, strategy)

    def told(restart: int, reason: Exception) -> None:
        if verbose:
            print(f"restart {restart} of {restarts}: {reason}", flush=True)

    try:
        return _shards.drive(
            engine, job, shards=shards, restarts=restarts, patience=patience, on_restart=told
        )
    finally:
        engine.close()
        if written is not None:
            os.remove(written)


def predict(
    dataset: Any,
    model: str | os.PathLike[str],
    *,
    column: str = "text",
    k: int = 1,
    batch_size: int = 4096,
    concurrency: int | tuple[int, int] | None = None,
) -> Any:
    """Answer the rows of a Ray dataset.

    Each worker maps the model file once and answers with one thread. It is given blocks of at most sixteen
    batches, which Ray repeats if the worker is lost.

    Parameters
    ----------
    dataset : ray.data.Dataset
        The rows.
    model : path-like
        The model file, at a path that all nodes can read.
    column : str, default="text"
        The column of texts or, for a model of vectors, of arrays of one length.
    k : int, default=1
        Answers for each row.
    batch_size : int, default=4096
        Rows that are answered at a time.
    concurrency : int or tuple, optional
        Number of workers, or the fewest and the most; by default one for each two processors.

    Returns
    -------
    ray.data.Dataset
        With the columns ``label`` and ``probability`` in addition; for `k` above 1 both hold arrays, best
        first.

    Examples
    --------
    >>> import memoir.ray
    >>> def on_a_cluster(rows):
    ...     memoir.ray.predict(rows, "/shared/tickets.memoir").write_parquet("/shared/answers")
    """
    ray = _ray()
    if k < 1:
        raise ValueError(f"`k` must be at least 1, but is {k}")
    if concurrency is None:
        concurrency = max(1, int(ray.cluster_resources().get("CPU", 2)) // 2)
    fewest, most = (concurrency, concurrency) if isinstance(concurrency, int) else concurrency
    return dataset.repartition(target_num_rows_per_block=BATCHES_AT_ONCE * batch_size).map_batches(
        Scorer,
        fn_constructor_args=(os.path.abspath(file_path(model)), column, k),
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(min_size=fewest, max_size=most),
    )


class Scorer:
    """Answers batches of rows; one for each worker."""

    def __init__(self, model: str, column: str, k: int) -> None:
        from . import load

        self._model = load(model).set_params(n_jobs=1)
        self._column, self._k = column, k

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        rows = batch[self._column]
        best = self._model.predict_topk(list(rows) if rows.dtype == object else rows, self._k)
        labels, probabilities = best.classes, best.probabilities
        if self._k == 1:
            labels, probabilities = labels[:, 0], probabilities[:, 0]
        return {**batch, "label": labels, "probability": probabilities}


class RayEngine:
    """Workers as Ray actors in a placement group."""

    def __init__(self, resources: dict[str, float], strategy: str) -> None:
        self._ray = _ray()
        self._resources, self._strategy = resources, strategy
        self._group: Any = None

    def start(self, shards: int, token: str, patience: float) -> Sequence[Any]:
        ray = self._ray
        if self._group is None:
            bundles = [self._resources] * shards
            self._group = ray.util.placement_group(bundles, strategy=self._strategy)
            ray.get(self._group.ready())
        placed = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy
        others = {name: amount for name, amount in self._resources.items() if name != "CPU"}
        actor = ray.remote(Actor).options
        return [
            actor(
                num_cpus=self._resources.get("CPU", 0),
                resources=others or None,
                scheduling_strategy=placed(self._group, placement_group_bundle_index=index),
            ).remote(index, shards, token, patience)
            for index in range(shards)
        ]

    def call(self, worker: Any, method: str, *arguments: Any) -> Any:
        return getattr(worker, method).remote(*arguments)

    def results(self, calls: Sequence[Any]) -> list[Any]:
        ray = self._ray
        found: dict[Any, Any] = {}
        waiting = list(calls)
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            try:
                found[done[0]] = ray.get(done[0])
            except ray.exceptions.RayActorError as reason:
                raise _shards.WorkerLost(str(reason).splitlines()[0]) from reason
            except ray.exceptions.RayTaskError as reason:
                # What was raised in the actor, as the driver would have seen it.
                raise reason.as_instanceof_cause() from None
        return [found[call] for call in calls]

    def stop(self, workers: Sequence[Any]) -> None:
        for worker in workers:
            self._ray.kill(worker)

    def close(self) -> None:
        """Give the places back."""
        if self._group is not None:
            self._ray.util.remove_placement_group(self._group)


class Actor:
    """A shard on a node of the cluster; tells Ray's metrics how far it is."""

    def __init__(self, index: int, shards: int, token: str, patience: float) -> None:
        from ray.util.metrics import Gauge

        self._worker = _shards.Worker(index, shards, token, patience)
        tags = {"shard": str(index)}
        done = Gauge("memoir_stage_done", "Units of a stage of training that are done", ("shard", "stage"))
        total = Gauge("memoir_stage_total", "Units of a stage of training in all", ("shard", "stage"))

        def on_event(kind: str, *details: Any) -> None:
            if kind == "progress":
                done.set(details[1], {**tags, "stage": details[0]})
                total.set(details[2], {**tags, "stage": details[0]})

        self._on_event = on_event

    def listen(self) -> str:
        import ray

        return self._worker.listen(ray.util.get_node_ip_address())

    def train(self, job: _shards.Job, host: str) -> dict[str, float]:
        before = time.process_time()
        told = self._worker.train(job, host, self._on_event)
        return {**told, "processor": time.process_time() - before}


def _write_rows(dataset: Any, path: str, text: str, label: str) -> str:
    """Writes the texts and labels of a Ray dataset, in the order of its blocks; returns what labels are."""
    _ray().data.DataContext.get_current().execution_options.preserve_order = True
    types: set[type] = set()
    with open(path, "w", encoding="utf-8") as file:
        for batch in dataset.select_columns([text, label]).iter_batches(batch_size=4096):
            for row, labels in zip(batch[text].tolist(), batch[label].tolist()):
                labels = labels.tolist() if isinstance(labels, np.ndarray) else labels
                several = isinstance(labels, list | tuple)
                types.update(map(type, labels if several else [labels]))
                labels = [str(one) for one in labels] if several else str(labels)
                file.write(json.dumps({"text": row, "label": labels}, ensure_ascii=False) + "\n")
    return _labels.kind_of_types(types)


def _ray() -> Any:
    """Ray, with the parts that are used here."""
    try:
        import ray
        import ray.data
        import ray.util.scheduling_strategies
    except ImportError as reason:
        raise ImportError("memoir.ray needs Ray: pip install 'memoir-xc[ray]'") from reason
    return ray
