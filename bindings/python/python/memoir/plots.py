"""Pictures of a model's quality. They need matplotlib, which the package does not install."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("memoir.plots needs matplotlib: pip install matplotlib") from None
    return pyplot.subplots()[1]


def confusion(estimator: Any, X: Any, y: Any, *, top: int = 12, axes: Any = None) -> Any:
    """Which classes are taken for which: the classes most often confused, as a matrix of counts.

    Parameters
    ----------
    estimator : fitted estimator
        A :class:`memoir.MemoirClassifier` or :class:`memoir.MemoirTextClassifier`.
    X, y : rows and labels
        One label per row.
    top : int, default=12
        How many classes to show.
    axes : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
    """
    axes = _axes(axes)
    truth = np.asarray(y)
    predicted = estimator.predict(X)
    wrong = truth != predicted
    if not wrong.any():
        # Nothing is confused: the most frequent classes, all on the diagonal.
        wrong = np.ones(len(truth), dtype=bool)
    labels, counts = np.unique(np.concatenate([truth[wrong], predicted[wrong]]), return_counts=True)
    shown = labels[np.argsort(-counts, kind="stable")[:top]]
    place = {label: index for index, label in enumerate(shown.tolist())}
    table = np.zeros((len(shown), len(shown)), dtype=np.int64)
    for true, found in zip(truth.tolist(), predicted.tolist()):
        if true in place and found in place:
            table[place[true], place[found]] += 1
    axes.imshow(table, cmap="Blues")
    names = [str(label)[:24] for label in shown.tolist()]
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
    """
    axes = _axes(axes)
    shares, accuracies = coverage_curve(estimator, X, y)
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
    """
    best = estimator.predict_topk(X, 1)
    right = best.classes[:, 0] == np.asarray(y)
    order = np.argsort(-best.probabilities[:, 0], kind="stable")
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
