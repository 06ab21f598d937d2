"""The model file: saving, loading, and what an estimator shows of itself."""

from __future__ import annotations

import errno
import json
import os
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _labels, _memoir, _parameters
from ._part import Part, copied


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
    def load(cls, path: str | os.PathLike[str], *, labels: str = "auto", mapped: bool = True) -> Self:
        """Open a model file, whoever wrote it.

        Parameters
        ----------
        path : path-like
            The file.
        labels : {"auto", "str", "int"}, default="auto"
            What labels are in Python; a file holds them as text. ``auto`` gives them the type that they had
            in :meth:`fit`; of a file that does not tell, it makes whole numbers if all of them are.
        mapped : bool, default=True
            Whether the file stays where it is and is read as answers need it. Then nobody may write into it
            meanwhile (``cp`` does; renaming another file to its name is safe). Most such changes are noticed
            and raise an error before rows are answered, but one in the very moment ends the process.
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

    def compact(
        self, *, precision: str | None = None, max_size: int | str | None = None, final: bool = False
    ) -> Self:
        """The same classifier in a smaller model: ``memoir compact``.

        Parameters
        ----------
        precision : {"f16", "int8"}, optional
            How weights are stored; by default as they are.
        max_size : int or str, optional
            Size that the file should not exceed, such as ``"10M"``; the smallest weights are dropped.
        final : bool, default=False
            Whether to drop what only further training would need.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.compact(precision="int8").summary()["precision"]
        'int8'
        """
        check_is_fitted(self, "_model")
        size = _parameters.parse_size("max_size", max_size)
        return self._with_model(self._model.compact(self._running(), precision, size, final), dict)

    def rename(self, names: dict[Any, Any]) -> Self:
        """The same classifier with other labels for some classes: ``memoir classes rename``.

        Parameters
        ----------
        names : dict
            The new label of each class to rename; two may change places.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.rename({"sky": "weather"}).classes_.tolist()
        ['fruit', 'weather']
        """
        check_is_fitted(self, "_model")
        pairs = [(str(old), str(new)) for old, new in names.items()]
        return self._with_model(self._model.rename(self._running(), pairs), lambda: names)

    def merge(self, labels: Any, into: Any) -> Self:
        """The same classifier with one class in place of several: ``memoir classes merge``.

        Parameters
        ----------
        labels : list
            The classes to make one of.
        into : label
            What it is called.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["apple", "pear", "sky", "sky"])
        >>> model.merge(["apple", "pear"], "fruit").classes_.tolist()
        ['fruit', 'sky']
        """
        check_is_fitted(self, "_model")
        merged = self._model.merge(self._running(), [str(label) for label in labels], str(into))
        return self._with_model(merged, lambda: dict.fromkeys(labels, into))

    def retire(self, labels: Any) -> Self:
        """The same classifier without some classes, which it never answers again: ``memoir classes retire``.

        Parameters
        ----------
        labels : list
            The classes to remove.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["apple", "pear", "sky", "sky"])
        >>> model.retire(["pear"]).classes_.tolist()
        ['apple', 'sky']
        """
        check_is_fitted(self, "_model")
        return self._with_model(self._model.retire(self._running(), [str(label) for label in labels]), dict)

    def _with_model(self, model: Any, renamed: Any) -> Self:
        """This estimator with `model` in place of its own; `renamed` gives new labels by old ones."""
        labels = {str(label): label for label in self._met.tolist()}
        labels.update({str(new): new for new in renamed().values()})
        kept = [labels[name] for name in model.class_names()]
        is_text = any(isinstance(label, str) for label in kept)
        met = np.array(kept, dtype=object if is_text else self._met.dtype)
        estimator = copied(self)
        estimator._take(model, met, np.sort(met), self._kind)
        return estimator

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


def _shown_size(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")
