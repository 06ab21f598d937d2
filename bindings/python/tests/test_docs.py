"""Documentation is run: the examples in docstrings, and the guide."""

import doctest
import importlib
import inspect
import pathlib
import pkgutil
import re

import memoir
import pytest
from memoir import plots
from memoir.compat import fasttext

GUIDE = pathlib.Path(__file__).parents[3] / "docs" / "guide" / "python.md"

MODULES = [
    module.name
    for module in pkgutil.walk_packages(memoir.__path__, "memoir.")
    if module.name != "memoir._memoir"
]


@pytest.mark.parametrize("module", ["memoir", *MODULES])
def test_docstrings(module):
    outcome = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0


def public():
    """Everything a user calls, by name: functions, estimators and their own methods."""
    found = {"load": memoir.load, "algorithms": memoir.algorithms}
    for module in (plots, fasttext):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                found[name] = function
    for owner in (memoir.MemoirClassifier, memoir.MemoirTextClassifier):
        found[owner.__name__] = owner
        for name, method in inspect.getmembers(owner, callable):
            if not name.startswith("_") and getattr(method, "__module__", "").startswith("memoir."):
                found[f"{owner.__name__}.{name}"] = method
    return found


@pytest.mark.parametrize("name", list(public()))
def test_everything_public_has_an_example(name):
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(public()[name]))
    assert len(examples) > 1


def test_everything_public_is_found():
    assert {"fit", "fit_file", "predict_topk", "explain", "evaluate", "save", "load", "partial_fit"} <= {
        name.removeprefix("MemoirTextClassifier.") for name in public()
    }


def test_the_guide_runs(tmp_path, monkeypatch, capsys):
    """Each block of code runs after the one before it; what a block prints is what the guide shows below
    it."""
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text()
    blocks = re.findall(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", text, flags=re.DOTALL)
    assert len(blocks) > 8
    names = {"__name__": "guide"}
    shown = 0
    for code, expected in blocks:
        exec(compile(code, f"{GUIDE.name}: {code.splitlines()[0]}", "exec"), names)
        printed = capsys.readouterr().out
        if expected:
            assert printed.strip() == expected.strip(), code
            shown += 1
        else:
            assert printed == "", (
                f"this block prints something that the guide does not show:\n{code}\n{printed}"
            )
    assert shown > 4
