"""Scores saved predictions; prints one JSON object.

    score.py TRUTH_FILE PREDICTIONS [CLASSES]

PREDICTIONS is a scipy CSR matrix of scores (.npz), or text with one line per
row. With CLASSES the predictions are line numbers (from 0) of that file,
without it they are class names.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

import datafile

TOP_K = 5


def split_prediction_line(line: str) -> list[str]:
    """The classes of one line of text predictions, best first."""
    return [field for field in line.rstrip("\n").split("\t") if field]


def read_predictions(path: Path, classes: list[str] | None) -> list[list[str]]:
    """Class names of each row's predictions, best first."""
    if path.suffix == ".npz":
        import scipy.sparse as sp

        scores = sp.load_npz(path).tocsr()
        rows = []
        for begin, end in pairwise(scores.indptr):
            order = np.argsort(-scores.data[begin:end], kind="stable")
            rows.append(scores.indices[begin:end][order].tolist())
    else:
        with open(path, encoding="utf-8") as lines:
            rows = [split_prediction_line(line) for line in lines]
    if classes is not None:
        rows = [[classes[int(i)] for i in row] for row in rows]
    return [row[:TOP_K] for row in rows]


def precision(truth: list[set[str]], predicted: list[list[str]], k: int) -> float:
    """Mean share of the first k predictions that are right; a missing one is wrong."""
    hits = sum(len(t.intersection(p[:k])) for t, p in zip(truth, predicted, strict=True))
    return hits / (k * len(truth))


def macro_f1(truth: list[str], predicted: list[str]) -> float:
    """scikit-learn's: mean F1 of the classes found in truth or predictions."""
    from sklearn.metrics import f1_score

    numbers = {name: i for i, name in enumerate(sorted({*truth, *predicted}))}
    encode = lambda names: np.array([numbers[name] for name in names])  # noqa: E731
    return float(f1_score(encode(truth), encode(predicted), average="macro", zero_division=0))


def main(truth_file: Path, prediction_file: Path, class_file: Path | None):
    classes = class_file.read_text(encoding="utf-8").splitlines() if class_file else None
    truth = datafile.read_labels(truth_file)
    predicted = read_predictions(prediction_file, classes)
    if len(truth) != len(predicted):
        sys.exit(f"{prediction_file}: {len(predicted)} rows, but the truth has {len(truth)}")
    sets = [set(row) for row in truth]
    result = {
        "rows": len(truth),
        "precision_at_1": precision(sets, predicted, 1),
        "precision_at_5": precision(sets, predicted, TOP_K),
    }
    if not datafile.is_multi_label(truth_file):
        result["accuracy"] = result["precision_at_1"]
        first = [row[0] if row else "" for row in predicted]
        result["macro_f1"] = macro_f1([row[0] for row in truth], first)
    print(json.dumps(result))


if __name__ == "__main__":
    paths = [Path(argument) for argument in sys.argv[1:]]
    main(paths[0], paths[1], paths[2] if len(paths) > 2 else None)
