"""Every verb that reads or writes files, for the campaigns of faults: commands, and what they write.

Files are named so that `data.csv`, `more.csv`, `data.svm`, `words.csv` (a vocabulary), `revised.csv` (a
crosswalk) and three models are there before: `model`, `described`, which has the vocabulary, and `averages`.
"""

from __future__ import annotations

import pathlib

EXPERIMENT = """
title = "Small"
[[data]]
name = "vectors"
train = "data.svm"
test = "data.svm"
[[method]]
name = "centroid"
algorithm = "centroid"
"""

VERBS: dict[str, tuple[str, tuple[str, ...]]] = {
    "train": ("train data.csv --model out --threads 1 -q", ("out",)),
    "train vectors": ("train data.svm --model out --threads 1 -q", ("out",)),
    "train --from": ("train more.csv --from model --model out --threads 1 -q", ("out",)),
    "train ovr": ("train data.csv --algorithm ovr --model out --threads 1 -q", ("out",)),
    "train --vocabulary": ("train data.csv --vocabulary words.csv --model out --threads 1 -q", ("out",)),
    "train --memory-budget": ("train set --memory-budget 64M --model out --threads 1 -q", ("out",)),
    "train prepared": ("train set --model out --threads 1 -q", ("out",)),
    "checkpoints": ("train data.csv --model out --checkpoint-every 500 --threads 1 -q", ("out",)),
    "compact": ("compact model --out out --precision int8 --threads 1 -q", ("out",)),
    "classes": ("classes model retire --file retired.csv --out out", ("out",)),
    "classes search": ("classes described search class", ()),
    "classes vocabulary": ("classes model vocabulary words.csv --out out", ("out",)),
    "classes crosswalk": ("classes model crosswalk revised.csv --out out", ("out",)),
    "overrides": ("overrides model overrides.csv --out out", ("out",)),
    "prepare": ("prepare data.csv --out prepared --threads 1 -q", ("prepared",)),
    "prepare --compress": ("prepare data.svm --compress --out prepared --threads 1 -q", ("prepared",)),
    "vectors": ("vectors model data.csv --out out.svm --threads 1 -q", ("out.svm",)),
    "split": ("split data.csv --valid 0.1 --test 0.1 --out parts", ("parts",)),
    "audit": ("audit data.csv --out doubts.csv --threads 1 -q", ("doubts.csv",)),
    "synth": ("synth --rows 3000 --classes 40 --features 500 --out made.svm", ("made.svm",)),
    "predict": ("predict model data.csv --threads 1 -q", ()),
    "predict csv": ("predict model data.csv --out answers.csv --threads 1 -q", ("answers.csv",)),
    "predict json": ("predict model data.csv --out answers.jsonl --threads 1 -q", ("answers.jsonl",)),
    "predict parquet": ("predict model data.csv --out a.parquet --threads 1 -q", ("a.parquet",)),
    "predict arrow": ("predict model data.csv --out a.arrow --threads 1 -q", ("a.arrow",)),
    "evaluate": ("evaluate model data.csv --threads 1 -q", ()),
    "evaluate --report": ("evaluate model data.csv --report report --threads 1 -q", ("report",)),
    "inspect": ("inspect model --verify", ()),
    "explain": ("explain model --text word1", ()),
    "margins": ("margins averages data.csv --threads 1 -q", ()),
    "demo": ("demo --rows 5000 --out demonstration --threads 1 -q", ("demonstration",)),
    "compare": ("compare experiment.toml --out compared", ()),
    "tune": ("tune more.csv --time 1s --log trials.jsonl --threads 1 -q", ()),
}
"""What a verb is called here: its words, and the files and folders that only it writes and that are the same
after every run."""


def content(path: pathlib.Path) -> object:
    """The bytes of a file, or of all files in a folder, or nothing."""
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return path.read_bytes() if path.is_file() else None
