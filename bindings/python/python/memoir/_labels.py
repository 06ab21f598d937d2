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


def kind_of(labels: np.ndarray) -> str:
    """What labels are, in the words of a model file: ``text``, ``whole``, ``real`` or ``truth``."""
    if labels.dtype.kind == "O":
        plain = (label.item() if isinstance(label, np.generic) else label for label in labels.tolist())
        return kind_of_types(set(map(type, plain)))
    return {"b": "truth", "f": "real", "i": "whole", "u": "whole"}.get(labels.dtype.kind, "text")


def kind_of_types(types: set[type]) -> str:
    """The same of labels that have these types in Python."""
    for kind, of_kind in (("truth", {bool}), ("whole", {int}), ("real", {int, float})):
        if types and types <= of_kind:
            return kind
    return "text"


def of_names(names: list[str], labels: str, kind: str | None = None) -> np.ndarray:
    """Class names as the labels a user works with; `kind` is what the file says they were."""
    if labels not in ("auto", "str", "int"):
        raise ValueError(f'`labels` must be one of "auto", "str", "int", but is {labels!r}')
    whole = None
    if labels == "int" or (labels == "auto" and kind in (None, "whole")):
        whole = _whole(names)
    if labels == "int" and whole is None:
        raise ValueError("the classes of this model are not all whole numbers")
    if whole is not None:
        return whole
    if labels == "auto" and kind == "truth" and set(names) <= {"True", "False"}:
        return np.array([name == "True" for name in names])
    if labels == "auto" and kind == "real":
        try:
            return np.array([float(name) for name in names])
        except ValueError:
            # Whoever went on with the model added classes that are no numbers.
            pass
    return np.array(names, dtype=object)


def _whole(names: list[str]) -> np.ndarray | None:
    """The names as whole numbers, if they all are such and are written as such."""
    try:
        whole = np.array([int(name) for name in names], dtype=np.int64)
    except (ValueError, OverflowError):
        return None
    return whole if [str(label) for label in whole.tolist()] == names else None


def check_kinds(labels: np.ndarray | list[Any] | tuple[Any, ...]) -> None:
    """Refuses bytes, and numbers mixed with texts: as text, by which the library knows them, 1 and "1" would
    be one class."""
    dtype = getattr(labels, "dtype", np.dtype(object))
    kinds = set(map(type, labels)) if dtype.kind == "O" else set()
    # numpy has texts of its own.
    kinds = {str if issubclass(kind, str) else kind for kind in kinds}
    if dtype.kind == "S" or any(issubclass(kind, bytes) for kind in kinds):
        raise ValueError("labels are bytes, expected texts: decode them, for instance by label.decode()")
    if str in kinds and len(kinds) > 1:
        others = sorted(kind.__name__ for kind in kinds - {str})
        raise ValueError(f"labels are texts and {', '.join(others)} mixed; make all of them texts")


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
