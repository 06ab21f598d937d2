"""Extreme multi-class classification on a CPU: thousands to hundreds of thousands of classes.

:class:`MemoirClassifier` takes vectors and :class:`MemoirTextClassifier` raw text; both are scikit-learn
estimators. :func:`load` opens a model file, whether Python or the command line wrote it.
:class:`Client` asks a running ``memoir serve``.
"""

from __future__ import annotations

import json
import os

from . import _memoir
from ._classifier import MemoirClassifier
from ._client import Answer, AsyncClient, Client, ServiceError
from ._explanation import Explanation, FeatureShare, FeatureWeight
from ._frames import column_text
from ._keeping import file_path
from ._memoir import __version__
from ._parameters import algorithms
from ._predicting import TopK
from ._text import MemoirTextClassifier

__all__ = [
    "Answer",
    "AsyncClient",
    "Client",
    "Explanation",
    "FeatureShare",
    "FeatureWeight",
    "MemoirClassifier",
    "MemoirTextClassifier",
    "ServiceError",
    "TopK",
    "__version__",
    "algorithms",
    "column_text",
    "load",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def load(
    path: str | os.PathLike[str], *, labels: str = "auto", mapped: bool = True
) -> MemoirClassifier | MemoirTextClassifier:
    """Open a model file with the estimator that fits it.

    Parameters
    ----------
    path : path-like
        The file.
    labels : {"auto", "str", "int"}, default="auto"
        What labels are in Python, as in :meth:`MemoirClassifier.load`.
    mapped : bool, default=True
        Whether the file is mapped or read into memory, as in :meth:`MemoirClassifier.load`.

    Returns
    -------
    MemoirClassifier or MemoirTextClassifier
        As its :meth:`load` gives it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import memoir
    >>> model = memoir.MemoirTextClassifier().fit(["red apple", "blue sky"], ["fruit", "weather"])
    >>> with TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/m.memoir")
    ...     again = memoir.load(f"{folder}/m.memoir")
    >>> again.predict(["sky"]).tolist()
    ['weather']
    """
    model = _memoir.Model.load(file_path(path), mapped)
    kind = json.loads(model.summary())["input"]
    return (MemoirTextClassifier if kind == "text" else MemoirClassifier)._of_model(model, labels)
