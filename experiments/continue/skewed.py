"""A file whose shares are not those of the world: trains on the rows of 80% of the classes, a tenth of which
is left out, then goes on with that tenth and all rows of the other classes.

usage: python3 skewed.py DATA [--memoir target/release/memoir] [--on valid] [--keep-rows 10000] [--seed 1]

DATA is a folder with train.csv and valid.csv or test.csv, with a text and labels in each row. Prints
accuracy on held-out rows of old and of new classes and on all, before and after, and of training once on
everything.
"""

import argparse
import csv
import json
import pathlib
import random
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--on", default="valid", choices=["valid", "test"])
    parser.add_argument("--keep-rows", type=int, default=0, help="rows that the first model keeps")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of classes and rows")
    parser.add_argument("--options", default="", help="further options of memoir train")
    arguments = parser.parse_args()

    def memoir(*words):
        done = subprocess.run(
            [arguments.memoir, *map(str, words), "--quiet", "--threads", "1"],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return done.stdout

    def read(name):
        with open(arguments.data / f"{name}.csv", newline="") as file:
            return list(csv.DictReader(file))

    train, held_out = read("train"), read(arguments.on)
    chance = random.Random(arguments.seed)
    classes = sorted({label for row in train for label in row["label"].split("|")})
    chance.shuffle(classes)
    old = set(classes[: len(classes) * 4 // 5])

    def is_old(row):
        return all(label in old for label in row["label"].split("|"))

    first, second = [], []
    for row in train:
        (first if is_old(row) and chance.random() >= 0.1 else second).append(row)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def write(name, rows):
            with open(folder / name, "w", newline="") as file:
                table = csv.DictWriter(file, ["text", "label"], extrasaction="ignore")
                table.writeheader()
                table.writerows(rows)
            return folder / name

        first, second, everything = (
            write(f"{name}.csv", rows)
            for name, rows in (("first", first), ("second", second), ("all", train))
        )
        measured = [
            write("old.csv", [row for row in held_out if is_old(row)]),
            write("new.csv", [row for row in held_out if not is_old(row)]),
            write("both.csv", held_out),
        ]
        before, after, at_once = (folder / f"{name}.memoir" for name in ("before", "after", "at-once"))
        options = arguments.options.split()
        kept = ["--keep-rows", arguments.keep_rows]
        memoir("train", first, "--model", before, *kept, *options)
        memoir("train", second, "--from", before, "--model", after)
        memoir("train", everything, "--model", at_once, *options)
        print(
            "| model | old classes | new classes | all | answers that are new classes |\n|---|---|---|---|---|"
        )
        for name, model in (("before", before), ("after", after), ("at once", at_once)):
            figures = []
            for rows in measured:
                report = json.loads(memoir("evaluate", model, rows, "--json"))
                figures.append(f"{100 * report['accuracy']:.2f}")
            answers = memoir("predict", model, measured[2]).splitlines()
            share = sum(answer not in old for answer in answers if answer) / len(answers)
            print(f"| {name} | {' | '.join(figures)} | {100 * share:.1f}% |", flush=True)


if __name__ == "__main__":
    main()
