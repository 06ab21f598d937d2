"""Simulates the messages of a training by several shards, round after round, over links that are given.

    python experiments/shards/simulate.py --compute 20 --fixed 4 --rounds 900 --bytes 4e7 --shards 1,2,4
    python experiments/shards/simulate.py ... --latency 1e-3 --bandwidth 125e6 --window 65536

A round: every shard computes, sends its message to each other shard over its own link, one after the other,
and goes on when it has the messages of all. `--compute` are seconds of one process for what is shared out,
`--fixed` for what every shard does by itself, `--bytes` what all shards together hand out, each byte counted
once. Of a message that is longer than `--window`, TCP sends the rest when the first part is acknowledged.
Every second round is taken for the larger one: bounds of weights come before rivals. Prints seconds,
the share that is spent waiting, and the gain over one process.
"""

import argparse
import math
import random
from dataclasses import dataclass

# The bytes of rounds that share bounds, of all.
SMALL = 0.05


@dataclass(frozen=True)
class Load:
    """What a training takes, whatever it runs on."""

    compute: float
    fixed: float
    rounds: int
    bytes: float


@dataclass(frozen=True)
class Link:
    """Seconds that a message is under way, bytes a second, and seconds that sending one costs."""

    latency: float
    bandwidth: float
    overhead: float
    window: float

    def under_way(self, message: float) -> float:
        """Seconds from the last byte sent, if nothing held it back, to the last byte received."""
        acknowledged = 0 if message <= self.window else math.ceil(message / self.window) - 1
        return self.latency * (1 + 2 * acknowledged)


def simulate(load: Load, shards: int, link: Link, jitter: float, seed: int = 0) -> tuple[float, float]:
    """Seconds until the last shard is done, and the mean that a shard has waited."""
    chance = random.Random(seed)
    fixed = load.fixed / load.rounds
    shared = load.compute / load.rounds / shards
    # Cached rivals are said once, whoever owns them; each shard says its own of the rivals of a scan.
    mean = load.bytes / load.rounds / shards
    ready = [0.0] * shards
    waited = 0.0
    for number in range(load.rounds):
        message = mean * (2 - 2 * SMALL if number % 2 else 2 * SMALL)
        computed = [start + (fixed + shared) * chance.uniform(1 - jitter, 1 + jitter) for start in ready]
        arrived = list(computed)
        for sender in range(shards):
            free = computed[sender]
            for step in range(1, shards):
                free += link.overhead + message / link.bandwidth
                receiver = (sender + step) % shards
                arrived[receiver] = max(arrived[receiver], free + link.under_way(message))
            arrived[sender] = max(arrived[sender], free)
        waited += sum(arrived) - sum(computed)
        ready = arrived
    return max(ready), waited / shards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compute", type=float, required=True)
    parser.add_argument("--fixed", type=float, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--bytes", type=float, required=True)
    parser.add_argument("--shards", default="1,2,4")
    parser.add_argument(
        "--latency", type=float, default=30e-6, help="default: this machine, 30 microseconds"
    )
    parser.add_argument("--bandwidth", type=float, default=2e9, help="default: this machine, 2 GB/s")
    parser.add_argument("--window", type=float, default=math.inf, help="default: no limit")
    parser.add_argument("--overhead", type=float, default=10e-6)
    parser.add_argument("--jitter", type=float, default=0.2)
    given = parser.parse_args()
    load = Load(given.compute, given.fixed, given.rounds, given.bytes)
    link = Link(given.latency, given.bandwidth, given.overhead, given.window)
    alone = given.compute + given.fixed
    for shards in map(int, given.shards.split(",")):
        seconds, waited = simulate(load, shards, link, given.jitter)
        print(
            f"{shards:5} shards  {seconds:12.2f} s  waiting {100 * waited / seconds:5.1f}%"
            f"  {alone / seconds:6.2f} times one process"
        )


if __name__ == "__main__":
    main()
