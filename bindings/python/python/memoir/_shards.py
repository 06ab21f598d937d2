"""Several workers train one model together: what the driver does, whichever engine runs the workers.

An engine starts workers, calls their methods, and tells when one is lost. Workers talk to each other
directly (plain TCP, a random token for each run); the driver only brings them together. If one is lost, all
are started anew and go on from the newest checkpoint that all of them have.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from . import _memoir


class WorkerLost(Exception):
    """A worker has ended before its work."""


class Engine(Protocol):
    """What runs workers."""

    def start(self, shards: int, token: str, patience: float) -> Sequence[Any]:
        """Start so many :class:`Worker` objects, each in a place of its own."""

    def call(self, worker: Any, method: str, *arguments: Any) -> Any:
        """Call a method of a worker; returns at once, with something to wait for."""

    def results(self, calls: Sequence[Any]) -> list[Any]:
        """What the calls return. Raises the first exception as soon as there is one, or
        :class:`WorkerLost`."""

    def stop(self, workers: Sequence[Any]) -> None:
        """End the workers, whatever they do."""


@dataclass(frozen=True)
class Job:
    """What to train, the same for all workers."""

    data: str
    model: str
    options: dict[str, Any]
    running: dict[str, Any]
    checkpoint: tuple[str, int] | None = None
    format: str | None = None
    label_kind: str | None = None
    """What labels are in Python, for the model to keep. None where a file has them: then the model has the
    bytes of ``memoir train``."""


@dataclass(frozen=True)
class Outcome:
    """What became of a training by several workers.

    Attributes
    ----------
    model : str
        The model file.
    restarts : int
        How often workers were started anew, because one was lost.
    shards : list of dict
        For each shard of the last start: ``seconds`` it took in all and ``waited`` for others, ``rounds``,
        and bytes ``sent`` and ``received``. Of Ray's actors also ``processor`` seconds.
    """

    model: str
    restarts: int = 0
    shards: list[dict[str, float]] = field(default_factory=list)


class Worker:
    """One shard, in a process or a thread of its own."""

    def __init__(self, index: int, shards: int, token: str, patience: float) -> None:
        self._shard = _memoir.Shard(index, shards, token, patience)

    def listen(self, host: str) -> str:
        """Let the others report here; returns where."""
        return f"{host}:{self._shard.listen(host)}"

    def train(self, job: Job, host: str, on_event: Any = None) -> dict[str, float]:
        """Train together with the others, of which the first is at `host`."""
        running = {**job.running, "on_event": on_event}
        return self._shard.train_file(
            job.data, job.model, host, job.options, running, job.checkpoint, job.format, job.label_kind
        )


def drive(
    engine: Engine,
    job: Job,
    *,
    shards: int,
    restarts: int,
    patience: float,
    on_restart: Callable[[int, Exception], None] | None = None,
) -> Outcome:
    """Train `job` by so many workers of `engine`. Lost workers are replaced up to `restarts` times."""
    if shards < 1:
        raise ValueError(f"`shards` must be at least 1, but is {shards}")
    if restarts < 0:
        raise ValueError(f"`restarts` must be at least 0, but is {restarts}")
    for attempt in range(restarts + 1):
        workers = engine.start(shards, secrets.token_hex(32), patience)
        try:
            (host,) = engine.results([engine.call(workers[0], "listen")])
            calls = [engine.call(worker, "train", job, host) for worker in workers]
            told = engine.results(calls)
            return Outcome(job.model, attempt, sorted(told, key=lambda shard: shard["shard"]))
        # Those that are left say that a shard is gone, which may be heard of first.
        except (WorkerLost, ConnectionError) as reason:
            if attempt == restarts:
                raise
            if on_restart is not None:
                on_restart(attempt + 1, reason)
        finally:
            engine.stop(workers)
    raise AssertionError("the last attempt returns or raises")
