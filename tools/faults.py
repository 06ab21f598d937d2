"""The long campaign of faults: memory limits, kills, failing files and damaged models against every verb.

    python3 tools/faults.py PROGRAM [--memory] [--kills 200] [--files] [--mutants FOLDER]

Without a choice, all but the mutants. After every run the exit code must be 0 or 2 (or the kill's), files
must be as before or as after a sound run, and the next run must have swept what a kill left. Ends with 1 if
one was not.
"""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from fault_verbs import EXPERIMENT, VERBS, content

LEVELS = [round(48 * 1.24**step) for step in range(20)]
"""Megabytes of address space: 20 levels from 48 MB to 2.8 GB."""

MUTANT_VERBS = (
    "inspect {} --verify",
    "predict {} few.csv -q --threads 1",
    "predict {} few.svm -q --threads 1",
    "evaluate {} few.csv -q --threads 1",
    "explain {} --text word1",
    "compact {} --out o -q",
    "train few.csv --from {} --model o -q --threads 1",
    "train few.svm --from {} --model o -q --threads 1",
)
"""Every damaged model goes through all of them; those for another kind of input are refused at once."""

SHIM = pathlib.Path(__file__).parent.parent / "crates/memoir-cli/tests/program/faults.c"

FAULTS = (
    [{"FAULT": "full", "FAULT_BYTES": str(size)} for size in (0, 1, 100, 4096, 20_000, 100_000)]
    + [{"FAULT": "full", "FAULT_AFTER": str(calls)} for calls in (1, 3, 10)]
    + [{"FAULT": "unreadable", "FAULT_AFTER": str(calls)} for calls in (0, 1, 2, 5)]
    + [{"FAULT": "unsynced", "FAULT_AFTER": str(calls)} for calls in (0, 1, 2)]
    + [{"FAULT": "no-files", "FAULT_AFTER": str(calls)} for calls in (0, 1, 3)]
    + [{"FAULT": "unnamed", "FAULT_AFTER": str(calls)} for calls in (0, 1)]
    + [{"FAULT": fault} for fault in ("short-reads", "short-writes", "clock")]
)
"""What the library of faults does: see there."""

