"""Prints the licences of all that the program and the Python package hold, as one text.

    python3 tools/licences.py [NAME=FILE ...]

These are the crates, Rust's standard library, and what is named with a file of its licence. Licence files of
crates are read from the sources that cargo has downloaded. A crate without such a file is named with its
licence expression. Same texts stand once.
"""

from __future__ import annotations

import collections
import html.parser
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
PROGRAMS = ("memoir-xc-cli", "memoir-xc-python")
NAMES = ("licen", "copying", "notice", "unlicense")


def bundled() -> list[dict]:
    """The packages from registries that are linked into what is released."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [key for key, package in packages.items() if package["name"] in PROGRAMS]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            # Not what only tests and builds need.
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
            if None in kinds and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    found = [packages[key] for key in seen if packages[key]["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


class Text(html.parser.HTMLParser):
    """The text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.handle_data = self.parts.append


def standard_library() -> str:
    """What Rust tells about the licences of its standard library, in a toolchain that has its documents."""
    command = ["rustc", "--print", "sysroot"]
    root = pathlib.Path(subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip())
    page = root / "share/doc/rust/COPYRIGHT-library.html"
    if not page.is_file():
        return "MIT OR Apache-2.0, with the exceptions that https://github.com/rust-lang/rust names."
    text = Text()
    text.feed(page.read_text())
    return re.sub(r"\s*\n\s*\n\s*", "\n\n", "".join(text.parts)).strip()


def main() -> None:
    texts: dict[str, list[str]] = collections.defaultdict(list)
    print("memoir holds the following crates, each under its own licence, and what is named below them.\n")
    for package in bundled():
        shown = f"{package['name']} {package['version']}"
        print(f"{shown}: {package['license'] or 'see below'}")
        folder = pathlib.Path(package["manifest_path"]).parent
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name.lower().startswith(NAMES):
                texts[path.read_text(errors="replace").strip()].append(shown)
    texts[standard_library()].append("Rust's standard library")
    for given in sys.argv[1:]:
        name, _, path = given.partition("=")
        texts[pathlib.Path(path).read_text().strip()].append(name)
    for text, parts in texts.items():
        print(f"\n{'=' * 78}\n{', '.join(dict.fromkeys(parts))}\n{'=' * 78}\n\n{text}")


if __name__ == "__main__":
    main()
