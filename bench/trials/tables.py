"""Proportions, tables and tests of tests: false positives, coverage and width of
intervals, and power beside published private tests.

Statistics, laws and intervals are those of the public functions, called by their parts,
and what was computed for a pair of noisy counts is not computed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import Goal, Row, at_least, at_most
from dither.mechanisms import Laplace
from dither.science import trials
from dither.science.trials import squares
from dither.science.trials.arms import Arm, Known, Private
from dither.science.trials.compared import Compared, Inverted
from dither.science.trials.contrasts import DIFFERENCE, ODDS, Contrast
from dither.science.trials.null import Law, special
from dither.science.trials.plans import cuts
from dither.science.trials.proportions import Fixed, Open, Population
from dither.science.trials.squares import Independence, pvalue, with_noise
from dither.science.trials.tulap import Binomial, Tulap

Reals = NDArray[np.float64]
Counts = Sequence[int]

NOTES = (
    "Proportions: 20,000 samples a cell with public n, 2,000 with private n; the test is "
    "the one that Awan & Slavković (NeurIPS 2018, JPC 2020) prove most powerful, so its "
    "power is theirs.",
    "Tables: 2,000 a cell at α = 0.05 with 499 simulated tables each; people are n in all; "
    "constant: all in one column; one cell: all in one cell. Power: 2 × 2 with shares of ½ "
    "and a covariance of 0.025, the setting of Gaboardi, Lim, Rogers & Vadhan (ICML 2016); "
    "their Monte-Carlo test (Pearson's statistic of the noisy table, no rejection where an "
    "expected count is below 5) is written anew.",
    "Odds ratio and risk difference: 2,000 trials a cell (500 with private sizes) of n "
    "people an arm; whether a 95 % interval holds is whether its two one-sided tests keep "
    "the truth. Widths: 20 intervals; of odds ratios on the log scale, without open ones. "
    "No private interval for an odds ratio was found in print.",
    "Test of tests: Welch's t test in blocks, 2,000 trials a cell. Data needed for a power "
    "of 80 % at an effect of 0.5, over the 64 an arm of a public t test; Kazan, Shi, Groce "
    "& Bray (ICML 2023) report 5 to 6 times as much data at ε = 1. Skewed outcomes are "
    "lognormal(0, 1), arms alike.",
)
EPSILONS = (0.3, 1.0, 3.0)
RUNS = 2_000
MISSES = 0.05 + 3 * math.sqrt(0.05 * 0.95 / RUNS)
RATE, HOLD = "false positives", "intervals hold (95 %)"
WIDE, POWER = "mean width", "power"


def draws(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def law_of(sensitivity: float, epsilon: float) -> Law:
    return Law.of(Laplace(sensitivity=sensitivity, epsilon=epsilon))


# Proportions -----------------------------------------------------------------------


def public_sizes() -> Iterator[Row]:
    source = draws(1)
    for n, p, epsilon in cases((50, 200), (0.02, 0.5)):
        law = law_of(1, epsilon)
        tulap = Tulap(law)
        counts = source.binomial(n, p, 20_000) + law.draw(20_000)
        noisy = counts + source.random(20_000) - 0.5
        case = f"binomtest, n = {n}, p = {p:g}, ε = {epsilon:g}"
        low, high = cuts(Binomial(n, p), tulap, "two-sided", 0.05)
        yield Row(case, "dither", RATE, float(np.mean((noisy < low) | (noisy > high))))
        low, high = cuts(Binomial(n, p), tulap, "less", 0.025)[0], 0.0
        high = cuts(Binomial(n, p), tulap, "greater", 0.025)[1]
        yield Row(
            case, "dither", HOLD, float(np.mean((noisy >= low) & (noisy <= high)))
        )
        evidence = (Fixed(float(one), n, tulap) for one in noisy[:40])
        widths = [np.diff(Population(one).ends(0.95))[0] for one in evidence]
        yield Row(case, "dither", WIDE, round(float(np.mean(widths)), 4))


def cases(
    sizes: Sequence[int], shares: Sequence[Any]
) -> Iterator[tuple[int, Any, float]]:
    for n in sizes:
        for share in shares:
            for epsilon in EPSILONS:
                yield n, share, epsilon


def private_sizes() -> Iterator[Row]:
    source = draws(2)
    for n, p, epsilon in cases((50, 200), (0.05, 0.5)):
        law = law_of(1, epsilon)

        @cache
        def found(yes: int, no: int, law: Law = law, p: float = p) -> tuple[bool, bool]:
            arm = Open(Private(yes, no, law))
            low, high = arm.less(p), arm.greater(p)
            return arm.two_sided(p) <= 0.05, min(low, high) > 0.025

        yes = source.binomial(n, p, RUNS)
        noisy = np.stack([yes, n - yes], axis=1) + law.draw((RUNS, 2))
        seen = np.array([found(*pair) for pair in noisy.tolist()])
        case = f"binomtest, private n of {n}, p = {p:g}, ε = {epsilon:g}"
        yield Row(case, "dither", RATE, float(seen[:, 0].mean()))
        yield Row(case, "dither", HOLD, float(seen[:, 1].mean()))


# Tables ----------------------------------------------------------------------------

TABLES: dict[str, tuple[list[float], list[float]]] = {
    "2 × 2": ([0.5, 0.5], [0.3, 0.7]),
    "rare": ([0.5, 0.5], [0.02, 0.98]),
    "constant": ([0.5, 0.5], [0.0, 1.0]),
    "one cell": ([0.0, 1.0], [0.0, 1.0]),
    "3 × 4": ([0.6, 0.2, 0.2], [0.8, 0.1, 0.1, 0.0]),
}


def rejections(squares: Independence, tables: Reals) -> float:
    seen = squares.statistics(tables)
    pairs = zip(tables, seen.tolist(), strict=True)
    return float(np.mean([pvalue(squares, one, at) <= 0.05 for one, at in pairs]))


def tables() -> Iterator[Row]:
    source = draws(3)
    for n, name, epsilon in cases((100, 400), tuple(TABLES)):
        rows, columns = TABLES[name]
        cells = np.outer(rows, columns)
        exact = source.multinomial(n, cells.ravel(), RUNS).reshape(-1, *cells.shape)
        law = law_of(2, epsilon)
        noisy = (exact + law.draw(exact.shape)).astype(np.float64)
        found = rejections(Independence(law, law.variance), noisy)
        yield Row(f"χ², {name}, n = {n}, ε = {epsilon:g}", "dither", RATE, found)


def sized_tables() -> Iterator[Row]:
    source = draws(4)
    for n, name, epsilon in cases((50, 200), ("2 × 2", "constant")):
        share = TABLES[name][1][0]
        law, sizes = law_of(1, epsilon), (n, n)
        yes = source.binomial(n, share, (RUNS, 2))
        noisy = with_noise(np.stack([yes, n - yes], axis=-1), law, sizes)
        found = rejections(Independence(law, 2 * law.variance, sizes), noisy)
        case = f"χ², {name}, rows of {n}, ε = {epsilon:g}"
        yield Row(case, "dither", RATE, found)


def pearson(table: Reals) -> tuple[Reals, Reals]:
    """Pearson's statistic of noisy tables, and their least expected counts."""
    down, across = table.sum(axis=-1), table.sum(axis=-2)
    whole = table.sum(axis=(-1, -2))[..., None, None]
    expected = down[..., :, None] * across[..., None, :] / whole
    statistic = ((table - expected) ** 2 / expected).sum(axis=(-1, -2))
    return statistic, expected.min(axis=(-1, -2))


