"""memoir beside scikit-learn's linear classifiers, each in a process of its own, one thread each.

    python beside_sklearn.py --data FOLDER [--classes 0 500 ...] [--limit SECONDS] [--methods memoir sgd svc]

`--classes N` keeps the rows of the N most frequent classes; 0 keeps all. A method that needs longer than the
limit is stopped, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TITLES = {"memoir": "memoir", "sgd": 'SGDClassifier(loss="log_loss")', "svc": "LinearSVC"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--classes", type=int, nargs="+", default=[0])
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--methods", nargs="+", default=["memoir", "sgd", "svc"])
    given = parser.parse_args()
    print(
        "| classes | rows | | accuracy | macro-F1 | train, CPU | predict, CPU | peak, train | fitted model |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for classes in given.classes:
        for name in given.methods:
            command = [sys.executable, HERE / "measured.py", "sklearn", given.data, name, classes]
            try:
                done = subprocess.run(
                    list(map(str, command)), capture_output=True, text=True, timeout=given.limit
                )
            except subprocess.TimeoutExpired:
                print(
                    f"| {classes or 'all'} | | {TITLES[name]} | not done after {given.limit:.0f} s | | | | | |",
                    flush=True,
                )
                continue
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
                print(f"| {classes or 'all'} | | {TITLES[name]} | failed: {reason} | | | | | |", flush=True)
                continue
            told = json.loads(done.stdout)
            print(
                f"| {told['classes']:,} | {told['rows']:,} | {TITLES[name]} | {told['accuracy']:.1%} | {told['macro_f1']:.1%} | "
                f"{told['train_cpu']:.2f} s | {told['predict_cpu']:.2f} s | "
                f"{told['train_peak'] / 1e6:.0f} MB | "
                f"{told['model'] / 1e6:.1f} MB |",
                flush=True,
            )


if __name__ == "__main__":
    main()
