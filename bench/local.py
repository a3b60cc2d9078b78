"""Messages per CPU-second of local privacy, client and server, beside pure-ldp and
multi-freq-ldpy in the same run; and whose variance is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from bench.harness import Goal, Report, Row, at_least, at_most, cpu_seconds, versions
from bench.peers import PEERS, Worker
from dither import local
from dither.local.wire import HEADER

EPSILON = 2.0
N = 1_000_000
DOMAINS = (100, 1_000, 100_000)
REPEATS = 3
SECONDS = 0.3
BITS = 200_000_000
"""Messages of a bit for each item are made until they have so many bits together."""

PURE, MULTI = "pure-ldp", "multi-freq-ldpy"
OURS = "dither"
SCRIPTS = {PURE: "local_pure_ldp", MULTI: "local_multi_freq"}

NOTES = (
    f"ε = {EPSILON:g}. Peers make and take one message a call, which is their only way; "
    "ours are arrays. Our randomness is cryptographic, theirs is not.",
    f"A server's rate is that of adding messages up; all estimates of the domain come "
    f"on top. Where both count together, it is after {N:,} messages. Ours come with "
    "standard errors, intervals and p-values. Large or slow messages were measured on "
    "fewer of them.",
    "Peers' fast local hashing has 1,024 functions, which biases its estimates; ours "
    "has 16,384 or more, without bias. Their sketches have 128 rows of 1,024 columns, "
    "ours 1,024.",
    "Bytes of a message: ours with its header, theirs as pickle writes it.",
    "Variances are those of a value that nobody holds, by the closed form of each "
    "library's own parameters.",
    "Systems take turns; each figure is the median of the repeats.",
)


@dataclass(frozen=True)
class Case:
    """One of our oracles beside those of peers."""

    oracle: str
    peers: Mapping[str, str]
    domains: tuple[int, ...] = DOMAINS

    @property
    def is_open(self) -> bool:
        return self.oracle.endswith("sketch")


CASES = (
    Case("k-ary response", {PURE: "k-ary response", MULTI: "k-ary response"}),
    Case("optimized unary", {PURE: "optimized unary", MULTI: "optimized unary"}),
    Case("local hashing", {PURE: "local hashing", MULTI: "local hashing"}),
    Case("local hashing", {f"{PURE}, fast": "fast local hashing"}, DOMAINS[:2]),
    Case("subset selection", {MULTI: "subset selection"}),
    Case("Hadamard response", {PURE: "Hadamard response"}),
    # What a sketch costs hardly depends on how many values there are.
    Case("Hadamard sketch", {PURE: "Hadamard sketch"}, DOMAINS[1:2]),
    Case("count-mean sketch", {PURE: "count-mean sketch"}, DOMAINS[1:2]),
)


@dataclass(frozen=True)
class Speed:
    """Messages per CPU-second of the client; CPU-seconds of a message on the server and
    of what it does once; bytes of a message.
    """

    client: float
    each: float
    once: float
    bytes: float

    @property
    def server(self) -> float:
        return 1 / self.each

    @property
    def whole(self) -> float:
        """Messages per CPU-second of a server that also estimates everything."""
        return N / (N * self.each + self.once)

    @staticmethod
    def middle(speeds: list[Speed]) -> Speed:
        columns = ("client", "each", "once", "bytes")
        return Speed(
            *(median(getattr(one, name) for one in speeds) for name in columns)
        )


def ours(oracle: str, items: int) -> Speed:
    is_open = oracle.endswith("sketch")
    task = local.task(
        "bench",
        domain=None if is_open else items,
        none=False,
        epsilon=EPSILON,
        n=N,
        oracle=oracle,
    )
    n = min(N, BITS // (8 * task.oracle.record) if task.oracle.record > 8 else N)
    numbers = np.arange(n) % items
    words = [f"word {item}" for item in range(items)] if is_open else None
    values = [words[item] for item in numbers] if words else numbers
    messages = task.randomize(values)
    tally = task.tally(messages)
    client = steadily(lambda: task.randomize(values))
    each = steadily(lambda: task.tally(messages)) / n
    once = steadily(lambda: tally.estimate(words))
    return Speed(n / client, each, once, HEADER + task.oracle.record)


def steadily(call: Callable[[], object]) -> float:
    """CPU-seconds of a call, repeated for as long as a peer's calls are."""
    calls, spent = 0, 0.0
    while spent < SECONDS:
        spent += cpu_seconds(call)
        calls += 1
    return spent / calls


def theirs(worker: Worker, oracle: str, items: int) -> Speed:
    return Speed(
        **worker.ask(oracle=oracle, items=items, epsilon=EPSILON, seconds=SECONDS)
    )


def measure(case: Case, items: int, workers: Mapping[str, Worker]) -> dict[str, Speed]:
    systems: dict[str, Callable[[], Speed]] = {OURS: partial(ours, case.oracle, items)}
    for system, oracle in case.peers.items():
        worker = workers[system.partition(",")[0]]
        systems[system] = partial(theirs, worker, oracle, items)
    seen: dict[str, list[Speed]] = {name: [] for name in systems}
    for _ in range(REPEATS):
        for name, speed in systems.items():
            seen[name].append(speed())
    return {name: Speed.middle(found) for name, found in seen.items()}


