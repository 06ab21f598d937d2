"""The parameters of estimators: the library's own tables, so that names and defaults have one source."""

from __future__ import annotations

import inspect
import keyword
import numbers
import os
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from . import _memoir

LEAST_BUDGET = 1_000_000
"""Less memory than this, in bytes, is enough for no training; such a number was meant in another unit."""


def python_name(name: str) -> str:
    """What a parameter of the command line is called in Python: ``step-size`` is ``step_size``."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def python_value(spec: dict[str, str]) -> Any:
    """The default in a table, as a Python value."""
    default = spec["default"]
    if default == "auto" or spec["kind"] == "choice":
        return default
    return int(default) if spec["kind"] == "integer" else float(default)


def _algorithm_defaults() -> dict[str, Any]:
    """Every parameter of every algorithm; None where algorithms have different defaults for it."""
    found: dict[str, list[Any]] = {}
    for algorithm in _memoir.algorithms().values():
        for spec in algorithm["parameters"]:
            found.setdefault(python_name(spec["name"]), []).append(python_value(spec))
    return {
        name: defaults[0] if all(other == defaults[0] for other in defaults) else None
        for name, defaults in found.items()
    }


ALGORITHM_DEFAULTS = _algorithm_defaults()
TEXT_DEFAULTS = {python_name(spec["name"]): python_value(spec) for spec in _memoir.text_parameters()}


def takes(own: dict[str, Any], *tables: dict[str, Any]):
    """A class decorator: gives the class an ``__init__`` with ``algorithm``, these parameters and those of
    the tables.

    The parameters are real ones to ``inspect`` and so to scikit-learn; writing them down here would be a
    second source for the library's defaults.
    """
    everything = {**own}
    for table in tables:
        everything.update(table)
    kind = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature(
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            inspect.Parameter("algorithm", inspect.Parameter.POSITIONAL_OR_KEYWORD, default="softmax"),
            *(inspect.Parameter(name, kind, default=default) for name, default in everything.items()),
        ]
    )

    def decorate(cls):
        def __init__(self, *args, **kwargs):
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        __init__.__module__ = cls.__module__
        cls.__init__ = __init__
        return cls

    return decorate


def as_text(name: str, value: Any) -> str:
    """A value as a user would write it on the command line."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    raise TypeError(f"`{name}` must be a number or a string, but is {value!r}")


def given(estimator: Any, table: dict[str, Any], allowed: set[str], owner: str) -> list[tuple[str, str]]:
    """The parameters of `table` that differ from their defaults, as (name, text) for the library to
    check."""
    found = []
    for name, default in table.items():
        value = getattr(estimator, name)
        if value is None or (type(value) is type(default) and value == default):
            continue
        original = name.rstrip("_").replace("_", "-")
        if original not in allowed:
            owners = [
                f"`{algorithm}`"
                for algorithm, about in _memoir.algorithms().items()
                if any(spec["name"] == original for spec in about["parameters"])
            ]
            raise ValueError(f"`{name}` is not a parameter of {owner}; it belongs to {', '.join(owners)}")
        found.append((original, as_text(name, value)))
    return found


def algorithm_parameters(estimator: Any) -> list[tuple[str, str]]:
    """What `estimator` says about its algorithm."""
    known = _memoir.algorithms()
    algorithm = typed("algorithm", estimator.algorithm, str, "a string")
    if algorithm not in known:
        raise ValueError(f"there is no algorithm {algorithm!r}; there are: {', '.join(known)}")
    allowed = {spec["name"] for spec in known[algorithm]["parameters"]}
    return given(estimator, ALGORITHM_DEFAULTS, allowed, f"`{algorithm}`")


def text_parameters(estimator: Any) -> list[tuple[str, str]]:
    """What `estimator` says about text."""
    allowed = {spec["name"] for spec in _memoir.text_parameters()}
    return given(estimator, TEXT_DEFAULTS, allowed, "the text pipeline")


