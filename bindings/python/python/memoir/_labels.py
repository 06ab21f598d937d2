"""Single labels: what their type is, whether they are there, and which number each of them gets."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _memoir


def is_missing(label: Any) -> bool:
    """Whether `label` is what libraries put in place of one that is not there: None, NaN, pandas.NA."""
    if isinstance(label, (str, int, np.ndarray, list, tuple)):
        return False
    # Comparing pandas.NA, even with itself, gives no truth.
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def names_of(labels: np.ndarray) -> list[str]:
    """Labels as text: what classes are called in a model file."""
    return [label if isinstance(label, str) else str(label) for label in labels.tolist()]


def in_type_of(labels: np.ndarray, like: np.ndarray | None) -> np.ndarray:
    """`labels` in the type of `like`, those of a model: as text, by which the library knows them, 1 and
    1.0 are two classes."""
    kinds = {"i": "whole", "u": "whole", "O": "text", "U": "text", "T": "text"}
    if like is None or kinds.get(labels.dtype.kind, labels.dtype) == kinds.get(like.dtype.kind, like.dtype):
        return labels
    if (
        "text" not in (kinds.get(labels.dtype.kind), kinds.get(like.dtype.kind))
        and np.isfinite(labels).all()
    ):
        same = labels.astype(like.dtype)
        if np.array_equal(same, labels):
            return same
    raise ValueError(
        f"labels are {labels.dtype} now and {like.dtype} in the model"
        + ('; `load` gives labels as text with labels="str"' if like.dtype.kind == "i" else "")
    )


def number_flat(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
