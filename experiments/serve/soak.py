"""Keeps `memoir serve` busy on loopback while everything around it goes wrong.

    python3 soak.py old.memoir new.memoir test.csv --minutes 30

Good requests come at 80% of the rate that the service reaches. Meanwhile hostile ones come (slow bodies,
half-closed connections, huge headers, bad JSON, wrong keys, path tricks, 10 MB bodies), the model file is
replaced in every way there is by one of two models, and a reload is asked for every 10 seconds. At the end
stands whether a good request failed and how the memory developed. Needs `h2load` (Debian: nghttp2-client).
"""

import argparse
import collections
import csv
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

PORT = 8096
KEY = "soak-teacher-0123456789"
GOOD = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs=2, metavar="MODEL")
    parser.add_argument("texts", help="CSV with a column `text`")
    parser.add_argument("--program", default="memoir")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--load", type=float, default=0.8, help="share of the highest rate")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    (folder / "keys").write_text(f"teach soak {KEY}\n")
    with open(arguments.texts, encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)][:2000]
    (folder / "body").write_text(json.dumps({"text": texts[0]}), encoding="utf-8")
    shutil.copy(arguments.models[0], folder / "m.memoir")
    command = [arguments.program, "serve", folder / "m.memoir", "--bind", f"127.0.0.1:{PORT}"]
    command += ["--api-key-file", folder / "keys", "--log", "warn"]
    with open(folder / "log", "wb") as log, subprocess.Popen(command, stderr=log) as service:
        try:
            wait_until_ready()
            soak(arguments, folder, texts, service.pid)
        finally:
            service.terminate()
    print(f"exit code {service.returncode}, {len((folder / 'log').read_text().splitlines())} lines logged")


