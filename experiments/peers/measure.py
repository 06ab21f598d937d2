"""Runs one command and asks the kernel what it cost."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# Every library that might start threads of its own is told to use one.
ONE_THREAD = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "RAYON_NUM_THREADS",
    )
}


@dataclass
class Cost:
    """What a command cost; `status` is ok, over-limit or failed.

    Linux counts towards a process's peak memory that of the process it was
    forked from, so `peak_bytes` is never below this interpreter's own size
    (under 20 MB, since the driver loads nothing but the standard library).
    """

    status: str
    cpu_seconds: float  # user + system, of the process and all it waited for
    wall_seconds: float
    peak_bytes: int  # largest resident set


def run(command: list[str], cpu_limit: int, log: Path, stdout: Path | None = None) -> Cost:
    """Runs `command` to its end, or until it has used `cpu_limit` CPU seconds.

    Standard error goes to `log`, standard output to `stdout` (or the log).
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit + 5))

    with contextlib.ExitStack() as files:
        errors = files.enter_context(open(log, "wb"))
        out = files.enter_context(open(stdout, "wb")) if stdout else errors
        start = time.monotonic()
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            env={**os.environ, **ONE_THREAD},
            preexec_fn=limit,
        )
        try:
            _, wait_status, usage = os.wait4(child.pid, 0)
        except BaseException:  # interrupted: leave no measurement running
            child.kill()
            raise
        wall = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(wait_status)
    status = {0: "ok", -signal.SIGXCPU: "over-limit"}.get(child.returncode, "failed")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(status, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * unit)


def size_on_disk(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    if path.is_dir():
        return sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    return path.stat().st_size if path.exists() else 0


def last_lines(log: Path, count: int = 5) -> str:
    """The end of a log, to show why a command failed."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-count:])
