"""The model file: saving, loading, and what an estimator shows of itself."""

from __future__ import annotations

import errno
import json
import os
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _labels, _memoir, _parameters
from ._part import Part


class Keeping(Part):
    """The part of an estimator that deals with model files."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: the one that ``memoir train`` writes and ``memoir predict`` reads.

        From the same rows it has the same bytes, but for one number with vectors: matrices begin with column
        0, files in libsvm form with feature 1. And where the names of classes do not tell what labels are in
        Python, as with the text ``"7"``, there is a word about it.

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
        self._model.save(file_path(path), self._running())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, labels: str = "auto", mapped: bool = True) -> Self:
        """Open a model file, whoever wrote it.

        Parameters
        ----------
        path : path-like
            The file.
        labels : {"auto", "str", "int"}, default="auto"
            What labels are in Python; a file holds them as text. ``auto`` gives them the type that they had
            when the file was saved; of a file that the command line wrote, which does not tell, it makes
            whole numbers if all of them are.
        mapped : bool, default=True
            Whether the file stays where it is and is read as answers need it. Then nobody may write into it
            meanwhile (``cp`` does; renaming another file to its name is safe). Most such changes are noticed
            and raise an error before the model is read, but one in the very moment ends the process.
            ``False`` reads all of the file into memory, and what happens to it later does not matter.

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
        return cls._of_model(_memoir.Model.load(file_path(path), mapped), labels)

    @classmethod
    def _of_model(cls, model: Any, labels: str):
        about = json.loads(model.summary())
        cls._check_input(about)
        make: Any = cls
        estimator = make(about["algorithm"], **cls._told_parameters(about))
        names = model.class_names()
        met = _labels.of_names(names, labels, model.label_kind)
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
        try:
            about = self.summary()
        except ValueError:
            # A file that was changed in place is no reason to show nothing, least of all in an error.
            return parameters
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


def _shown_size(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")
