"""Targets as users have them (labels, lists of labels, indicator matrices) become class numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from ._labels import check_kinds, in_type_of, is_missing, names_of, number_flat

COLLECTIONS = (list, tuple, set, frozenset)


@dataclass
class Given:
    """`y` as it was given, in one of four forms."""

    kind: str
    """``single`` (one label a row), ``lists``, ``indicator`` or ``sparse indicator``."""
    labels: Any
    """An array or a list of labels, a list of lists, or a matrix."""
    columns: np.ndarray | None = None
    """The labels of an indicator matrix, where its columns have names."""

    def __len__(self) -> int:
        return self.labels.shape[0] if hasattr(self.labels, "shape") else len(self.labels)

    def taken(self, rows: np.ndarray) -> Given:
        """Only these rows of it."""
        if self.kind == "lists":
            labels = [self.labels[row] for row in rows]
        elif sparse.issparse(self.labels):
            labels = self.labels.tocsr()[rows]
        else:
            labels = np.asarray(self.labels)[rows]
        return Given(self.kind, labels, self.columns)


@dataclass
class Targets:
    """Class numbers of rows.

    Classes are numbered as they first appear, as where the command line reads a file.
    """

    kind: str
    """As in :class:`Given`."""
    numbers: np.ndarray
    """Class numbers of all rows, one after the other."""
    ends: np.ndarray | None
    """Where each row's numbers end; None if each row has one."""
    met: np.ndarray
    """The label of each class number."""
    classes: np.ndarray
    """All labels: what scikit-learn calls ``classes_``.

    Sorted; those of an indicator matrix as its columns are.
    """

    def __len__(self) -> int:
        return len(self.numbers if self.ends is None else self.ends)

    def for_library(self) -> dict[str, Any]:
        """What the native module takes, and empties when it has it."""
        return {"numbers": self.numbers, "ends": self.ends, "names": names_of(self.met)}

    def sets(self) -> list[list[Any]]:
        """The labels of each row."""
        labels = self.met[self.numbers].tolist()
        if self.ends is None:
            return [[label] for label in labels]
        return [labels[start:end] for start, end in zip([0, *self.ends.tolist()], self.ends.tolist())]


def united(before: np.ndarray, new: np.ndarray, kind: str) -> np.ndarray:
    """The classes of a model that went on learning."""
    classes = joined(before, new)
    # Columns stay where they are; everything else is sorted, as scikit-learn does.
    return classes if kind.endswith("indicator") else np.sort(classes)


