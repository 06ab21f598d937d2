#!/usr/bin/env python3
"""Reading a libsvm file with several labels a row: memoir against scikit-learn, turn by turn.

usage: compare.py FILE [--rounds N] [--threads N] [--program target/release/time_reading]

Both read the file into compressed sparse rows. Each turn is a process of its own, bound to one processor (to
N for memoir with N threads). CPU seconds are user and system time of the whole process of memoir, and of the
reading call alone of scikit-learn, whose imports would otherwise count.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

SCIKIT_LEARN = """
import json, resource, sys, time
from sklearn.datasets import load_svmlight_file
wall, cpu = time.perf_counter(), time.process_time()
rows, labels = load_svmlight_file(sys.argv[1], multilabel=True)
print(json.dumps({"rows": rows.shape[0], "entries": int(rows.nnz), "labels": sum(map(len, labels)),
    "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu,
    "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def run(command, processors):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    output = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads(output)
    result.setdefault("wall", time.perf_counter() - start)
    result.setdefault("cpu", after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return result


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default="target/release/time_reading")
    arguments = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    one, many = set(processors[:1]), set(processors[: arguments.threads])
    methods = {
        "scikit-learn, 1 thread": ([sys.executable, "-c", SCIKIT_LEARN, arguments.file], one),
        "memoir, 1 thread": ([arguments.program, arguments.file, "1"], one),
        f"memoir, {arguments.threads} threads": (
            [arguments.program, arguments.file, str(arguments.threads)],
            many,
        ),
    }
    results = {name: [] for name in methods}
    for _ in range(arguments.rounds):
        for name, (command, allowed) in methods.items():
            results[name].append(run(command, allowed))
    read = {(turn["rows"], turn["entries"], turn["labels"]) for turns in results.values() for turn in turns}
    if len(read) != 1:
        sys.exit(f"the methods read different data: {read}")
    rows, entries, labels = read.pop()
    print(f"read: {rows} rows, {entries} entries, {labels} labels")
    print(
        "| method | wall s, median (least) | CPU s, median (least) | peak MB | peak / dataset |\n|---|---|---|---|---|"
    )
    for name, turns in results.items():
        wall, cpu = ([turn[key] for turn in turns] for key in ("wall", "cpu"))
        peak = max(turn["peak_bytes"] for turn in turns)
        share = f"{peak / turns[0]['dataset_bytes']:.2f}" if "dataset_bytes" in turns[0] else "–"
        print(
            f"| {name} | {statistics.median(wall):.2f} ({min(wall):.2f}) | {statistics.median(cpu):.2f} ({min(cpu):.2f}) "
            f"| {peak / 1e6:.0f} | {share} |"
        )
    slow, fast = (results[name] for name in list(methods)[:2])
    for key in ("wall", "cpu"):
        ratio = statistics.median(turn[key] for turn in slow) / statistics.median(turn[key] for turn in fast)
        print(f"scikit-learn / memoir, 1 thread each, {key}: {ratio:.1f}")


if __name__ == "__main__":
    main()
