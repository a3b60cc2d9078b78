"""Rank tests of trials: false positives, coverage and width of intervals, and power
beside published private tests.

Statistics, noise, laws and intervals are those of the public functions, called by their
parts, so that a critical value or an acceptance region is found once for many trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bench.harness import Goal, Row, at_least, at_most
from bench.trials.rank_coverage import HOLD, coverage, private_coverage
from bench.trials.rank_noise import (
    EPSILONS,
    SIZES,
    UNITS,
    Reals,
    draws,
    law_of,
    private_arms,
    private_differences,
    rate,
)
from bench.trials.rank_power import POWER, powers
from dither.science.trials.kruskal_wallis import Arms
from dither.science.trials.rank_nulls import signed_null, wins_null
from dither.science.trials.ranks import capped, signed

NOTES = (
    "Rank tests, false positives: 10,000 trials a cell at α = 0.05, two-sided; the goal "
    "allows what 2,000 trials would, 0.05 and 3 standard errors of 0.0049. Missing: a "
    "tenth of one arm, three tenths of the other.",
    "Rank tests, coverage: 4,000 trials a cell of a nominal 95 %. Two-point outcomes "
    "against a constant are those whose U spreads most, a binomial.",
    "Rank tests, power: 40,000 trials a cell, normal outcomes of variance 1, α = 0.05. "
    "Couch, Kazan, Shi, Bray & Groce (CCS 2019) is their statistic, noise and reference "
    "law, written anew: min(U, n₁n₂ − U) with public sizes, or with a noisy smaller size "
    "(ε 0.65 and 0.35, δ 1e-6; one noisy size for a whole cell in their study, one for "
    "each of 40 batches here); signed ranks as here; absolute Kruskal–Wallis with "
    "sensitivity 8.",
)
TRIALS = 10_000
MISSES = 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2_000)
RATE = "false positives"
TESTS = ("mannwhitneyu", "wilcoxon", "kruskal")


def _missing(values: Reals, source: np.random.Generator) -> Reals:
    share = np.linspace(0.1, 0.3, values.shape[1])
    values[source.random(values.shape) < share] = np.nan
    return values


SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Reals]] = {
    "normal": lambda source, shape: source.normal(size=shape),
    "ties": lambda source, shape: source.integers(0, 4, shape).astype(float),
    "two values": lambda source, shape: (source.random(shape) < 0.3).astype(float),
    "skew": lambda source, shape: source.lognormal(size=shape),
    "outliers": lambda source, shape: source.standard_cauchy(shape),
    "missing": lambda source, shape: _missing(source.normal(size=shape), source),
}
SYMMETRIC: dict[str, Callable[[np.random.Generator, tuple[int, int]], Reals]] = {
    "normal": lambda source, shape: source.normal(size=shape),
    "ties and zeros": lambda source, shape: source.integers(-2, 3, shape).astype(float),
    "outliers": lambda source, shape: source.standard_cauchy(shape),
    "missing": lambda source, shape: _missing(source.normal(size=shape), source),
}


def two_arms() -> Iterator[Row]:
    for n in SIZES:
        null = wins_null(n, n)
        for shape, draw in SHAPES.items():
            values = draw(draws(n), (TRIALS, 2 * n))
            found = [capped(one[:n], one[n:], (n, n)) for one in values]
            for epsilon in EPSILONS:
                law = law_of(null.sensitivity, epsilon)
                critical = null.critical(law, 0.05, "two-sided")
                case = f"mannwhitneyu, n = {n}, ε = {epsilon:g}, {shape}"
                yield Row(case, "dither", RATE, rate(found, law, critical))


def differences() -> Iterator[Row]:
    for n in SIZES:
        null = signed_null(n)
        for shape, draw in SYMMETRIC.items():
            found = [signed(one) for one in draw(draws(n + 1), (TRIALS, n))]
            for epsilon in EPSILONS:
                law = law_of(null.sensitivity, epsilon)
                critical = null.critical(law, 0.05, "two-sided")
                case = f"wilcoxon, n = {n}, ε = {epsilon:g}, {shape}"
                yield Row(case, "dither", RATE, rate(found, law, critical))


def three_arms() -> Iterator[Row]:
    for n in SIZES:
        arms = Arms((n, n, n))
        for shape, draw in SHAPES.items():
            values = draw(draws(n + 2), (TRIALS, 3 * n))
            parts = (np.split(one, 3) for one in values)
            found = [arms.root(arms.sums(one)) for one in parts]
            for epsilon in EPSILONS:
                law = law_of(arms.sensitivity, epsilon)
                critical = arms.critical(law, 0.05)
                case = f"kruskal, 3 arms of {n}, ε = {epsilon:g}, {shape}"
                got = rate(found, law, critical, absolute=False)
                yield Row(case, "dither", RATE, got)


def private_sizes() -> Iterator[Row]:
    """By the public function: every trial has noisy sizes of its own."""
    for n in SIZES:
        for epsilon in EPSILONS:
            for name, unit in UNITS.items():
                values = SHAPES["ties"](draws(n + 3), (2_000, 2 * n))
                pvalues = [private_arms(one, n, epsilon, unit).pvalue for one in values]
                case = f"mannwhitneyu, private n = {n}, ε = {epsilon:g}, ties, {name}"
                found = float(np.mean(np.array(pvalues) <= 0.05))
                yield Row(case, "dither", RATE, found)


def private_size() -> Iterator[Row]:
    for n in SIZES:
        for epsilon in EPSILONS:
            for name, unit in UNITS.items():
                values = SYMMETRIC["ties and zeros"](draws(n + 5), (2_000, n))
                pvalues = [
                    private_differences(one, epsilon, unit).pvalue for one in values
                ]
                case = f"wilcoxon, private n = {n}, ε = {epsilon:g}, ties, {name}"
                found = float(np.mean(np.array(pvalues) <= 0.05))
                yield Row(case, "dither", RATE, found)


def rows() -> Iterator[Row]:
    yield from two_arms()
    yield from differences()
    yield from three_arms()
    yield from private_sizes()
    yield from private_size()
    yield from coverage()
    yield from private_coverage()
    yield from powers()


def goals(found: Sequence[Row]) -> Iterator[Goal]:
    mine = [row for row in found if row.case.startswith(TESTS)]
    for test in TESTS:
        rates = _values(mine, RATE, test)
        name = f"{test}: false positives at α = 0.05, worst case"
        yield at_most(name, round(MISSES, 4), max(rates))
    held_at = min(_values(mine, HOLD, ""))
    yield at_least("rank tests: 95 % intervals hold, worst case", 0.935, held_at)
    for n, least_of in ((50, 0.57), (100, 0.88), (200, 0.99)):
        case = f"mannwhitneyu, {n} in each arm, effect 0.5, ε = 1"
        yield at_least(f"{case}: power", least_of, _power(mine, case, "dither"))
    cases = {row.case for row in mine if row.metric == POWER}
    gaps = [
        abs(_power(mine, case, "dither") - _power(mine, case, "dither, planned"))
        for case in cases
    ]
    yield at_most("rank tests: planned power is off by", 0.02, max(gaps))
    behind = [
        _power(mine, case, "Couch et al. 2019") - _power(mine, case, "dither")
        for case in cases
    ]
    yield at_most("rank tests: behind Couch et al. 2019 by", 0.01, max(behind))


def _values(rows: Sequence[Row], metric: str, test: str) -> list[float]:
    chosen = (row for row in rows if row.metric == metric and row.case.startswith(test))
    return [row.value or 0.0 for row in chosen]


def _power(rows: Sequence[Row], case: str, system: str) -> float:
    return next(
        row.value or 0.0 for row in rows if (row.case, row.system) == (case, system)
    )
