"""The package as pip sees it: what it imports is what it says it needs."""

import ast
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).parent.parent


def imported():
    """Names of packages that are imported somewhere, and of those that are imported at once."""
    anywhere, at_once = set(), set()
    for file in (HERE / "python").rglob("*.py"):
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            packages = {name.partition(".")[0].replace("sklearn", "scikit-learn") for name in names}
            packages -= {*sys.stdlib_module_names, "memoir"}
            anywhere |= packages
            if node in tree.body:
                at_once |= packages
    return anywhere, at_once


def test_what_is_imported_is_declared():
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    names = lambda needs: {re.match(r"[a-z-]+", need)[0] for need in needs}
    needed = names(project["dependencies"])
    optional = names(need for needs in project["optional-dependencies"].values() for need in needs)
    anywhere, at_once = imported()
    assert at_once == needed
    assert anywhere <= needed | optional