def gaboardi(squares: Independence, tables: Reals) -> float:
    """How often their Monte-Carlo test rejects."""
    found = 0
    with np.errstate(all="ignore"):
        for one in tables:
            seen, least = pearson(one)
            if least >= 5:
                null, enough = pearson(squares.drawn(one, 499))
                extreme = int(np.sum(~(null < seen) | (enough < 5)))
                found += (1 + extreme) / 500 <= 0.05
    return found / len(tables)


def table_power() -> Iterator[Row]:
    source = draws(5)
    for name, rows, n, epsilon in (
        ("2 × 2", [0.5, 0.5], 500, 1.0),
        ("2 × 2", [0.5, 0.5], 1000, 0.3),
        ("2 × 2", [0.5, 0.5], 2000, 0.1),
        ("2 × 2, a rare row", [0.1, 0.9], 1000, 0.3),
    ):
        cells = np.outer(rows, [0.5, 0.5]) + 0.025 * np.array([[1, -1], [-1, 1]])
        exact = source.multinomial(n, cells.ravel(), 1000).reshape(-1, 2, 2)
        law = law_of(2, epsilon)
        noisy = (exact + law.draw(exact.shape)).astype(np.float64)
        squares = Independence(law, law.variance)
        case = f"χ², {name}, n = {n}, ε = {epsilon:g}, covariance 0.025"
        yield Row(case, "dither", POWER, rejections(squares, noisy))
        yield Row(case, "Gaboardi et al. 2016", POWER, gaboardi(squares, noisy))
        planned = trials.power("chi2_contingency", n=n, table=cells, epsilon=epsilon)
        yield Row(case, "dither", "planned power", round(planned, 3))


