"""Old classes that get no more rows: trains on the rows of 80% of the classes, then goes on with those of
the others alone.

usage: python3 only_new.py DATA [--memoir target/release/memoir] [--on valid] [--keep-rows 10000]

Prints accuracy on held-out rows of old and of new classes and on all, before and after, and of training once
on everything.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data", type=pathlib.Path, help="folder with train.svm and valid.svm or test.svm, one label a row"
    )
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--on", default="valid", choices=["valid", "test"])
    parser.add_argument(
        "--keep-rows", type=int, default=0, help="rows that the first model keeps, to be repeated"
    )
    arguments = parser.parse_args()

    def memoir(*words):
        done = subprocess.run(
            [arguments.memoir, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    rows = {
        name: (arguments.data / f"{name}.svm").read_text().splitlines() for name in ("train", arguments.on)
    }
    classes = sorted({row.split()[0] for row in rows["train"]})
    random.Random(1).shuffle(classes)
    old = set(classes[: len(classes) * 4 // 5])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, lines in rows.items():
            for kind, wanted in (("old", True), ("new", False)):
                chosen = [line for line in lines if (line.split()[0] in old) == wanted]
                (folder / f"{name}.{kind}.svm").write_text("\n".join(chosen) + "\n")
        before, after, at_once = (folder / f"{name}.memoir" for name in ("before", "after", "at-once"))
        memoir(
            "train", folder / "train.old.svm", "--model", before, "-q", "--keep-rows", arguments.keep_rows
        )
        memoir("train", folder / "train.new.svm", "--from", before, "--model", after, "-q")
        memoir("train", arguments.data / "train.svm", "--model", at_once, "-q")
        print("| model | old classes | new classes | all |\n|---|---|---|---|")
        for name, model in (("before", before), ("after", after), ("at once", at_once)):
            figures = []
            for held_out in (
                folder / f"{arguments.on}.old.svm",
                folder / f"{arguments.on}.new.svm",
                arguments.data / f"{arguments.on}.svm",
            ):
                report = json.loads(memoir("evaluate", model, held_out, "--json", "-q"))
                figures.append(f"{100 * report['accuracy']:.2f}")
            print(f"| {name} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main()
