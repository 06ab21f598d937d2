"""Raw counts -> unit tf-idf rows, in the file formats of the peers.

    prepare.py DATA_FOLDER OUT_FOLDER

Writes `SPLIT.x.npz`, the vectors of each split that exists (scipy CSR matrix),
and for the training rows `train.y.npz`, their labels (the same), `train.xmc.txt`,
both as text in the format of the Extreme Classification Repository, and
`classes.txt`, the class name of each label column.
The value of a feature is (1 + ln count) * idf, idf = ln((1+n)/(1+df)) + 1
with n and df of the training rows; each row is then scaled to length 1.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import datafile

SPLITS = ("train", "valid", "test")


def read_counts(path: Path, columns: int | None) -> tuple[list[list[str]], sp.csr_matrix]:
    """Class names of the rows, and their counts; features unseen in training go."""
    labels, starts, indices, counts = datafile.read_rows(path)
    indices = np.array(indices, dtype=np.int32)
    width = int(indices.max(initial=-1)) + 1
    counts = np.array(counts, dtype=np.float32)
    x = sp.csr_matrix((counts, indices, np.array(starts)), shape=(len(labels), width))
    x.sum_duplicates()
    if columns is not None and width != columns:
        x.resize(len(labels), columns)
    return labels, x


def inverse_document_frequency(x: sp.csr_matrix) -> np.ndarray:
    """Smooth idf of each column."""
    frequency = np.bincount(x.indices, minlength=x.shape[1])
    return np.log((1 + x.shape[0]) / (1 + frequency)) + 1


def weigh(x: sp.csr_matrix, idf: np.ndarray) -> sp.csr_matrix:
    """Unit rows of (1 + ln count) * idf."""
    values = (1 + np.log(x.data.astype(np.float64))) * idf[x.indices]
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    length = np.sqrt(np.bincount(rows, weights=values**2, minlength=x.shape[0]))
    values /= np.maximum(length, 1e-12)[rows]
    return sp.csr_matrix((values.astype(np.float32), x.indices, x.indptr), shape=x.shape)


def class_list(labels: list[list[str]]) -> list[str]:
    """All class names of the training rows: by number if they are numbers."""
    names = {name for row in labels for name in row}
    numeric = all(name.isdecimal() for name in names)
    return sorted(names, key=int) if numeric else sorted(names)


def label_matrix(labels: list[list[str]], column: dict[str, int]) -> sp.csr_matrix:
    """One row per row, 1 in the column of each of its classes."""
    starts = np.cumsum([0] + [len(row) for row in labels])
    indices = np.array([column[name] for row in labels for name in row], dtype=np.int32)
    ones = np.ones(len(indices), dtype=np.float32)
    y = sp.csr_matrix((ones, indices, starts), shape=(len(labels), len(column)))
    y.sort_indices()
    return y


def write_xmc(path: Path, x: sp.csr_matrix, labels: list[list[str]], column: dict[str, int]):
    """Header `rows features classes`, then `label,label index:value …`, from 0."""
    with open(path, "w", encoding="ascii") as out:
        out.write(f"{x.shape[0]} {x.shape[1]} {len(column)}\n")
        for row, names in enumerate(labels):
            span = slice(x.indptr[row], x.indptr[row + 1])
            pairs = zip(x.indices[span].tolist(), x.data[span].tolist(), strict=True)
            known = ",".join(str(column[name]) for name in names if name in column)
            out.write(known + " " + " ".join([f"{i}:{v:.7g}" for i, v in pairs]) + "\n")


def main(source: Path, target: Path):
    target.mkdir(parents=True, exist_ok=True)
    column, idf = {}, None
    for split in SPLITS:
        path = datafile.find(source, split)
        if path is None:
            if split == "train":
                sys.exit(f"{source}: no train{datafile.SUFFIXES[0]} or train{datafile.SUFFIXES[1]}")
            continue
        labels, x = read_counts(path, None if idf is None else len(idf))
        if split == "train":
            idf = inverse_document_frequency(x)
            names = class_list(labels)
            column = {name: i for i, name in enumerate(names)}
            (target / "classes.txt").write_text("".join(f"{n}\n" for n in names), encoding="utf-8")
            sp.save_npz(target / "train.y.npz", label_matrix(labels, column), compressed=False)
        x = weigh(x, idf)
        sp.save_npz(target / f"{split}.x.npz", x, compressed=False)
        if split == "train":  # the only split that a peer reads as text
            write_xmc(target / f"{split}.xmc.txt", x, labels, column)
    (target / "complete").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
