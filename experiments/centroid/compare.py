"""Nearest-centroid prediction, side by side and one thread each: scipy's sparse matrix product against
memoir.

    python experiments/centroid/compare.py TRAIN.svm TEST.svm

Needs numpy, scipy and scikit-learn. Both sides see the same rows (log-tf x idf, unit length) and give the
same answers. Speeds are rows per second of processor time, reading and weighting of rows left out on both
sides.
"""

# ruff: noqa: E402
import os

# NumPy reads these when it is imported.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import json
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize


def weighted(counts, inverse_frequency):
    rows = counts.copy()
    rows.data = ((1 + np.log(rows.data)) * inverse_frequency[rows.indices]).astype(np.float32)
    return normalize(rows)


def centroids(rows, classes, count):
    ones = np.ones(len(classes), np.float32)
    members = sp.csr_matrix((ones, (classes, np.arange(len(classes)))), shape=(count, len(classes)))
    return normalize(members @ rows)


def predict(rows, weights, chunk):
    answers = []
    started = time.process_time()
    for start in range(0, rows.shape[0], chunk):
        scores = rows[start : start + chunk] @ weights
        answers.append(np.asarray(scores.argmax(axis=1)).ravel())
    return np.concatenate(answers), time.process_time() - started


def main():
    train_file, test_file = sys.argv[1:]
    train, train_labels = load_svmlight_file(train_file, dtype=np.float32)
    test, test_labels = load_svmlight_file(test_file, n_features=train.shape[1], dtype=np.float32)
    frequency = np.bincount(train.indices, minlength=train.shape[1])
    inverse_frequency = np.log((1 + train.shape[0]) / (1 + frequency)) + 1
    train, test = weighted(train, inverse_frequency), weighted(test, inverse_frequency)
    names, classes = np.unique(train_labels, return_inverse=True)
    weights = centroids(train, classes, len(names)).T.tocsr()

    fastest = 0
    for chunk in (64, 256, 1024, 4096):
        answers, seconds = predict(test, weights, chunk)
        accuracy = 100 * np.mean(names[answers] == test_labels)
        speed = test.shape[0] / seconds
        fastest = max(fastest, speed)
        print(f"scipy, chunks of {chunk:4}: accuracy {accuracy:.2f}%, {speed:8.0f} rows/s")
    build = ["cargo", "run", "--release", "--quiet", "--bin", "centroid_speed", "--"]
    for precision in ("f32", "f16"):
        output = subprocess.run(
            [*build, train_file, test_file, "10", precision], check=True, capture_output=True
        )
        memoir = json.loads(output.stdout)
        speed = memoir["rows_per_second"]
        print(
            f"memoir, {precision}: accuracy {memoir['accuracy']:.2f}%, {speed:.0f} rows/s "
            f"({speed / fastest:.1f} times the fastest above), trained in {memoir['train_seconds']} s, "
            f"{memoir['weights']} weights, file of {memoir['file_bytes'] / 1e6:.1f} MB"
        )


main()