# Two arms --------------------------------------------------------------------------

ARMS: tuple[tuple[Contrast, tuple[float, float]], ...] = (
    (ODDS, (0.3, 0.3)),
    (ODDS, (0.1, 0.05)),
    (DIFFERENCE, (0.5, 0.3)),
)


def known(law: Law, n: int, counts: Counts) -> tuple[Arm, Arm]:
    return Known(counts[0], n, law), Known(counts[1], n, law)


def private(law: Law, n: int, counts: Counts) -> tuple[Arm, Arm]:  # noqa: ARG001
    first, second, third, fourth = counts
    return Private(first, second, law), Private(third, fourth, law)


def judged(
    arms: Callable[..., tuple[Arm, Arm]], contrast: Contrast, value: float, noisy: Any
) -> tuple[float, float]:
    """How often intervals hold a value, and how wide they are."""

    @cache
    def holds(*counts: int) -> bool:
        compared = Compared(arms(counts=counts))
        tails = compared.greater(contrast, value), compared.less(contrast, value)
        return min(tails) > 0.025

    held = float(np.mean([holds(*one) for one in noisy.tolist()]))
    widths = []
    for one in noisy[:20].tolist():
        low, high = Inverted(Compared(arms(counts=one)), contrast).ends(0.95)
        if contrast is ODDS:
            low, high = (math.log(end) if end else -math.inf for end in (low, high))
        widths.append(high - low)
    closed = [width for width in widths if math.isfinite(width)]
    return held, round(float(np.mean(closed)), 3) if closed else math.nan


def two_arms() -> Iterator[Row]:
    source = draws(6)
    for n, (contrast, p), epsilon in cases((50, 200), ARMS):
        law = law_of(1, epsilon)
        noisy = source.binomial(n, p, (RUNS, 2)) + law.draw((RUNS, 2))
        value = contrast.of(*p)
        held, width = judged(partial(known, law, n), contrast, value, noisy)
        case = f"{contrast.name}, {p[0]:g} and {p[1]:g}, n = {n}, ε = {epsilon:g}"
        yield Row(case, "dither", HOLD, held)
        yield Row(case, "dither", WIDE, width if math.isfinite(width) else None)
        if p[0] == p[1]:
            yield Row(case, "dither", RATE, round(1 - held, 4))


def private_arms() -> Iterator[Row]:
    source = draws(7)
    for contrast, p, n, epsilon in (
        (ODDS, (0.3, 0.3), 200, 1.0),
        (DIFFERENCE, (0.5, 0.3), 50, 3.0),
    ):
        law = law_of(2, epsilon)
        yes = source.binomial(n, p, (500, 2))
        exact = np.stack([yes, n - yes], axis=-1).reshape(-1, 4)
        noisy = exact + law.draw(exact.shape)
        held, width = judged(partial(private, law, n), contrast, contrast.of(*p), noisy)
        case = f"{contrast.name}, private sizes of {n}, ε = {epsilon:g}"
        yield Row(case, "dither", HOLD, held)
        yield Row(case, "dither", WIDE, width)


