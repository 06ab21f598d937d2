"""Trains on a stream part by part and, beside it, on everything so far at once; prints accuracies after each
part.

usage: python3 run.py STREAM [--memoir target/release/memoir] [--on valid] [--batch FILE] [--options
"--passes 1"] [--keep-rows 50000]

STREAM is what split.py wrote. "old classes" are those known before the part: accuracy on their rows before
and after it.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile


def run(memoir, words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([memoir, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stream", type=pathlib.Path)
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--on", default="valid", choices=["valid", "test"])
    parser.add_argument("--batch", type=pathlib.Path, help="file to keep the figures of training at once in")
    parser.add_argument("--options", default="", help="for `memoir train --from`, in one word")
    parser.add_argument("--keep-rows", type=int, default=0, help="rows that the models keep, to be repeated")
    arguments = parser.parse_args()
    parts = len(list(arguments.stream.glob("part*.svm")))

    def accuracy(model, rows):
        report, _ = run(
            arguments.memoir, ["evaluate", model, arguments.stream / f"{rows}.svm", "--json", "-q"]
        )
        return 100 * json.loads(report)["accuracy"]

    batch = {}
    if arguments.batch and arguments.batch.exists():
        batch = json.loads(arguments.batch.read_text())
    print(
        "| part | rows | CPU s | MB | accuracy | at once | difference | CPU s at once | old classes before | after | drop |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for part in range(1, parts + 1):
            data = arguments.stream / f"part{part}.svm"
            model, earlier = folder / f"{part}.memoir", folder / f"{part - 1}.memoir"
            start = (
                ["--from", earlier, *arguments.options.split()]
                if part > 1
                else ["--keep-rows", arguments.keep_rows]
            )
            _, seconds = run(
                arguments.memoir, ["train", data, "--model", model, "-q", "--threads", 1, *start]
            )
            known = accuracy(model, f"{arguments.on}{part}")
            key = f"{arguments.on}{part}"
            if key not in batch:
                at_once = folder / "at-once.memoir"
                words = [
                    "train",
                    arguments.stream / f"upto{part}.svm",
                    "--model",
                    at_once,
                    "-q",
                    "--threads",
                    1,
                ]
                _, all_seconds = run(arguments.memoir, words)
                batch[key] = [accuracy(at_once, f"{arguments.on}{part}"), all_seconds]
                if arguments.batch:
                    arguments.batch.write_text(json.dumps(batch))
            old = ""
            if part > 1:
                before = accuracy(earlier, f"{arguments.on}{part}_old")
                after = accuracy(model, f"{arguments.on}{part}_old")
                old = f"{before:.2f} | {after:.2f} | {before - after:+.2f}"
            rows = sum(1 for _ in open(data))
            size = model.stat().st_size / 1e6
            print(
                f"| {part} | {rows} | {seconds:.1f} | {size:.1f} | {known:.2f} | {batch[key][0]:.2f} | {known - batch[key][0]:+.2f} "
                f"| {batch[key][1]:.1f} | {old or '– | – | –'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
