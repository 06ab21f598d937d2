"""Measuring and explaining: how good a model is, why an answer is the answer, what is inside."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _targets, _weights
from ._checks import positive
from ._explanation import Explanation, FeatureWeight, explanation_of
from ._inputs import refuse_lazy
from ._parameters import languages
from ._part import Part, steady


class Describing(Part):
    """The part of an estimator that measures and explains."""

    @steady
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose prediction is right: the label or, with several, all labels and no other.

        Parameters
        ----------
        X, y : rows and targets
            As in :meth:`fit`.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts.

        Returns
        -------
        float

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.score(X, ["fruit", "fruit", "sky", "fruit"])
        0.75
        """
        check_is_fitted(self, "_model")
        given = _targets.given(y)
        weights = None if sample_weight is None else _weights.of_rows(sample_weight, len(given))
        if given.kind == "single" and self._is_single:
            right = np.asarray(column_or_1d(given.labels)) == self.predict(X)
        else:
            predicted = self._as_sets(self.predict(X))
            truth = _targets.number(given, self.classes_).sets()
            right = np.array([set(one) == set(other) for one, other in zip(truth, predicted, strict=True)])
        return float(np.average(right, weights=weights))

    def _as_sets(self, predicted: Any) -> list[Any]:
        """Predictions in any form as a collection of labels for each row."""
        if sparse.issparse(predicted):
            labels = self.classes_[predicted.indices]
            return np.split(labels, predicted.indptr[1:-1])
        if isinstance(predicted, list):
            return predicted
        if predicted.ndim == 1:
            return [[label] for label in predicted.tolist()]
        return [self.classes_[row != 0].tolist() for row in predicted]

    @steady
    def evaluate(self, X: Any, y: Any) -> dict[str, Any]:
        """Every measure of ``memoir evaluate``.

        Parameters
        ----------
        X, y : rows and targets
            As in :meth:`fit`. Labels that the model does not know count as mistakes.

        Returns
        -------
        dict
            ``accuracy``, ``macro_f1``, ``precision_at_1`` to ``recall_at_5``, quality ``by_frequency`` of
            the class, the most frequent ``confusions``, and how many rows and labels there were.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> report = model.evaluate(X, ["fruit", "fruit", "sky", "mud"])
        >>> report["accuracy"], report["unknown_labels"]
        (0.75, 1)
        """
        check_is_fitted(self, "_model")
        rows, _, targets = self._with_targets(X, y, self.classes_)
        return json.loads(self._model.evaluate(rows, targets.for_library(), self._running()))

    @steady
    def explain(self, x: Any, *, top: int = 10, feature_names: Any = None) -> Explanation:
        """Which features decide for the answer, against those of the runner-up.

        Parameters
        ----------
        x : one row
            A text; or a vector (one-dimensional, or a matrix of one row).
        top : int, default=10
            How many features to give.
        feature_names : array-like of str, or a fitted vectoriser, optional
            What the columns of `x` are called; by default as in :meth:`fit`.

        Returns
        -------
        Explanation

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> told = model.explain([2, 0, 0])
        >>> told.answer, told.runner_up, told.features[0].name
        ('fruit', 'sky', 'feature 0')
        """
        check_is_fitted(self, "_model")
        refuse_lazy(x)
        rows = self._rows(self._as_one(x), reset=False)
        told = json.loads(self._model.explain(rows, positive("top", top), self._running()))
        return explanation_of(told, self._met, self._feature_names(feature_names))

    def _feature_names(self, given: Any) -> np.ndarray | None:
        """Names of the columns: those of an array or of a vectoriser, or those that fit was given."""
        if given is None:
            return getattr(self, "feature_names_in_", None)
        if hasattr(given, "get_feature_names_out"):
            given = given.get_feature_names_out()
        names = np.asarray(given, dtype=object)
        if names.ndim != 1 or len(names) != self._model.input_features:
            raise ValueError(
                f"`feature_names` must hold a name for each of {self._model.input_features} columns, "
                f"but has the shape {names.shape}"
            )
        return names

    @steady
    def top_features(self, class_: Any, *, top: int = 10, feature_names: Any = None) -> list[FeatureWeight]:
        """The features that speak most for a class, strongest first.

        Parameters
        ----------
        class_ : label
            One of ``classes_``.
        top : int, default=10
            How many features to give.
        feature_names : array-like of str, or a fitted vectoriser, optional
            As in :meth:`explain`.

        Returns
        -------
        list of FeatureWeight

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> [feature.name for feature in model.top_features("sky", top=1)]
        ['feature 1']
        """
        check_is_fitted(self, "_model")
        if np.ndim(class_):
            raise ValueError(f"expected one class, got {class_!r}")
        number = next((number for number, label in enumerate(self._met.tolist()) if label == class_), None)
        if number is None:
            raise ValueError(f"there is no class {class_!r} in this model")
        told = json.loads(self._model.class_features(number, positive("top", top), self._running()))
        names = self._feature_names(feature_names)
        return [FeatureWeight.of(entry, names) for entry in told]

    def class_names(self, labels: Any, *, language: str | None = None) -> np.ndarray:
        """What the vocabulary calls classes.

        Parameters
        ----------
        labels : array-like of labels
            Of any shape, such as that of :meth:`predict_topk`.
        language : str, optional
            Languages to look in first, such as ``"sv,en"``; by default in the order of the vocabulary.

        Returns
        -------
        ndarray of the same shape
            Names; None for labels without one.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier(vocabulary="labels").fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.class_names(model.predict([[1, 0, 1]])).tolist()
        ['fruit']
        """
        check_is_fitted(self, "_model")
        names = self._model.vocabulary_names(languages(language))
        known = dict(zip(self._met.tolist(), names))
        labels = np.asarray(labels, dtype=object)
        named = np.empty(labels.shape, dtype=object)
        named.flat = [known.get(label) for label in labels.ravel().tolist()]
        return named

    def summary(self) -> dict[str, Any]:
        """What is in the model: sizes, parameters, classes, arrays; the object of ``memoir inspect --json``.

        Returns
        -------
        dict

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> about = model.summary()
        >>> about["algorithm"], about["rows"], about["classes"]
        ('softmax', 4, 2)
        """
        check_is_fitted(self, "_model")
        return json.loads(self._model.summary())
