"""Texts of which the model knows no word: what stands where their answer would be."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

TEXTS = "UTO"
"""Kinds of arrays whose labels are texts; numbers are in arrays of their own."""


def filled(labels: np.ndarray, is_unknown: np.ndarray, unknown: Any) -> np.ndarray:
    """`labels`, one row each, with `unknown` in the rows that are.

    By default that is the empty text. Numbers have nothing like it, so such rows keep what they have, which
    is the first class. Whoever gives no `unknown` is told how many rows there are.
    """
    are_texts = labels.dtype.kind in TEXTS
    if unknown is not None:
        given = np.asarray(unknown)
        if given.ndim or (given.dtype.kind in TEXTS) != are_texts:
            kind = "texts" if are_texts else str(labels.dtype)
            raise ValueError(f"`unknown` must be a label as those of the model, {kind}, but is {unknown!r}")
        labels = labels.astype(np.promote_types(labels.dtype, given.dtype))
        labels[is_unknown] = unknown
        return labels
    rows = int(is_unknown.sum())
    if rows:
        answer = "their answer is empty" if are_texts else "they get the first class"
        warnings.warn(
            f"{rows} of the texts hold no word that the model knows; {answer} (`unknown` sets another)",
            stacklevel=4,
        )
        if are_texts:
            labels[is_unknown] = ""
    return labels


def as_missing(values: np.ndarray, is_unknown: np.ndarray) -> np.ndarray:
    """`values` with None in the rows that are unknown, for tables, whose cells may be empty."""
    if not is_unknown.any():
        return values
    values = values.astype(object)
    values[is_unknown] = None
    return values
