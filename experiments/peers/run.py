#!/usr/bin/env python3
"""Measures memoir and its peers side by side, each on one thread.

    run.py --data FOLDER [--dataset NAME …] [--method NAME …] [--memoir PROGRAM]

FOLDER holds one folder per data set with train, valid and test files of raw
counts (`.svm` or `.ml.txt`). Needs Python 3.11 and nothing else: the peers are
installed from PyPI into virtual environments in the work folder.

Each training and each prediction is one child process; its CPU time (user +
system) and peak memory come from the kernel and include starting the program
and reading the data. Preparing tf-idf vectors for the peers is not counted.
Results are appended to results.jsonl in the work folder; what is there already
is not measured again, unless with --again.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import datafile
import measure
import report
import venvs
from methods import HERE, METHODS, Job


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets")
    parser.add_argument(
        "--work", type=Path, default=Path("peers-work"), help="folder for all that is written"
    )
    parser.add_argument("--dataset", nargs="+", help="only these (default: all found)")
    parser.add_argument(
        "--method", nargs="+", choices=METHODS, help="only these (default: all that can run)"
    )
    parser.add_argument(
        "--split",
        nargs="+",
        default=["test", "valid"],
        choices=["train", "valid", "test"],
        help="splits to predict, where they exist",
    )
    parser.add_argument("--memoir", help="path of the memoir program")
    parser.add_argument(
        "--cpu-limit", type=int, default=1500, help="CPU seconds of a step (default 1500)"
    )
    parser.add_argument("--again", action="store_true", help="measure anew what is there already")
    parser.add_argument("--table-only", action="store_true", help="only print the table")
    parser.add_argument(
        "--out", type=Path, help="also write the table to this file, after each step"
    )
    return parser.parse_args()


class Runner:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.work = options.work.resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.environments = self.work / "venvs"
        self.results = self.work / "results.jsonl"
        self.records = []
        if self.results.exists():
            self.records = [json.loads(line) for line in self.results.read_text().splitlines()]
        self.fresh = set()  # measured in this run

    def table(self) -> str:
        return report.render(self.records)

    def has(self, *key: str) -> bool:
        """Whether (dataset, method, step) need not be measured."""
        if self.options.again and key not in self.fresh:
            return False
        return any((r["dataset"], r["method"], r["step"]) == key for r in self.records)

    def add(self, dataset: str, method: str, step: str, **values):
        """Appends a result, and refreshes the table file."""
        record = {"dataset": dataset, "method": method, "step": step, **values}
        record["when"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.records.append(record)
        self.fresh.add((dataset, method, step))
        with open(self.results, "a", encoding="utf-8") as out:
            out.write(json.dumps(record) + "\n")
        if self.options.out:
            self.options.out.write_text(self.table(), encoding="utf-8")
        print(json.dumps(record), file=sys.stderr)

    def tool(self, script: str, *arguments: Path) -> str:
        """Runs one of our scripts that needs numpy; returns what it printed."""
        python = venvs.python_of(venvs.TOOLS, self.environments)
        command = [str(python), str(HERE / script), *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def vectors_of(self, source: Path) -> Path:
        """Prepared vectors of a data set, made if absent."""
        target = self.work / "vectors" / source.name
        if not (target / "complete").exists():
            print(f"preparing the vectors of {source.name}", file=sys.stderr)
            self.tool("prepare.py", source, target)
        return target

    def measure(self, command: list[str], name: str, stdout: Path | None = None) -> measure.Cost:
        log = self.work / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        cost = measure.run(command, self.options.cpu_limit, log, stdout)
        if cost.status != "ok":
            print(f"{name}: {cost.status}\n{measure.last_lines(log)}", file=sys.stderr)
        return cost

    def run(self, source: Path, method_name: str):
        """Everything that is missing for one method on one data set."""
        dataset, method = source.name, METHODS[method_name]
        files = {s: datafile.find(source, s) for s in self.options.split}
        todo = [
            s for s in files if files[s] and not self.has(dataset, method_name, report.step_of(s))
        ]
        known = self.has(dataset, method_name, "train")
        if known and not (todo and self.trained(dataset, method_name)):
            return
        name = f"{dataset}.{method_name}"
        job = Job(
            vectors=self.work if method.raw else self.vectors_of(source),
            train_file=datafile.find(source, "train"),
            model=self.work / "models" / name,
            environments=self.environments,
            program=self.options.memoir,
        )
        if not self.has("-", method_name, "startup"):
            for _ in range(2):  # the first warms the file cache
                cost = self.measure(method.startup(job), f"{method_name}.startup")
            self.add("-", method_name, "startup", **asdict(cost))
        if not (self.has(dataset, method_name, "train") and job.model.exists()):
            self.train(job, dataset, method_name)
        if self.trained(dataset, method_name):
            for split in todo:
                self.predict(job, dataset, method_name, split, files[split])

    def trained(self, dataset: str, method_name: str) -> bool:
        return report.Results(self.records).get(dataset, method_name, "train").get("status") == "ok"

    def train(self, job: Job, dataset: str, method_name: str):
        if job.model.is_dir():
            shutil.rmtree(job.model)
        job.model.unlink(missing_ok=True)
        job.model.parent.mkdir(exist_ok=True)
        cost = self.measure(METHODS[method_name].train(job), f"{dataset}.{method_name}.train")
        values = asdict(cost) | {"model_bytes": measure.size_on_disk(job.model)}
        self.add(dataset, method_name, "train", **values)

    def predict(self, job: Job, dataset: str, method_name: str, split: str, rows: Path):
        method = METHODS[method_name]
        name = f"{dataset}.{method_name}.{split}"
        out = self.work / "predictions" / (name + method.suffix)
        out.parent.mkdir(exist_ok=True)
        command = method.predict(job, split, rows, out)
        values = asdict(self.measure(command, name, stdout=out if method.raw else None))
        if values["status"] == "ok":
            classes = [] if method.raw else [job.vectors / "classes.txt"]
            values |= json.loads(self.tool("score.py", rows, out, *classes))
        self.add(dataset, method_name, report.step_of(split), **values)


def main():
    options = parse_arguments()
    runner = Runner(options)
    if not options.table_only:
        found = sorted(p.name for p in options.data.iterdir() if datafile.find(p, "train"))
        chosen = options.method or [m for m in METHODS if m != "memoir" or options.memoir]
        for dataset in options.dataset or found:
            if dataset not in found:
                sys.exit(f"{options.data / dataset}: no training file")
            for method in chosen:
                runner.run(options.data / dataset, method)
    print(runner.table())


if __name__ == "__main__":
    main()
