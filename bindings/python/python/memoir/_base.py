"""What both estimators share. Predicting, describing and keeping have files of their own; training is here."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from . import _callbacks, _memoir, _parameters, _targets
from ._describing import Describing
from ._keeping import Keeping
from ._part import copied
from ._predicting import Predicting
from ._progress import ProgressLine, several

COMMON = {
    "weighting": "auto",
    "valid_fraction": None,
    "replicate": False,
    "precision": None,
    "memory_budget": None,
    "max_model_size": None,
    "warm_start": False,
    "random_state": 0,
    "n_jobs": -1,
    "verbose": 0,
}
"""Parameters that are not the algorithm's, with their defaults."""

LEAST_WEIGHT = 1e-6
"""Least weight of a row, other than none; its reciprocal is the largest."""


class MemoirBase(_callbacks.Support, Predicting, Describing, Keeping, ClassifierMixin, BaseEstimator):
    """The part of the estimators that does not depend on what a row is."""

    def _text_options(self) -> list[tuple[str, str]]:
        return []

    # Training.

    def _options(self) -> dict[str, Any]:
        return {
            "algorithm": self.algorithm,
            "parameters": _parameters.algorithm_parameters(self),
            "text": self._text_options(),
            "weighting": self.weighting,
            "precision": self.precision,
            "max_model_size": _parameters.parse_size("max_model_size", self.max_model_size),
            "valid_fraction": self.valid_fraction,
            "replicate": bool(self.replicate),
        }

    def _running(self, on_event: Any = None, seed: int = 0) -> dict[str, Any]:
        return {
            "threads": effective_n_jobs(self.n_jobs),
            "seed": seed,
            "memory_budget": _parameters.parse_size("memory_budget", self.memory_budget),
            "on_event": on_event,
        }

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    @_callbacks.managed
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, valid: tuple[Any, Any] | None = None) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : rows
            What a row is depends on the estimator: a vector or a text.
        y : array-like of shape (n_rows,), lists of labels, or indicator matrix
            One label per row, or a list of labels for each, or a 0/1 matrix with a column per class.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts. Rows of weight 0 are left out.
        valid : tuple (X, y), optional
            Rows to choose by when to stop.

        Returns
        -------
        self
        """
        goes_on = self.warm_start and "_model" in self.__dict__
        return self._learn(X, y, sample_weight, valid, goes_on=goes_on)

    @_callbacks.managed
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: new rows, new classes and, with text, new words, without the rows of before.

        ``softmax`` and ``centroid`` can do so; other algorithms say that they cannot. The rows of a call should not be few: each call is a
        training of its own that starts from what is known.

        Parameters
        ----------
        X, y : rows and targets
            As in :meth:`fit`. Labels may be new in any call.
        classes : array-like, optional
            Classes to list in ``classes_`` even before a row has them. Not needed.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts.

        Returns
        -------
        self
        """
        return self._learn(X, y, sample_weight, None, goes_on="_model" in self.__dict__, listed=classes)

    def _learn(self, *given: Any, goes_on: bool, listed: Any = None) -> Self:
        """Learns, in addition to what is known if it `goes_on`. If it fails or is stopped, nothing changes."""
        learned = copied(self)
        learned._learn_here(*given, goes_on=goes_on)
        if listed is not None:
            listed = _targets.in_type_of(np.asarray(listed), learned.classes_)
            learned._take(
                learned._model, learned._met, np.union1d(learned.classes_, listed), learned._kind
            )
        # All at once, for other threads that predict.
        self.__dict__ = learned.__dict__
        return self

    def _learn_here(self, X: Any, y: Any, sample_weight: Any, valid: Any, *, goes_on: bool) -> None:
        kind = _targets.kind_of(y)
        rows, y = self._checked(X, y, kind, reset=not goes_on)
        targets = _targets.number(y, kind, self._met if goes_on else None)
        if goes_on and self._kind not in (None, targets.kind):
            raise ValueError(f"y has the form {targets.kind!r} now and had {self._kind!r} before")
        weights = None
        if sample_weight is not None:
            rows, targets, weights = self._weighted(rows, targets, y, kind, X, sample_weight)
        if valid is not None:
            valid_X, valid_y = valid
            valid_kind = _targets.kind_of(valid_y)
            valid_rows, valid_y = self._checked(valid_X, valid_y, valid_kind, reset=False)
            valid = (valid_rows, _targets.number(valid_y, valid_kind, targets.met).for_library())
        # The numbers of rows and the names are not held here while the library, which has its own, learns.
        labels, met, classes, form = targets.for_library(), targets.met, targets.classes, targets.kind
        del targets
        curve: list[dict[str, float]] = []
        line = ProgressLine() if self.verbose else None
        try:
            with _callbacks.running(self, X, y) as told:
                model = _memoir.Model.train(
                    rows,
                    labels,
                    self._options(),
                    self._running(several(line, told, curve_into(curve)), self._seed()),
                    weights,
                    valid,
                    self._model if goes_on else None,
                )
        finally:
            if line is not None:
                line.close()
        if goes_on:
            met = _targets.joined(self._met, met)
            classes = (
                np.union1d(self.classes_, classes)
                if met.dtype.kind != "O"
                else np.sort(np.array(list({*self.classes_.tolist(), *classes.tolist()}), dtype=object))
            )
        self._take(model, met, classes, form)
        self.training_curve_ = curve

    def _weighted(
        self, rows: Any, targets: Any, y: Any, kind: str, X: Any, sample_weight: Any
    ) -> tuple[Any, Any, Any]:
        """Rows, targets and weights without the rows of weight 0."""
        size = len(targets)
        weights = _check_sample_weight(
            sample_weight, np.empty((size, 1)), dtype=np.float64, ensure_non_negative=True
        )
        check_consistent_length(weights, np.empty(size))
        keep = np.flatnonzero(weights > 0)
        if len(keep) == 0:
            raise ValueError("all rows have the weight 0; there is nothing to learn from")
        least, most = weights[keep].min(), weights.max()
        if least < LEAST_WEIGHT or most > 1 / LEAST_WEIGHT:
            raise ValueError(
                f"weights must be 0 or between {LEAST_WEIGHT:g} and {1 / LEAST_WEIGHT:g}, "
                f"but there are {least:g} and {most:g}"
            )
        if len(keep) < size:
            if isinstance(rows, tuple):
                rows = self._rows(X.take(keep), reset=False)
            else:
                rows = [rows[index] for index in keep] if isinstance(rows, list) else rows[keep]
            y = (
                [y[index] for index in keep]
                if kind == "lists"
                else y.tocsr()[keep]
                if sparse.issparse(y)
                else np.asarray(y)[keep]
            )
            targets = _targets.number(y, kind, targets.met)
        return rows, targets, np.ascontiguousarray(weights[keep], dtype=np.float32)

    def _take(self, model: Any, met: np.ndarray, classes: np.ndarray, kind: str | None) -> None:
        """Makes `model`, whose class numbers stand for the labels `met`, the fitted one. A file does not tell `kind`."""
        self._model = model
        self._met = met
        self._kind = kind
        self.classes_ = classes
        self._places = np.searchsorted(classes, met).astype(np.int64)

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = True
        return tags


def curve_into(curve: list[dict[str, float]]):
    def receive(kind: str, *event: Any) -> None:
        if kind == "held_out":
            curve.append(dict(zip(("pass", "accuracy", "macro_f1"), event)))

    return receive
