"""Targets as users have them (labels, lists of labels, indicator matrices) become class numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from . import _memoir


@dataclass
class Targets:
    """Class numbers of rows. Classes are numbered as they first appear, as where the command line reads a file."""

    kind: str
    """``single`` (one label a row), ``lists``, ``indicator`` or ``sparse indicator``."""
    numbers: np.ndarray
    """Class numbers of all rows, one after the other."""
    ends: np.ndarray | None
    """Where each row's numbers end; None if each row has one."""
    met: np.ndarray
    """The label of each class number."""
    classes: np.ndarray
    """All labels, sorted: what scikit-learn calls ``classes_``."""

    def __len__(self) -> int:
        return len(self.numbers if self.ends is None else self.ends)

    @property
    def names(self) -> list[str]:
        """What each class is called in a model file."""
        return names_of(self.met)

    def for_library(self) -> dict[str, Any]:
        """What the native module takes, and empties when it has it."""
        return {"numbers": self.numbers, "ends": self.ends, "names": self.names}


def names_of(labels: np.ndarray) -> list[str]:
    """Labels as text."""
    return [label if isinstance(label, str) else str(label) for label in labels.tolist()]


def joined(before: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The labels of a model that went on learning: those of before, then those that are new, in their order."""
    known = set(before.tolist())
    fresh = [label for label in new.tolist() if label not in known]
    if not fresh:
        return before
    dtype = object if "O" in (before.dtype.kind, new.dtype.kind) else None
    return np.concatenate([before.astype(dtype or before.dtype), np.array(fresh, dtype=dtype or new.dtype)])


def kind_of(y: Any) -> str:
    """Which kind of targets `y` is."""
    if sparse.issparse(y):
        return "sparse indicator"
    if y is not None and not hasattr(y, "dtype") and not hasattr(y, "columns"):
        first = next((labels for labels in y if labels is not None), None) if hasattr(y, "__iter__") else None
        if isinstance(first, (list, tuple, set, frozenset)) or (
            isinstance(first, np.ndarray) and first.ndim > 0
        ):
            return "indicator" if _is_table(y) else "lists"
        return "single"
    if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
        return "indicator"
    if getattr(getattr(y, "dtype", None), "kind", "") == "O" and getattr(y, "ndim", 1) == 1:
        first = next((labels for labels in y if labels is not None), None)
        if isinstance(first, (list, tuple, set, frozenset, np.ndarray)):
            return "lists"
    return "single"


def _is_table(y: Any) -> bool:
    """Whether lists are the rows of a 0/1 table of more than one column: then that is what they mean."""
    try:
        table = np.asarray(y)
    except ValueError:
        return False
    return (
        table.ndim == 2
        and table.shape[1] > 1
        and table.dtype.kind in "biuf"
        and bool(np.isin(table, (0, 1)).all())
    )


def in_type_of(labels: np.ndarray, like: np.ndarray | None) -> np.ndarray:
    """`labels` in the type of `like`, those of a model: as text, by which the library knows them, 1 and 1.0 are two classes."""
    kinds = {"i": "whole", "u": "whole", "O": "text", "U": "text", "T": "text"}
    if like is None or kinds.get(labels.dtype.kind, labels.dtype) == kinds.get(like.dtype.kind, like.dtype):
        return labels
    if "text" not in (kinds.get(labels.dtype.kind), kinds.get(like.dtype.kind)) and np.isfinite(labels).all():
        same = labels.astype(like.dtype)
        if np.array_equal(same, labels):
            return same
    raise ValueError(
        f"labels are {labels.dtype} now and {like.dtype} in the model"
        + ('; `load` gives labels as text with labels="str"' if like.dtype.kind == "i" else "")
    )


def number(y: Any, kind: str, like: np.ndarray | None = None) -> Targets:
    """Numbers the labels of `y`; `like` are the labels of a model that they must fit."""
    if kind.endswith("indicator"):
        return _of_indicator(y, kind)
    if kind == "lists":
        return _of_lists(y, like)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    numbers, met, classes = _number_flat(in_type_of(y, like))
    return Targets("single", numbers, None, met, classes)


def _number_flat(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Class numbers, the label of each, and the labels sorted."""
    kind = labels.dtype.kind
    if kind == "i" or (kind == "u" and labels.dtype.itemsize < 8):
        numbers, met = _memoir.number_labels(np.ascontiguousarray(labels, dtype=np.int64))
        met = met.astype(labels.dtype)
        return numbers, met, np.sort(met)
    if kind in "UT" or (kind == "O" and all(map(str.__instancecheck__, labels))):
        numbers, met = _memoir.number_labels(labels.tolist())
        met = np.array(met, dtype=labels.dtype)
        return numbers, met, np.sort(met)
    classes, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return rank[inverse.reshape(-1)], classes[order], classes


def _of_lists(y: Any, like: np.ndarray | None = None) -> Targets:
    rows = [sorted(labels) if isinstance(labels, (set, frozenset)) else labels for labels in y]
    for index, labels in enumerate(rows):
        if isinstance(labels, str) or not hasattr(labels, "__len__"):
            raise ValueError(f"row {index} of y is {labels!r}, expected a list of labels as in other rows")
    ends = np.cumsum(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)), dtype=np.int64)
    flat = list(chain.from_iterable(rows))
    labels = np.array(flat, dtype=object if flat and isinstance(flat[0], str) else None)
    if labels.ndim != 1:
        raise ValueError("y must hold lists of labels, not lists of lists of them")
    if labels.size == 0:
        raise ValueError("no row of y has a label; there is nothing to learn from")
    numbers, met, classes = _number_flat(in_type_of(labels, like))
    return Targets("lists", numbers, ends, met, classes)


def _of_indicator(y: Any, kind: str) -> Targets:
    if sparse.issparse(y):
        matrix = y.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        table = np.asarray(y)
        if table.ndim != 2:
            raise ValueError(f"an indicator matrix has two dimensions, but y has {table.ndim}")
        if table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
            raise ValueError(
                "y has several columns, so it is taken as an indicator matrix, which may hold only 0 and 1"
            )
        matrix = sparse.csr_array(table)
    if not np.isin(matrix.data, (0, 1)).all():
        raise ValueError("an indicator matrix may hold only 0 and 1")
    keep = matrix.data != 0
    columns = np.asarray(matrix.indices)[keep].astype(np.int64)
    ends = np.concatenate(([0], np.cumsum(keep)))[matrix.indptr[1:]].astype(np.int64)
    if columns.size == 0:
        raise ValueError("no row of y has a label; there is nothing to learn from")
    numbers, met, _ = _number_flat(columns)
    return Targets(kind, numbers, ends, met, np.arange(matrix.shape[1]))