def typed(name: str, value: Any, kind: type, wanted: str) -> Any:
    """`value`, if it is of this kind."""
    # To Python, True is a number.
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be {wanted}, but is {value!r}")
    return value


def training_options(estimator: Any) -> dict[str, Any]:
    """What `estimator` says about training, beyond algorithm and text."""
    precision, share = estimator.precision, estimator.valid_fraction
    if estimator.replicate not in (True, False):
        raise TypeError(f"`replicate` must be True or False, but is {estimator.replicate!r}")
    return {
        "weighting": typed("weighting", estimator.weighting, str, "a string"),
        "precision": None if precision is None else typed("precision", precision, str, "a string or None"),
        "max_model_size": parse_size("max_model_size", estimator.max_model_size),
        "valid_fraction": None
        if share is None
        else float(typed("valid_fraction", share, numbers.Real, "a number between 0 and 1, or None")),
        "replicate": bool(estimator.replicate),
        "vocabulary": None if estimator.vocabulary is None else os.fspath(estimator.vocabulary),
        "hierarchy": None
        if estimator.hierarchy is None
        else typed("hierarchy", estimator.hierarchy, str, "a string or None"),
        "language": languages(estimator.language),
    }


def languages(language: Any) -> list[str]:
    """The languages in text such as ``"sv,en"``."""
    if language is None:
        return []
    text = typed("language", language, str, 'a string such as "sv,en", or None')
    return [part.strip() for part in text.split(",")]


def threads(n_jobs: Any) -> int:
    """How many threads `n_jobs` asks for."""
    if n_jobs is not None and typed("n_jobs", n_jobs, numbers.Integral, "a whole number or None") == 0:
        raise ValueError("`n_jobs` must not be 0: give a number of threads, -1 for all cores, or None")
    return effective_n_jobs(n_jobs)


def seed(random_state: Any) -> int:
    """The seed that `random_state` stands for."""
    if isinstance(random_state, numbers.Integral):
        number = int(random_state)
        if not 0 <= number < 2**64:
            raise ValueError(f"`random_state` must be from 0 to 2**64 - 1, but is {number}")
        return number
    return int(check_random_state(random_state).randint(2**31 - 1))


def memory_budget(size: Any) -> int | None:
    """The bytes that training may take; no limit without a size."""
    budget = parse_size("memory_budget", size)
    if budget is not None and budget < LEAST_BUDGET:
        raise ValueError(f'`memory_budget` must be at least 1M, but is {size!r}; give a unit, as in "512M"')
    return budget


def parse_size(name: str, size: Any) -> int | None:
    """Bytes, from a number or from text such as ``"512M"``; units are decimal, as on the command line."""
    if size is None:
        return None
    text = str(size).strip().upper().removesuffix("B")
    factor = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.get(text[-1:], 1.0)
    try:
        count = float(text.rstrip("KMGT")) * factor
    except ValueError:
        count = 0.0
    if not 1 <= count < 2**63:
        raise ValueError(f'`{name}` must be a number of bytes or a size such as "512M", but is {size!r}')
    return int(count)


def algorithms() -> dict[str, dict[str, Any]]:
    """Every algorithm, by the name that ``algorithm=`` takes: its summary and its parameters.

    Returns
    -------
    dict
        For each algorithm ``summary``, a sentence, and ``parameters``, a dictionary from the name of each
        parameter to its ``default``, what is ``legal``, and a sentence of ``help``.

    Examples
    --------
    >>> import memoir
    >>> memoir.algorithms()["knn"]["parameters"]["neighbours"]["default"]
    20
    """
    return {
        name: {
            "summary": about["summary"],
            "parameters": {
                python_name(spec["name"]): {
                    "default": python_value(spec),
                    "legal": spec["legal"],
                    "help": spec["help"],
                }
                for spec in about["parameters"]
            },
        }
        for name, about in _memoir.algorithms().items()
    }
