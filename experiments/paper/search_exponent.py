"""Does the time of a search by hashing grow as the paper's recursion says? For growing numbers of classes,
the smallest number of hash tables (`--hash-search buckets`) whose epsilon is at most a given share of the
largest possible score, and what a query then costs: the inner products it takes and the tables it looks up.

    python3 experiments/paper/search_exponent.py --scratch FOLDER [--memoir PROGRAM]

Keys have log2(C / 8) signs, as the theory has them: so that a bucket holds a few classes, whatever C is.
"""

import argparse
import json
import math
import pathlib
import subprocess

CLASSES = (500, 2000, 8000)
SHARES = (0.15, 0.1)
ROWS = 500


def margins(memoir, model, rows, options):
    command = [
        memoir,
        "margins",
        model,
        rows,
        "--oracle",
        "simple-lsh",
        "--json",
        "--quiet",
        "--delta",
        "0.05",
    ]
    for option in options:
        command += ["--oracle-option", option]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def prepared(memoir, scratch, classes):
    """A model of so many classes, and rows to ask about."""
    data, model, rows = (scratch / f"{classes}.{ending}" for ending in ("svm", "memoir", "rows.svm"))
    if not model.exists():
        shape = ["--classes", str(classes), "--rows", str(3 * classes), "--features", "50000"]
        command = [memoir, "synth", *shape, "--row-length", "16", "--out", str(data), "--quiet"]
        subprocess.run(command, check=True)
        command = [memoir, "train", str(data), "--model", str(model), "--algorithm", "memoir-l2"]
        subprocess.run([*command, "--iterations", "5", "--quiet"], check=True)
        lines = data.read_text().splitlines(keepends=True)
        rows.write_text("".join(lines[:: max(1, len(lines) // ROWS)][:ROWS]))
        data.unlink()
    return str(model), str(rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--memoir", default="target/release/memoir")
    arguments = parser.parse_args()
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    print(
        "| epsilon, share | classes | signs of a key | tables | recall@1 | inner products | cost | exponent by rho |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for share in SHARES:
        points = []
        for classes in CLASSES:
            model, rows = prepared(arguments.memoir, arguments.scratch, classes)
            key = round(math.log2(classes / 8))
            for tables in (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320):
                options = ["hash-search=buckets", f"hash-key-bits={key}", "hash-probes=0"]
                report = margins(arguments.memoir, model, rows, [*options, f"hash-bits={key * tables}"])
                search = report["hash_search"]
                if search is None or search["epsilon"] <= share:
                    break
                if key * tables > 3800:
                    break
            cost = report["inner_products"] + tables
            points.append((math.log(classes), math.log(cost)))
            by_rho = f"{search['slowest']:.2f}" if search else "–"
            print(
                f"| {share} | {classes:,} | {key} | {tables} | {report['recall_at_1']:.3f} | "
                f"{report['inner_products']:.0f} | {cost:.0f} | {by_rho} |",
                flush=True,
            )
        n = len(points)
        mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
        slope = sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)
        print(f"| {share} | measured exponent | | | | | {slope:.2f} | |", flush=True)


if __name__ == "__main__":
    main()
