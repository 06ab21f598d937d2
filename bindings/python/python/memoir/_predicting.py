"""Predicting: one class, the best few, sparse and dense matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _parameters, _unknown
from ._checks import positive
from ._inputs import refuse_lazy
from ._part import Part, steady

AT_ONCE = 1 << 20
"""Numbers of a large result that are worked on at once, so that little memory is needed beside it."""


MOST_LABELS = 100
"""The most labels that a row can get without `at_most`."""


class TopK(NamedTuple):
    """The best classes of each row, best first."""

    classes: np.ndarray
    """Labels, one line per row; those of a text without a known word are empty."""
    probabilities: np.ndarray
    """The probability of each."""


class Predicting(Part):
    """The part of an estimator that predicts."""

    dense_limit: int | str

    def _ranked(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Class numbers and scores of the `k` best classes of each row."""
        check_is_fitted(self, "_model")
        return self._model.predict(self._rows(X, reset=False), k, self._running())

    def _probable(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Class numbers and probabilities of the `k` best classes of each row, and which rows have none."""
        check_is_fitted(self, "_model")
        numbers, probabilities = self._model.predict_probabilities(
            self._rows(X, reset=False), k, self._running()
        )
        is_unknown = np.isneginf(probabilities).any(axis=1)
        probabilities[is_unknown] = 0.0
        return numbers, probabilities, is_unknown

    @steady
    def predict(
        self,
        X: Any,
        *,
        k: int | None = None,
        threshold: float | None = None,
        at_most: int | None = None,
        unknown: Any = None,
    ) -> Any:
        """The best class of each row, or its labels where `y` in :meth:`fit` had several.

        Parameters
        ----------
        X : rows
            As in :meth:`fit`.
        k : int, optional
            How many labels to give for each row, where rows have several, however probable they are.
        threshold : float, optional
            Where rows have several labels: the probability from which on a class is one of them. By default
            the one with the highest F1 on the rows that probabilities were calibrated by. A model that is
            not calibrated gives one label a row.
        at_most : int, optional
            The most labels to give for a row, where rows have several.
        unknown : label, optional
            The answer for a text without a known word, where each row gets one class. By default the empty
            text, or the first class if labels are numbers, of which none is empty; a warning tells how many
            such texts there are.

        Returns
        -------
        ndarray of shape (n_rows,), list of lists, or indicator matrix
            In the form that `y` had in :meth:`fit`; sparse if the indicator matrix was. Of a model file it
            is a list of lists if rows had several labels there, else an array. A text without a known word
            gets no label where rows have several.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.predict([[1, 0, 1], [0, 2, 0]]).tolist()
        ['fruit', 'sky']
        >>> several = MemoirClassifier().fit(X, [["fruit"], ["fruit", "red"], ["sky"], ["sky"]])
        >>> several.predict([[1, 0, 0]], k=2)
        [['fruit', 'red']]
        """
        check_is_fitted(self, "_model")
        k = None if k is None else positive("k", k)
        at_most = None if at_most is None else positive("at_most", at_most)
        if self._is_single:
            if k not in (None, 1) or threshold is not None or at_most is not None:
                raise ValueError("predict gives one class per row; for more of them call predict_topk(X, k)")
            numbers, scores = self._ranked(X, 1)
            answers = self.classes_[self._places[numbers[:, 0]]]
            return _unknown.filled(answers, np.isneginf(scores[:, :1]).any(axis=1), unknown)
        if unknown is not None:
            raise ValueError("`unknown` is for rows that get one class; rows of several labels get none")
        numbers, is_label = self._labels_of(X, k, threshold, at_most)
        if self._form == "lists":
            return [
                labels[chosen].tolist() for labels, chosen in zip(self._met[numbers], is_label, strict=True)
            ]
        if self._form == "indicator":
            self._check_room(len(numbers), "predict", "fit with a sparse indicator matrix")
            return self._filled(numbers, is_label.astype(np.int64), np.int64(0))
        values = np.where(is_label, 1.0, -np.inf)
        return self._matrix(numbers, values).astype(np.int64)

    def _labels_of(
        self, X: Any, k: int | None, threshold: float | None, at_most: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best classes of each row, and which of them are its labels."""
        if k is not None and (threshold is not None or at_most is not None):
            raise ValueError("`k` gives so many labels; it goes with neither `threshold` nor `at_most`")
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"`threshold` must be between 0 and 1, but is {threshold!r}")
        if k is None and threshold is None and not self._model.is_calibrated:
            k = 1
        if k is not None:
            numbers, scores = self._ranked(X, k)
            return numbers, ~np.isneginf(scores)
        if threshold is None:
            threshold = 0.5 if self._model.threshold is None else self._model.threshold
        numbers, probabilities, _ = self._probable(X, at_most or MOST_LABELS)
        return numbers, (probabilities >= threshold) & (probabilities > 0)

    @steady
    def predict_topk(self, X: Any, k: int = 5, *, unknown: Any = None) -> TopK:
        """The `k` best classes of each row, best first, with their probabilities.

        Parameters
        ----------
        X : rows
            As in :meth:`fit`.
        k : int, default=5
            How many; at most as many as there are classes.
        unknown : label, optional
            The classes of a text without a known word, as in :meth:`predict`.

        Returns
        -------
        TopK
            ``classes`` and ``probabilities``, both of shape (n_rows, k). The probabilities of a text without
            a known word are 0.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> best = model.predict_topk([[1, 0, 1]], k=2)
        >>> best.classes.tolist(), best.probabilities.shape
        ([['fruit', 'sky']], (1, 2))
        """
        numbers, probabilities, is_unknown = self._probable(X, positive("k", k))
        return TopK(_unknown.filled(self._met[numbers], is_unknown, unknown), probabilities)

    @steady
    def predict_proba(self, X: Any, *, k: int | None = None) -> np.ndarray | sparse.csr_array:
        """The probability of each class.

        Parameters
        ----------
        X : rows
            As in :meth:`fit`.
        k : int, optional
            Keep only the `k` best classes of each row, in a sparse matrix.

        Returns
        -------
        ndarray or CSR array of shape (n_rows, n_classes)
            Columns are those of ``classes_``. Dense without `k`; then each row adds up to 1, unless rows
            have several labels. Sparse with `k`. A text without a known word has the same probability for
            every class, and no entry in a sparse matrix. Classes that are equally likely differ by the least
            step there is, in the order of :meth:`predict_topk`, so that the largest number is that of the
            predicted class.

        Raises
        ------
        ValueError
            If the dense matrix would have more than ``dense_limit`` bytes.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.predict_proba([[1, 0, 1]]).argmax(axis=1).tolist()
        [0]
        >>> model.predict_proba([[1, 0, 1], [0, 1, 1]], k=1).indices.tolist()
        [0, 1]
        """
        if k is not None:
            numbers, probabilities, is_unknown = self._probable(X, positive("k", k))
            values = falling(probabilities, 0.0)
            values[is_unknown] = -np.inf
            return self._matrix(numbers, values)
        return self._dense(X, "predict_proba", self._probable_dense)

    def _probable_dense(self, X: Any) -> np.ndarray:
        numbers, probabilities, _ = self._probable(X, len(self._met))
        ranked = probabilities.astype(np.float64)
        rest = 0.0
        if self._is_single:
            # What is left open, that none of the candidates is right, any class may be.
            left_open = np.maximum(1.0 - ranked.sum(axis=1, keepdims=True), 0.0) / len(self.classes_)
            ranked += left_open
            sums = ranked.sum(axis=1, keepdims=True) + left_open * (len(self.classes_) - len(self._met))
            ranked /= sums
            rest = left_open / sums
        return self._filled(numbers, falling(ranked, 0.0), rest)

    @steady
    def decision_function(self, X: Any, *, k: int | None = None) -> np.ndarray | sparse.csr_array:
        """The score of each class.

        Parameters
        ----------
        X : rows
            As in :meth:`fit`.
        k : int, optional
            Keep only the `k` best classes of each row, in a sparse matrix.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or (n_rows,) with two classes, or CSR array with `k`
            Columns are those of ``classes_``; with two classes the score of the second less that of the
            first. Equal scores differ by the least step there is, as in :meth:`predict_proba`.

        Raises
        ------
        ValueError
            If the dense matrix would have more than ``dense_limit`` bytes.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> (model.decision_function([[1, 0, 1], [0, 2, 0]]) > 0).tolist()
        [False, True]
        >>> model.decision_function([[1, 0, 1]], k=1).shape
        (1, 2)
        """
        if k is not None:
            numbers, scores = self._ranked(X, positive("k", k))
            return self._matrix(numbers, falling(scores))
        return self._dense(X, "decision_function", self._score_dense)

    def _score_dense(self, X: Any) -> np.ndarray:
        numbers, scores = self._ranked(X, len(self._met))
        lowest = np.finfo(np.float32).min
        dense = self._filled(numbers, falling(np.maximum(scores, lowest).astype(np.float64)), float(lowest))
        if len(self.classes_) == 2 and self._is_single:
            return dense[:, 1] - dense[:, 0]
        return dense

    def _dense(self, X: Any, method: str, make: Any) -> np.ndarray:
        """What `make` makes of `X`, if there is room for it."""
        check_is_fitted(self, "_model")
        refuse_lazy(X)
        if not hasattr(X, "shape") and not hasattr(X, "__len__"):
            X = list(X)
        rows = X.shape[0] if getattr(X, "shape", ()) else len(X) if hasattr(X, "__len__") else 0
        self._check_room(
            rows, method, f"call predict_topk(X, k) or {method}(X, k=...) for the best classes only"
        )
        return make(X)

    def _check_room(self, rows: int, method: str, instead: str) -> None:
        size = 8 * rows * len(self.classes_)
        limit = _parameters.parse_size("dense_limit", self.dense_limit)
        if limit is not None and size > limit:
            raise ValueError(
                f"{method} of {rows:,} rows and {len(self.classes_):,} classes would take {size:,} bytes, "
                f"more than "
                f"dense_limit = {limit:,}: {instead}, or raise dense_limit"
            )

    def _filled(self, numbers: np.ndarray, values: Any, rest: Any) -> np.ndarray:
        dense = np.empty((len(numbers), len(self.classes_)), dtype=np.result_type(values))
        dense[:] = rest
        np.put_along_axis(dense, self._places[numbers], values, axis=1)
        return dense

    def _matrix(self, numbers: np.ndarray, values: np.ndarray) -> sparse.csr_array:
        """A sparse matrix of the classes that have a score, columns in order."""
        rows, k = numbers.shape
        columns = self._places[numbers].astype(np.int32 if rows * k < 2**31 else np.int64)
        order = np.argsort(columns, axis=1)
        columns = np.take_along_axis(columns, order, axis=1).reshape(-1)
        values = np.take_along_axis(values, order, axis=1).reshape(-1)
        ends = (
            np.arange(0, rows * k + 1, k, dtype=columns.dtype)
            if k
            else np.zeros(rows + 1, dtype=columns.dtype)
        )
        present = ~np.isneginf(values)
        if not present.all():
            ends = np.concatenate(([0], np.cumsum(present)))[ends].astype(columns.dtype)
            columns, values = columns[present], values[present]
        return sparse.csr_array((values, columns, ends), shape=(rows, len(self.classes_)))


def falling(ranked: np.ndarray, least: float = -np.inf) -> np.ndarray:
    """Makes values, best first, fall from place to place: of equal ones, each gets the number just below the
    one before it.

    Only numbers at `least`, below which there is none, stay equal. Classes that tie would be told apart by
    their column otherwise, and ``argmax`` would differ from ``predict``, which takes the class that was met
    first.
    """
    integers: Any = np.int64 if ranked.dtype.itemsize == 8 else np.int32
    sign = np.iinfo(integers).min
    steps = np.arange(ranked.shape[1], dtype=integers)
    rows = max(AT_ONCE // max(ranked.shape[1], 1), 1)
    for start in range(0, len(ranked), rows):
        part = ranked[start : start + rows]
        bits = part.view(integers)
        # Read as integers, floating-point numbers are in order, negative ones once their sign bit is a sign.
        order = np.where(bits < 0, sign - bits, bits)
        order = np.minimum.accumulate(order + steps, axis=1) - steps
        fallen = np.where(order < 0, sign - order, order).view(ranked.dtype)
        np.copyto(part, np.maximum(fallen, least), where=part > least)
    return ranked
