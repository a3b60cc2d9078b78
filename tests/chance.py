"""Tests of chance: what each may fail by chance, and how far that reaches.

A test whose outcome depends on drawn noise is marked with its false-alarm rate, and its
limits are computed from that rate instead of being typed in:

    @chance(1e-9)
    def test_the_mean_is_right() -> None:
        draws = noise.laplace(1.0, 10_000)
        assert abs(draws.mean()) < deviations(1e-9) * (2 / 10_000) ** 0.5

`pytest --chance 50` runs all of them 50 times, `pytest --wild` looks for those that are
not marked, and tests/chance.txt (`python tools/chance.py`) lists them with their rates.
"""

from __future__ import annotations

import math
from bisect import bisect
from statistics import NormalDist

import pytest

__all__ = ["LIMIT", "at_least", "at_most", "chance", "deviations", "runs"]

LIMIT = 1e-7
"""No test may fail by chance more often: thousands of them then fail once in thousands
of runs.
"""


def chance(rate: float) -> pytest.MarkDecorator:
    """Mark a test of chance. `rate` is how often one run of it (one set of parameters)
    fails although the code is right.
    """
    if not 0 < rate <= LIMIT:
        raise ValueError(
            f"a test of chance may fail in at most {LIMIT:g} of its runs, got {rate:g}:"
            " draw more, or widen its limits"
        )
    return pytest.mark.chance(rate=rate)


def deviations(rate: float, *, of: int = 1, sides: int = 2) -> float:
    """How many standard deviations the largest of `of` normal variables stays within,
    but for `rate` of the runs (a union bound, so they may depend on each other).
    """
    return -NormalDist().inv_cdf(rate / (of * sides))


def at_most(trials: int, share: float, rate: float) -> int:
    """The most successes in independent trials that each succeed with probability at
    most `share`; more come with probability `rate` at the most. The exact tail, summed.
    """
    mean, tail = int(trials * share), 0.0
    beyond = range(mean, trials)
    # What lies further out than this adds up to a millionth of a millionth of the rate
    kept = mean + bisect(
        beyond, -1e-12 * rate / trials, key=lambda more: -_mass(trials, more, share)
    )
    while kept > 0 and (tail := tail + _mass(trials, kept, share)) <= rate:
        kept -= 1
    return kept


def at_least(trials: int, share: float, rate: float) -> int:
    """The fewest successes in independent trials that each succeed with probability at
    least `share`; fewer come with probability `rate` at the most.
    """
    return trials - at_most(trials, 1 - share, rate)


def runs(gap: float, spread: float, rate: float) -> int:
    """How many draws of standard deviation `spread` tell two means apart that differ by
    `gap`: their average strays by half of it in at most `rate` of the runs.
    """
    return math.ceil((2 * deviations(rate) * spread / gap) ** 2)


def _mass(trials: int, successes: int, share: float) -> float:
    """The probability of so many successes."""
    if share in {0.0, 1.0}:
        return float(successes == trials * share)
    ways = math.lgamma(trials + 1) - math.lgamma(successes + 1)
    ways -= math.lgamma(trials - successes + 1)
    ways += successes * math.log(share) + (trials - successes) * math.log1p(-share)
    return math.exp(ways)
