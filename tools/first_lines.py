"""Runs the first Python example of a page: what somebody does who has just installed the package.

python3 tools/first_lines.py README.md
"""

import os
import pathlib
import re
import sys
import tempfile

# What the examples take for granted.
DATA = {
    "texts": ["printer out of toner", "no paper in the printer", "screen is black", "the screen flickers"],
    "labels": ["printer", "printer", "screen", "screen"],
    "new_texts": ["mouse is stuck", "a new mouse"],
    "new_labels": ["mouse", "mouse"],
}

page = pathlib.Path(sys.argv[1]).read_text()
example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
if example is None:
    sys.exit(f"{sys.argv[1]} has no Python example")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    exec(compile(example.group(1), sys.argv[1], "exec"), dict(DATA))
