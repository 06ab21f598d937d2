"""What both estimators share.

Predicting, describing and keeping have files of their own; training is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import column_or_1d

from . import _callbacks, _inputs, _labels, _memoir, _parameters, _targets, _weights
from ._changing import Changing
from ._describing import Describing
from ._frames import FramePredicting
from ._keeping import Keeping
from ._part import copied
from ._predicting import Predicting
from ._progress import ProgressLine, several

COMMON = {
    "weighting": "auto",
    "class_weight": None,
    "valid_fraction": None,
    "replicate": False,
    "vocabulary": None,
    "hierarchy": None,
    "language": None,
    "precision": None,
    "memory_budget": None,
    "max_model_size": None,
    "dense_limit": 1 << 30,
    "warm_start": False,
    "random_state": 0,
    "n_jobs": -1,
    "verbose": 0,
}
"""Parameters that are not the algorithm's, with their defaults."""


class MemoirBase(
    _callbacks.Support,
    Predicting,
    FramePredicting,
    Describing,
    Keeping,
    Changing,
    ClassifierMixin,
    BaseEstimator,
):
    """The part of the estimators that does not depend on what a row is."""

    def _text_options(self) -> list[tuple[str, str]]:
        return []

    # Training.

    def _options(self) -> dict[str, Any]:
        return {
            "algorithm": self.algorithm,
            "parameters": _parameters.algorithm_parameters(self),
            "text": self._text_options(),
            **_parameters.training_options(self),
        }

    def _running(self, on_event: Any = None, seed: int = 0) -> dict[str, Any]:
        return {
            "threads": _parameters.threads(self.n_jobs),
            "seed": seed,
            "memory_budget": _parameters.memory_budget(self.memory_budget),
            "on_event": on_event,
        }

    def _seed(self) -> int:
        return _parameters.seed(self.random_state)

    @contextmanager
    def _told(self, X: Any, y: Any) -> Iterator[Any]:
        """Yields the receiver of a training's events: a line of progress, callbacks, and the training
        curve."""
        curve: list[dict[str, float]] = []
        line = ProgressLine() if self.verbose else None
        try:
            with _callbacks.running(self, X, y) as callbacks:
                yield several(line, callbacks, curve_into(curve))
        finally:
            if line is not None:
                line.close()
        self.training_curve_ = curve

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, valid: tuple[Any, Any] | None = None
    ) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : rows
            What a row is depends on the estimator: a vector or a text.
        y : array-like of shape (n_rows,), lists of labels, or indicator matrix
            One label per row, or a list of labels for each, or a 0/1 matrix with a column per class. Lists
            of equal length that hold nothing but 0 and 1 are such a matrix.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts beside the others, with every algorithm; only ratios matter. Rows of
            weight 0 are left out. Where weights are whole multiples of the smallest, a row of weight 2 is
            the row twice, unless that makes more than four times as many rows. Other weights are divided by
            their mean, and a row of weight 2 counts twice as much as one of weight 1: it moves the model
            twice as far, or its vote counts twice in ``knn``.
        valid : tuple (X, y), optional
            Rows to choose by when to stop.

        Returns
        -------
        self

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X, y = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]], ["fruit", "fruit", "sky", "sky"]
        >>> MemoirClassifier().fit(X, y).classes_.tolist()
        ['fruit', 'sky']
        >>> several = MemoirClassifier().fit(X, [["fruit"], ["fruit", "red"], ["sky"], ["sky"]])
        >>> several.classes_.tolist()
        ['fruit', 'red', 'sky']
        """
        goes_on = self.warm_start and "_model" in self.__dict__
        return self._learn(X, y, sample_weight, valid, goes_on=goes_on)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue learning: new rows, new classes and, with text, new words, without the earlier rows.

        ``softmax`` and ``centroid`` can do so; other algorithms say that they cannot. Give many
        rows to a call: each call is a training of its own that starts from the model so far.

        Parameters
        ----------
        X, y : rows and targets
            As in :meth:`fit`. Labels may be new in any call.
        classes : array-like, optional
            Classes to list in ``classes_`` even before a row has them. Not needed.
        sample_weight : array-like of shape (n_rows,), optional
            As in :meth:`fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.partial_fit([[1, 1, 0]] * 3, ["kite"] * 3).classes_.tolist()
        ['fruit', 'kite', 'sky']
        """
        return self._learn(X, y, sample_weight, None, goes_on="_model" in self.__dict__, listed=classes)

    def _learn(self, *given: Any, goes_on: bool, listed: Any = None) -> Self:
        """Learns, in addition to what is known if it `goes_on`; `listed` are classes to know of even so."""

        def learn(learned: MemoirBase) -> None:
            learned._learn_here(*given, goes_on=goes_on)
            if listed is not None:
                classes = _labels.in_type_of(column_or_1d(listed), learned.classes_)
                classes = _targets.united(learned.classes_, classes, learned._form)
                learned._take(learned._model, learned._met, classes, learned._kind)

        return self._renewed(learn)

    def _renewed(self, learn: Callable[[Self], None]) -> Self:
        """Learns, in a copy: if that fails or is stopped, nothing changes."""
        learned = copied(self)
        learn(learned)
        # All at once, for other threads that predict.
        self.__dict__ = learned.__dict__
        return self

    @_callbacks.managed
    def _learn_here(self, X: Any, y: Any, sample_weight: Any, valid: Any, *, goes_on: bool) -> None:
        rows, given, targets = self._with_targets(
            X, y, self.classes_ if goes_on else None, reset=not goes_on
        )
        if goes_on and self._kind not in (None, targets.kind):
            raise ValueError(f"y has the form {targets.kind!r} now and had {self._kind!r} before")
        weights = None
        if sample_weight is not None or self.class_weight is not None:
            rows, given, targets, weights = self._weighted(rows, targets, given, sample_weight)
        rows, targets, weights = self._in_order(rows, given, targets, weights)
        if valid is not None:
            if not isinstance(valid, (tuple, list)) or len(valid) != 2:
                raise ValueError(f"`valid` must be a pair (X, y), but is of type {type(valid).__name__}")
            valid_X, valid_y = valid
            valid_rows, _, valid_targets = self._with_targets(valid_X, valid_y, targets.classes)
            valid = (valid_rows, valid_targets.for_library())
        # The numbers of rows and the names are not held here while the library, which has its own, learns.
        labels, met, classes, kind = targets.for_library(), targets.met, targets.classes, targets.kind
        del given, targets
        with self._told(X, y) as on_event:
            model = _memoir.Model.train(
                rows,
                labels,
                self._options(),
                self._running(on_event, self._seed()),
                weights,
                valid,
                self._model if goes_on else None,
                _labels.kind_of(met),
            )
        if goes_on:
            met = _targets.joined(self._met, met)
            classes = _targets.united(self.classes_, classes, kind)
        self._take(model, met, classes, kind)

    def _weighted(
        self, rows: Any, targets: _targets.Targets, given: _targets.Given, sample_weight: Any
    ) -> tuple[Any, _targets.Given, _targets.Targets, np.ndarray]:
        """Rows, targets and weights: without rows of weight 0, and with rows of whole weights repeated."""
        size = len(targets)
        weights = np.ones(size) if sample_weight is None else _weights.of_rows(sample_weight, size)
        if self.class_weight is not None:
            weights = weights * _weights.of_classes(self.class_weight, targets)
        taken = _weights.rows_to_take(weights)
        if not np.array_equal(taken.rows, np.arange(size)):
            rows, given = _inputs.taken(rows, taken.rows), given.taken(taken.rows)
            targets = _targets.number(given, targets.classes)
        return rows, given, targets, taken.weights

    def _in_order(
        self, rows: Any, given: _targets.Given, targets: _targets.Targets, weights: np.ndarray | None
    ) -> tuple[Any, _targets.Targets, np.ndarray | None]:
        """Rows, targets and weights in the order in which they are learned from: as they are."""
        return rows, targets, weights

    def _take(self, model: Any, met: np.ndarray, classes: np.ndarray, kind: str | None) -> None:
        """Makes `model`, whose class numbers stand for the labels `met`, the fitted one.

        A file does not tell `kind`.
        """
        self._model = model
        self._met = met
        self._kind = kind
        self._form = kind or ("lists" if model.several_labels else "single")
        self.classes_ = classes
        self._places = _targets.places(classes, met)

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
