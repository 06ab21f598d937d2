"""Pictures of a model's quality. They need matplotlib, which the package does not install."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from . import _targets
from ._checks import positive


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("memoir.plots needs matplotlib: pip install matplotlib") from None
    return pyplot.subplots()[1]


def _answers(estimator: Any, X: Any, y: Any) -> tuple[list[list[Any]], np.ndarray, np.ndarray]:
    """The labels of each row, its best class, and the probability of that; rows without a label are left
    out."""
    given = _targets.given(y)
    truths = _targets.number(given, estimator.classes_).sets()
    best = estimator.predict_topk(X, 1)
    if len(truths) != len(best.classes):
        raise ValueError(f"X has {len(best.classes)} rows, but y has {len(truths)}")
    labelled = [row for row, labels in enumerate(truths) if labels]
    return [truths[row] for row in labelled], best.classes[labelled, 0], best.probabilities[labelled, 0]


def confusion(estimator: Any, X: Any, y: Any, *, top: int = 12, axes: Any = None) -> Any:
    """Which classes are taken for which: the classes most often confused, as a matrix of counts.

    A row with several labels is right if its best class is one of them; if not, each of its labels was taken
    for that class.

    Parameters
    ----------
    estimator : fitted estimator
        A :class:`memoir.MemoirClassifier` or :class:`memoir.MemoirTextClassifier`.
    X, y : rows and targets
        As in ``fit``: one label per row, lists of labels, or an indicator matrix.
    top : int, default=12
        How many classes to show.
    axes : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from memoir import MemoirTextClassifier, plots
    >>> texts, labels = ["red apple", "ripe pear", "blue sky"], ["fruit", "fruit", "weather"]
    >>> model = MemoirTextClassifier().fit(texts, labels)
    >>> axes = plots.confusion(model, texts, labels)
    >>> [tick.get_text() for tick in axes.get_yticklabels()]
    ['fruit', 'weather']
    """
    truths, predicted, _ = _answers(estimator, X, y)
    pairs = Counter(
        (true, found)
        for labels, found in zip(truths, predicted.tolist())
        for true in ([found] if found in labels else labels)
    )
    wrong = {pair: count for pair, count in pairs.items() if pair[0] != pair[1]}
    involved: Counter[Any] = Counter()
    # If nothing is confused: the most frequent classes, all on the diagonal.
    for (true, found), count in (wrong or pairs).items():
        involved[true] += count
        involved[found] += count
    shown = sorted(involved, key=lambda label: (-involved[label], label))[: positive("top", top)]
    table = np.array([[pairs[true, found] for found in shown] for true in shown])
    axes = _axes(axes)
    axes.imshow(table, cmap="Blues")
    names = [str(label)[:24] for label in shown]
    axes.set_xticks(range(len(shown)), names, rotation=60, ha="right")
    axes.set_yticks(range(len(shown)), names)
    for (row, column), count in np.ndenumerate(table):
        if count:
            axes.text(column, row, str(count), ha="center", va="center", fontsize=7)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    axes.set_title("classes most often confused")
    return axes


def coverage(estimator: Any, X: Any, y: Any, *, axes: Any = None) -> Any:
    """Accuracy among the surest rows, against how many of the rows these are.

    Where the curve is high on the left, rows can be coded without a person there and the rest reviewed.

    Parameters
    ----------
    estimator, X, y, axes
        As in :func:`confusion`.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from memoir import MemoirTextClassifier, plots
    >>> texts, labels = ["red apple", "ripe pear", "blue sky"], ["fruit", "fruit", "weather"]
    >>> axes = plots.coverage(MemoirTextClassifier().fit(texts, labels), texts, labels)
    >>> axes.get_ylabel()
    'accuracy among them'
    """
    shares, accuracies = coverage_curve(estimator, X, y)
    axes = _axes(axes)
    axes.plot(shares, accuracies)
    axes.set_xlabel("share of rows answered, surest first")
    axes.set_ylabel("accuracy among them")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.grid(alpha=0.3)
    axes.set_title("coverage against accuracy")
    return axes


def coverage_curve(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The curve that :func:`coverage` draws: shares of the rows, and the accuracy among the surest so many.

    Parameters
    ----------
    estimator, X, y
        As in :func:`confusion`.

    Returns
    -------
    tuple of two ndarrays

    Examples
    --------
    >>> from memoir import MemoirTextClassifier, plots
    >>> texts, labels = ["red apple", "ripe pear", "blue sky"], ["fruit", "fruit", "weather"]
    >>> shares, accuracies = plots.coverage_curve(MemoirTextClassifier().fit(texts, labels), texts, labels)
    >>> accuracies.tolist()
    [1.0, 1.0, 1.0]
    """
    truths, predicted, probabilities = _answers(estimator, X, y)
    right = np.array([found in labels for labels, found in zip(truths, predicted.tolist())])
    order = np.argsort(-probabilities, kind="stable")
    counts = np.arange(1, len(order) + 1)
    return counts / len(order), np.cumsum(right[order]) / counts


def training_curve(estimator: Any, *, axes: Any = None) -> Any:
    """Accuracy and macro-F1 on held-out rows after each pass.

    Parameters
    ----------
    estimator : fitted estimator
        Fitted with ``valid_fraction`` or with ``fit(..., valid=...)``.
    axes : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from memoir import MemoirTextClassifier, plots
    >>> texts, labels = ["red apple", "blue sky"] * 10, ["fruit", "weather"] * 10
    >>> model = MemoirTextClassifier(passes=2, valid_fraction=0.2).fit(texts, labels)
    >>> [line.get_label() for line in plots.training_curve(model).lines]
    ['accuracy', 'macro-F1']
    """
    curve = estimator.training_curve_
    if not curve:
        raise ValueError("there is no training curve: fit with valid_fraction=0.1, or with valid=(X, y)")
    axes = _axes(axes)
    passes = [point["pass"] for point in curve]
    for name, title in (("accuracy", "accuracy"), ("macro_f1", "macro-F1")):
        axes.plot(passes, [point[name] for point in curve], marker="o", label=title)
    axes.set_xlabel("pass")
    axes.set_ylabel("on held-out rows")
    axes.set_xticks(passes)
    axes.legend()
    axes.set_title("training curve")
    return axes