# Tests of tests --------------------------------------------------------------------


def welch(x: Reals, y: Reals) -> float:
    """The two-sided p-value of Welch's t test."""
    parts = x.var(ddof=1) / x.size, y.var(ddof=1) / y.size
    both = sum(parts)
    t = (x.mean() - y.mean()) / math.sqrt(both)
    freedom = both**2 / (parts[0] ** 2 / (x.size - 1) + parts[1] ** 2 / (y.size - 1))
    return float(2 * special().stdtr(freedom, -abs(t)))


def in_blocks(values: Any, n: int, epsilon: float) -> float:
    arm = np.repeat([0, 1], n)
    found = (
        trials.test_of_tests(
            welch, one, arm=arm, arms=(0, 1), n=2 * n, epsilon=epsilon
        ).pvalue
        for one in values
    )
    return float(np.mean([value is not None and value <= 0.05 for value in found]))


def blocks() -> Iterator[Row]:
    source = draws(8)
    for n, name, epsilon in cases((50, 200), ("normal", "skewed")):
        size = (RUNS, 2 * n)
        values = (
            source.normal(size=size)
            if name == "normal"
            else source.lognormal(size=size)
        )
        case = f"test of tests, {name}, n = {n}, ε = {epsilon:g}"
        yield Row(case, "dither", RATE, in_blocks(values, n, epsilon))
    for n in (50, 100, 200):
        values = source.normal(size=(1000, 2 * n))
        values[:, :n] += 0.5
        case = f"test of tests, effect 0.5, n = {n}, ε = 1"
        yield Row(case, "dither", POWER, in_blocks(values, n, 1.0))
        planned = trials.power("test_of_tests", n=n, effect=0.5, epsilon=1)
        yield Row(case, "dither", "planned power", round(planned, 3))
    for epsilon in (0.3, 1.0, 3.0):
        need = trials.sample_size("test_of_tests", effect=0.5, epsilon=epsilon)
        case = f"test of tests, ε = {epsilon:g}"
        yield Row(
            case, "dither", "times the data of a public t test", round(need / 64, 2)
        )
    yield Row(
        "test of tests, ε = 1",
        "Kazan et al. 2023",
        "times the data of a public t test",
        5.0,
    )


def rows() -> Iterator[Row]:
    held = squares.DRAWS, squares.FEWEST
    squares.DRAWS = squares.FEWEST = 499
    try:
        yield from public_sizes()
        yield from private_sizes()
        yield from tables()
        yield from sized_tables()
        yield from table_power()
        yield from two_arms()
        yield from private_arms()
        yield from blocks()
    finally:
        squares.DRAWS, squares.FEWEST = held


def goals(rows: Sequence[Row]) -> Iterator[Goal]:
    mine = [row for row in rows if row.system == "dither" and row.value is not None]
    for start in ("binomtest", "χ²", "odds ratio", "test of tests"):
        found = [
            row for row in mine if row.case.startswith(start) and row.metric == RATE
        ]
        worst = max((row.value or 0.0 for row in found), default=None)
        yield at_most(f"{start}: false positives", MISSES, worst)
    for start in ("binomtest", "odds ratio", "risk difference"):
        found = [
            row for row in mine if row.case.startswith(start) and row.metric == HOLD
        ]
        least = min((row.value or 0.0 for row in found), default=None)
        yield at_least(f"{start}: 95 % intervals hold", 0.935, least)
    times = [
        row.value
        for row in mine
        if row.case == "test of tests, ε = 1"
        and row.metric.startswith("times")
        and row.value is not None
    ]
    yield at_most(
        "test of tests: data at ε = 1, against 5 to 6 published", 6, min(times)
    )
    for name in ("500, ε = 1", "a rare row, n = 1000, ε = 0.3"):
        power = {
            row.system: row.value
            for row in rows
            if name in row.case and row.metric == POWER
        }
        published = power.get("Gaboardi et al. 2016") or 0.0
        # the same where they are equally good: 1,000 studies each, of the same noise
        goal = f"χ², {name}: power beside Gaboardi et al."
        yield at_least(goal, round(published - 0.02, 3), power.get("dither"))
