"""Measuring and explaining: how good a model is, why an answer is the answer, what is inside."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from . import _targets
from ._checks import positive
from ._explanation import Explanation, FeatureWeight, explanation_of
from ._parameters import languages
from ._part import Part, steady


class Describing(Part):
    """The part of an estimator that measures and explains."""

    @steady
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
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
        if given.kind == "single" and self._is_single:
            return float(accuracy_score(given.labels, self.predict(X), sample_weight=sample_weight))
        if sample_weight is not None:
            raise ValueError("rows with several labels are not measured with sample_weight")
        return self.evaluate(X, y)["accuracy"]

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
    def explain(self, x: Any, *, top: int = 10) -> Explanation:
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
        told = json.loads(self._model.explain(self._rows(self._as_one(x), reset=False)))
        return explanation_of(
            told, self._met, getattr(self, "feature_names_in_", None), positive("top", top)
        )

    @steady
    def top_features(self, class_: Any, *, top: int = 10) -> list[FeatureWeight]:
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
        names = getattr(self, "feature_names_in_", None)
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
