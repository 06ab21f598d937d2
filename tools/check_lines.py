"""Checks that lines of code and prose have fewer than 110 characters.

    python3 tools/check_lines.py    # exit code 1 and a line for each line that is too long

Standard library only. A line may be longer where it cannot be broken: rows of Markdown tables, values of
TOML files, lines with one long word or address, transcripts of the program's output, and what programs write
(results, lock files).
"""

import re
import sys

from check_docs import ROOT, tracked

LIMIT = 110
GENERATED = re.compile(
    r"experiments/results/|crates/[a-z-]+/tests/cmd/|docs/benchmarks\.md$|crates/memoir/tests/fixtures/"
)


def main():
    found = 0
    for name in tracked("*.rs", "*.py", "*.pyi", "*.md", "*.toml", "*.sh", "*.yml", "Makefile", ".ci/*"):
        if GENERATED.match(name) or not (ROOT / name).exists():
            continue
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            if len(line) >= LIMIT and not unbreakable(name, line):
                print(
                    f"{name}:{number}: {len(line)} characters, at most {LIMIT - 1} are allowed",
                    file=sys.stderr,
                )
                found += 1
    sys.exit(1 if found else 0)


def unbreakable(name, line):
    # Rust code is rustfmt's matter: it leaves nothing longer but text and macros.
    if name.endswith(".rs") and not line.lstrip().startswith("//"):
        return True
    line = re.sub(r"^\s*//[/!]?", "", line)
    # A row of a Markdown table, also where a program prints one.
    if re.match(r"""\s*(\||print\(f?"\||f?"\|)""", line):
        return True
    if name.endswith(".toml") and not line.startswith("#"):
        return True
    return max(map(len, line.split())) > LIMIT * 2 // 3


if __name__ == "__main__":
    main()
