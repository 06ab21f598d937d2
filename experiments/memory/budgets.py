"""Memory budgets against what training really takes: shapes of made-up vectors, and files of text.

usage: python3 budgets.py [TEXTS.csv ...] [--memoir target/release/memoir] [--large]

For each, prints the peak memory without a budget, then for some budgets the peak under it: the least that
the program says it needs, and shares of the free peak. A peak above its budget is a promise broken; a
refusal of a budget above the free peak is an estimate too high.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

SHAPES = [
    # rows, classes, features, mean length of a row
    (20_000, 100, 5_000, 10),
    (20_000, 5_000, 20_000, 10),
    (5_000, 500, 20_000, 200),
    (2_000, 200, 30_000, 1_000),
    (60_000, 20_000, 40_000, 5),
]
LARGE = [
    (400_000, 100_000, 200_000, 1),
    (200_000, 1_000, 100_000, 100),
    (20_000, 10_000, 100_000, 1_000),
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", nargs="*", type=pathlib.Path, help="tables with a text and a label")
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--large", action="store_true", help="shapes that take minutes, too")
    arguments = parser.parse_args()

    def memoir(*words):
        """Exit code, all output, and peak memory in MB."""
        words = [arguments.memoir, *map(str, words), "--threads", "1"]
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, output, used.ru_maxrss * 1024 / 1e6

    print("| data | without a budget | budget: peak |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def measure(name, data, *options):
            train = ("train", data, "--model", folder / "m", *options)
            free = memoir(*train)[2]
            told = re.search(r"take (\d+) MB", memoir(*train, "--memory-budget", "1M")[1])
            budgets = {int(told[1])} if told else set()
            budgets |= {int(free * share) for share in (0.9, 0.95, 1.05, 1.3)}
            cells = []
            for budget in sorted(budgets):
                code, output, peak = memoir(*train, "--memory-budget", f"{budget}M")
                pruned = ", pruned" if "to stay within" in output else ""
                what = f"{peak:.1f} ({100 * (peak / budget - 1):+.0f}%{pruned})" if code == 0 else "refused"
                cells.append(f"{budget}: {what}")
            print(f"| {name} | {free:.1f} | {'; '.join(cells)} |", flush=True)

        for rows, classes, features, length in SHAPES + (LARGE if arguments.large else []):
            data = folder / "rows.svm"
            shape = {
                "rows": rows,
                "classes": classes,
                "features": features,
                "row-length": length,
            }
            words = [word for name, value in shape.items() for word in (f"--{name}", value)]
            memoir("synth", "--out", data, "-q", *words)
            measure(f"{rows:,} rows, {classes:,} classes, {length} long", data)
        for texts in arguments.texts:
            measure(f"{texts.parent.name}, words", texts, "--text-preset", "words")
            measure(f"{texts.parent.name}", texts)


if __name__ == "__main__":
    main()
