"""Data that several tests use: small, made up, the same every time."""

from __future__ import annotations

import os
import subprocess

import matplotlib
import numpy as np
import pytest
from scipy import sparse

matplotlib.use("Agg")


def made_up(rows=600, classes=12, seed=0, words=8):
    """Counts in CSR with class-typical columns, and whole-number labels."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, rows)
    y[:classes] = random.permutation(classes)
    own = y[:, None] * 10 + random.integers(0, 10, (rows, words))
    shared = classes * 10 + random.integers(0, 30, (rows, words // 2))
    columns = np.concatenate([own, shared], axis=1)
    ends = np.arange(0, columns.size + 1, columns.shape[1])
    X = sparse.csr_array(
        (np.ones(columns.size, dtype=np.float32), columns.reshape(-1), ends),
        shape=(rows, classes * 10 + 30),
    )
    X.sum_duplicates()
    return X, y


@pytest.fixture(scope="session")
def data():
    return made_up()


WORDS = "paint weld teach drive cook nurse audit plant roof code carve sing".split()


def made_up_texts(rows=400, seed=1):
    """Short job descriptions and the occupation of each."""
    random = np.random.default_rng(seed)
    jobs = random.integers(0, len(WORDS), rows)
    jobs[: len(WORDS)] = random.permutation(len(WORDS))
    filler = ["senior", "the", "at", "night", "big", "small", "new"]
    texts = [
        " ".join(random.permutation([WORDS[job], WORDS[job] + "ing", *random.choice(filler, 3)]).tolist())
        for job in jobs
    ]
    return texts, [f"job-{WORDS[job]}" for job in jobs]


@pytest.fixture(scope="session")
def texts():
    return made_up_texts()


@pytest.fixture(scope="session")
def program():
    """Runs the command line."""
    path = os.environ.get("MEMOIR_PROGRAM")
    if not path:
        pytest.skip("MEMOIR_PROGRAM does not say where the command line is")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
