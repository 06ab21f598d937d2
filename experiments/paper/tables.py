"""Writes the tables of docs/paper.md that committed results are behind.

    python3 experiments/paper/tables.py
    python3 experiments/paper/tables.py --check    # exit code 1 if the page is out of date; writes nothing

A line `<!-- main.toml yso-sv -->` in the page begins the table of the runs of main.toml whose name or data
set holds `yso-sv`, and `<!-- end -->` ends it.
"""

import pathlib
import re
import sys
import tomllib

from run import RESULTS, read_lines, repeats_of, runs_of, table_head, table_line

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "paper.md"
BLOCK = re.compile(r"(<!-- (\w+)\.toml ?([^>]*?) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def table(stem, only):
    """The table of an experiment; the data set is named where there are several."""
    experiment = tomllib.loads((HERE / f"{stem}.toml").read_text())
    lines = read_lines(RESULTS / f"{stem}.jsonl")
    runs = [
        (plans, [line for plan in plans for line in repeats_of(plan, lines)])
        for _, plans in runs_of(experiment, only)
    ]
    is_one = len({plans[0]["data"] for plans, _ in runs}) == 1
    rows = [table_head()]
    for plans, repeats in runs:
        name = plans[0]["name"]
        if repeats:
            rows.append(table_line(repeats, name if is_one else f"{plans[0]['data']}: {name}"))
    return "\n".join(rows) + "\n"


def main():
    before = PAGE.read_text()
    after = BLOCK.sub(lambda found: f"{found[1]}{table(found[2], found[3])}{found[4]}", before)
    if "--check" in sys.argv[1:]:
        if after != before:
            sys.exit(f"{PAGE}: tables are out of date; run python3 experiments/paper/tables.py")
    else:
        PAGE.write_text(after)


if __name__ == "__main__":
    main()
