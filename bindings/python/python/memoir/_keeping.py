"""The model file: saving, loading, and what an estimator shows of itself."""

from __future__ import annotations

import errno
import json
import os
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _memoir, _parameters
from ._part import Part


class Keeping(Part):
    """The part of an estimator that deals with model files."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: the one that ``memoir train`` writes and ``memoir predict`` reads.

        From the same rows it has the same bytes, but for one number with vectors: matrices begin with column
        0, files in libsvm form with feature 1.

        Parameters
        ----------
        path : path-like
            Where to. An existing file is replaced once the new one is complete.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> with TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/m.memoir")
        ...     again = MemoirClassifier.load(f"{folder}/m.memoir")
        >>> again.predict([[0, 2, 0]]).tolist()
        ['sky']
        """
        check_is_fitted(self, "_model")
        self._model.save(file_path(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, labels: str = "auto") -> Self:
        """Open a model file, whoever wrote it.

        Parameters
        ----------
        path : path-like
            The file.
        labels : {"auto", "str", "int"}, default="auto"
            What labels are in Python; a file holds them as text. ``auto`` makes them whole numbers if all of
            them are.

        Returns
        -------
        estimator
            A fitted one, with the parameters that the file tells. In a file all forms of targets look alike:
            :meth:`predict` gives lists of labels if training rows had more labels than there were rows, else
            one label a row. (A file of ``memoir compact --final`` tells it only if it is calibrated.)

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> with TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/m.memoir")
        ...     again = MemoirClassifier.load(f"{folder}/m.memoir")
        >>> again.predict([[0, 2, 0]]).tolist()
        ['sky']
        """
        return cls._of_model(_memoir.Model.load(file_path(path)), labels)

    @classmethod
    def _of_model(cls, model: Any, labels: str):
        about = json.loads(model.summary())
        cls._check_input(about)
        make: Any = cls
        estimator = make(about["algorithm"], **cls._told_parameters(about))
        names = model.class_names()
        met = _labels_of(names, labels)
        estimator._take(model, met, np.sort(met), None)
        estimator.training_curve_ = []
        estimator._after_load(model)
        return estimator

    @classmethod
    def _check_input(cls, about: dict[str, Any]) -> None:
        raise NotImplementedError

    @classmethod
    def _told_parameters(cls, about: dict[str, Any]) -> dict[str, Any]:
        """The parameters with which an estimator would have made the model."""
        specs = _parameters.algorithms().get(about["algorithm"], {"parameters": {}})["parameters"]
        defaults = {name: spec["default"] for name, spec in specs.items()}
        told = {
            _parameters.python_name(name): "auto" if value is None else value
            for name, value in about["params"].items()
        }
        # Another version may have had parameters that this one lacks: the model answers all the same.
        told = {name: value for name, value in told.items() if name in defaults and value != defaults[name]}
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


def file_path(path: str | os.PathLike[str]) -> str:
    """`path` as text, which must not be a folder's."""
    text = os.fspath(path)
    if os.path.isdir(text):
        raise IsADirectoryError(errno.EISDIR, "expected a file, found a folder", text)
    return text


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


def _shown_size(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")
