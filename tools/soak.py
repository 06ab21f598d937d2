"""Trains, continues, compacts, predicts and verifies in a loop, with random shapes and options.

    python3 tools/soak.py PROGRAM [--minutes 10] [--seed 1]

The naive engine is a nearest-centroid classifier in plain Python; `centroid` must agree with it. For every
algorithm, one and two threads must write the same bytes, and every file must verify. A compacted model of 16
bits must answer alike. A difference is shrunk by dropping rows while it stays, and printed.
"""

from __future__ import annotations

import argparse
import collections
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ALGORITHMS = (
    "softmax",
    "centroid",
    "ovr",
    "msvm",
    "memoir-l2",
    "memoir-l1",
    "knn",
    "recall-tree",
    "pd-sparse",
)

Row = tuple[str, dict[int, float]]


class Mismatch(Exception):
    """Something that should be equal is not."""


def run(program: str, folder: pathlib.Path, *words: object) -> str:
    done = subprocess.run(
        [program, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=600
    )
    if done.returncode != 0:
        raise Mismatch(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def draw_rows(draw: random.Random) -> list[Row]:
    classes, features = draw.randint(2, 60), draw.randint(5, 300)
    own = {label: [draw.randrange(features) for _ in range(4)] for label in range(classes)}
    rows = []
    for _ in range(draw.randint(classes, 400)):
        label = draw.randrange(classes)
        columns = draw.choices(own[label], k=3) + [
            draw.randrange(features) for _ in range(draw.randint(0, 8))
        ]
        entries = {column: round(draw.uniform(0.1, 3), 3) for column in columns}
        rows.append((f"c{label}", entries))
    return rows


def written(rows: list[Row]) -> str:
    line = lambda entries: " ".join(f"{column + 1}:{value}" for column, value in sorted(entries.items()))
    return "".join(f"{label} {line(entries)}\n" for label, entries in rows)


def nearest_centroid(rows: list[Row], entries: dict[int, float]) -> tuple[str, float]:
    """The class whose mean of unit rows has the largest cosine with the row, and its lead."""

    def unit(vector: dict[int, float]) -> dict[int, float]:
        length = math.sqrt(sum(value * value for value in vector.values()))
        return {column: value / length for column, value in vector.items()} if length else {}

    sums: dict[str, collections.Counter[int]] = {}
    for label, vector in rows:
        sums.setdefault(label, collections.Counter()).update(unit(vector))
    asked = unit(entries)
    scores = sorted(
        (
            (sum(unit(total).get(column, 0.0) * value for column, value in asked.items()), label)
            for label, total in sums.items()
        ),
        reverse=True,
    )
    lead = scores[0][0] - scores[1][0] if len(scores) > 1 else 1.0
    return scores[0][1], lead


def check(program: str, algorithm: str, seed: int, rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        half = max(len(rows) * 2 // 3, 1)
        (folder / "a.svm").write_text(written(rows[:half]))
        (folder / "b.svm").write_text(written(rows[half:]))
        train = ("train", "a.svm", "--algorithm", algorithm, "--seed", seed, "-q", "--weighting", "unit")
        run(program, folder, *train, "--model", "m1", "--threads", 1)
        run(program, folder, *train, "--model", "m2", "--threads", 2)
        if (folder / "m1").read_bytes() != (folder / "m2").read_bytes():
            raise Mismatch("one and two threads write different bytes")
        run(program, folder, "inspect", "m1", "--verify")
        answers = run(program, folder, "predict", "m1", "a.svm", "-q").splitlines()
        if algorithm == "centroid":
            for (_, entries), answer in list(zip(rows, answers))[:20]:
                expected, lead = nearest_centroid(rows[:half], entries)
                if lead > 1e-3 and answer.split("\t")[0] != expected:
                    raise Mismatch(f"{entries} is {answer}, and the naive engine says {expected}")
        if algorithm in ("softmax", "centroid") and len(rows) > half:
            run(program, folder, "train", "b.svm", "--from", "m1", "--model", "m3", "-q")
            run(program, folder, "inspect", "m3", "--verify")
        if algorithm == "softmax":
            run(program, folder, "compact", "m1", "--out", "m4", "--precision", "f16", "-q")
            run(program, folder, "inspect", "m4", "--verify")
            if run(program, folder, "predict", "m4", "a.svm", "-q").splitlines() != answers:
                raise Mismatch("a compacted model answers otherwise")


def shrunk(program: str, algorithm: str, seed: int, rows: list[Row]) -> tuple[list[Row], str]:
    """Fewer rows that show the same kind of difference."""
    message, size = "", len(rows) // 2
    while size >= 1:
        for start in range(0, len(rows), size):
            fewer = rows[:start] + rows[start + size :]
            try:
                if fewer:
                    check(program, algorithm, seed, fewer)
            except Mismatch as reason:
                rows, message = fewer, str(reason)
                break
        else:
            size //= 2
    return rows, message


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    end, done = time.monotonic() + 60 * given.minutes, collections.Counter()
    while time.monotonic() < end:
        seed = given.seed + sum(done.values())
        draw = random.Random(seed)
        algorithm, rows = draw.choice(ALGORITHMS), draw_rows(draw)
        try:
            check(program, algorithm, seed, rows)
        except Mismatch as reason:
            print(f"seed {seed}, {algorithm}: {reason}")
            rows, message = shrunk(program, algorithm, seed, rows)
            print(f"shrunk to {len(rows)} rows: {message}\n{written(rows)}")
            return 1
        done[algorithm] += 1
    print(
        ", ".join(f"{algorithm} {count}" for algorithm, count in sorted(done.items())),
        "rounds, no difference",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
