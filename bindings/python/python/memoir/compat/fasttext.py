"""fastText's Python interface for classification, on memoir's models.

``train_supervised``, ``load_model``, ``predict``, ``test``, ``test_label``, ``save_model``, ``get_labels``
and ``get_words`` take the same files and arguments, in the same order. What differs:

- Parameters that mean nothing here (``lr``, ``dim``, ``ws``, ``epoch``, ``neg``, ``loss``, ``bucket`` and
  others) are accepted and ignored; a warning names them if they are given. memoir chooses its passes;
  ``passes=`` is a number of your own.
- ``minn``/``maxn`` count runs of characters inside words; words themselves are counted too, unless
  ``wordNgrams=0``.
- Text is lowercased and cut at Unicode word boundaries, not only at blanks.
- ``get_words(include_freq=True)`` counts the rows that hold a word, not its occurrences; there is no
  ``</s>``.
- Models are memoir model files; fastText's ``.bin`` files cannot be opened.
- There are no word vectors: nothing that needs them is there, and what is missing says so. Instead of
  ``quantize`` there are ``train_supervised(..., max_model_size="10M")`` and the command line's ``memoir
  compact``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._text import MemoirTextClassifier

BOW, EOW, EOS = "<", ">", "</s>"

_NO_VECTORS = "memoir learns weights of words for classes, not vectors of words"
_MISSING_IN_MODELS = {
    **dict.fromkeys(
        (
            "get_analogies", "get_dimension", "get_input_matrix", "get_input_vector",
            "get_nearest_neighbors", "get_output_matrix", "get_sentence_vector", "get_subword_id",
            "get_subwords", "get_word_vector", "set_matrices",
        ),
        _NO_VECTORS,
    ),
    "get_line": "texts are cut into words in memoir, and these are not given back",
    "get_meter": "call `test_label(path)`, or `estimator.evaluate(texts, labels)`",
    "quantize": (
        'give `max_model_size="10M"` to train_supervised, or call `memoir compact` on the saved file'
    ),
    "set_args": "parameters are those of `estimator`",
}  # fmt: skip
_MISSING = {
    **dict.fromkeys(("train_unsupervised", "cbow", "skipgram"), _NO_VECTORS),
    "supervised": "call `train_supervised`",
    "tokenize": "texts are cut into words in memoir, and these are not given back",
}


def __getattr__(name: str) -> Any:
    raise _absent("memoir.compat.fasttext", name, _MISSING)


def _absent(owner: str, name: str, reasons: dict[str, str]) -> AttributeError:
    """The error for what fastText has and memoir has not."""
    if name in reasons:
        return AttributeError(f"`{name}` of fastText is not in {owner}: {reasons[name]}")
    return AttributeError(f"{owner} has no attribute {name!r}")


def train_supervised(
    input: str | os.PathLike[str],
    lr: float | None = None,
    dim: int | None = None,
    ws: int | None = None,
    epoch: int | None = None,
    minCount: int = 1,
    minCountLabel: int | None = None,
    minn: int = 0,
    maxn: int = 0,
    neg: int | None = None,
    wordNgrams: int = 1,
    loss: str | None = None,
    bucket: int | None = None,
    thread: int = -1,
    lrUpdateRate: int | None = None,
    t: float | None = None,
    label: str = "__label__",
    verbose: int = 0,
    pretrainedVectors: str | None = None,
    seed: int = 0,
    autotuneValidationFile: str | None = None,
    autotuneMetric: str | None = None,
    autotunePredictions: int | None = None,
    autotuneDuration: int | None = None,
    autotuneModelSize: str | None = None,
    **ours: Any,
) -> FastText:
    """Train on a file of lines such as ``__label__a __label__b some text``.

    Parameters
    ----------
    input : path-like
        The file.
    minCount, minn, maxn, wordNgrams, thread, label, verbose, seed
        As in fastText. `label` must be ``__label__``.
    lr, dim, ws, epoch, minCountLabel, neg, loss, bucket, lrUpdateRate, t, pretrainedVectors, autotune...
        Accepted, and ignored with a warning.
    **ours
        Any parameters of :class:`memoir.MemoirTextClassifier`.

    Returns
    -------
    FastText

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from memoir.compat import fasttext
    >>> with TemporaryDirectory() as folder:
    ...     lines = Path(folder, "train.txt")
    ...     _ = lines.write_text("__label__pear green and long\\n__label__apple red and round\\n")
    ...     model = fasttext.train_supervised(input=lines, wordNgrams=2)
    >>> model.predict("a red one")[0]
    ('__label__apple',)
    """
    nothing_here = {
        "lr": lr,
        "dim": dim,
        "ws": ws,
        "epoch": epoch,
        "minCountLabel": minCountLabel,
        "neg": neg,
        "loss": loss,
        "bucket": bucket,
        "lrUpdateRate": lrUpdateRate,
        "t": t,
        "pretrainedVectors": pretrainedVectors,
        "autotuneValidationFile": autotuneValidationFile,
        "autotuneMetric": autotuneMetric,
        "autotunePredictions": autotunePredictions,
        "autotuneDuration": autotuneDuration,
        "autotuneModelSize": autotuneModelSize,
    }
    ignored = sorted(name for name, value in nothing_here.items() if value is not None)
    if ignored:
        warnings.warn(f"these parameters of fastText mean nothing here: {', '.join(ignored)}", stacklevel=2)
    if label != "__label__":
        raise ValueError(f"labels must be marked by `__label__`, but `label` is {label!r}")
    # fastText cuts out runs from `minn` on; where only `maxn` is 0, it cuts out none.
    characters = {"char_ngrams": maxn, "char_ngrams_from": max(minn, 1)} if maxn > 0 else {}
    estimator = MemoirTextClassifier(
        **{
            "word_ngrams": wordNgrams,
            "min_df": minCount,
            "n_jobs": thread,
            "random_state": seed,
            "verbose": verbose,
            **characters,
            **ours,
        }
    )
    return FastText(estimator.fit_file(input, format="fasttext"))


def load_model(path: str | os.PathLike[str]) -> FastText:
    """Open a model that :meth:`FastText.save_model` or the command line wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    FastText

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from memoir import MemoirTextClassifier
    >>> from memoir.compat import fasttext
    >>> with TemporaryDirectory() as folder:
    ...     MemoirTextClassifier().fit(["red apple", "blue sky"], ["fruit", "weather"]).save(f"{folder}/m")
    ...     model = fasttext.load_model(f"{folder}/m")
    >>> model.predict(["an apple", "the sky"])[0]
    [['__label__fruit'], ['__label__weather']]
    """
    return FastText(MemoirTextClassifier.load(path, labels="str"))


class FastText:
    """A trained model with fastText's methods. ``estimator`` is the scikit-learn estimator inside."""

    def __init__(self, estimator: MemoirTextClassifier):
        self.estimator = estimator

    def __getattr__(self, name: str) -> Any:
        raise _absent("models of memoir.compat.fasttext", name, _MISSING_IN_MODELS)

    @property
    def labels(self) -> list[str]:
        """The labels, most frequent first, with their marks."""
        return self.get_labels()

    @property
    def words(self) -> list[str]:
        """The words that the model knows, most frequent first."""
        return self.get_words()

    def __contains__(self, word: str) -> bool:
        """Whether the model knows a word."""
        return word in self.words

    def get_labels(self, include_freq: bool = False, on_unicode_error: str = "strict") -> Any:
        """The labels, most frequent first; with their number of training rows if asked for."""
        names = ["__label__" + str(label) for label in self.estimator._met]
        return _most_frequent_first(names, self.estimator._model.class_counts(), include_freq)

    def get_words(self, include_freq: bool = False, on_unicode_error: str = "strict") -> Any:
        """The words that the model knows, most frequent first; with their number of training rows if
        asked for."""
        features, rows = self.estimator._model.words()
        # Runs of several words have blanks, runs of characters a mark that no word has.
        places = [
            place for place, name in enumerate(features) if " " not in name and not name.startswith("#")
        ]
        return _most_frequent_first(
            [features[place] for place in places], rows[places] if len(rows) else rows, include_freq
        )

    def get_word_id(self, word: str) -> int:
        """The place of a word in ``words``, -1 if the model does not know it."""
        words = self.words
        return words.index(word) if word in words else -1

    def predict(
        self, text: str | list[str], k: int = 1, threshold: float = 0.0, on_unicode_error: str = "strict"
    ):
        """The `k` best labels of a text, or of each of a list, as long as their probability is at least
        `threshold`.

        Returns
        -------
        tuple
            For a text, its labels and an array of their probabilities; for a list, a list of each. ``k=-1``
            gives all.
        """
        texts = [text] if isinstance(text, str) else text
        if texts is None or not all(isinstance(one, str) for one in texts):
            raise ValueError(f"expected a text or a list of texts, got {text!r}")
        if any("\n" in one for one in texts):
            raise ValueError("predict processes one line at a time (remove '\\n')")
        classes, probabilities = self.estimator.predict_topk(
            texts, len(self.estimator.classes_) if k == -1 else k, unknown=""
        )
        labels, shares = [], []
        for names, values in zip(classes.tolist(), probabilities):
            # A text without a known word has an empty class, which is no label.
            enough = int(np.count_nonzero(values >= threshold)) if names[0] else 0
            labels.append(tuple(f"__label__{name}" for name in names[:enough]))
            shares.append(values[:enough].astype(np.float64))
        if isinstance(text, str):
            return labels[0], shares[0]
        return [list(row) for row in labels], shares

    def test(
        self, path: str | os.PathLike[str], k: int = 1, threshold: float = 0.0
    ) -> tuple[int, float, float]:
        """Number of rows of a file, precision at `k`, recall at `k`; rows without a label are left out."""
        rows = predicted = labels = hits = 0
        for truth, answers in self._tested(path, k, threshold):
            rows += 1
            predicted += len(answers)
            labels += len(truth)
            hits += len(truth & set(answers))
        return (
            rows,
            hits / predicted if predicted else float("nan"),
            hits / labels if labels else float("nan"),
        )

    def test_label(
        self, path: str | os.PathLike[str], k: int = 1, threshold: float = 0.0
    ) -> dict[str, dict[str, float]]:
        """Precision, recall and F1 of each label on a file."""
        counts: dict[str, list[int]] = {}
        for truth, answers in self._tested(path, k, threshold):
            for label in truth:
                counts.setdefault(label, [0, 0, 0])[0] += 1
            for label in answers:
                entry = counts.setdefault(label, [0, 0, 0])
                entry[1] += 1
                entry[2] += label in truth
        return {
            label: {
                "precision": hits / predicted if predicted else float("nan"),
                "recall": hits / true if true else float("nan"),
                "f1score": 2 * hits / (true + predicted),
            }
            for label, (true, predicted, hits) in counts.items()
        }

    def _tested(self, path: Any, k: int, threshold: float) -> Iterator[tuple[set[str], list[str]]]:
        for truths, texts in _batches(path):
            answers, _ = self.predict(texts, k, threshold)
            yield from zip(truths, answers)

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; the command line reads it."""
        self.estimator.save(path)

    def is_quantized(self) -> bool:
        """Whether weights are stored in less than 32 bits."""
        return self.estimator.summary()["precision"] not in (None, "f32")


def _most_frequent_first(names: list[str], counts: np.ndarray, include_freq: bool) -> Any:
    """The names in the order of their counts and, if asked for, these; without counts, which a file may
    lack, as they are."""
    if not len(counts):
        counts = np.zeros(len(names), dtype=np.uint32)
    order = np.argsort(-counts.astype(np.int64), kind="stable")
    ordered = [names[number] for number in order]
    return (ordered, counts[order]) if include_freq else ordered


def _batches(path: Any, size: int = 4096) -> Iterator[tuple[list[set[str]], list[str]]]:
    """The labelled rows of a file, some at a time: their labels and their texts."""
    truths: list[set[str]] = []
    texts: list[str] = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            count = next(
                (place for place, word in enumerate(words) if not word.startswith("__label__")), len(words)
            )
            if count:
                truths.append(set(words[:count]))
                texts.append(" ".join(words[count:]))
            if len(texts) == size:
                yield truths, texts
                truths, texts = [], []
    if texts:
        yield truths, texts


__all__ = ["BOW", "EOS", "EOW", "FastText", "load_model", "train_supervised"]
