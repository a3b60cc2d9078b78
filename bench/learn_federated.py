"""Federated rounds: speed and memory by number of clients, digits split by client beside
non-private averaging, and noise that is correlated beside noise that is not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.harness import Goal, Report, Row, at_least, at_most, cpu_seconds, versions
from bench.scripts.learn_digits import DELTA, EPSILONS, MODELS, split
from dither.learn import federated
from dither.learn.federated import Banded, FedAvg, Independent, Participation, Tree
from dither.learn.federated.factorizations import Factorization

ROWS, INPUTS, CLASSES = 10, 32, 3
CLIENTS, ROUNDS = 10_000, 100
SIZES = (1_000, 10_000, 100_000)
ALONE = 300
"""Clients of the plain loop that are measured; the rest take as long each."""
LOOP = "PyTorch, one by one"
Pair = tuple[Tensor, Tensor]

CHOSEN_ON, TESTED = range(1000, 1002), range(2000, 2006)
EACH = 3
"""Images of a client."""
NOTES = (
    "Speed: ten rows of 32 numbers a client, five local steps on all of them, one thread. "
    "In a round of 10,000 all clients take part. The plain loop is PyTorch's own "
    f"optimizer, one client after the other, on {ALONE} clients; its time is for as many "
    "as the simulator had.",
    "Memory: peak of a process of its own with five rounds of about 500 clients, which "
    "are made up when they are asked for.",
    f"Digits: images of a class go to clients of {EACH}, so a client has one class, or "
    "two; the unit is a client with all its images. Models are linear on pixels and fixed "
    "edge strengths, δ = 1e-4. Rates, rounds and radius were chosen on splits 1000 and "
    "1001; figures are from splits 2000 to 2005. Without privacy nothing is clipped or "
    "noised.",
    "Digits in turn: 48 rounds, a client comes to every eighth at most, and to six in "
    "all; about 60 clients a round. The rate was chosen for banded noise among three, on "
    "splits 1000 and 1001 at ε = 8, and is the same for all three.",
    "Correlated noise: the root of the mean squared error of running sums, for a radius "
    "of 1 and a noise multiplier of 1, in closed form: at equal ε these ratios are those "
    "of the noise. Sampled rounds are not among them: there nothing can be sampled.",
)


class Made:
    """Clients that are made up when they are asked for."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, client: int) -> Pair:
        made = np.random.default_rng(client)  # allowed: made-up data
        inputs = made.standard_normal((ROWS, INPUTS), np.float32)
        labels = (inputs[:, 0] > 0).astype(np.int64) + (inputs[:, 1] > 0)
        return torch.from_numpy(inputs), torch.from_numpy(labels)


def linear() -> nn.Module:
    return nn.Linear(INPUTS, CLASSES)


def hidden() -> nn.Module:
    return nn.Sequential(nn.Linear(INPUTS, 32), nn.ReLU(), nn.Linear(32, CLASSES))


SMALL: dict[str, Callable[[], nn.Module]] = {"linear": linear, "32 hidden": hidden}


def options(**more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "loss": functional.cross_entropy,
        "rows": ROWS,
        "noise": 1.0,
        "local_steps": 5,
        "example": (torch.zeros(INPUTS), 0),
    }
    return plain | more


def speed() -> tuple[list[Row], list[Goal]]:
    torch.set_num_threads(1)
    made = [Made(CLIENTS)[client] for client in range(CLIENTS)]
    rows, goals = [], []
    for name, model in SMALL.items():
        _plain(model(), made)  # the first time it imports and compiles
        plain = median(_plain(model(), made) for _ in range(3))
        for cohort in (100, CLIENTS):
            case = f"{name}, {CLIENTS:,} clients, {ROUNDS} rounds of {cohort:,}"
            asked = options(rounds=ROUNDS, cohort=cohort, units=CLIENTS)
            seconds = cpu_seconds(partial(federated.train, model(), made, **asked))
            loop = plain * cohort * ROUNDS
            ratio = round(loop / seconds, 2)
            rows += [
                Row(case, "dither", "CPU seconds", round(seconds, 2)),
                Row(case, LOOP, "CPU seconds", round(loop, 2)),
                Row(case, LOOP, "ratio", ratio),
            ]
        goals += [
            at_most(f"{case}: CPU minutes", 5, round(seconds / 60, 2)),
            at_least(f"{case}: times faster than one by one", 5, round(ratio, 1)),
        ]
    return rows, goals


def _plain(model: nn.Module, clients: list[Pair]) -> float:
    """CPU seconds of a client in a loop, without any clipping."""
    start = {name: one.clone() for name, one in model.state_dict().items()}
    began = time.process_time()
    for inputs, labels in clients[:ALONE]:
        model.load_state_dict(start)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            functional.cross_entropy(model(inputs), labels).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        _ = {name: one - start[name] for name, one in model.state_dict().items()}
    return (time.process_time() - began) / ALONE


def memory() -> tuple[list[Row], list[Goal]]:
    peaks = {size: _peak(size) for size in SIZES}
    rows = [
        Row(f"{size:,} clients", "dither", "peak MB", peak)
        for size, peak in peaks.items()
    ]
    low, high = peaks[SIZES[0]], peaks[SIZES[-1]]
    return rows, [
        at_most("peak of 100,000 clients beside 1,000", 1.1, round(high / low, 3))
    ]


