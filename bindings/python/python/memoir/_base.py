"""What both estimators share: training, predicting, measuring, explaining, and the model file."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted

from . import _callbacks, _memoir, _parameters, _targets
from ._explanation import Explanation, FeatureWeight, explanation_of
from ._progress import ProgressLine, several

DENSE_LIMIT = 1 << 30
"""Largest dense result in bytes, unless an estimator's ``dense_limit`` says otherwise."""

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


class TopK(NamedTuple):
    """The best classes of each row, best first."""

    classes: np.ndarray
    """Labels, one line per row."""
    probabilities: np.ndarray
    """The probability of each."""


class MemoirBase(_callbacks.Support, ClassifierMixin, BaseEstimator):
    """The part of the estimators that does not depend on what a row is."""

    dense_limit: int = DENSE_LIMIT

    # What a row is.

    def _rows(self, X: Any, *, reset: bool) -> Any:
        raise NotImplementedError

    def _checked(self, X: Any, y: Any, kind: str, *, reset: bool) -> tuple[Any, Any]:
        raise NotImplementedError

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
    def fit(self, X, y, sample_weight=None, *, valid=None):
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
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Go on learning: new rows, new classes and, with text, new words, without the rows of before.

        ``softmax`` can do so; other algorithms say that they cannot. The rows of a call should not be few: each call is a
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
        self._learn(X, y, sample_weight, None, goes_on="_model" in self.__dict__)
        if classes is not None:
            self.classes_ = np.union1d(self.classes_, np.asarray(classes)).astype(self.classes_.dtype, copy=False)
            self._places = np.searchsorted(self.classes_, self._met).astype(np.int64)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any, valid: Any, *, goes_on: bool):
        """Learns, in addition to what is known if it `goes_on`. If it fails or is stopped, nothing changes."""
        kind = _targets.kind_of(y)
        rows, y = self._checked(X, y, kind, reset=not goes_on)
        targets = _targets.number(y, kind)
        if goes_on and targets.kind != self._kind:
            raise ValueError(f"y has the form {targets.kind!r} now and had {self._kind!r} before")
        weights = None
        if sample_weight is not None:
            rows, targets, weights = _weighted(rows, targets, y, kind, X, sample_weight)
        if valid is not None:
            valid_X, valid_y = valid
            valid_kind = _targets.kind_of(valid_y)
            valid_rows, valid_y = self._checked(valid_X, valid_y, valid_kind, reset=False)
            valid = (valid_rows, _targets.number(valid_y, valid_kind).for_library())
        curve: list[dict[str, float]] = []
        line = ProgressLine() if self.verbose else None
        try:
            with _callbacks.running(self, X, y) as told:
                model = _memoir.Model.train(
                    rows,
                    targets.for_library(),
                    self._options(),
                    self._running(several(line, told, curve_into(curve)), self._seed()),
                    weights,
                    valid,
                    self._model if goes_on else None,
                )
        finally:
            if line is not None:
                line.close()
        met, classes = targets.met, targets.classes
        if goes_on:
            met = _targets.joined(self._met, met)
            classes = np.union1d(self.classes_, classes) if met.dtype.kind != "O" else np.sort(
                np.array(list({*self.classes_.tolist(), *classes.tolist()}), dtype=object)
            )
        self._take(model, met, classes, targets.kind)
        self.training_curve_ = curve
        return self

    def _take(self, model: Any, met: np.ndarray, classes: np.ndarray, kind: str) -> None:
        """Makes `model`, whose class numbers stand for the labels `met`, the fitted one."""
        self._model = model
        self._met = met
        self._kind = kind
        self.classes_ = classes
        self._places = np.searchsorted(classes, met).astype(np.int64)

    # Predicting.

    def _ranked(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Class numbers and scores of the `k` best classes of each row."""
        check_is_fitted(self, "_model")
        return self._model.predict(self._rows(X, reset=False), k, self._running())

    def _probable(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Class numbers and probabilities of the `k` best classes of each row."""
        check_is_fitted(self, "_model")
        return self._model.predict_probabilities(self._rows(X, reset=False), k, self._running())

    def predict(self, X, *, k=1):
        """The best class of each row.

        Parameters
        ----------
        X : rows
            As in :meth:`fit`.
        k : int, default=1
            How many labels to give for each row, where `y` in :meth:`fit` had several.

        Returns
        -------
        ndarray of shape (n_rows,), list of lists, or indicator matrix
            In the form that `y` had in :meth:`fit`.
        """
        check_is_fitted(self, "_model")
        k = _positive("k", k)
        if self._kind == "single" and k != 1:
            raise ValueError("predict gives one class per row; for more of them call predict_topk(X, k)")
        numbers, _ = self._ranked(X, k)
        if self._kind == "single":
            return self.classes_[self._places[numbers[:, 0]]]
        if self._kind == "lists":
            return self._met[numbers].tolist()
        if self._kind == "indicator":
            return self._dense(X, "predict", lambda _: self._filled(numbers, np.int64(1), np.int64(0)))
        return self._matrix(numbers, np.ones(numbers.shape, dtype=np.int64))

    def predict_topk(self, X, k=5):
        """The `k` best classes of each row, best first, with their probabilities.

        Parameters
        ----------
        X : rows
            As in :meth:`fit`.
        k : int, default=5
            How many; at most as many as there are classes.

        Returns
        -------
        TopK
            ``classes`` and ``probabilities``, both of shape (n_rows, k).
        """
        numbers, probabilities = self._probable(X, _positive("k", k))
        return TopK(self._met[numbers], probabilities)

    def predict_proba(self, X, *, k=None):
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
            Columns are those of ``classes_``. Dense without `k`; then each row adds up to 1. Sparse with `k`.

        Raises
        ------
        ValueError
            If the dense matrix would have more than ``dense_limit`` bytes.
        """
        if k is not None:
            return self._matrix(*self._probable(X, _positive("k", k)))
        return self._dense(X, "predict_proba", self._probable_dense)

    def _probable_dense(self, X: Any) -> np.ndarray:
        numbers, probabilities = self._probable(X, len(self._met))
        dense = self._filled(numbers, probabilities.astype(np.float64), 0.0)
        if self._kind == "single":
            rest = dense.sum(axis=1, keepdims=True)
            np.divide(dense, rest, out=dense, where=rest > 0)
            dense[rest[:, 0] <= 0] = 1.0 / len(self.classes_)
        return dense

    def decision_function(self, X, *, k=None):
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
            Columns are those of ``classes_``; with two classes the score of the second less that of the first.

        Raises
        ------
        ValueError
            If the dense matrix would have more than ``dense_limit`` bytes.
        """
        if k is not None:
            return self._matrix(*self._ranked(X, _positive("k", k)))
        return self._dense(X, "decision_function", self._score_dense)

    def _score_dense(self, X: Any) -> np.ndarray:
        numbers, scores = self._ranked(X, len(self._met))
        lowest = np.finfo(np.float32).min
        dense = self._filled(numbers, np.maximum(scores, lowest).astype(np.float64), float(lowest))
        if len(self.classes_) == 2 and self._kind == "single":
            return dense[:, 1] - dense[:, 0]
        return dense

    def _dense(self, X: Any, method: str, make: Any) -> np.ndarray:
        check_is_fitted(self, "_model")
        rows = X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X) if hasattr(X, "__len__") else 0
        size = 8 * rows * len(self.classes_)
        if size > self.dense_limit:
            raise ValueError(
                f"{method} of {rows:,} rows and {len(self.classes_):,} classes would take {size:,} bytes, more than "
                f"dense_limit = {self.dense_limit:,}: call predict_topk(X, k) or {method}(X, k=...) for the best "
                "classes only, or raise dense_limit"
            )
        return make(X)

    def _filled(self, numbers: np.ndarray, values: Any, rest: Any) -> np.ndarray:
        dense = np.full((len(numbers), len(self.classes_)), rest)
        np.put_along_axis(dense, self._places[numbers], values, axis=1)
        return dense

    def _matrix(self, numbers: np.ndarray, values: np.ndarray) -> sparse.csr_array:
        """A sparse matrix of the classes that have a score, columns in order."""
        rows, k = numbers.shape
        columns = self._places[numbers].astype(np.int32 if rows * k < 2**31 else np.int64)
        order = np.argsort(columns, axis=1)
        columns = np.take_along_axis(columns, order, axis=1).reshape(-1)
        values = np.take_along_axis(values, order, axis=1).reshape(-1)
        ends = np.arange(0, rows * k + 1, k, dtype=columns.dtype) if k else np.zeros(rows + 1, dtype=columns.dtype)
        present = ~np.isneginf(values)
        if not present.all():
            ends = np.concatenate(([0], np.cumsum(present)))[ends].astype(columns.dtype)
            columns, values = columns[present], values[present]
        return sparse.csr_array((values, columns, ends), shape=(rows, len(self.classes_)))

    # Measuring and explaining.

    def score(self, X, y, sample_weight=None):
        """Share of rows whose best class is their label, or one of their labels.

        Parameters
        ----------
        X, y : rows and targets
            As in :meth:`fit`.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts.

        Returns
        -------
        float
        """
        if _targets.kind_of(y) == "single":
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        if sample_weight is not None:
            raise ValueError("rows with several labels are not measured with sample_weight")
        return self.evaluate(X, y)["accuracy"]

    def evaluate(self, X, y):
        """Every measure of ``memoir evaluate``.

        Parameters
        ----------
        X, y : rows and targets
            As in :meth:`fit`. Labels that the model does not know count as mistakes.

        Returns
        -------
        dict
            ``accuracy``, ``macro_f1``, ``precision_at_1`` to ``recall_at_5``, quality ``by_frequency`` of the class, the
            most frequent ``confusions``, and how many rows and labels there were.
        """
        check_is_fitted(self, "_model")
        kind = _targets.kind_of(y)
        rows, y = self._checked(X, y, kind, reset=False)
        targets = _targets.number(y, kind)
        return json.loads(self._model.evaluate(rows, targets.for_library(), self._running()))

    def explain(self, x, *, top=10):
        """Which features decide for the answer, against those of the runner-up.

        Parameters
        ----------
        x : one row
            A text; or a vector (one-dimensional, or a matrix of one row).
        top : int, default=10
            How many features to give.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self, "_model")
        told = json.loads(self._model.explain(self._rows(self._as_one(x), reset=False)))
        return explanation_of(told, self._met, getattr(self, "feature_names_in_", None), _positive("top", top))

    def top_features(self, class_, *, top=10) -> list[FeatureWeight]:
        """The features that speak most for a class, strongest first.

        Parameters
        ----------
        class_ : label
            One of ``classes_``.
        top : int, default=10
            How many features to give.

        Returns
        -------
        list of FeatureWeight
        """
        check_is_fitted(self, "_model")
        number = np.flatnonzero(self._met == class_)
        if number.size == 0:
            raise ValueError(f"there is no class {class_!r} in this model")
        told = json.loads(self._model.class_features(int(number[0]), _positive("top", top)))
        names = getattr(self, "feature_names_in_", None)
        return [FeatureWeight.of(entry, names) for entry in told]

    def _as_one(self, x: Any) -> Any:
        raise NotImplementedError

    def summary(self) -> dict[str, Any]:
        """What is in the model: sizes, parameters, classes, arrays; the object of ``memoir inspect --json``."""
        check_is_fitted(self, "_model")
        return json.loads(self._model.summary())

    # The model file.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: the one that ``memoir train`` writes and ``memoir predict`` reads.

        Parameters
        ----------
        path : path-like
            Where to. An existing file is replaced once the new one is complete.
        """
        check_is_fitted(self, "_model")
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, labels: str = "auto"):
        """Open a model file, whoever wrote it.

        Parameters
        ----------
        path : path-like
            The file.
        labels : {"auto", "str", "int"}, default="auto"
            What labels are in Python; a file holds them as text. ``auto`` makes them whole numbers if all of them are.

        Returns
        -------
        estimator
            A fitted one, with the parameters that the file tells.
        """
        return cls._of_model(_memoir.Model.load(os.fspath(path)), labels)

    @classmethod
    def _of_model(cls, model: Any, labels: str):
        about = json.loads(model.summary())
        cls._check_input(about)
        estimator = cls(about["algorithm"], **cls._told_parameters(about))
        names = model.class_names()
        met = _labels_of(names, labels)
        estimator._take(model, met, np.sort(met), "single")
        estimator.training_curve_ = []
        estimator._after_load(model)
        return estimator

    @classmethod
    def _check_input(cls, about: dict[str, Any]) -> None:
        raise NotImplementedError

    @classmethod
    def _told_parameters(cls, about: dict[str, Any]) -> dict[str, Any]:
        """The parameters with which an estimator would have made the model."""
        told = {
            _parameters.python_name(name): "auto" if value is None else value
            for name, value in about["params"].items()
        }
        defaults = {
            name: spec["default"] for name, spec in _parameters.algorithms()[about["algorithm"]]["parameters"].items()
        }
        told = {name: value for name, value in told.items() if value != defaults.get(name)}
        return {**told, "random_state": about["seed"]}

    def _after_load(self, model: Any) -> None:
        pass

    def __repr__(self, N_CHAR_MAX=700):
        parameters = super().__repr__(N_CHAR_MAX)
        if "_model" not in self.__dict__:
            return parameters
        about = self.summary()
        weights = f", {about['weights']:,} weights" if about["weights"] is not None else ""
        return (
            f"{parameters}  # {about['classes']:,} classes, {about['features']:,} features{weights}, "
            f"{_shown_size(about['file_bytes'])}"
        )

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = True
        return tags


