"""The long campaign of faults: memory limits, kills and damaged models against every verb.

    python3 tools/faults.py PROGRAM [--memory] [--kills 200] [--mutants FOLDER]

Without a choice, memory limits and kills. After every run the exit code must be 0 or 2 (or the kill's),
files must be as before or sound, and the next run must have swept what a kill left. Ends with 1 if one was
not.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LEVELS = [round(48 * 1.24**step) for step in range(20)]
"""Megabytes of address space: 20 levels from 48 MB to 2.8 GB."""

VERBS = {
    "train": "train data.csv --model out --threads 1 -q",
    "train vectors": "train data.svm --model out --threads 1 -q",
    "train --from": "train more.csv --from model --model out --threads 1 -q",
    "train ovr": "train data.csv --algorithm ovr --model out --threads 1 -q",
    "compact": "compact model --out out --precision int8 --threads 1 -q",
    "classes": "classes model retire --file retired.csv --out out",
    "predict": "predict model data.csv --threads 1 -q",
    "evaluate": "evaluate model data.csv --threads 1 -q",
    "inspect": "inspect model --verify",
    "explain": "explain model --text word1",
    "vectors": "vectors model data.csv --out out.svm --threads 1 -q",
    "split": "split data.csv --valid 0.1 --test 0.1 --out parts",
    "audit": "audit data.csv --threads 1 -q",
}
MUTANT_VERBS = (
    "inspect {} --verify",
    "predict {} data.csv -q --threads 1",
    "compact {} --out o -q",
    "explain {} --text word1",
    "train more.csv --from {} --model o -q --threads 1",
)


class Campaign:
    """A folder with data and a model, and what went wrong."""

    def __init__(self, program: str, folder: pathlib.Path) -> None:
        self.program, self.folder = program, folder
        self.wrong: list[str] = []
        self.outcomes: collections.Counter[str] = collections.Counter()
        rows = lambda count, classes: "".join(
            f"class {row * 7919 % classes},word{row % 97} letter{row % 31} class{row * 7919 % classes}\n"
            for row in range(count)
        )
        (folder / "data.csv").write_text("label,text\n" + rows(4000, 200))
        (folder / "more.csv").write_text("label,text\n" + rows(300, 210))
        (folder / "retired.csv").write_text("class 1\nclass 2\n")
        lines = (f"{row % 50} {1 + row % 90}:1 {100 + row % 300}:2\n" for row in range(2000))
        (folder / "data.svm").write_text("".join(lines))
        self.run("train data.csv --model model --threads 1 -q", expect=(0,))
        shutil.copy(folder / "model", folder / "out")
        self.before = (folder / "model").read_bytes()

    def start(self, words: str, megabytes: int | None = None) -> subprocess.Popen[bytes]:
        def limit() -> None:
            if megabytes:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

        return subprocess.Popen(
            [self.program, *words.split(" ")],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=limit,
        )

    def run(self, words: str, megabytes: int | None = None, expect: tuple[int, ...] = (0, 2)) -> int:
        running = self.start(words, megabytes)
        try:
            _, said = running.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
            self.wrong.append(f"{words} at {megabytes} MB: still running after 300 s")
            return -1
        code = running.returncode
        self.outcomes[f"exit code {code}"] += 1
        if code not in expect:
            self.wrong.append(f"{words} at {megabytes} MB: exit code {code}: {said[-300:]!r}")
        return code

    def check_files(self, about: str) -> None:
        """The file that was written over is the old one or a sound one, and nothing is left beside it."""
        out = self.folder / "out"
        if out.read_bytes() != self.before and self.run("inspect out --verify", expect=(0,)) != 0:
            self.wrong.append(f"{about}: the file is damaged")
        shutil.copy(self.folder / "model", out)
        self.run("compact model --out swept -q", expect=(0,))
        left = [path.name for path in self.folder.iterdir() if path.name.endswith(".partial")]
        if left:
            self.wrong.append(f"{about}: {left} is left")

    def memory(self) -> None:
        # With too little even to be loaded, the system ends a program before it begins.
        levels = [level for level in LEVELS if self.start("--version", level).wait() == 0]
        print(f"memory limits of {levels} MB")
        for name, words in VERBS.items():
            for megabytes in levels:
                self.run(words, megabytes)
                self.check_files(f"{name} at {megabytes} MB")

    def kills(self, count: int) -> None:
        draw = random.Random(1)
        names = [name for name, words in VERBS.items() if "out" in words]
        durations = {}
        for name in names:
            start = time.monotonic()
            self.run(VERBS[name], expect=(0,))
            durations[name] = time.monotonic() - start
        for number in range(count):
            name = names[number % len(names)]
            running = self.start(VERBS[name])
            time.sleep(durations[name] * draw.random() * 1.05)
            running.send_signal(draw.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            running.communicate()
            self.outcomes["killed" if running.returncode < 0 else f"ended with {running.returncode}"] += 1
            self.check_files(f"kill {number} of {name}")

    def mutants(self, folder: pathlib.Path) -> None:
        for path in sorted(folder.glob("*.memoir")):
            for words in MUTANT_VERBS:
                self.run(words.format(path.resolve()), 2048)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--mutants", type=pathlib.Path)
    given = parser.parse_args()
    everything = not (given.memory or given.kills or given.mutants)
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(str(pathlib.Path(given.program).resolve()), pathlib.Path(folder))
        if given.memory or everything:
            campaign.memory()
        if given.kills or everything:
            campaign.kills(given.kills or 200)
        if given.mutants:
            campaign.mutants(given.mutants)
    for outcome, count in sorted(campaign.outcomes.items()):
        print(f"{count:6}  {outcome}")
    print(f"{len(campaign.wrong):6}  wrong")
    for line in campaign.wrong[:50]:
        print(line)
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
