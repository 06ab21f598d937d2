"""fastText's Python interface for classification, on memoir's models.

``train_supervised``, ``load_model``, ``predict``, ``test`` and ``save_model`` take the same files and arguments. What
differs:

- Parameters that mean nothing here (``lr``, ``dim``, ``ws``, ``neg``, ``loss``, ``bucket``, ``thread`` apart) are accepted and
  ignored; a warning names them if they are given.
- ``epoch`` is not taken over: memoir chooses its passes. Give ``passes=`` for a number of your own.
- ``minn``/``maxn`` count runs of characters inside words; words themselves are counted too, unless ``wordNgrams=0``.
- Text is lowercased and cut at Unicode word boundaries, not only at blanks.
- Models are memoir model files; fastText's ``.bin`` files cannot be opened.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._text import MemoirTextClassifier

_IGNORED = {
    "lr", "dim", "ws", "epoch", "minCountLabel", "neg", "loss", "bucket", "lrUpdateRate", "t", "pretrainedVectors",
    "autotuneValidationFile", "autotuneMetric", "autotunePredictions", "autotuneDuration", "autotuneModelSize",
}  # fmt: skip

BOW, EOW, EOS = "<", ">", "</s>"


def train_supervised(
    input: str | os.PathLike[str],
    *,
    wordNgrams: int = 1,
    minn: int = 0,
    maxn: int = 0,
    minCount: int = 1,
    label: str = "__label__",
    thread: int = -1,
    seed: int = 0,
    verbose: int = 0,
    **others: Any,
) -> FastText:
    """Train on a file of lines such as ``__label__a __label__b some text``.

    Parameters
    ----------
    input : path-like
        The file.
    wordNgrams, minn, maxn, minCount, label, thread, seed, verbose
        As in fastText. `label` must be ``__label__``.
    **others
        Other parameters of fastText are accepted and ignored; any of :class:`memoir.MemoirTextClassifier` are used.

    Returns
    -------
    FastText
    """
    if label != "__label__":
        raise ValueError(f"labels must be marked by `__label__`, but `label` is {label!r}")
    ignored = sorted(_IGNORED & others.keys())
    if ignored:
        warnings.warn(f"these parameters of fastText mean nothing here: {', '.join(ignored)}", stacklevel=2)
    ours = {name: value for name, value in others.items() if name not in _IGNORED}
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
    """Open a model that :meth:`FastText.save_model` or the command line wrote."""
    return FastText(MemoirTextClassifier.load(path, labels="str"))


class FastText:
    """A trained model with fastText's methods. ``estimator`` is the scikit-learn estimator inside."""

    def __init__(self, estimator: MemoirTextClassifier):
        self.estimator = estimator

    @property
    def labels(self) -> list[str]:
        """The labels, most frequent first, with their marks."""
        return self.get_labels()

    def get_labels(self, include_freq: bool = False) -> Any:
        """The labels, most frequent first; with their number of training rows if asked for."""
        counts = self.estimator._model.class_counts()
        order = np.argsort(-counts.astype(np.int64), kind="stable")
        labels = ["__label__" + str(self.estimator._met[number]) for number in order]
        return (labels, counts[order]) if include_freq else labels

    def predict(
        self, text: str | list[str], k: int = 1, threshold: float = 0.0, on_unicode_error: str = "strict"
    ):
        """The `k` best labels of a text, or of each of a list, as long as their probability is at least `threshold`.

        Returns
        -------
        tuple
            For a text, its labels and an array of their probabilities; for a list, a list of each. ``k=-1`` gives all.
        """
        texts = [text] if isinstance(text, str) else text
        if any("\n" in one for one in texts):
            raise ValueError("predict processes one line at a time (remove '\\n')")
        classes, probabilities = self.estimator.predict_topk(
            texts, len(self.estimator.classes_) if k == -1 else k
        )
        labels, shares = [], []
        for names, values in zip(classes.tolist(), probabilities):
            enough = int(np.count_nonzero(values >= threshold))
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
