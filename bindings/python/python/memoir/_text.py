"""The estimator for raw text."""

from __future__ import annotations

import json
import os
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _callbacks, _inputs, _memoir, _parameters
from ._base import COMMON, MemoirBase
from ._frames import text_rows
from ._keeping import file_path
from ._parameters import ALGORITHM_DEFAULTS, TEXT_DEFAULTS, takes
from ._targets import Given


@takes(COMMON, TEXT_DEFAULTS, ALGORITHM_DEFAULTS)
class MemoirTextClassifier(MemoirBase):
    """Assigns raw texts to one of thousands of classes: words are counted and weighted inside, in Rust.

    Texts may be a list, a NumPy array, a pandas Series or an Arrow array of strings.

    Parameters
    ----------
    algorithm : str, default="softmax"
        How to learn; :func:`memoir.algorithms` lists the choices with their parameters.
    blocks : str, default="auto"
        Blocks of features with their weights, such as ``"words,pairs:0.5,chars4:0.7"``; "auto" chooses them
        by held-out rows.
    languages : str, default="auto"
        Languages whose rules stems follow, such as ``"german,english"``; "auto" detects them.
    text_preset : str, default="auto"
        ``"words"`` counts words in one block.
    word_ngrams, char_ngrams, char_ngrams_from : int or "auto", default="auto"
        One block: runs of up to this many words; of up to, and from, this many characters inside words.
    min_df, max_df, max_features : number
        Ignore words in fewer rows than `min_df`, in more than the share `max_df`; keep only so many.
    stem : str, default="auto"
        One block: a language whose stems are used.
    stop_words : str, default="off"
        A language whose most common words are ignored.
    **parameters
        All others are those of :class:`MemoirClassifier`.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted; with an indicator matrix, its columns.
    training_curve_ : list of dict
        ``pass``, ``accuracy`` and ``macro_f1`` on held-out rows after each pass, where there were such rows.

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

    def _checked(self, X: Any, y: Given, *, reset: bool) -> Any:
        rows = _inputs.texts(X)
        size = len(rows) if isinstance(rows, list) else len(rows[0]) - 1
        if size != len(y):
            raise ValueError(f"X has {size} rows, but y has {len(y)}")
        return rows

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
            With labels as text, of whole numbers, too. Where rows had several labels, predictions are lists.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from memoir import MemoirTextClassifier
        >>> with TemporaryDirectory() as folder:
        ...     table = Path(folder, "fruit.csv")
        ...     _ = table.write_text("label,text\\npear,green and long\\napple,red and round\\n")
        ...     model = MemoirTextClassifier().fit_file(table)
        >>> model.predict(["a round one"]).tolist()
        ['apple']
        """
        return self._renewed(lambda learned: learned._learn_file(path, format))

    @_callbacks.managed
    def _learn_file(self, path: str | os.PathLike[str], format: str | None) -> None:
        with self._told(path, None) as on_event:
            model = _memoir.Model.train_file(
                file_path(path), self._options(), self._running(on_event, self._seed()), format, "text"
            )
        if json.loads(model.summary())["input"] != "text":
            raise ValueError(f"{path} holds vectors, not texts: fit MemoirClassifier with them")
        met = np.array(model.class_names(), dtype=object)
        self._take(model, met, np.sort(met), None)

    def overridden(self, X: Any) -> np.ndarray:
        """Which texts always get their class, as ``memoir overrides`` has put it into the model file.

        Parameters
        ----------
        X : texts
            As in :meth:`predict`.

        Returns
        -------
        ndarray of bool, of shape (n_rows,)
            True where the first answer is not the model's own.

        Examples
        --------
        >>> from memoir import MemoirTextClassifier
        >>> model = MemoirTextClassifier().fit(["red apple", "blue sky"], ["fruit", "weather"])
        >>> model.overridden(["red apple"]).tolist()
        [False]
        """
        check_is_fitted(self, "_model")
        return np.array(self._model.overridden(_inputs.texts(X), self._running()), dtype=bool)

    def _frame_rows(self, frame: Any, text: str | None, category: str | None, numeric: str | None) -> Any:
        return text_rows(frame, text, category, numeric)

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
        if text.get("blocks"):
            # These describe a single block of words and n-grams, which this model does not have.
            text.update(dict.fromkeys(("word_ngrams", "char_ngrams", "char_ngrams_from", "stem"), "auto"))
        told = {
            name: text[name] for name in text if name in TEXT_DEFAULTS and text[name] != TEXT_DEFAULTS[name]
        }
        return {**super()._told_parameters(about), **told}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.no_validation = True
        return tags