def rows_of(case: Case, items: int, speeds: Mapping[str, Speed]) -> list[Row]:
    label = f"{case.oracle}, {items:,} values"
    rows: list[Row] = []
    for system, speed in speeds.items():
        for side in ("client", "server"):
            rate: float = getattr(speed, side)
            rows.append(
                Row(f"{label}, {side}", system, "messages per CPU-second", rate)
            )
        rows.append(Row(f"{label}, all estimates", system, "CPU-seconds", speed.once))
        rows.append(Row(f"{label}, a message", system, "bytes", speed.bytes))
    return rows


Found = dict[tuple[str, int], dict[str, Speed]]


def times(found: Found, oracle: str, items: int, peer: str, side: str) -> float:
    speeds = found[oracle, items]
    ratio: float = getattr(speeds[OURS], side) / getattr(speeds[peer], side)
    return ratio


def worst(found: Found, oracle: str, peer: str, side: str) -> float:
    return min(times(found, oracle, items, peer, side) for items in DOMAINS)


def peer_variances(epsilon: float, items: int) -> dict[str, float]:
    """Variance · n of the frequency of a value that nobody holds."""
    grown = math.exp(epsilon)
    hashed = round(grown) + 1
    size = max(1, round(items / (grown + 1)))
    inside = size * grown / (size * grown + items - size)
    rates = {
        "k-ary response": (grown / (grown + items - 1), 1 / (grown + items - 1)),
        "optimized unary": (0.5, 1 / (grown + 1)),
        "symmetric unary": (
            1 / (1 + math.exp(-epsilon / 2)),
            1 / (1 + math.exp(epsilon / 2)),
        ),
        "local hashing": (grown / (grown + hashed - 1), 1 / hashed),
        "subset selection": (inside, (size - inside) / (items - 1)),
    }
    found = {name: q * (1 - q) / (p - q) ** 2 for name, (p, q) in rates.items()}
    return found | {"Hadamard sketch": ((grown + 1) / (grown - 1)) ** 2}


LEVELS = (0.5, 1.0, 2.0, 3.0, 4.0)
SIZES = (2, 3, 10, 30, 100, 1_000, 10_000, 100_000)


def variance_ratio(epsilon: float, items: int, **limits: Any) -> float:
    """What `choose` picks, over the best of the peers' oracles."""
    choice = local.choose(items, epsilon=epsilon, n=N, none=False, **limits)
    return choice.chosen.error**2 * N / min(peer_variances(epsilon, items).values())


def variance_rows(name: str, **limits: Any) -> tuple[list[Row], float]:
    ratios = {
        (epsilon, items): variance_ratio(epsilon, items, **limits)
        for epsilon in LEVELS
        for items in SIZES
    }
    rows = [
        Row(
            f"ε = {epsilon:g}, {items:,} values, {name}",
            OURS,
            "variance / best peer",
            ratio,
        )
        for (epsilon, items), ratio in ratios.items()
    ]
    return rows, max(ratios.values())


def goals(found: Found, variance: float) -> tuple[Goal, ...]:
    unary = partial(times, found, "optimized unary", 1_000, PURE)
    sketch = times(found, "Hadamard sketch", 1_000, PURE, "client")
    hadamard = found["Hadamard response", 100_000][OURS]
    kinds = [
        at_least(
            f"k-ary response, {side}, times pure-ldp's rate, worst domain",
            40,
            worst(found, "k-ary response", PURE, side),
        )
        for side in ("client", "server")
    ]
    return (
        at_least(
            "optimized unary, 1,000 values, client, times pure-ldp",
            100,
            unary("client"),
        ),
        at_least(
            "optimized unary, 1,000 values, server, times pure-ldp", 50, unary("server")
        ),
        at_least(
            "local hashing, server with all estimates, times pure-ldp's, worst domain",
            200,
            worst(found, "local hashing", PURE, "whole"),
        ),
        at_least("Hadamard sketch, client, times pure-ldp", 100, sketch),
        *kinds,
        at_most(
            f"Hadamard response, 100,000 estimates after {N:,} messages, CPU-seconds",
            0.1,
            hadamard.once,
        ),
        at_most("variance of what is chosen over the best peer's", 1.000001, variance),
    )


def run() -> Report:
    rows: list[Row] = []
    found: Found = {}
    with Worker(PURE, SCRIPTS[PURE]) as pure, Worker(MULTI, SCRIPTS[MULTI]) as multi:
        workers = {PURE: pure, MULTI: multi}
        for case in CASES:
            for items in case.domains:
                speeds = measure(case, items, workers)
                rows += rows_of(case, items, speeds)
                found.setdefault((case.oracle, items), speeds)
    unlimited, variance = variance_rows("no limits", payload=None, cells=None)
    usual, _ = variance_rows("usual limits")
    peers = {name: ", ".join(PEERS[name].requirements) for name in SCRIPTS}
    return Report(
        (*rows, *unlimited, *usual),
        goals(found, variance),
        NOTES,
        versions("dither", "numpy", "cryptography") | peers,
    )
