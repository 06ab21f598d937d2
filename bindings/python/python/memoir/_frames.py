"""Tables in and out: rows of several columns as texts, and answers beside the columns of a frame."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._checks import positive
from ._inputs import refuse_lazy
from ._part import Part
from ._unknown import as_missing


def column_text(
    frame: Any, text: str = "text", *, category: str | None = None, numeric: str | None = None
) -> list[str]:
    """Make one text of several columns of each row, for :class:`MemoirTextClassifier`.

    Parameters
    ----------
    frame : pandas or polars DataFrame, Arrow table, or mapping of columns
        The rows.
    text : str, default="text"
        The columns of the text, separated by commas. With weights, as in ``"title:2,abstract"``, the words
        of each column are features of their own.
    category : str, optional
        Columns whose values are features, such as ``"industry,region"``; a weight may follow each, as in
        ``"industry:1"``. Otherwise it is chosen on held-out rows, or 0.5 where there are few.
    numeric : str, optional
        Columns of numbers whose ranges are features.

    Returns
    -------
    list of str
        A text for each row, which :meth:`fit` and :meth:`predict` take.

    Examples
    --------
    >>> from memoir import MemoirTextClassifier, column_text
    >>> jobs = {"title": ["nurse", "nurse", "cook", "cook"], "region": ["N", "S", "N", "S"]}
    >>> texts = column_text(jobs, "title", category="region")
    >>> model = MemoirTextClassifier().fit(texts, ["n1", "n2", "c1", "c2"])
    >>> model.predict(texts[:2]).tolist()
    ['n1', 'n2']
    """
    refuse_lazy(frame, "the frame")
    texts = _listed(frame, text)
    weighted = any(weight is not None for _, weight in texts)
    parts: list[tuple[str | None, list[str]]] = []
    for name, weight in texts:
        mark = f"t{_number(1.0 if weight is None else weight)}:{name}" if weighted else None
        parts.append((mark, _cells(frame, name)))
    for kind, names in (("c", category), ("n", numeric)):
        for name, weight in _listed(frame, names) if names else []:
            share = "auto" if weight is None else _number(weight)
            parts.append((f"{kind}{share}:{name}", _cells(frame, name)))
    return [_joined(parts, row) for row in range(len(parts[0][1]))]


def _joined(parts: list[tuple[str | None, list[str]]], row: int) -> str:
    plain = "\n".join(cells[row] for mark, cells in parts if mark is None)
    return plain + "".join(f"\x1f{mark}\x1e{cells[row]}" for mark, cells in parts if mark is not None)


def _number(weight: float) -> str:
    return str(int(weight)) if weight == int(weight) else repr(weight)


def _listed(frame: Any, names: str) -> list[tuple[str, float | None]]:
    """Columns with their weights; a column may have a name with a colon."""
    there = set(_names(frame))
    listed: list[tuple[str, float | None]] = []
    for item in [names] if names in there else [item.strip() for item in names.split(",")]:
        name, _, weight = item.rpartition(":")
        if item in there or not name:
            name, weight = item, ""
        _column(there, name)
        listed.append((name, float(weight) if weight else None))
    return listed


def _column(there: Iterable[str], name: str) -> str:
    """The column called `name`, or the only one that differs from it in capital letters alone."""
    if name in there:
        return name
    alike = [column for column in there if column.lower() == name.lower()]
    if len(alike) != 1:
        raise ValueError(f"expected a column {name!r}, got {sorted(there)}")
    return alike[0]


def _names(frame: Any) -> Iterable[str]:
    if hasattr(frame, "column_names"):
        return frame.column_names
    return frame.columns if hasattr(frame, "columns") else frame.keys()


def _cells(frame: Any, name: str) -> list[str]:
    column = frame[_column(set(_names(frame)), name)]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            column = getattr(column, method)()
            break
    return [_plain(cell) for cell in column]


def _plain(cell: Any) -> str:
    # None, NaN and pandas' NA are empty cells; they are not equal to themselves, or have no truth value.
    if cell is None or cell != cell or type(cell).__name__ == "NAType":
        return ""
    return str(cell).replace("\x1f", " ").replace("\x1e", " ")


class FramePredicting(Part):
    """The part of an estimator that answers tables."""

    def predict_frame(
        self,
        frame: Any,
        *,
        k: int = 1,
        text: str | None = None,
        category: str | None = None,
        numeric: str | None = None,
    ) -> Any:
        """The frame with the best classes of each row in columns behind its own.

        Parameters
        ----------
        frame : pandas or polars DataFrame, or Arrow table
            The rows.
        k : int, default=1
            How many classes each row gets.
        text, category, numeric : str, optional
            The columns that make the text, as in :func:`column_text`; by default the column ``text``, or
            the only one. Frames of vectors have none of these: all their columns are features.

        Returns
        -------
        frame
            Of the same kind, with the columns ``class_1``, ``probability_1``, ``class_2`` and so on. Of
            models of text that hold overrides, ``override`` says which rows these decide. Both are missing
            where a text holds no known word.

        Examples
        --------
        >>> import pandas
        >>> from memoir import MemoirTextClassifier
        >>> model = MemoirTextClassifier().fit(["red apple", "blue sky"], ["fruit", "weather"])
        >>> frame = pandas.DataFrame({"id": [7, 8], "text": ["an apple", "the sky"]})
        >>> model.predict_frame(frame)[["id", "class_1"]].values.tolist()
        [[7, 'fruit'], [8, 'weather']]
        """
        refuse_lazy(frame, "the frame")
        rows = self._frame_rows(frame, text, category, numeric)
        numbers, probabilities, is_unknown = self._probable(rows, min(positive("k", k), len(self.classes_)))
        classes = self._met[numbers]
        columns: dict[str, np.ndarray] = {}
        for rank in range(classes.shape[1]):
            columns[f"class_{rank + 1}"] = as_missing(classes[:, rank], is_unknown)
            columns[f"probability_{rank + 1}"] = as_missing(probabilities[:, rank], is_unknown)
        if self._model.has_overrides:
            columns["override"] = np.array(self._model.overridden(rows, self._running()), dtype=bool)
        taken = [name for name in columns if name in set(_names(frame))]
        if taken:
            raise ValueError(f"the frame has a column {taken[0]!r} already: drop or rename it")
        return _beside(frame, columns)

    def _frame_rows(self, frame: Any, text: str | None, category: str | None, numeric: str | None) -> Any:
        if any(given is not None for given in (text, category, numeric)):
            raise ValueError("text, category and numeric are for models of text")
        return frame.to_pandas() if hasattr(frame, "column_names") else frame


def text_rows(frame: Any, text: str | None, category: str | None, numeric: str | None) -> list[str]:
    """The texts of a frame whose columns may be left to us."""
    names = list(_names(frame))
    if text is None:
        text = names[0] if len(names) == 1 else "text"
    return column_text(frame, text, category=category, numeric=numeric)


def _beside(frame: Any, columns: dict[str, np.ndarray]) -> Any:
    kind = type(frame).__module__.partition(".")[0]
    if kind == "polars":
        # Whoever has such a frame has imported it.
        polars = sys.modules["polars"]
        answers = [polars.Series(name, values.tolist()) for name, values in columns.items()]
        # A column in which nothing is there has no type of its own.
        typed = [each.cast(polars.String) if each.dtype == polars.Null else each for each in answers]
        return frame.with_columns(typed)
    if kind == "pyarrow":
        import pyarrow

        for name, values in columns.items():
            frame = frame.append_column(name, pyarrow.array(values.tolist()))
        return frame
    if hasattr(frame, "assign"):
        return frame.assign(**{name: _nullable(values) for name, values in columns.items()})
    raise ValueError(f"expected a pandas or polars DataFrame or an Arrow table, got {type(frame).__name__}")


def _nullable(values: np.ndarray) -> Any:
    """Values for pandas, which would make whole numbers real ones where some are missing."""
    there = [value for value in values if value is not None]
    if len(there) < len(values) and there and isinstance(there[0], (int, np.integer)):
        return sys.modules["pandas"].array(list(values), dtype="Int64")
    return list(values)
