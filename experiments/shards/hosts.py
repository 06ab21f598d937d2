"""Trains by processes in network namespaces, as if each was a host, over links that are given.

    sudo python experiments/shards/hosts.py DATA --program target/release/memoir --shards 1,2 \
        --latency 1e-3 --bandwidth 125e6

Each shard has a namespace of its own. What it sends goes through a TUN device to a relay, which holds every
packet back as a link of this latency (one way) and bandwidth (of each sender) would: not every kernel has
`netem`. Without `--latency`, processes talk over the loopback device. Compares the bytes with those of
`memoir train`, and writes a JSON line for each run. Needs Linux, root, `ip` and the Python package.

Shards wait for each other several hundred times, so another program that takes a core from one of them for
a moment delays all. Where there are such, start this by `chrt --rr 1`, in short runs: niceness does not
keep two shards off the same core.
"""

import argparse
import ctypes
import fcntl
import heapq
import json
import multiprocessing
import os
import pathlib
import random
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from multiprocessing.connection import wait

import memoir
from memoir import _shards

NEW_NETWORK = 0x4000_0000
SET_INTERFACE, PLAIN_PACKETS = 0x400454CA, 0x1001
# Large packets: the relay is a Python program.
LARGEST_PACKET = 65_000
PROBE_PORT = 5555

spawning = multiprocessing.get_context("spawn")


def run(*command: str) -> None:
    subprocess.run(command, check=True)


def name_of(host: int) -> str:
    return f"memoir-host-{host}"


def address_of(host: int) -> str:
    return f"10.77.0.{host + 1}"


class Network:
    """So many hosts and a relay between them."""

    def __init__(self, hosts: int, latency: float, bandwidth: float) -> None:
        self.hosts = hosts
        devices = []
        for host in range(hosts):
            device = os.open("/dev/net/tun", os.O_RDWR)
            interface = f"memoir{host}"
            fcntl.ioctl(device, SET_INTERFACE, struct.pack("16sH", interface.encode(), PLAIN_PACKETS))
            space = name_of(host)
            run("ip", "netns", "add", space)
            run("ip", "link", "set", interface, "netns", space)
            inside = ("ip", "-n", space)
            run(*inside, "link", "set", "lo", "up")
            run(*inside, "link", "set", interface, "mtu", str(LARGEST_PACKET), "up")
            run(*inside, "address", "add", f"{address_of(host)}/24", "dev", interface)
            devices.append(device)
        self.relay = os.fork()
        if self.relay == 0:
            relay(devices, latency, bandwidth)
        for device in devices:
            os.close(device)

    def close(self) -> None:
        os.kill(self.relay, signal.SIGKILL)
        os.waitpid(self.relay, 0)
        for host in range(self.hosts):
            run("ip", "netns", "delete", name_of(host))


def go_first() -> None:
    """Goes before the shards where these have real-time priority: a link waits for no processor."""
    policy = os.sched_getscheduler(0)
    if policy in (os.SCHED_RR, os.SCHED_FIFO):
        priority = os.sched_getparam(0).sched_priority + 1
        os.sched_setscheduler(0, policy, os.sched_param(priority))


def relay(devices: list[int], latency: float, bandwidth: float) -> None:
    """Hands packets on, each when its last byte would be there."""
    go_first()
    of_address = {bytes([10, 77, 0, host + 1]): device for host, device in enumerate(devices)}
    free = dict.fromkeys(devices, 0.0)
    under_way: list[tuple[float, int, int, bytes]] = []
    count = 0
    while True:
        now = time.monotonic()
        while under_way and under_way[0][0] <= now:
            _, _, device, packet = heapq.heappop(under_way)
            os.write(device, packet)
            now = time.monotonic()
        pause = max(under_way[0][0] - now, 0.0) if under_way else None
        for device in select.select(devices, [], [], pause)[0]:
            packet = os.read(device, 1 << 17)
            receiver = of_address.get(packet[16:20])
            if packet[0] >> 4 != 4 or receiver is None:
                continue
            free[device] = max(free[device], time.monotonic()) + len(packet) / bandwidth
            count += 1
            heapq.heappush(under_way, (free[device] + latency, count, receiver, packet))


