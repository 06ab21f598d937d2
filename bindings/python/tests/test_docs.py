"""Documentation is run: the examples in docstrings, and the guide."""

import doctest
import importlib
import pathlib
import re

import pytest

GUIDE = pathlib.Path(__file__).parents[3] / "docs" / "guide" / "python.md"


@pytest.mark.parametrize(
    "module", ["_classifier", "_text", "_parameters", "_base", "plots", "compat.fasttext"]
)
def test_docstrings(module):
    outcome = doctest.testmod(importlib.import_module(f"memoir.{module}"), optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    examples = sum(
        len(test.examples)
        for module in ("_classifier", "_text", "_parameters")
        for test in finder.find(importlib.import_module(f"memoir.{module}"))
    )
    assert examples > 8


def test_the_guide_runs(tmp_path, monkeypatch, capsys):
    """Each block of code runs after the one before it; what a block prints is what the guide shows below it."""
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