def _peak(clients: int) -> float:
    command = [sys.executable, "-m", "bench.learn_federated", str(clients)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def _measured(clients: int) -> float:
    torch.set_num_threads(1)
    asked = options(rounds=5, cohort=500, units=clients)
    federated.train(hidden(), Made(clients), **asked)
    # A child's `ru_maxrss` begins with what its parent held; this does not.
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return round(int(peak.split()[1]) / 1024, 1)


@dataclass(frozen=True)
class Way:
    """How digits are learned."""

    rounds: int
    lr: float
    local_lr: float
    clip: float
    steps: int = 3


PRIVATE = {
    1.0: Way(30, 1.0, 1.0, 0.3),
    3.0: Way(30, 3.0, 1.0, 0.3),
    8.0: Way(30, 1.0, 1.0, 1.0),
}
OPEN = Way(40, 1.0, 1.0, 1e6)
LIMITS = Participation(gap=8, most=6)
LIMITED, IN_TURN = Way(48, 0.3, 1.0, 1.0), 3.0


def clients_of(number: int) -> tuple[list[Pair], Pair]:
    """A split of the digits, by class and then by client; and images to test with."""
    inputs, targets, tested, wanted = split(number)
    order = torch.argsort(targets, stable=True)
    places = [order[start : start + EACH] for start in range(0, len(order), EACH)]
    return [(inputs[some], targets[some]) for some in places], (tested, wanted)


def accuracy(number: int, way: Way, **more: Any) -> float:
    torch.set_num_threads(1)
    clients, (tested, wanted) = clients_of(number)
    model = MODELS["edges"]()
    asked: dict[str, Any] = {
        "loss": functional.cross_entropy,
        "rounds": way.rounds,
        "cohort": len(clients),
        "units": len(clients),
        "rows": EACH,
        "local_steps": way.steps,
        "local_lr": way.local_lr,
        "clip": way.clip,
        "server": FedAvg(lr=way.lr, momentum=0.9),
        "example": (torch.zeros(64), 0),
        "delta": DELTA,
    }
    found = federated.train(model, clients, **(asked | more)).value
    with torch.no_grad():
        return float((found(tested).argmax(1) == wanted).float().mean())


def digits() -> tuple[list[Row], list[Goal]]:
    rows, goals = [], []
    # With next to no noise, and a radius that nobody reaches.
    plain = [accuracy(one, OPEN, noise=1e-9) for one in TESTED]
    rows += _figures("digits, no privacy", "averaging", plain)
    for epsilon, furthest in zip(EPSILONS, (0.15, 0.06, 0.04), strict=True):
        found = [accuracy(one, PRIVATE[epsilon], epsilon=epsilon) for one in TESTED]
        rows += _figures(f"digits, ε = {epsilon:g}", "sampled rounds", found)
        apart = mean(plain) - mean(found)
        goals.append(
            at_most(
                f"digits, ε = {epsilon:g}: below non-private averaging",
                furthest,
                round(apart, 4),
            )
        )
    return rows, goals


def _figures(case: str, system: str, values: list[float]) -> list[Row]:
    error = stdev(values) / len(values) ** 0.5
    return [
        Row(case, system, "accuracy", round(mean(values), 4)),
        Row(case, system, "standard error", round(error, 4)),
    ]


HOW: dict[str, Factorization] = {
    "banded": Banded(),
    "tree": Tree(),
    "independent": Independent(),
}
CASES = (
    (64, 64, 1),
    (128, 16, 8),
    (500, 50, 10),
    (1000, 100, 10),
    (1000, 20, 50),
    (2000, 400, 5),
)


def correlated() -> tuple[list[Row], list[Goal]]:
    rows, worst = [], 0.0
    for rounds, gap, most in CASES:
        rule = Participation(gap, most)
        case = f"{rounds:,} rounds, gap {gap}, {most} times"
        errors = {
            name: one.chosen(rounds, rule).error(rounds, rule)
            for name, one in HOW.items()
        }
        rows += [
            Row(case, name, "error of running sums", round(error, 2))
            for name, error in errors.items()
        ]
        bands = Banded().chosen(rounds, rule).bands
        rows.append(Row(case, "banded", "bands", bands))
        others = min(errors["tree"], errors["independent"])
        worst = max(worst, errors["banded"] / others)
    goal = at_most("error of banded noise beside the best other", 0.8, round(worst, 3))
    return rows, [goal]


def learning() -> tuple[list[Row], list[Goal]]:
    """The same digits where clients come in turn."""
    means, rows = {}, []
    for name, how in HOW.items():
        found = [_limited(one, how) for one in TESTED]
        rows += _figures(f"digits in turn, ε = {IN_TURN:g}", name, found)
        means[name] = mean(found)
    others = max(means["tree"], means["independent"])
    return rows, [
        at_least(
            "digits in turn: banded above the best other",
            0.0,
            round(means["banded"] - others, 4),
        )
    ]


def _limited(number: int, how: Factorization) -> float:
    more: dict[str, Any] = {"participation": LIMITS, "factorization": how}
    return accuracy(number, LIMITED, epsilon=IN_TURN, cohort=None, **more)


def run() -> Report:
    """All of it."""
    parts = [speed(), memory(), digits(), correlated(), learning()]
    rows = [row for some, _ in parts for row in some]
    goals = [goal for _, some in parts for goal in some]
    used = versions("torch", "numpy", "scikit-learn")
    return Report(tuple(rows), tuple(goals), NOTES, used)


if __name__ == "__main__":
    print(json.dumps(_measured(int(sys.argv[1]))))