class ProcessEngine:
    """Workers as processes, in a namespace each if there is a network."""

    def __init__(self, network: Network | None, kill_after: float | None = None) -> None:
        self.network, self.kill_after = network, kill_after

    def start(self, shards: int, token: str, patience: float) -> list:
        workers = []
        for index in range(shards):
            ours, theirs = spawning.Pipe()
            space = None if self.network is None else name_of(index)
            arguments = (theirs, space, index, shards, token, patience)
            process = spawning.Process(target=work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            workers.append((process, ours))
        if self.kill_after is not None:
            # The first start only.
            threading.Timer(self.kill_after, random.choice(workers)[0].kill).start()
            self.kill_after = None
        return workers

    def call(self, worker: tuple, method: str, *arguments: object) -> object:
        _, pipe = worker
        if method == "listen":
            arguments = ("127.0.0.1" if self.network is None else address_of(0),)
        pipe.send((method, arguments))
        return pipe

    def results(self, calls: list) -> list:
        found, waiting = {}, list(calls)
        while waiting:
            for pipe in wait(waiting):
                try:
                    result = pipe.recv()
                except EOFError:
                    raise _shards.WorkerLost("a process has ended") from None
                if isinstance(result, Exception):
                    raise result
                found[pipe] = result
                waiting.remove(pipe)
        return [found[pipe] for pipe in calls]

    def stop(self, workers: list) -> None:
        for process, _ in workers:
            process.kill()
            process.join()


def enter(space: str | None) -> None:
    if space is not None:
        with open(f"/run/netns/{space}") as opened:
            if ctypes.CDLL(None, use_errno=True).setns(opened.fileno(), NEW_NETWORK) != 0:
                raise OSError(ctypes.get_errno(), f"cannot enter {space}")


def work(pipe: object, space: str | None, *of_worker: object) -> None:
    """A worker: does what comes through the pipe."""
    enter(space)
    worker = _shards.Worker(*of_worker)
    while True:
        method, arguments = pipe.recv()
        before = time.process_time()
        try:
            result = getattr(worker, method)(*arguments)
            if isinstance(result, dict):
                result["processor"] = time.process_time() - before
        except Exception as reason:
            result = reason
        pipe.send(result)


def train(
    given: argparse.Namespace,
    estimator: memoir.MemoirClassifier,
    shards: int,
    model: pathlib.Path,
    kill_after: float | None = None,
) -> dict:
    """Trains by so many processes, and tells what that took."""
    job = _shards.Job(
        data=os.path.abspath(given.data),
        model=str(model),
        options=estimator._options(),
        running=estimator._running(None, estimator._seed()),
        checkpoint=None if kill_after is None else (f"{model}.kept", given.checkpoint_rows),
        format=given.format,
    )
    network = None if given.latency is None else Network(shards, given.latency, given.bandwidth)
    try:
        engine = ProcessEngine(network, kill_after)
        outcome = _shards.drive(engine, job, shards=shards, restarts=3, patience=600.0)
    finally:
        if network is not None:
            network.close()
    return {
        "shards": shards,
        "latency": given.latency,
        "restarts": outcome.restarts,
        "seconds": round(max(shard["seconds"] for shard in outcome.shards), 2),
        "waited": [round(shard["waited"], 2) for shard in outcome.shards],
        "processor": [round(shard["processor"], 2) for shard in outcome.shards],
        "rounds": outcome.shards[0]["rounds"],
        "sent": [shard["sent"] for shard in outcome.shards],
    }


def probe(given: argparse.Namespace) -> dict:
    """What a round of two hosts takes that compute nothing, but wait as shards do: a thread reads."""
    network = None if given.latency is None else Network(2, given.latency, given.bandwidth)
    rounds = 300
    try:
        ours, theirs = spawning.Pipe()
        hosts = []
        for index in range(2):
            space = None if network is None else name_of(index)
            at = "127.0.0.1" if network is None else address_of(0)
            arguments = (theirs, space, index, at, given.probe, rounds)
            hosts.append(spawning.Process(target=talk, args=arguments, daemon=True))
            hosts[-1].start()
        seconds = [ours.recv() for _ in hosts]
        for host in hosts:
            host.join()
    finally:
        if network is not None:
            network.close()
    return {
        "probe": given.probe,
        "latency": given.latency,
        "milliseconds": round(1e3 * max(seconds) / rounds, 3),
    }


def talk(pipe: object, space: str | None, index: int, at: str, size: int, rounds: int) -> None:
    """One host of a probe: tells the seconds of so many rounds."""
    enter(space)
    if index == 0:
        with socket.create_server((at, PROBE_PORT)) as listener:
            stream, _ = listener.accept()
    else:
        while True:
            try:
                stream = socket.create_connection((at, PROBE_PORT))
                break
            except ConnectionRefusedError:
                time.sleep(0.01)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    received = threading.Semaphore(0)

    def read() -> None:
        for _ in range(rounds):
            left = size
            while left > 0:
                left -= len(stream.recv(left))
            received.release()

    threading.Thread(target=read, daemon=True).start()
    start = time.monotonic()
    for _ in range(rounds):
        stream.sendall(bytes(size))
        received.acquire()
    pipe.send(time.monotonic() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", help="not needed with --probe")
    parser.add_argument("--program", default="memoir")
    parser.add_argument("--format", help="that of `memoir train --format`")
    parser.add_argument("--shards", default="1,2")
    parser.add_argument("--latency", type=float, help="seconds that a packet is under way")
    parser.add_argument("--bandwidth", type=float, default=125e6, help="bytes a second; default: 1 Gbit/s")
    parser.add_argument("--kills", type=int, default=0, help="runs in which a process is killed")
    parser.add_argument("--checkpoint-rows", type=int, default=20_000)
    parser.add_argument("--probe", type=int, metavar="BYTES", help="measure rounds that compute nothing")
    given = parser.parse_args()
    if given.probe is not None:
        print(json.dumps(probe(given)))
        return
    if given.data is None:
        parser.error("expected DATA or --probe")
    random.seed(1)
    estimator = memoir.MemoirClassifier(n_jobs=1)
    options = ["--format", given.format] if given.format else []
    with tempfile.TemporaryDirectory() as folder:
        one, model = pathlib.Path(folder, "one.memoir"), pathlib.Path(folder, "shards.memoir")
        command = [given.program, "train", given.data, "--model", str(one), "--threads", "1", "--quiet"]
        subprocess.run(command + options, check=True)
        told = {}
        for shards in map(int, given.shards.split(",")):
            told = train(given, estimator, shards, model)
            print(json.dumps({**told, "same bytes": model.read_bytes() == one.read_bytes()}), flush=True)
        for _ in range(given.kills):
            # From the start of processes on, which takes a second or more: some kills come before training.
            kill_after = random.uniform(0.5, told["seconds"] + 2.0)
            killed = train(given, estimator, told["shards"], model, kill_after)
            killed["killed after"] = round(kill_after, 2)
            print(json.dumps({**killed, "same bytes": model.read_bytes() == one.read_bytes()}), flush=True)


if __name__ == "__main__":
    main()
