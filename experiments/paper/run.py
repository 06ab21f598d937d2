"""Runs the comparisons of this folder: every [[run]] of a TOML file is trained and evaluated, and becomes a line of a
Markdown table with CPU time, peak memory, model size and quality.

    python3 experiments/paper/run.py experiments/paper/l1.toml --data /path/to/data [--memoir target/release/memoir]

A data set NAME is the folder NAME below --data, with train.svm and the file that `evaluate` names.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import tomllib


def measured(command):
    """Runs a command; returns its standard output, CPU seconds, wall seconds and peak memory in MB."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}: {errors}")
        out.seek(0)
        text = out.read().decode()
    return text, usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--threads", default="1")
    arguments = parser.parse_args()
    experiment = tomllib.loads(arguments.experiment.read_text())
    print(f"{experiment['title']}\n")
    print("| run | data | CPU s | wall s | peak MB | model MB | accuracy | macro-F1 | harmonic |")
    print("|---|---|---|---|---|---|---|---|---|")
    for run in experiment["run"]:
        options = experiment.get("options", {}) | run.get("options", {})
        name = run.get("data", experiment.get("data"))
        folder = arguments.data / name
        with tempfile.TemporaryDirectory() as scratch:
            model = os.path.join(scratch, "model")
            train = [arguments.memoir, "train", str(folder / "train.svm"), "--model", model, "--quiet"]
            train += ["--algorithm", run["algorithm"], "--threads", str(options.pop("threads", arguments.threads))]
            for key, value in options.items():
                train += [f"--{key}", str(value)]
            _, cpu, wall, memory = measured(train)
            size = os.path.getsize(model) / 1e6
            file = folder / experiment.get("evaluate", "valid.svm")
            report = json.loads(measured([arguments.memoir, "evaluate", model, str(file), "--json", "--quiet"])[0])
        quality = [f"{100 * report[key]:.2f}%" for key in ("accuracy", "macro_f1", "macro_f1_harmonic")]
        cells = [run["name"], name, f"{cpu:.1f}", f"{wall:.1f}", f"{memory:.0f}", f"{size:.1f}", *quality]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
