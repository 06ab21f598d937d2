"""Trains, continues, compacts, predicts and verifies in a loop, with random shapes and options.

    python3 tools/soak.py PROGRAM [--minutes 10] [--seed 1]

Answers and scores on rows that were not trained on must be those of a naive dense engine (dense_engine.py),
but for rounding: of models as trained, continued and compacted. One and two threads must write the same
bytes, and every file must verify. A difference is shrunk by dropping rows while it stays, and printed.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from dense_engine import DenseModel

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

WITHOUT_TABLE = ("recall-tree",)
"""What the naive engine has no table for: the same bytes and sound files are all that is checked."""

Row = tuple[str, dict[int, float]]
Options = tuple[str, ...]


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
    several, rows = draw.random() < 0.3, []
    for _ in range(draw.randint(classes, 400)):
        label = draw.randrange(classes)
        labels = {label, *(draw.randrange(classes) for _ in range(several and draw.randrange(3)))}
        columns = draw.choices(own[label], k=3) + [
            draw.randrange(features) for _ in range(draw.randint(0, 8))
        ]
        entries = {column: round(draw.uniform(0.1, 3), 3) for column in columns}
        rows.append((",".join(f"c{number}" for number in sorted(labels)), entries))
    return rows


def draw_options(draw: random.Random, seed: int) -> Options:
    algorithm = draw.choice(ALGORITHMS)
    options = ["--algorithm", algorithm, "--seed", str(seed)]
    options += ["--weighting", draw.choice(["unit", "counts", "raw", "auto"])]
    if draw.random() < 0.3:
        options += ["--valid-fraction", "0.2"]
    if algorithm == "softmax" and draw.random() < 0.5:
        options += ["--passes", str(draw.randint(1, 6))]
    return tuple(options)


def written(rows: list[Row]) -> str:
    line = lambda entries: " ".join(f"{column + 1}:{value}" for column, value in sorted(entries.items()))
    return "".join(f"{label} {line(entries)}\n" for label, entries in rows)


def compare(program: str, folder: pathlib.Path, name: str, rows: list[Row], options: Options) -> None:
    """The program's best classes and their scores are those of the naive engine."""
    naive = DenseModel(folder / name)
    words = ("predict", name, "b.svm", "--raw-scores", "--top-k", 3, "--output", "jsonl", "-q")
    answers = [json.loads(line) for line in run(program, folder, *words).splitlines()]
    if len(answers) != len(rows):
        raise Mismatch(f"{len(answers)} answers for {len(rows)} rows")
    for (_, entries), answer in list(zip(rows, answers, strict=True))[:40]:
        exact, tolerance = naive.scores(entries), naive.tolerance(entries)
        best = sorted(exact.values(), reverse=True)
        # Rows without a known feature have no answer.
        for place, (label, score) in enumerate(zip(answer["classes"], answer["scores"], strict=True)):
            if abs(score - exact[label]) > tolerance or exact[label] < best[place] - 2 * tolerance:
                raise Mismatch(
                    f"{name}, {options}: {entries} has `{label}` with {score} in place {place}; "
                    f"exactly it scores {exact[label]}, and the best are {best[:3]}"
                )


def check(program: str, options: Options, rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        half = max(len(rows) * 2 // 3, 1)
        (folder / "a.svm").write_text(written(rows[:half]))
        (folder / "b.svm").write_text(written(rows[half:]))
        train = ("train", "a.svm", "-q", *options)
        run(program, folder, *train, "--model", "m1", "--threads", 1)
        run(program, folder, *train, "--model", "m2", "--threads", 2)
        if (folder / "m1").read_bytes() != (folder / "m2").read_bytes():
            raise Mismatch("one and two threads write different bytes")
        algorithm, later = options[1], rows[half:]
        models = ["m1"]
        if algorithm in ("softmax", "centroid") and later:
            run(program, folder, "train", "b.svm", "--from", "m1", "--model", "m3", "-q")
            models.append("m3")
        if algorithm == "softmax":
            for precision in ("f16", "int8"):
                run(program, folder, "compact", "m1", "--out", precision, "--precision", precision, "-q")
                models.append(precision)
        for model in models:
            run(program, folder, "inspect", model, "--verify")
            if later and algorithm not in WITHOUT_TABLE:
                compare(program, folder, model, later, options)
        if algorithm == "softmax" and later:
            same = [run(program, folder, "predict", model, "b.svm", "-q") for model in ("m1", "f16")]
            if same[0] != same[1]:
                raise Mismatch("a compacted model of 16 bits answers otherwise")


def shrunk(program: str, options: Options, rows: list[Row]) -> tuple[list[Row], str]:
    """Fewer rows that show the same kind of difference."""
    message, size = "", len(rows) // 2
    while size >= 1:
        for start in range(0, len(rows), size):
            fewer = rows[:start] + rows[start + size :]
            try:
                if fewer:
                    check(program, options, fewer)
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
        rows, options = draw_rows(draw), draw_options(draw, seed)
        try:
            check(program, options, rows)
        except Mismatch as reason:
            print(f"seed {seed}, {options}: {reason}")
            rows, message = shrunk(program, options, rows)
            print(f"shrunk to {len(rows)} rows: {message}\n{written(rows)}")
            return 1
        done[options[1]] += 1
    print(
        ", ".join(f"{algorithm} {count}" for algorithm, count in sorted(done.items())),
        "rounds, no difference",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
