"""The vectors that `memoir compare` writes in the form `npy`, and predictions in the form that it reads."""

from pathlib import Path

import numpy as np

TOP_K = 5


def arrays(folder: str) -> dict[str, np.ndarray]:
    """indptr, indices, data of the rows; label_indptr, labels; shape (rows, features, classes)."""
    return {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}


def matrices(folder: str):
    """Rows and labels as sparse matrices of 32-bit floats."""
    import scipy.sparse as sparse  # not every environment has it

    a = arrays(folder)
    rows, features, classes = a["shape"].tolist()
    x = sparse.csr_matrix((a["data"], a["indices"], a["indptr"]), shape=(rows, features))
    ones = np.ones(len(a["labels"]), dtype=np.float32)
    y = sparse.csr_matrix((ones, a["labels"], a["label_indptr"]), shape=(rows, classes))
    return x, y


def write_predictions(path: str, rows):
    """One line a row: class numbers, best first."""
    with open(path, "w", encoding="ascii") as out:
        for classes in rows:
            out.write(" ".join([str(number) for number in classes]) + "\n")
