"""Texts and class names for omikuji:  names_for_omikuji.py rows FOLDER OUT  |  judge FOLDER PREDICTIONS

`rows` writes OUT/train.xmc and OUT/test.xmc: words of FOLDER's train.csv and test.csv, weighted by the
logarithm of their count and their inverse document frequency, with rows of unit length. Behind the training
rows come the names in FOLDER/vocabulary.csv of the classes that have rows: the preferred name as one row,
the others together as another, as `memoir train --vocabulary` has them. `judge` measures what
run_omikuji.py predicts for test.xmc.
"""

import csv
import math
import re
import sys
from collections import Counter
from pathlib import Path

WORD = re.compile(r"[^\W_]+")

csv.field_size_limit(1 << 30)


def examples(path: Path) -> list[tuple[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [(row["text"], row["label"]) for row in csv.DictReader(lines)]


def names(folder: Path, classes: dict[str, int]) -> list[tuple[str, str]]:
    rows = []
    with (folder / "vocabulary.csv").open(encoding="utf-8", newline="") as lines:
        for concept in csv.DictReader(lines):
            if concept["id"] in classes:
                texts = [concept["name"], concept["alternative"].replace("|", " ")]
                rows += [(text, concept["id"]) for text in texts if text]
    return rows


def numbered(examples: list[tuple[str, str]]) -> dict[str, int]:
    return {label: number for number, label in enumerate(dict.fromkeys(label for _, label in examples))}


def write(
    path: Path, rows: list[tuple[str, str]], classes: dict[str, int], weights: dict[str, tuple[int, float]]
):
    with path.open("w", encoding="ascii") as out:
        out.write(f"{len(rows)} {len(weights)} {len(classes)}\n")
        for text, label in rows:
            counts = Counter(WORD.findall(text.lower()))
            values = {}
            for word, count in counts.items():
                if word in weights:
                    feature, weight = weights[word]
                    values[feature] = (1 + math.log(count)) * weight
            norm = math.sqrt(sum(value * value for value in values.values())) or 1.0
            row = " ".join(f"{feature}:{value / norm:.5f}" for feature, value in sorted(values.items()))
            out.write(f"{classes.get(label, '')} {row}\n")


def rows(folder: Path, out: Path):
    train = examples(folder / "train.csv")
    classes = numbered(train)
    train += names(folder, classes)
    frequencies = Counter(word for text, _ in train for word in set(WORD.findall(text.lower())))
    weights = {
        word: (feature, math.log(len(train) / frequency) + 1)
        for feature, (word, frequency) in enumerate(sorted(frequencies.items()))
    }
    out.mkdir(parents=True, exist_ok=True)
    write(out / "train.xmc", train, classes, weights)
    write(out / "test.xmc", examples(folder / "test.csv"), classes, weights)


def judge(folder: Path, predictions: Path):
    classes = numbered(examples(folder / "train.csv"))
    labels = [classes.get(label, -1) for _, label in examples(folder / "test.csv")]
    lines = predictions.read_text(encoding="ascii").splitlines()
    answers = [int((line.split() or ["-2"])[0]) for line in lines]
    right, given, true = Counter(), Counter(answers), Counter(labels)
    for label, answer in zip(labels, answers, strict=True):
        right[label] += label == answer
    scores = [2 * right[label] / (given[label] + true[label]) for label in given | true]
    print(f"accuracy {sum(right.values()) / len(labels):.4f}, macro-F1 {sum(scores) / len(scores):.4f}")


if __name__ == "__main__":
    {"rows": rows, "judge": judge}[sys.argv[1]](*map(Path, sys.argv[2:]))
