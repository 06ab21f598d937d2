"""Answers many texts by Ray workers, and tells the seconds and processor seconds of each number of workers.

    python experiments/shards/answers.py MODEL TEXTS.csv --rows 10000000 --workers 1,2 --folder ROWS

The rows are texts of a table, each turned by some words, in Parquet files in ROWS; what is there already is
taken as it is. The start of workers counts. Where other programs want the processor, give Ray precedence
(`RAY_worker_niceness=-15 nice -n -15 python ...`), and keep each worker on a core of its own by `--pin`:
Linux takes its time to part two threads that both have precedence. Needs Ray, psutil and, to pin, Linux.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import threading
import time
from collections.abc import Iterable

import memoir.ray
import psutil
import pyarrow
import pyarrow.parquet
import ray

FILES = 20
# How Ray names the processes that score.
WORKER = "ray::MapWorker"


def write_rows(table: str, rows: int, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True)
    with open(table, encoding="utf-8", newline="") as file:
        texts = [row["text"].split(" ") for row in csv.DictReader(file)]
    chance = random.Random(3)
    for number in range(FILES):
        turned = []
        for _ in range(rows // FILES):
            words = chance.choice(texts)
            first = chance.randrange(len(words))
            turned.append(" ".join(words[first:] + words[:first]))
        pyarrow.parquet.write_table(pyarrow.table({"text": turned}), folder / f"{number:02}.parquet")


class Watch(threading.Thread):
    """Adds up the processor seconds of Ray's processes, and keeps workers on their cores."""

    def __init__(self, pin: bool) -> None:
        super().__init__(daemon=True)
        self.pin, self.ended = pin, threading.Event()
        self.before = self._seconds()
        self.now = dict(self.before)

    def run(self) -> None:
        while not self.ended.wait(3.0):
            seconds = self._seconds()
            self.now.update(seconds)
            if self.pin:
                keep_apart(process for process, (name, _) in seconds.items() if name.startswith(WORKER))

    def told(self) -> dict:
        """Processor seconds of each worker that scores, and of all other processes of Ray."""
        self.ended.set()
        self.join()
        self.now.update(self._seconds())
        scoring, others = [], 0.0
        for process, (name, seconds) in self.now.items():
            spent = seconds - self.before.get(process, ("", 0.0))[1]
            if name.startswith(WORKER) and spent > 0:
                scoring.append(round(spent, 1))
            else:
                others += spent
        return {"processor": scoring, "processor of others": round(others, 1)}

    def _seconds(self) -> dict[int, tuple[str, float]]:
        found = {}
        ours = psutil.Process()
        for process in [ours, *ours.children(recursive=True)]:
            try:
                times = process.cpu_times()
                found[process.pid] = (" ".join(process.cmdline()), times.user + times.system)
            except psutil.Error:
                continue
        return found


def keep_apart(workers: Iterable[int]) -> None:
    """Each worker on a core of its own."""
    for core, worker in enumerate(sorted(workers)):
        try:
            for thread in os.listdir(f"/proc/{worker}/task"):
                os.sched_setaffinity(int(thread), {core % (os.cpu_count() or 1)})
        except OSError:
            # The worker or one of its threads is gone.
            continue


def measure(given: argparse.Namespace, workers: int) -> dict:
    watch = Watch(given.pin)
    watch.start()
    start = time.monotonic()
    rows = ray.data.read_parquet(given.folder)
    answers = memoir.ray.predict(rows, given.model, concurrency=workers)
    blocks = [block.num_rows for block in answers.iter_batches(batch_format="pyarrow", batch_size=None)]
    seconds = round(time.monotonic() - start, 1)
    return {
        "workers": workers,
        "rows": sum(blocks),
        "blocks": len(blocks),
        "seconds": seconds,
        **watch.told(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("table", help="CSV with a column `text`")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", required=True, help="where the rows are, or shall be")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--pin", action="store_true", help="keep each worker on a core of its own")
    given = parser.parse_args()
    folder = pathlib.Path(given.folder)
    if not folder.exists():
        write_rows(given.table, given.rows, folder)
    ray.init(num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    for workers in map(int, given.workers.split(",")):
        print(json.dumps(measure(given, workers)), flush=True)


if __name__ == "__main__":
    main()
