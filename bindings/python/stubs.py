"""Writes the stubs of the estimators, whose parameters come from the library's tables.

Run it with the Python that has the package installed, after a parameter was added or changed:

    target/python/venv/bin/python bindings/python/stubs.py
"""

from __future__ import annotations

import inspect
import pathlib
import sys

import memoir
from memoir import _memoir
from memoir._parameters import python_name

FOLDER = pathlib.Path(__file__).parent / "python" / "memoir"

TYPES = {
    "algorithm": "str",
    "weighting": "str",
    "class_weight": "str | dict | None",
    "valid_fraction": "float | None",
    "replicate": "bool",
    "vocabulary": "str | None",
    "hierarchy": "str | None",
    "language": "str | None",
    "precision": "str | None",
    "memory_budget": "int | str | None",
    "max_model_size": "int | str | None",
    "dense_limit": "int | str",
    "warm_start": "bool",
    "random_state": "int | RandomState | None",
    "n_jobs": "int | None",
    "verbose": "int",
}

HEAD = '''"""Written by stubs.py from the library's tables of parameters."""

{imports}

from ._base import MemoirBase

class {name}(MemoirBase):
{members}    def __init__(
        self,
        algorithm: str = ...,
        *,
{parameters}
    ) -> None: ...
{methods}'''


def type_of(name: str) -> str:
    """The type of a parameter, from all tables that have it."""
    if name in TYPES:
        return TYPES[name]
    tables = [about["parameters"] for about in _memoir.algorithms().values()] + [_memoir.text_parameters()]
    specs = [spec for table in tables for spec in table if python_name(spec["name"]) == name]
    parts = {"integer": "int", "number": "float", "choice": "str", "text": "str"}
    found = dict.fromkeys(parts[spec["kind"]] for spec in specs)
    if any(spec["default"] == "auto" for spec in specs):
        found["str"] = None
    if len({spec["default"] for spec in specs}) > 1:
        found["None"] = None
    return " | ".join(found)


def stub(cls: type, imports: str, members: str, methods: str) -> str:
    """The text of a class's stub."""
    names = [name for name in inspect.signature(cls).parameters if name != "algorithm"]
    parameters = "\n".join(f"        {name}: {type_of(name)} = ...," for name in names)
    return HEAD.format(
        name=cls.__name__, imports=imports, members=members, parameters=parameters, methods=methods
    )


def stubs() -> dict[str, str]:
    """Every stub by the name of its file."""
    return {
        "_classifier.pyi": stub(
            memoir.MemoirClassifier,
            "import numpy as np\nfrom numpy.random import RandomState",
            "    n_features_in_: int\n    feature_names_in_: np.ndarray\n",
            "",
        ),
        "_text.pyi": stub(
            memoir.MemoirTextClassifier,
            "import os\nfrom typing import Any, Self\n\n"
            "import numpy as np\nfrom numpy.random import RandomState",
            "",
            "    def fit_file("
            "self, path: str | os.PathLike[str], *, format: str | None = ...) -> Self: ...\n"
            "    def overridden(self, X: Any) -> np.ndarray: ...\n",
        ),
    }


if __name__ == "__main__":
    for file, text in stubs().items():
        (FOLDER / file).write_text(text)
        print(FOLDER / file, file=sys.stderr)