def soak(arguments, folder, texts, pid):
    highest = load(folder, 0, 5)["rate"]
    rate = arguments.load * highest
    print(f"highest rate {highest:,.0f} requests/s; good requests at {rate:,.0f}/s", flush=True)
    counts = collections.Counter()
    stop = threading.Event()
    tasks = [
        threading.Thread(target=replace_files, args=(stop, counts, folder, arguments.models)),
        threading.Thread(target=reload, args=(stop, counts)),
        threading.Thread(target=check_answers, args=(stop, counts, texts)),
        *[threading.Thread(target=be_hostile, args=(stop, counts, seed)) for seed in range(4)],
    ]
    for task in tasks:
        task.start()
    # The first minute is not counted: caches and pools fill, and from the first replacement on there is a
    # version before in memory, for going back.
    load(folder, rate, 60 if arguments.minutes >= 5 else 20)
    memory = [resident(pid)]
    watcher = threading.Thread(target=watch_memory, args=(stop, memory, pid))
    watcher.start()
    result = load(folder, rate, arguments.minutes * 60)
    stop.set()
    for task in [*tasks, watcher]:
        task.join()
    print(f"good requests: {result['text']}")
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    quarter = max(1, len(memory) // 4)
    first, last = (sum(part) / len(part) / 2**20 for part in (memory[:quarter], memory[-quarter:]))
    print(f"resident memory: first quarter {first:.1f} MiB, last {last:.1f} MiB ({last / first - 1:+.1%})")
    failed = result["failed"] + counts["wrong answers"] + counts["failed reloads"]
    print("no good request failed" if not failed else f"{failed} good requests FAILED")
    sys.stdout.flush()


def load(folder, rate, seconds):
    command = ["h2load", "--h1", "-c", "8", "-D", str(int(seconds)), "-d", str(folder / "body")]
    command += [f"--rps={rate / 8}"] if rate else []
    command += [part for name, value in GOOD.items() for part in ("-H", f"{name.lower()}: {value}")]
    told = subprocess.run(
        [*command, f"http://127.0.0.1:{PORT}/v1/models/m/predict"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    ok, others = re.search(r"status codes: (\d+) 2xx, (.*)", told).groups()
    bad = sum(map(int, re.findall(r"(\d+) \dxx", others)))
    errors = sum(map(int, re.search(r"(\d+) failed, (\d+) errored, (\d+) timeout", told).groups()))
    summary = f"{int(ok):,} answered, {bad} refused, {errors} failed"
    return {"rate": int(ok) / seconds, "failed": bad + errors, "text": summary}


def request(path, body=None, headers=GOOD):
    data = None if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    wanted = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, headers, method=method)
    with urllib.request.urlopen(wanted, timeout=30) as answer:
        return json.load(answer)


def wait_until_ready():
    for _ in range(300):
        try:
            return request("/v1/models")
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the service does not start")


def reload(stop, counts):
    while not stop.wait(10):
        try:
            request("/v1/models/m/reload", {})
            counts["reloads"] += 1
        except urllib.error.HTTPError as error:
            # The file may be half written just now; then the version before must go on.
            counts["reloads refused" if error.code == 409 else "failed reloads"] += 1


def check_answers(stop, counts, texts):
    """Answers must be whole and of a version that was opened."""
    source = random.Random(1)
    while not stop.wait(0.05):
        part = source.sample(texts, source.choice([1, 3, 50]))
        try:
            answer = request("/v1/models/m/predict", {"texts": part, "top_k": 3})
            # A text without a known word gets no answer.
            complete = all(len(row["answers"]) == 3 or row["abstained"] for row in answer["rows"])
            whole = complete and len(answer["rows"]) == len(part)
        except (OSError, ValueError, KeyError):
            whole = False
        counts["checked answers"] += 1
        counts["wrong answers"] += not whole


def replace_files(stop, counts, folder, models):
    """All ways to replace a file, the rude ones too."""
    path, source = folder / "m.memoir", random.Random(2)
    contents = [Path(model).read_bytes() for model in models]
    while not stop.wait(source.uniform(0.5, 4)):
        data = source.choice(contents)
        how = source.choice(
            ["rename", "in place", "in pieces", "removed", "half", "garbage", "link", "touched"]
        )
        counts[f"replaced: {how}"] += 1
        beside = folder / "beside"
        if how == "rename":
            beside.write_bytes(data)
            beside.rename(path)
        elif how == "in place":
            path.write_bytes(data)
        elif how == "in pieces":
            with open(path, "wb", buffering=0) as file:
                for start in range(0, len(data), len(data) // 20 + 1):
                    file.write(data[start : start + len(data) // 20 + 1])
                    time.sleep(0.1)
        elif how == "removed":
            path.unlink()
            stop.wait(3)
            path.write_bytes(data)
        elif how == "half":
            os.truncate(path, len(data) // 2)
            stop.wait(3)
            path.write_bytes(data)
        elif how == "garbage":
            path.write_bytes(random.randbytes(100_000))
            stop.wait(3)
            path.write_bytes(data)
        elif how == "link":
            (folder / "target").write_bytes(data)
            beside.symlink_to(folder / "target")
            beside.rename(path)
        else:
            path.touch()


def be_hostile(stop, counts, seed):
    source = random.Random(seed)
    light = [bad_json, wrong_key, path_trick, half_closed, broken_off, nonsense, huge_head]
    slow = []
    while not stop.wait(0.01):
        draw = source.random()
        attack = huge_body if draw < 0.005 else slow_body if draw < 0.05 else source.choice(light)
        counts[f"hostile: {attack.__name__.replace('_', ' ')}"] += 1
        try:
            kept = attack(source)
        except OSError:
            continue
        if kept:
            slow.append(kept)
        # Slow clients send a byte now and then, until they are cut off or too many.
        for client in slow[:]:
            try:
                client.send(b" ")
            except OSError:
                slow.remove(client)
        if len(slow) > 30:
            slow.pop(0).close()


def connect():
    return socket.create_connection(("127.0.0.1", PORT), timeout=5)


def head(length, path="/v1/models/m/predict", key=KEY, more=""):
    return (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n"
    ).encode()


def exchange(data):
    with connect() as client:
        client.sendall(data)
        client.recv(1000)


def bad_json(source):
    body = source.choice([b"{", b"[[[[", b'{"text": 1}', b"\xff\xfe", b"[" * 5000])
    exchange(head(len(body)) + body)


def wrong_key(source):
    exchange(head(0, key="".join(source.choices("abcdef", k=source.randrange(1, 200)))))


def path_trick(source):
    tricks = [
        "/../../etc/passwd",
        "/%2e%2e%2fetc",
        "//",
        "/v1/models/..%2fm/predict",
        "/v1/models/%00/predict",
    ]
    exchange(head(0, path=source.choice(tricks)))


def half_closed(source):
    with connect() as client:
        client.sendall(head(50) + b'{"text"')
        client.shutdown(socket.SHUT_WR)
        client.recv(1000)


def broken_off(source):
    with connect() as client:
        client.sendall(head(1000)[: source.randrange(10, 100)])


def nonsense(source):
    exchange(source.randbytes(300) + b"\r\n\r\n")


def huge_head(source):
    exchange(head(0, more="X-Long: " + "x" * 200_000 + "\r\n"))


def huge_body(source):
    with connect() as client:
        client.sendall(head(10_000_000))
        for _ in range(100):
            client.sendall(b" " * 100_000)
        client.recv(1000)


def slow_body(source):
    client = connect()
    client.sendall(head(1000) + b'{"text"')
    return client


def resident(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def watch_memory(stop, memory, pid):
    while not stop.wait(2):
        memory.append(resident(pid))


if __name__ == "__main__":
    main()