def joined(before: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The labels of before, then those that are new, in their order."""
    known = set(before.tolist())
    fresh = list(dict.fromkeys(label for label in new.tolist() if label not in known))
    if not fresh:
        return before
    dtype = object if "O" in (before.dtype.kind, new.dtype.kind) else None
    return np.concatenate([before.astype(dtype or before.dtype), np.array(fresh, dtype=dtype or new.dtype)])


def places(classes: np.ndarray, met: np.ndarray) -> np.ndarray:
    """Where each of the labels `met` is in `classes`."""
    place = {label: index for index, label in enumerate(classes.tolist())}
    return np.fromiter((place[label] for label in met.tolist()), dtype=np.int64, count=len(met))


def given(y: Any) -> Given:
    """Which kind of targets `y` is; every row must have a label, or a list of labels."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if sparse.issparse(y):
        return Given("sparse indicator", y)
    is_collection = isinstance(y, Iterable) or hasattr(y, "__array__")
    if type(y).__name__ == "LazyFrame":
        raise ValueError("y is a LazyFrame, whose rows are not there yet: call collect() first")
    if isinstance(y, (str, bytes, dict, set, frozenset)) or not is_collection:
        raise ValueError(
            "y must be a list or an array with a label, or a list of labels, for each row; "
            f"it is a {type(y).__name__}"
        )
    columns = getattr(y, "column_names", getattr(y, "columns", None))
    if columns is not None:
        table = np.asarray(y)
        return Given("indicator", table, _column_labels(list(columns))) if len(columns) > 1 else _flat(table)
    y = _of_numpy_or_python(y)
    if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
        return Given("indicator", y)
    if getattr(getattr(y, "dtype", None), "kind", "O") == "O" and getattr(y, "ndim", 1) == 1:
        first = next((labels for labels in y if not is_missing(labels)), None)
        if isinstance(first, COLLECTIONS) or (isinstance(first, np.ndarray) and first.ndim > 0):
            return Given("indicator" if not hasattr(y, "dtype") and _is_table(y) else "lists", y)
    return _flat(y)


def _flat(labels: Any) -> Given:
    """One label a row; none may be missing."""
    kind = getattr(getattr(labels, "dtype", None), "kind", "O")
    each = labels.reshape(-1) if getattr(labels, "ndim", 1) == 2 else labels
    missing: Iterable[int] = ()
    if kind == "O":
        missing = (row for row, label in enumerate(each) if is_missing(label))
    elif kind in "fMm":
        missing = np.flatnonzero(each != each)
    row = next(iter(missing), None)
    if row is not None:
        raise _no_label(row, each[row])
    if isinstance(labels, (list, tuple)):
        # Now, as an array of them makes texts of numbers.
        check_kinds(labels)
    return Given("single", labels)


def _no_label(row: int, found: Any) -> ValueError:
    shown = "NaN" if isinstance(found, float) else found
    return ValueError(f"row {row} of y has no label ({shown}); leave such rows out")


def _of_numpy_or_python(y: Any) -> Any:
    """An array or a list in place of what other libraries have."""
    module = type(y).__module__.partition(".")[0]
    if module == "pyarrow":
        return y.to_pylist() if hasattr(y.type, "value_type") else y.to_numpy(zero_copy_only=False)
    if module == "polars":
        return y.to_list()
    if hasattr(y, "isna"):
        missing = np.flatnonzero(np.asarray(y.isna()))
        if missing.size:
            raise _no_label(missing[0], np.nan)
        whole = getattr(getattr(y, "dtype", None), "kind", "") in "iub" and hasattr(y.dtype, "numpy_dtype")
        return y.to_numpy(dtype=y.dtype.numpy_dtype) if whole else np.asarray(y)
    if hasattr(y, "__array__"):
        return np.asarray(y)
    return y if hasattr(y, "__len__") else list(y)


def _column_labels(columns: list[Any]) -> np.ndarray:
    """The names of columns as labels."""
    if len(set(columns)) < len(columns):
        raise ValueError("several columns of y have the same name")
    if all(isinstance(name, str) for name in columns):
        return np.array(columns, dtype=object)
    if all(isinstance(name, (int, np.integer)) for name in columns):
        return np.array(columns, dtype=np.int64)
    raise ValueError("the columns of y must be called by texts or by whole numbers")


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


def number(y: Given, like: np.ndarray | None = None) -> Targets:
    """Numbers the labels of `y`; `like` are the classes of a model that they must fit."""
    if y.kind.endswith("indicator"):
        return _of_indicator(y, like)
    if y.kind == "lists":
        return _of_lists(y.labels, like)
    labels = column_or_1d(y.labels, warn=True)
    check_kinds(labels)
    if labels.dtype.kind == "f" and not np.equal(np.mod(labels, 1), 0).all():
        # In the words that scikit-learn's checks look for.
        raise ValueError("Unknown label type: continuous. Labels are numbers that are not whole")
    numbers, met, classes = number_flat(in_type_of(labels, like))
    return Targets("single", numbers, None, met, classes)


def _of_lists(y: Any, like: np.ndarray | None) -> Targets:
    rows = [sorted(labels) if isinstance(labels, (set, frozenset)) else labels for labels in y]
    for index, labels in enumerate(rows):
        if isinstance(labels, str) or not hasattr(labels, "__len__"):
            raise ValueError(f"row {index} of y is {labels!r}, expected a list of labels as in other rows")
        if any(map(is_missing, labels)):
            raise ValueError(f"row {index} of y holds a label that is missing: {labels!r}")
    ends = np.cumsum(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)), dtype=np.int64)
    flat = list(chain.from_iterable(rows))
    labels = np.array(flat, dtype=object if flat and isinstance(flat[0], str) else None)
    if labels.ndim != 1:
        raise ValueError("y must hold lists of labels, not lists of lists of them")
    check_kinds(np.array(flat, dtype=object))
    if labels.size == 0:
        raise ValueError("no row of y has a label; there is nothing to learn from")
    numbers, met, classes = number_flat(in_type_of(labels, like))
    return Targets("lists", numbers, ends, met, classes)


def _of_indicator(y: Given, like: np.ndarray | None) -> Targets:
    matrix = _zeros_and_ones(y.labels)
    keep = matrix.data != 0
    columns = np.asarray(matrix.indices)[keep].astype(np.int64)
    ends = np.concatenate(([0], np.cumsum(keep)))[matrix.indptr[1:]].astype(np.int64)
    if columns.size == 0:
        raise ValueError("no row of y has a label; there is nothing to learn from")
    classes = _classes_of_columns(y.columns, matrix.shape[1], like)
    numbers, met, _ = number_flat(columns)
    return Targets(y.kind, numbers, ends, classes[met], classes)


def _classes_of_columns(named: np.ndarray | None, width: int, like: np.ndarray | None) -> np.ndarray:
    """The label of each column of an indicator matrix."""
    if named is not None:
        return in_type_of(named, like)
    if like is None:
        return np.arange(width)
    # Columns without names are those of the model; where it knows columns by number only, there may be more
    # of them.
    if width == len(like):
        return like
    if like.dtype.kind in "iu":
        return np.arange(width)
    raise ValueError(f"y has {width} columns without names, but there are {len(like)} classes")


def _zeros_and_ones(y: Any) -> Any:
    """An indicator matrix as a checked CSR matrix."""
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
    return matrix
