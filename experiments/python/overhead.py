"""What the Python package costs beyond the command line, on one data set in libsvm form.

    python overhead.py --data FOLDER --memoir target/release/memoir [--repeat 3]

One thread each. The command line reads the file; Python has the matrix in memory. The best of the
repetitions counts, as other work on the machine only ever adds.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def program(*words):
    """CPU seconds and peak memory of a command."""
    child = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0, words
    return {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024}


def python(*words):
    done = subprocess.run(
        [sys.executable, HERE / "measured.py", *map(str, words)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def best(outcomes):
    return min(outcomes, key=lambda outcome: outcome["cpu"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--memoir", required=True)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = pathlib.Path(folder) / "python", pathlib.Path(folder) / "cli"
        rows = {"train": [[], []], "predict": [[], []]}
        for _ in range(given.repeat):
            quiet = ("--threads", 1, "--quiet")
            rows["train"][0].append(
                program(given.memoir, "train", given.data / "train.svm", "--model", theirs, *quiet)
            )
            rows["train"][1].append(python("memoir_train", given.data, ours))
            rows["predict"][0].append(
                program(given.memoir, "predict", theirs, given.data / "test.svm", *quiet)
            )
            rows["predict"][1].append(python("memoir_predict", given.data, ours))
    print(
        "| | command line, CPU | Python, CPU | command line, peak | Python, peak | of it imports | of it data |"
    )
    print("|---|---|---|---|---|---|---|")
    for step, (commands, pythons) in rows.items():
        cli, py = best(commands), best(pythons)
        mega = [f"{size / 1e6:.0f} MB" for size in (cli["peak"], py["peak"], py["imports"], py["data"])]
        print(f"| {step} | {cli['cpu']:.2f} s | {py['cpu']:.2f} s | {' | '.join(mega)} |")
        beyond = py["peak"] - py["imports"] - cli["peak"]
        cpu = f"CPU {py['cpu'] / cli['cpu'] - 1:+.1%}"
        memory = f"{beyond / 1e6:+.0f} MB, {beyond / py['data']:+.2f} copies of the data"
        print(f"{step}: {cpu}; memory beyond imports and the command line's: {memory}", file=sys.stderr)
    print(f"accuracy {rows['predict'][1][0]['accuracy']:.2%}", file=sys.stderr)


if __name__ == "__main__":
    main()