HARMLESS = ("short-reads", "short-writes", "clock")


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
        (folder / "overrides.csv").write_text("label,text\nclass 3,word9 letter9\n")
        described = "".join(f"class {number},name{number}\n" for number in range(200))
        (folder / "words.csv").write_text("code,label\n" + described)
        (folder / "revised.csv").write_text("old,new\nclass 1,class 2\nclass 3,class new\n")
        (folder / "experiment.toml").write_text(EXPERIMENT)
        lines = (f"{row % 50} {1 + row % 90}:1 {100 + row % 300}:2\n" for row in range(2000))
        (folder / "data.svm").write_text("".join(lines))
        self.run("train data.csv --model model --threads 1 -q", expect=(0,))
        self.run("prepare data.csv --out set --threads 1 -q", expect=(0,))
        self.run("classes model vocabulary words.csv --out described", expect=(0,))
        self.run("train data.csv --algorithm centroid --model averages --threads 1 -q", expect=(0,))
        shutil.copy(folder / "model", folder / "out")
        self.before = (folder / "model").read_bytes()

    def start(
        self, words: str, megabytes: int | None = None, faults: dict[str, str] | None = None, files: int = 0
    ) -> subprocess.Popen[bytes]:
        def limit() -> None:
            if megabytes:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files + 64, files + 64))
                for number in range(3, files):
                    os.dup2(0, number)

        return subprocess.Popen(
            [self.program, *words.split(" ")],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=limit if megabytes or files else None,
            close_fds=not files,
            env={**os.environ, **(faults or {})},
        )

    def run(
        self,
        words: str,
        megabytes: int | None = None,
        faults: dict[str, str] | None = None,
        expect: tuple[int, ...] = (0, 2),
        files: int = 0,
    ) -> int:
        running = self.start(words, megabytes, faults, files)
        about = f"{words} with {megabytes} MB, {faults}, {files} files"
        try:
            _, said = running.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
            self.wrong.append(f"{about}: still running after 300 s")
            return -1
        code = running.returncode
        self.outcomes[f"exit code {code}"] += 1
        if code not in expect:
            self.wrong.append(f"{about}: exit code {code}: {said[-300:]!r}")
        return code

    def clean(self) -> None:
        """The folder as it was at the beginning."""
        shutil.copy(self.folder / "model", self.folder / "out")
        kept = {"data.csv", "more.csv", "retired.csv", "overrides.csv", "experiment.toml", "data.svm"}
        kept |= {"words.csv", "revised.csv", "model", "described", "averages", "out", "set", "faults.so"}
        for path in self.folder.iterdir():
            if path.is_dir() and path.name not in kept:
                shutil.rmtree(path)
            elif path.name not in kept:
                path.unlink()

    def check_files(self, about: str) -> None:
        """The file that was written over is the old one or a sound one, and nothing is left beside it."""
        out = self.folder / "out"
        if out.read_bytes() != self.before and self.run("inspect out --verify", expect=(0,)) != 0:
            self.wrong.append(f"{about}: the file is damaged")
        self.run("compact model --out swept -q", expect=(0,))
        left = [path.name for path in self.folder.iterdir() if path.name.endswith(".partial")]
        # The next checkpoint is written over what is left of one.
        left = [name for name in left if not name.endswith(".checkpoint.partial")]
        if left:
            self.wrong.append(f"{about}: {left} is left")
        self.clean()

    def memory(self) -> None:
        # With too little even to be loaded, the system ends a program before it begins.
        levels = [level for level in LEVELS if self.start("--version", level).wait() == 0]
        print(f"memory limits of {levels} MB")
        for name, (words, _) in VERBS.items():
            for megabytes in levels:
                self.run(words, megabytes)
                self.check_files(f"{name} at {megabytes} MB")

    def kills(self, count: int) -> None:
        draw = random.Random(1)
        names = [name for name, (words, _) in VERBS.items() if "--out" in words or "--model" in words]
        durations, sound = {}, {}
        for name in names:
            start = time.monotonic()
            self.run(VERBS[name][0], expect=(0,))
            durations[name] = time.monotonic() - start
            sound[name] = [content(self.folder / path) for path in VERBS[name][1]]
            self.clean()
        for number in range(count):
            name = names[number % len(names)]
            running = self.start(VERBS[name][0])
            time.sleep(durations[name] * draw.random() * 1.05)
            running.send_signal(draw.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            running.communicate()
            self.outcomes["killed" if running.returncode < 0 else f"ended with {running.returncode}"] += 1
            if name.startswith(("prepare", "compare")):
                # What is half done is gone on with; what was done just then is refused.
                self.run(VERBS[name][0])
                if [content(self.folder / path) for path in VERBS[name][1]] != sound[name]:
                    self.wrong.append(f"kill {number} of {name}: going on gives something else")
            self.check_files(f"kill {number} of {name}")

    def services(self, count: int) -> None:
        """Kills a service while its model is replaced."""
        draw = random.Random(2)
        if self.run("serve --help") != 0:
            return
        for number in range(count):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            words = f"serve served.memoir --bind 127.0.0.1:{port} --feedback feedback"
            shutil.copy(self.folder / "model", self.folder / "served.memoir")
            running = self.start(words)
            end = time.monotonic() + draw.uniform(0.05, 1.0)
            while time.monotonic() < end:
                replaced = self.folder / "next.memoir"
                shutil.copy(self.folder / "model", replaced)
                replaced.rename(self.folder / "served.memoir")
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=1).read()
                except OSError:
                    time.sleep(0.02)
            running.kill()
            running.communicate()
            self.outcomes["service killed"] += 1
            self.run("inspect served.memoir --verify", expect=(0,))
            self.check_files(f"kill {number} of serve")

    def files(self) -> None:
        """Files that cannot be written, read, synchronised, opened or named; a clock that jumps."""
        library = self.folder / "faults.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SHIM, "-ldl"], check=True)
        felt: collections.Counter[str] = collections.Counter()
        for name, (words, outputs) in VERBS.items():
            before = [content(self.folder / path) for path in outputs]
            sound = []
            for _ in range(2):
                self.run(words, expect=(0,))
                sound.append([content(self.folder / path) for path in outputs])
                self.clean()
            if sound[0] != sound[1]:
                self.wrong.append(f"{name}: two runs write different bytes")
            for faults in FAULTS:
                code = self.run(words, faults={"LD_PRELOAD": str(library), **faults})
                felt[faults["FAULT"]] += code != 0
                about = f"{words} with {faults}, exit code {code}"
                if code != 0 and faults["FAULT"] in HARMLESS:
                    self.wrong.append(f"{about}: expected success")
                if code == 2 and name.startswith("prepare"):
                    # What is half done is gone on with, or done anew.
                    code = self.run(words, expect=(0,))
                for path, old, new in zip(outputs, before, sound[0], strict=True):
                    now = content(self.folder / path)
                    if now == new or (code != 0 and now == old):
                        continue
                    # A folder may lack files, but none may be half written.
                    whole = isinstance(now, dict) and isinstance(new, dict) and now.items() <= new.items()
                    if code == 0 or not whole:
                        self.wrong.append(f"{about}: {path} is neither the old one nor a sound one")
                self.check_files(about)
        print("felt:", ", ".join(f"{fault} {count} times" for fault, count in sorted(felt.items())))

    def many_open_files(self) -> None:
        """A program that inherits 10,000 open files, as some services hand them on."""
        try:
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (10_500, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
            )
        except (ValueError, OSError):
            print("left out: 10,000 open files, which are not allowed here")
            return
        for name, (words, _) in VERBS.items():
            self.run(words, expect=(0,), files=10_000)
            self.check_files(f"{name} with 10,000 open files")

    def mutants(self, folder: pathlib.Path) -> None:
        """Damaged models, within 2 GB; few rows, so that most of the time goes into reading models."""
        (self.folder / "few.csv").write_text("label,text\nfruit,red apple\nsky,grey sky\nnew,mud pie\n")
        (self.folder / "few.svm").write_text("1 1:1 3:2\n2,3 2:1 5:1.5\n4 1:2 9:1\n")
        before = resource.getrlimit(resource.RLIMIT_AS)
        # The children's limit, set here: a function that runs before each of them costs as much as they do.
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, before[1]))
        paths = sorted(folder.resolve().glob("*.memoir"))
        for path in paths:
            for words in MUTANT_VERBS:
                code = self.run(words.format(path))
                if "--from" in words or "compact" in words:
                    written = self.folder / "o"
                    if code == 0 and self.run("inspect o --verify", expect=(0,)) != 0:
                        self.wrong.append(f"{words.format(path)}: wrote a file that nobody can open")
                    written.unlink(missing_ok=True)
        resource.setrlimit(resource.RLIMIT_AS, before)
        print(f"{len(paths)} damaged models")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--mutants", type=pathlib.Path)
    given = parser.parse_args()
    everything = not (given.memory or given.kills or given.files or given.mutants)
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(str(pathlib.Path(given.program).resolve()), pathlib.Path(folder))
        if campaign.wrong:
            sys.exit(f"what everything else needs cannot be made: {campaign.wrong}")
        if given.memory or everything:
            campaign.memory()
        if given.kills or everything:
            campaign.kills(given.kills or 200)
            campaign.services(max(given.kills // 10, 20))
        if given.files or everything:
            campaign.files()
            campaign.many_open_files()
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
