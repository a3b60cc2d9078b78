"""How many draws an audit needs to find planted mistakes, how close its bounds come,
and what it costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np

from bench.harness import Goal, Report, Row, at_least, at_most, cpu_seconds, versions
from dither import audit
from dither.mechanisms import Gaussian, RandomizedResponse
from dither.noise import discrete_laplace, rounded_gaussian
from dither.privacy import ApproxDP, GaussianDP, Guarantee, PoissonSampled, PureDP

__all__ = ["BUGS", "OFTEN", "SOUND", "Bug", "prints", "run", "whole_scale"]

CLAIM = PureDP(1.0)
ANSWER = RandomizedResponse(epsilon=1).guarantee.unit
STEPS, CLIP = 10, 1000
POISSON = PoissonSampled(Fraction(1, STEPS), GaussianDP(1.0), STEPS).approx(1e-3)
"""What ten steps of training would promise, if batches were Poisson samples."""
OFTEN = 0.01
TRUTH = 0.8
ENOUGH = 100_000
GRID = (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
REPEATS = 20
ALARMS = 1000

NOTES = (
    "Each mistake is audited against the claim that it breaks; ε = 1 "
    "if nothing else is said.",
    f"Draws needed: the fewest of {', '.join(f'{n:,}' for n in GRID)} "
    f"of each input that find it in {REPEATS} of "
    f"{REPEATS} audits at 99.9 % confidence.",
    f"Found at {ENOUGH:,}: the share of {10 * REPEATS} audits that refute the claim.",
    "False alarms: of audits of mechanisms that keep their promise exactly (Laplace "
    "noise on one and on two numbers, randomized response, Gaussian noise, Poisson "
    "samples), in turn, 10,000 draws of each input.",
)

FRESH = (
    np.random.default_rng()
)  # allowed: some of the mistakes are made with such generators


def whole_scale(x: int, size: int) -> Any:
    return x + discrete_laplace(1.0, size)


def half_scale(x: int, size: int) -> Any:
    return x + discrete_laplace(0.5, size)


def clipped(x: int, size: int) -> Any:
    return x + np.clip(discrete_laplace(1.0, size), -6, 6)


def redrawn_tail(x: int, size: int) -> Any:
    noise = discrete_laplace(1.0, 2 * size + 50)
    return x + noise[np.abs(noise) <= 5][:size]


def seeded(x: int, size: int) -> Any:
    return x + np.rint(np.random.default_rng(7).laplace(0, 1, size)).astype(
        np.int64
    )  # allowed: the mistake itself


def same(x: int) -> int:
    return x + 3


def low_bits(x: float, size: int) -> Any:
    return x + FRESH.laplace(0.0, 1.0, size)


def prints(x: int, size: int) -> Any:
    """With a probability of one in a hundred, the database instead of a noisy count."""
    return np.where(
        FRESH.random(size) < OFTEN, 1_000_000 + x, x + discrete_laplace(1.0, size)
    )


def biased_answer(x: int, size: int) -> Any:
    """The truth too often: e / (1 + e) = 0.731 is allowed."""
    return np.where(FRESH.random(size) < TRUTH, x, 1 - x)


def shared_noise(x: tuple[int, int], size: int) -> Any:
    return np.array(x) + discrete_laplace(2.0, size)[:, None]


def joined(rows: int, size: int) -> Any:
    """A count after a join: a person's rows in both tables make rows · rows lines, but
    the noise is made for the rows of one table, 2.
    """
    return rows * rows + discrete_laplace(2.0, size)


def never_clears(item: int, size: int) -> Any:
    """A device's message: one bit for each of four items, of which those that are 0 are
    flipped as they should be, and the one that is 1 never.
    """
    flipped = FRESH.random((size, 4)) < 1 / (1 + np.exp(0.5))
    flipped[:, item] = True
    return flipped


def in_order(person: int, size: int) -> Any:
    """Noisy sums of ten batches by a loader that goes through the rows in their order:
    everybody is in one batch that is known.
    """
    sums = rounded_gaussian(float(CLIP), (size, STEPS))
    sums[:, 0] += CLIP * person
    return sums


@dataclass(frozen=True)
class Bug:
    """A mechanism with one mistake, neighbours that show it, and the claim it breaks."""

    name: str
    f: Callable[..., Any]
    a: Any
    b: Any
    claimed: Guarantee = CLAIM

    def found(self, draws: int = ENOUGH) -> audit.Finding:
        return audit.mechanism(
            self.f, self.a, self.b, claimed=self.claimed, draws=draws
        )


BUGS = (
    Bug("half the noise", half_scale, 0, 1),
    Bug("sensitivity off by two", whole_scale, 0, 2),
    Bug("the tail of the noise clipped, at 6 scales", clipped, 0, 1),
    Bug("the tail of the noise drawn again, from 6 scales on", redrawn_tail, 0, 1),
    Bug("a seed in every call", seeded, 0, 1),
    Bug("the same noise for ever", same, 0, 1),
    Bug("low bits of a float generator", low_bits, 0.0, 1.0),
    Bug(
        "prints the database one time in 100, δ = 0.005",
        prints,
        0,
        1,
        ApproxDP(1.0, OFTEN / 2),
    ),
    Bug(
        "randomized response that is true too often (0.8 for 0.731)",
        biased_answer,
        0,
        1,
    ),
    Bug("one noise for two numbers", shared_noise, (0, 0), (1, 0)),
    Bug("the sensitivity of one table, after a join", joined, 0, 2),
    Bug("a device that never flips 1 to 0", never_clears, 0, 1),
    Bug("batches in order, accounted as Poisson samples", in_order, 0, 1, POISSON),
)


def two_numbers(x: tuple[int, int], size: int) -> Any:
    return np.array(x) + discrete_laplace(2.0, (size, 2))


def honest_answer(x: int, size: int) -> Any:
    return RandomizedResponse(epsilon=1).release(np.full(size, x))


def gaussian(x: int, size: int) -> Any:
    return Gaussian(sensitivity=1, mu=1).release(np.full(size, x))


def poisson(person: int, size: int) -> Any:
    """Noisy sums of ten Poisson samples."""
    sums = rounded_gaussian(float(CLIP), (size, STEPS))
    return sums + CLIP * person * (FRESH.random((size, STEPS)) < 1 / STEPS)


SOUND = (
    Bug("Laplace noise", whole_scale, 0, 1),
    Bug("Laplace noise on two numbers", two_numbers, (0, 0), (1, 1)),
    Bug("randomized response", honest_answer, 0, 1, PureDP(1.0, unit=ANSWER)),
    Bug("Gaussian noise", gaussian, 0, 1, GaussianDP(1.0)),
    Bug("Poisson samples", poisson, 0, 1, POISSON),
)
"""The same kind of thing without a mistake, each as close to its claim as can be."""


def needed(bug: Bug) -> float | None:
    """The fewest draws of the grid that always suffice."""
    return next(
        (
            float(draws)
            for draws in GRID
            if all(bug.found(draws).refuted for _ in range(REPEATS))
        ),
        None,
    )


def measure_bugs() -> tuple[list[Row], float]:
    """Rows, and the smallest share that was found."""
    rows, shares = list[Row](), list[float]()
    for bug in BUGS:
        found = [bug.found() for _ in range(10 * REPEATS)]
        shares.append(sum(one.refuted for one in found) / len(found))
        rows += [
            Row(bug.name, "dither", "draws needed", needed(bug)),
            Row(bug.name, "dither", f"found at {ENOUGH:,}", shares[-1]),
            Row(
                bug.name,
                "dither",
                f"bound at {ENOUGH:,}, median",
                median(one.lower for one in found),
            ),
        ]
    return rows, min(shares)


def laplace(draws: int) -> audit.Finding:
    return audit.mechanism(whole_scale, 0, 1, claimed=CLAIM, draws=draws)


def measure_bounds() -> tuple[list[Row], dict[int, float]]:
    bounds = {
        draws: median(laplace(draws).lower for _ in range(9))
        for draws in (10_000, ENOUGH, 1_000_000, 10_000_000)
    }
    rows = [
        Row(f"discrete Laplace, ε = 1, {n:,} draws", "dither", "bound, median", bound)
        for n, bound in bounds.items()
    ]
    return rows, bounds


def goals(
    share: float, bounds: dict[int, float], seconds: float, alarms: int
) -> tuple[Goal, ...]:
    return (
        at_least(f"planted mistakes found at {ENOUGH:,} draws, worst share", 1, share),
        at_least(
            f"99.9 % lower bound of discrete Laplace, ε = 1, {ENOUGH:,} draws",
            0.96,
            bounds[ENOUGH],
        ),
        at_least(
            "99.9 % lower bound of discrete Laplace, ε = 1, 1,000,000 draws",
            0.99,
            bounds[1_000_000],
        ),
        at_most(f"false alarms in {ALARMS:,} audits at 99.9 %", 5, float(alarms)),
        at_most("audit of 10,000,000 draws of each input, CPU-seconds", 10, seconds),
    )


def run() -> Report:
    rows, share = measure_bugs()
    more, bounds = measure_bounds()
    alarms = sum(one.found(10_000).refuted for one in SOUND * (ALARMS // len(SOUND)))
    seconds = cpu_seconds(lambda: laplace(10_000_000))
    rows += [
        *more,
        Row("true claims called refuted", "dither", f"of {ALARMS:,}", float(alarms)),
        Row("10,000,000 draws of each input", "dither", "CPU-seconds", seconds),
    ]
    return Report(
        tuple(rows),
        goals(share, bounds, seconds, alarms),
        NOTES,
        versions("dither", "numpy"),
    )
