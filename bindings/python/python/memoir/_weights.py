"""How much each row counts: weights of rows and of classes become what the library takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ._inputs import refuse_lazy
from ._targets import Targets

MOST_REPEATS = 4
"""Whole weights become repeated rows as long as there are at most this many times as many rows."""


class Taken(NamedTuple):
    """Which rows are learned from, and how much each counts."""

    rows: np.ndarray
    """Their numbers, rising; a number stands several times where a row is repeated."""
    weights: np.ndarray
    """Of each of them; their mean is 1."""


def of_rows(sample_weight: Any, rows: int) -> np.ndarray:
    """The weights of so many rows: numbers of at least 0."""
    refuse_lazy(sample_weight, "`sample_weight`")
    try:
        np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        kind = type(sample_weight).__name__
        raise ValueError(f"`sample_weight` ({kind}) must hold a number for each row: {reason}") from None
    return _check_sample_weight(
        sample_weight, np.empty((rows, 1)), dtype=np.float64, ensure_non_negative=True
    )


def rows_to_take(weights: np.ndarray) -> Taken:
    """The rows of a weight above 0, at any scale: only the ratios of weights matter."""
    keep = np.flatnonzero(weights > 0)
    if len(keep) == 0:
        raise ValueError("all rows have the weight 0; there is nothing to learn from")
    # By the largest first, so that neither the sum nor the smallest leaves the range of numbers.
    kept = weights[keep] / weights[keep].max()
    times = repeats(kept)
    if times is not None:
        return Taken(np.repeat(keep, times), np.ones(times.sum(), dtype=np.float32))
    # Smaller ratios are lost in single precision; such rows have no say anyway.
    kept = np.maximum(kept / kept.mean(), np.finfo(np.float32).tiny)
    return Taken(keep, np.ascontiguousarray(kept, dtype=np.float32))


def repeats(weights: np.ndarray) -> np.ndarray | None:
    """How often each row stands, if weights are whole multiples of the smallest and the rows not too many.

    A row of weight 2 is then the row twice, for any algorithm. Otherwise, or for very different weights, it
    is a row that moves the model further.
    """
    smallest = weights.min()
    if smallest == 0 or weights.sum() > MOST_REPEATS * len(weights) * smallest * (1 + 1e-9):
        return None
    ratios = weights / smallest
    times = np.rint(ratios)
    # Weights that were scaled, as by their sum, are whole multiples but for rounding.
    return times.astype(np.int64) if np.allclose(ratios, times, rtol=1e-9, atol=0) else None


def of_classes(class_weight: Any, targets: Targets) -> np.ndarray:
    """The weight of each row by its class; of several, the mean of their weights."""
    counts = np.bincount(targets.numbers, minlength=len(targets.met)).astype(np.float64)
    if isinstance(class_weight, str) and class_weight == "balanced":
        weights = counts.sum() / (len(targets.met) * np.maximum(counts, 1))
    elif isinstance(class_weight, dict):
        met = set(targets.met.tolist())
        unknown = [label for label in class_weight if label not in met]
        if len(unknown) == len(class_weight) and unknown:
            raise ValueError(f"`class_weight` names no class of y; the first is {unknown[0]!r}")
        weights = np.array([float(class_weight.get(label, 1.0)) for label in targets.met.tolist()])
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError("`class_weight` must hold numbers of at least 0")
    else:
        raise ValueError(f'`class_weight` must be "balanced", a dict or None, but is {class_weight!r}')
    of_labels = weights[targets.numbers]
    if targets.ends is None:
        return of_labels
    starts = np.concatenate(([0], targets.ends[:-1]))
    sums = np.concatenate(([0.0], np.cumsum(of_labels)))
    sizes = targets.ends - starts
    return np.where(sizes > 0, (sums[targets.ends] - sums[starts]) / np.maximum(sizes, 1), 1.0)
