"""The raw data files: one row per line, `label[,label…] index:count …`."""

from array import array
from pathlib import Path

SUFFIXES = (".svm", ".ml.txt")


def find(folder: Path, split: str) -> Path | None:
    """The file of a split: `split.svm` (one label a row), else `split.ml.txt`."""
    for suffix in SUFFIXES:
        path = folder / (split + suffix)
        if path.exists():
            return path
    return None


def is_multi_label(path: Path) -> bool:
    """Whether rows may carry several labels, by the file's name."""
    return path.name.endswith(".ml.txt")


def labels_of(line: str) -> list[str]:
    """The class names of one line."""
    return line.split(None, 1)[0].split(",")


def read_labels(path: Path) -> list[list[str]]:
    """The class names of every row."""
    with open(path, encoding="utf-8") as lines:
        return [labels_of(line) for line in lines if line.strip()]


def read_rows(path: Path):
    """Labels, row starts, 0-based feature indices, counts (as `array`s)."""
    labels, starts, indices, counts = [], array("q", [0]), array("i"), array("f")
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if not line.strip():
                continue
            head, _, rest = line.partition(" ")
            labels.append(labels_of(head))
            numbers = rest.replace(":", " ").split()
            indices.extend([int(i) - 1 for i in numbers[0::2]])
            counts.extend(map(float, numbers[1::2]))
            starts.append(len(indices))
    return labels, starts, indices, counts
