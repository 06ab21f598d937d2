"""Runs the first Python example of a page: what somebody does who has just installed the package.

python3 tools/first_lines.py README.md
"""

import os
import pathlib
import re
import sys
import tempfile
import textwrap

# What the examples take for granted.
DATA = {
    "texts": ["printer out of toner", "no paper in the printer", "screen is black", "the screen flickers"],
    "labels": ["printer", "printer", "screen", "screen"],
    "new_texts": ["mouse is stuck", "a new mouse"],
    "new_labels": ["mouse", "mouse"],
}

page = pathlib.Path(sys.argv[1]).read_text()
# Between fences, or indented as commands are.
example = re.search(r"^```python\n([^`]*)^```|^(    from memoir .+\n(?:    .+\n)*)", page, re.M)
if example is None:
    sys.exit(f"{sys.argv[1]} has no Python example")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    lines = textwrap.dedent(example[1] or example[2])
    exec(compile(lines, sys.argv[1], "exec"), dict(DATA))
