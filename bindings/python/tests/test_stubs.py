"""Types: the stubs say what is there."""

import ast
import importlib.util
import pathlib

import memoir
from memoir import _memoir

HERE = pathlib.Path(__file__).parent.parent


def test_stubs_are_up_to_date():
    spec = importlib.util.spec_from_file_location("stubs", HERE / "stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    for file, text in stubs.stubs().items():
        ast.parse(text)
        message = f"{file} is out of date: run target/python/venv/bin/python bindings/python/stubs.py"
        assert (stubs.FOLDER / file).read_text() == text, message


def test_the_native_module_has_what_its_stub_says():
    tree = ast.parse((HERE / "python" / "memoir" / "_memoir.pyi").read_text())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert functions <= set(dir(_memoir))
    for stub in [node for node in tree.body if isinstance(node, ast.ClassDef)]:
        methods = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)} - {"__init__"}
        native = getattr(_memoir, stub.name)
        assert methods == {name for name in dir(native) if not name.startswith("_")}


def test_the_package_is_typed():
    folder = pathlib.Path(memoir.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_classifier.pyi").exists()
