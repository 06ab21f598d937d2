"""Makes data, trains and predicts with several builds of the program, and compares all files byte for byte.

    python3 tools/same_bytes.py PROGRAM OTHER... [--rows 4000]
    python3 tools/same_bytes.py PROGRAM --wrong-maths

A program may have words before it: "qemu-aarch64-static target/dist/memoir-aarch64-unknown-linux-musl".
Trained is on the data of the first one. With --wrong-maths, one of the others is the first program with a C
library whose logarithms, exponentials and powers are wrong in the last bit (it must be linked dynamically).
Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile

WRONG_MATHS = pathlib.Path(__file__).parent / "wrong_maths.c"

ALGORITHMS = (
    "softmax centroid ovr msvm memoir-l2 memoir-l1 memoir-lsh knn recall-tree pd-sparse fastxml pfastrexml"
).split()

CASES = {f"{name} on vectors": f"data.svm --algorithm {name}" for name in ALGORITHMS} | {
    "softmax on texts": "data.csv",
    "softmax on texts with n-grams": "data.csv --char-ngrams 3 --word-ngrams 2 --precision f16",
    "softmax with held-out rows": "data.svm --valid-fraction 0.2",
    "ovr with logistic loss": "data.svm --algorithm ovr --loss logistic",
}
"""What is trained: the data and the options."""


def run(program: str, folder: pathlib.Path, command: str) -> bytes:
    words = [*shlex.split(program), *command.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}: exit code {done.returncode}: {done.stderr.decode()[-500:]}")
    return done.stdout


def made_data(program: str, folder: pathlib.Path, rows: int) -> dict[str, bytes]:
    """Vectors and texts, by the names of their files."""
    files = [f"{part}.{kind}" for kind in ("svm", "csv") for part in ("data", "test")]
    shape = f"--rows {rows} --test-rows 500 --classes 150 --features 3000"
    for data, test in (files[:2], files[2:]):
        run(program, folder, f"synth {shape} --out {data} --test-out {test} -q")
    return {name: (folder / name).read_bytes() for name in files}


def outcome(program: str, folder: pathlib.Path, case: str) -> dict[str, bytes]:
    """The model of a case and its answers, by what they are called."""
    data = CASES[case].split()[0]
    run(program, folder, f"train {CASES[case]} --model model --threads 2 -q")
    answers = f"predict model test{pathlib.Path(data).suffix} --top-k 5 --output jsonl -q"
    return {
        "model": (folder / "model").read_bytes(),
        "scores": run(program, folder, f"{answers} --raw-scores"),
        "answers": run(program, folder, answers),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("programs", nargs="+", metavar="PROGRAM")
    options.add_argument("--rows", type=int, default=4000)
    options.add_argument("--only", default="", metavar="TEXT", help="cases whose name has this in it")
    options.add_argument("--wrong-maths", action="store_true", help="see above")
    given = options.parse_args()
    different = 0

    def compare(case: str, other: str, wanted: dict[str, bytes], found: dict[str, bytes]) -> None:
        nonlocal different
        wrong = [part for part in wanted if wanted[part] != found[part]]
        different += bool(wrong)
        result = f"{' and '.join(wrong)} differ" if wrong else "the same"
        print(f"{case}: {other}: {result}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first, *others = given.programs
        if given.wrong_maths:
            library = folder / "wrong_maths.so"
            flags = ["-O1", "-fno-builtin", "-shared", "-fPIC"]
            subprocess.run(["cc", *flags, WRONG_MATHS, "-o", library, "-ldl", "-lm"], check=True)
            others.append(f"env LD_PRELOAD={library} {first}")
        made = {other: made_data(other, folder, given.rows) for other in others}
        wanted = made_data(first, folder, given.rows)
        for other in others:
            compare("made-up data", other, wanted, made[other])
        for case in (case for case in CASES if given.only in case):
            wanted = outcome(first, folder, case)
            for other in others:
                compare(case, other, wanted, outcome(other, folder, case))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
