"""The estimator for vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from . import _inputs, _repeated, _targets
from ._base import COMMON, MemoirBase
from ._parameters import ALGORITHM_DEFAULTS, takes
from ._targets import Given, Targets


@takes(COMMON, ALGORITHM_DEFAULTS)
class MemoirClassifier(MemoirBase):
    """Assigns sparse or dense vectors to one of thousands of classes.

    Parameters
    ----------
    algorithm : str, default="softmax"
        How to learn; :func:`memoir.algorithms` lists the choices with their parameters.
    weighting : {"auto", "counts", "unit", "raw"}, default="auto"
        What values are: counts, which get the logarithm and the inverse document frequency; ``unit`` for
        weights, of which only the rows are scaled; ``raw`` for values to be taken as they are. ``auto``
        takes whole numbers for counts. ``softmax`` scales rows by a power of their length, other algorithms
        to unit length.
    class_weight : "balanced" or dict, optional
        How much rows count by their class, beside `sample_weight`: ``balanced`` gives every class the same
        weight in all, a dict has weights by label (1 for others). A row with several labels gets the mean.
    valid_fraction : float, optional
        Share of the rows to hold out and stop by.
    replicate : bool, default=False
        Take a row with several labels as several rows with one.
    vocabulary : str or path-like, optional
        Names and relations of the classes: SKOS (.ttl, .rdf, .nt, .jsonld), a table (.csv, .tsv), or
        ``"labels"`` where labels are names. :meth:`class_names` gives the names; where rows are texts, names
        are learned from.
    hierarchy : str, optional
        How codes tell broader ones: ``"prefix:2,4,6"`` or ``"separator:/"``.
    language : str, optional
        Languages of names to keep, the preferred one first, such as ``"sv,en"``; by default all.
    precision : {"f32", "f16"}, optional
        How weights are stored; by default as the algorithm makes them.
    memory_budget, max_model_size : int or str, optional
        Sizes that training and the model file should stay within, such as ``"512M"``; a number is one of
        bytes.
    dense_limit : int or str, default=1 GiB
        Largest dense result that :meth:`predict_proba` and :meth:`decision_function` make.
    warm_start : bool, default=False
        Whether :meth:`fit` goes on from what is known already, as :meth:`partial_fit` does.
    random_state : int, RandomState or None, default=0
        Seed of every random choice. The same seed gives the same model at any `n_jobs`.
    n_jobs : int or None, default=-1
        Number of threads; -1 is all cores, None is one unless joblib says otherwise.
    verbose : int, default=0
        Whether to show progress on standard error.
    **parameters
        Those of the algorithms, with underscores in place of dashes. The defaults are the library's; None
        means that algorithms have different ones, and each takes its own.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted; with an indicator matrix, its columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where `X` in fit had such.
    training_curve_ : list of dict
        ``pass``, ``accuracy`` and ``macro_f1`` on held-out rows after each pass, where there were such rows.

    Examples
    --------
    >>> from memoir import MemoirClassifier
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
    >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
    >>> model.predict([[1, 0, 1], [0, 2, 0]]).tolist()
    ['fruit', 'sky']
    """

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return _inputs.vectors(self, X, reset=reset)

    def _checked(self, X: Any, y: Given, *, reset: bool) -> Any:
        if y.kind == "single":
            rows, y.labels = _inputs.vectors(self, X, y.labels, reset=reset)
            return rows
        rows = _inputs.vectors(self, X, reset=reset)
        if rows.shape[0] != len(y):
            raise ValueError(f"X has {rows.shape[0]} rows, but y has {len(y)}")
        return rows

    def _in_order(
        self, rows: Any, given: Given, targets: Targets, weights: np.ndarray | None
    ) -> tuple[Any, Targets, np.ndarray | None]:
        """Repeated rows in an order that does not depend on where they stand."""
        order = _repeated.order_of_content(rows, targets)
        if order is None:
            return rows, targets, weights
        targets = _targets.number(given.taken(order), targets.classes)
        return _inputs.taken(rows, order), targets, None if weights is None else weights[order]

    def _as_one(self, x: Any) -> Any:
        if sparse.issparse(x):
            return x.reshape(1, -1) if x.ndim == 1 else x
        return np.reshape(x, (1, -1)) if not hasattr(x, "columns") and np.ndim(x) == 1 else x

    @classmethod
    def _check_input(cls, about: dict[str, Any]) -> None:
        if about["input"] != "vectors":
            raise ValueError("this model was trained on text: open it with MemoirTextClassifier.load")

    @classmethod
    def _told_parameters(cls, about: dict[str, Any]) -> dict[str, Any]:
        weighting = {"log-tf-idf": "counts"}.get(about["weighting"], about["weighting"])
        return {**super()._told_parameters(about), "weighting": weighting}

    def _after_load(self, model: Any) -> None:
        self.n_features_in_ = model.input_features

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
