"""Rows that are there several times: an order for them that does not depend on where each stands.

Training takes rows in an order that the seed draws. With this order a set of rows with repetitions gives the
same model wherever the repetitions stand, and so the same as whole weights in place of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ._targets import Targets, places

MOST_VALUES = 1 << 20
"""Of larger matrices no copy in another order is made: it would take memory, and one order among many is as
good as another."""


def order_of_content(rows: Any, targets: Targets) -> np.ndarray | None:
    """The rows of a matrix in an order that follows from what they hold; None if no two are the same.

    None also for a matrix that will be refused: rows are then called by the numbers that they have now.
    """
    size = len(rows.data) if sparse.issparse(rows) else rows.size
    if size > MOST_VALUES or not _is_sound(rows):
        return None
    keys = _keys(rows) ^ _mixed(_keys(_label_matrix(targets)))
    order = np.argsort(keys, kind="stable")
    repeated = np.diff(keys[order]) == 0
    return order if repeated.any() else None


def _is_sound(rows: Any) -> bool:
    """Whether all values are numbers of single precision, and all indices lie in the matrix."""
    values = rows.data if sparse.issparse(rows) else rows
    if not (np.abs(values) <= np.finfo(np.float32).max).all():
        return False
    if not sparse.issparse(rows):
        return True
    starts, columns = rows.indptr, rows.indices
    return bool(
        starts[0] == 0
        and (np.diff(starts) >= 0).all()
        and starts[-1] <= min(len(columns), len(values))
        and ((columns >= 0) & (columns < rows.shape[1])).all()
    )


def _label_matrix(targets: Targets) -> Any:
    """A row of ones for the labels of each row, in columns that follow from the labels alone."""
    columns = places(targets.classes, targets.met)[targets.numbers]
    ends = np.arange(1, len(columns) + 1) if targets.ends is None else targets.ends
    starts = np.concatenate(([0], ends))
    return sparse.csr_array(
        (np.ones(len(columns)), columns, starts), shape=(len(ends), len(targets.classes))
    )


def _keys(rows: Any) -> np.ndarray:
    """A number for each row, the same for rows with the same values in the same columns."""
    # A copy, whose values may be added up where a column stands twice; single precision, as is learned from.
    rows = sparse.csr_array(rows, dtype=np.float32, copy=True)
    rows.sum_duplicates()
    mixed = _mixed(_mixed(rows.indices.astype(np.uint64)) + rows.data.view(np.uint32))
    # What is stored as zero is not there.
    mixed[rows.data == 0] = 0
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)))
    return sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Spreads 64-bit numbers (the finaliser of splitmix64)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
