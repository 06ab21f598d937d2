"""Measures `memoir serve` on this machine's loopback, beside FastAPI around the Python package.

    python3 bench.py titles.memoir test.csv --vectors sv.memoir test.svm --fastapi venv/bin/python

Needs `wrk` and `h2load` (Debian: wrk, nghttp2-client). `venv` has fastapi, uvicorn[standard] and the Python
package. Load programs and service share the machine, so the processor time of the service is shown as well:
it does not depend on what else runs.
"""

import argparse
import contextlib
import csv
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
TICKS = os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", help="a model of texts")
    parser.add_argument("texts", help="CSV with a column `text`")
    parser.add_argument(
        "--vectors", nargs=2, metavar=("MODEL", "ROWS"), help="a model of vectors; libsvm rows"
    )
    parser.add_argument("--program", default="memoir")
    parser.add_argument("--fastapi", metavar="PYTHON", help="interpreter with fastapi, uvicorn and memoir")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=2000, help="requests a second where times are measured")
    arguments = parser.parse_args()
    with open(arguments.texts, encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    folder = Path(tempfile.mkdtemp())
    print(
        "| service | load | requests/s | rows/s | p50 ms | p99 ms | CPU us/row |\n|---|---|---|---|---|---|---|"
    )
    models = [f"text={arguments.model}"]
    singles = write(folder / "singles", [{"text": text} for text in texts[:5000]])
    batches = write(folder / "batches", [{"texts": part} for part in parts(texts, 1000)])
    if arguments.vectors:
        models.append(f"vectors={arguments.vectors[0]}")
        rows = [vector(line) for line in Path(arguments.vectors[1]).read_text().splitlines()]
        vector_singles = write(folder / "vector-singles", [{"vectors": [row]} for row in rows[:5000]])
        vector_batches = write(folder / "vector-batches", [{"vectors": part} for part in parts(rows, 1000)])
    command = [arguments.program, "serve", *models, "--bind", "127.0.0.1:8097", "--log", "warn"]
    with served([*command, "--feedback", str(folder)]) as service:
        address = "http://127.0.0.1:8097/v1/models/text/predict"
        warm_up(address, singles)
        show(service, "memoir serve", "one text, paced", 1, paced(address, singles, arguments))
        show(service, "memoir serve", "one text", 1, flat_out(address, singles, 16, arguments))
        show(service, "memoir serve", "1,000 texts", 1000, flat_out(address, batches, 2, arguments))
        if arguments.vectors:
            address = "http://127.0.0.1:8097/v1/models/vectors/predict"
            show(service, "memoir serve", "one vector", 1, flat_out(address, vector_singles, 16, arguments))
            show(
                service,
                "memoir serve",
                "1,000 vectors",
                1000,
                flat_out(address, vector_batches, 2, arguments),
            )
    if arguments.fastapi:
        singles = write(folder / "singles", [{"texts": [text]} for text in texts[:5000]])
        uvicorn = [arguments.fastapi, "-m", "uvicorn", "fastapi_app:app", "--app-dir", str(HERE)]
        uvicorn += ["--port", "8098", "--workers", "2", "--log-level", "warning"]
        with served(uvicorn, MODEL=arguments.model) as service:
            address = "http://127.0.0.1:8098/predict"
            warm_up(address, singles)
            show(service, "FastAPI", "one text", 1, flat_out(address, singles, 16, arguments))
            show(service, "FastAPI", "1,000 texts", 1000, flat_out(address, batches, 2, arguments))


def write(path, bodies):
    path.write_text(
        "".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies), encoding="utf-8"
    )
    return path


def parts(rows, size):
    return [rows[start : start + size] for start in range(0, len(rows) - size + 1, size)]


def vector(line):
    pairs = (pair.split(":") for pair in line.split()[1:])
    return [[int(feature), float(value)] for feature, value in pairs]


@contextlib.contextmanager
def served(command, **environment):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | environment)
    try:
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def warm_up(address, bodies):
    body = bodies.read_text(encoding="utf-8").split("\n", 1)[0].encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    for _ in range(300):
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(request).read()
        time.sleep(0.1)
    raise SystemExit(f"{address} does not answer")


def paced(address, bodies, arguments):
    """Eight clients that keep a fixed rate: requests a second and the times of all requests."""
    log, body = bodies.with_suffix(".log"), bodies.with_suffix(".body")
    log.unlink(missing_ok=True)
    body.write_text(bodies.read_text(encoding="utf-8").split("\n", 1)[0], encoding="utf-8")
    command = ["h2load", "--h1", "-c", "8", f"--rps={arguments.rate / 8}", "-D", str(arguments.seconds)]
    command += ["-d", str(body), "-H", "content-type: application/json", f"--log-file={log}", address]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    if bad := [row for row in rows if row[1] != "200"]:
        raise SystemExit(f"{len(bad)} of {len(rows)} requests failed")
    times = statistics.quantiles([int(row[2]) / 1000 for row in rows], n=100)
    return len(rows) / arguments.seconds, times[49], times[98], len(rows)


def flat_out(address, bodies, connections, arguments):
    """As many requests as are answered."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{arguments.seconds}", "--latency", "--timeout=30s"]
    command += ["-s", str(HERE / "bodies.lua"), address]
    told = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"BODIES": str(bodies)}
    ).stdout
    if re.search("Non-2xx|Socket errors", told):
        raise SystemExit(told)
    rate = float(re.search(r"Requests/sec: +([\d.]+)", told)[1])
    count = int(re.search(r"(\d+) requests in", told)[1])
    return rate, milliseconds(told, "50%"), milliseconds(told, "99%"), count


def milliseconds(told, share):
    number, unit = re.search(rf"{share} +([\d.]+)(us|ms|s)", told).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def show(service, name, load, rows, measured):
    rate, half, most, count = measured
    spent = cpu_seconds(service)
    used = (spent - show.before.get(service, 0.0)) / (count * rows) * 1e6
    show.before[service] = spent
    print(
        f"| {name} | {load} | {rate:,.0f} | {rate * rows:,.0f} | {half:.2f} | {most:.2f} | {used:.1f} |",
        flush=True,
    )


show.before = {}


def cpu_seconds(process):
    """User and system time of a process and of the processes that it started."""
    total = sum(map(int, Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) / TICKS
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return total + sum(cpu_seconds(child) for child in children)


if __name__ == "__main__":
    main()