def _weighted(rows: Any, targets: Any, y: Any, kind: str, X: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Rows, targets and weights without the rows of weight 0."""
    size = len(targets)
    weights = _check_sample_weight(sample_weight, np.empty((size, 1)), dtype=np.float64, ensure_non_negative=True)
    check_consistent_length(weights, np.empty(size))
    keep = np.flatnonzero(weights > 0)
    if len(keep) == 0:
        raise ValueError("all rows have the weight 0; there is nothing to learn from")
    if len(keep) < size:
        if isinstance(rows, tuple):
            rows = X.tolist() if hasattr(X, "tolist") else list(X)
        rows = [rows[index] for index in keep] if isinstance(rows, list) else rows[keep]
        y = [y[index] for index in keep] if kind == "lists" else y.tocsr()[keep] if sparse.issparse(y) else np.asarray(y)[keep]
        targets = _targets.number(y, kind)
    return rows, targets, np.ascontiguousarray(weights[keep], dtype=np.float32)


def curve_into(curve: list[dict[str, float]]):
    def receive(kind: str, *event: Any) -> None:
        if kind == "held_out":
            curve.append(dict(zip(("pass", "accuracy", "macro_f1"), event)))

    return receive


def _labels_of(names: list[str], labels: str) -> np.ndarray:
    """Class names as the labels a user works with."""
    if labels not in ("auto", "str", "int"):
        raise ValueError(f'`labels` must be one of "auto", "str", "int", but is {labels!r}')
    if labels != "str":
        try:
            whole = np.array([int(name) for name in names], dtype=np.int64)
        except (ValueError, OverflowError):
            if labels == "int":
                raise ValueError("the classes of this model are not all whole numbers") from None
        else:
            if [str(label) for label in whole.tolist()] == names:
                return whole
            if labels == "int":
                raise ValueError("the classes of this model are not all whole numbers")
    return np.array(names, dtype=object)


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"`{name}` must be a whole number of at least 1, but is {value!r}")
    return int(value)


def _shown_size(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")
