"""Wraps comments of Rust files that `check_lines.py` finds too long. Code and words stay as they are.

    python3 tools/wrap_comments.py [FILE…]      # all Rust files without arguments

Only paragraphs and list items that hold a long line change, from that line on. Standard library only.
"""

import re
import sys
import textwrap

from check_docs import ROOT, tracked
from check_lines import LIMIT

COMMENT = re.compile(r"(\s*//[/!]?)(?: (.*))?$")
ITEM = re.compile(r"([-*]|\d+\.) +")
# What is no running text: code, tables, headings.
FIXED = ("    ", "|", "# ", "```")


def main():
    for name in sys.argv[1:] or tracked("*.rs"):
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        wrapped = "\n".join(wrap_file(text.split("\n")))
        if wrapped != text:
            path.write_text(wrapped, encoding="utf-8")
            print(name)


def wrap_file(lines):
    wrapped, start = [], 0
    while start < len(lines):
        comment = COMMENT.match(lines[start])
        end = start + 1
        if not comment:
            wrapped.append(lines[start])
        else:
            while end < len(lines) and (more := COMMENT.match(lines[end])) and more[1] == comment[1]:
                end += 1
            block = [COMMENT.match(line)[2] or "" for line in lines[start:end]]
            wrapped += [f"{comment[1]} {line}".rstrip() for line in wrap_block(block, len(comment[1]) + 1)]
        start = end
    return wrapped


def wrap_block(lines, margin):
    """The lines of one comment without their marks, which take `margin` characters."""
    wrapped, start, in_code = [], 0, False
    while start < len(lines):
        line = lines[start]
        in_code ^= line.lstrip().startswith("```")
        end = start + 1
        if not in_code and line.strip() and not line.startswith(FIXED):
            while end < len(lines) and continues(lines[end]):
                end += 1
            wrapped += wrap_paragraph(lines[start:end], LIMIT - 1 - margin)
        else:
            wrapped.append(line)
        start = end
    return wrapped


def continues(line):
    return bool(line.strip()) and not line.startswith(FIXED) and not ITEM.match(line.strip())


def wrap_paragraph(lines, width):
    long = next((number for number, line in enumerate(lines) if len(line) > width), None)
    if long is None:
        return lines
    item = ITEM.match(lines[0])
    indent = " " * len(item[0]) if item else re.match(" *", lines[0])[0]
    # Code in a sentence is not torn apart.
    text = re.sub(
        r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), " ".join(map(str.strip, lines[long:]))
    )
    first = re.match(" *", lines[0])[0] if long == 0 else indent
    parts = textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines[:long] + [part.replace("\0", " ") for part in parts]


if __name__ == "__main__":
    main()
