"""Cuts a data set into a stream of ten parts of about the same size, each with new classes.

usage: python3 split.py DATA OUT [--parts 10] [--new 0.05] [--seed 0]

The first part knows 1 - 9 * 0.05 = 55% of the classes; each later one brings 5% more. A class may have rows
in the part that brings it and in all parts after that. DATA/train.svm becomes OUT/part1.svm ... and
OUT/upto1.svm ... (all rows so far), DATA/valid.svm and test.svm become OUT/valid1.svm ... (rows of classes
known so far) and OUT/valid2_old.svm ... (rows of classes known one part earlier).
"""

import argparse
import pathlib
import random


def lines(path):
    with open(path) as file:
        return [(line.split(" ", 1)[0], line) for line in file if line.strip()]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--new", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    train = lines(arguments.data / "train.svm")
    classes = sorted({label for label, _ in train})
    draw.shuffle(classes)
    first = round(len(classes) * (1 - (arguments.parts - 1) * arguments.new))
    arrival = {}
    for place, label in enumerate(classes):
        later = (place - first) * (arguments.parts - 1) // max(1, len(classes) - first)
        arrival[label] = 1 if place < first else 2 + later

    # A row goes to any part from its class's first on; the class's first row in the stream goes to that
    # first part.
    parts = [[] for _ in range(arguments.parts + 1)]
    seen = set()
    for label, line in train:
        part = draw.randint(arrival[label], arguments.parts) if label in seen else arrival[label]
        seen.add(label)
        parts[part].append(line)

    arguments.out.mkdir(parents=True, exist_ok=True)
    so_far = []
    for part in range(1, arguments.parts + 1):
        draw.shuffle(parts[part])
        so_far += parts[part]
        (arguments.out / f"part{part}.svm").write_text("".join(parts[part]))
        (arguments.out / f"upto{part}.svm").write_text("".join(so_far))
        for name in ("valid", "test"):
            rows = [
                (label, line) for label, line in lines(arguments.data / f"{name}.svm") if label in arrival
            ]
            known = [line for label, line in rows if arrival[label] <= part]
            old = [line for label, line in rows if arrival[label] < part]
            (arguments.out / f"{name}{part}.svm").write_text("".join(known))
            (arguments.out / f"{name}{part}_old.svm").write_text("".join(old))
        print(
            f"part {part}: {len(parts[part])} rows, {sum(a == part for a in arrival.values())} new classes"
        )


if __name__ == "__main__":
    main()
