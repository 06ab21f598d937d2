"""The estimator for raw text."""

from __future__ import annotations

import json
import os
from typing import Any, Self

import numpy as np

from . import _inputs, _memoir, _parameters
from ._base import COMMON, MemoirBase, curve_into
from ._keeping import file_path
from ._parameters import ALGORITHM_DEFAULTS, TEXT_DEFAULTS, takes
from ._progress import ProgressLine, several


@takes(COMMON, TEXT_DEFAULTS, ALGORITHM_DEFAULTS)
class MemoirTextClassifier(MemoirBase):
    """Assigns raw texts to one of thousands of classes: words are counted and weighted inside, in Rust.

    Texts may be a list, a NumPy array, a pandas Series or an Arrow array of strings.

    Parameters
    ----------
    algorithm : str, default="softmax"
        How to learn; :func:`memoir.algorithms` lists the choices with their parameters.
    word_ngrams : int, default=1
        Count runs of up to this many words.
    char_ngrams : int, default=0
        Also count runs of up to this many characters inside words.
    char_ngrams_from : int or "auto", default="auto"
        Shortest run of characters counted.
    min_df, max_df, max_features : number
        Ignore words in fewer rows than `min_df`, in more than the share `max_df`; keep only so many.
    stem, stop_words : str, default="off"
        A language whose stems are used, whose most common words are ignored.
    **parameters
        All others are those of :class:`MemoirClassifier`.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    training_curve_ : list of dict
        ``pass``, ``accuracy`` and ``macro_f1`` on held-out rows after each pass, where there were such rows.
    dense_limit : int
        Largest dense result, in bytes, that :meth:`predict_proba` and :meth:`decision_function` make.

    Examples
    --------
    >>> from memoir import MemoirTextClassifier
    >>> texts = ["red apple", "ripe pear", "blue sky", "grey cloud"]
    >>> model = MemoirTextClassifier().fit(texts, ["fruit", "fruit", "weather", "weather"])
    >>> model.predict(["a ripe apple", "clouds in a blue sky"]).tolist()
    ['fruit', 'weather']
    >>> model.explain("grey sky").answer
    'weather'
    """

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return _inputs.texts(X)

    def _checked(self, X: Any, y: Any, kind: str, *, reset: bool) -> tuple[Any, Any]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        rows = _inputs.texts(X)
        size = len(rows) if isinstance(rows, list) else len(rows[0]) - 1
        count = y.shape[0] if hasattr(y, "shape") else len(y)
        if size != count:
            raise ValueError(f"X has {size} rows, but y has {count}")
        return rows, y

    def fit_file(self, path: str | os.PathLike[str], *, format: str | None = None) -> Self:
        """Learn from a file, as ``memoir train`` does; texts are streamed, never all in memory.

        Parameters
        ----------
        path : path-like
            CSV, TSV, JSONL or fastText lines, compressed or not.
        format : str, optional
            The format, where the name does not tell it.

        Returns
        -------
        self
            With labels as text.
        """
        line = ProgressLine() if self.verbose else None
        curve: list[dict[str, float]] = []
        try:
            model = _memoir.Model.train_file(
                file_path(path),
                self._options(),
                self._running(several(line, curve_into(curve)), self._seed()),
                format,
            )
        finally:
            if line is not None:
                line.close()
        self._check_input(json.loads(model.summary()))
        met = np.array(model.class_names(), dtype=object)
        self._take(model, met, np.sort(met), None)
        self.training_curve_ = curve
        return self

    def _text_options(self) -> list[tuple[str, str]]:
        return _parameters.text_parameters(self)

    def _as_one(self, x: Any) -> Any:
        return [x] if isinstance(x, str) else x

    @classmethod
    def _check_input(cls, about: dict[str, Any]) -> None:
        if about["input"] != "text":
            raise ValueError("this model was trained on vectors: open it with MemoirClassifier.load")

    @classmethod
    def _told_parameters(cls, about: dict[str, Any]) -> dict[str, Any]:
        text = {name: "off" if value is None else value for name, value in about["text"].items()}
        if not text["char_ngrams"]:
            text["char_ngrams_from"] = "auto"
        told = {name: value for name, value in text.items() if value != TEXT_DEFAULTS[name]}
        return {**super()._told_parameters(about), **told}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.no_validation = True
        return tags
