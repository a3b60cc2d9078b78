"""Means, medians and regression of trials: coverage and width of intervals, false
positives and power, beside published private intervals.

Vectors, noise and intervals are those of the public functions. Whether an interval
holds the truth is asked of its law, which is the same as looking at its ends and much
faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from bench.harness import Goal, Row, at_least, at_most
from dither.cost import Cost
from dither.errors import ArgumentError
from dither.question import Question
from dither.science import trials
from dither.science.trials.columns import given
from dither.science.trials.differences import Difference
from dither.science.trials.means import Asked
from dither.science.trials.order import _coins, around
from dither.science.trials.regression import Asked as AskedFit
from dither.science.trials.totals import Total

Reals = NDArray[np.float64]

NOTES = (
    "Means: 2,000 studies a cell with bounds of (-1, 1), both arms alike; as many "
    "p-values are at most 0.05 as intervals miss. normal: standard deviation 0.2. skew: "
    "lognormal in bounds of (0, 20). outliers: one in twenty at a bound. missing: a "
    "tenth. Widths are means of 100 studies; Welch's are of the exact outcomes.",
    "Half and half is the interval of Du, Foot, Moniot, Bray & Groce (2020, NOISYVAR), "
    "and of Ferrando, Wang & Sheldon (2022) for a normal law, written anew: half of ε on "
    "each mean, half on each variance, and a critical value by simulation from what was "
    "released.",
    "Medians: 2,000 studies a cell, as above; skew against skew lies at opposite ends. "
    "Two choices are those of Drechsler, Globus-Harris, McMillan, Sarathy & Smith (2022): "
    "an exponential mechanism with half of ε for each end, at ranks moved by sampling "
    "and by its error, on as many points as here; the width is that between the exact "
    "outcomes at those ranks, which flatters it. Nothing: no rank holds.",
    "Regression: 2,000 studies a cell, a slope of 0.4 and residuals of 0.2 in bounds of "
    "(-1, 1), a twentieth of x missing. wide: x uniform over its bounds; narrow: x "
    "normal with standard deviation 0.25. Open is the share of intervals without ends.",
)
STUDIES, WIDTHS = 2_000, 100
SIZES, EPSILONS = (50, 200), (0.3, 1.0, 3.0)
HOLD, WIDE, POWER = "intervals hold (95 %)", "mean width", "power"
OPEN = "open intervals"
RATE = "false positives"
TESTS = ("mean_difference", "median_difference", "location_shift", "linregress")
MISSES = 0.05 + 3 * math.sqrt(0.05 * 0.95 / STUDIES)


def _missing(values: Reals, source: np.random.Generator) -> Reals:
    values[source.random(values.shape) < 0.1] = np.nan
    return values


def _outliers(source: np.random.Generator, shape: tuple[int, int]) -> Reals:
    ends = np.where(source.random(shape) < 0.7, 1.0, -1.0)
    return np.where(source.random(shape) < 0.05, ends, source.normal(0, 0.2, shape))


def _skew(source: np.random.Generator, shape: tuple[int, int]) -> Reals:
    return np.minimum(source.lognormal(0, 1, shape), 20) / 10 - 1


Draw = Callable[[np.random.Generator, tuple[int, int]], Reals]
SHAPES: dict[str, Draw] = {
    "normal": lambda source, shape: source.normal(0, 0.2, shape),
    "skew": _skew,
    "outliers": _outliers,
    "ties": lambda source, shape: source.integers(-2, 3, shape) / 5,
    "missing": lambda source, shape: _missing(source.normal(0.3, 0.2, shape), source),
    "nearly constant": lambda source, shape: np.where(
        source.random(shape) < 0.02, 1.0, 0.1
    ),
    "constant": lambda source, shape: np.full(shape, 0.3),  # noqa: ARG005
}


def studies(draw: Draw, n: int, count: int = STUDIES) -> Iterator[tuple[Reals, Reals]]:
    source = np.random.default_rng(17)
    x = np.clip(draw(source, (count, n)), -1, 1)
    y = np.clip(draw(source, (count, n)), -1, 1)
    return zip(x, y, strict=True)


def difference(x: Reals, y: Reals, epsilon: float, missing: str) -> Difference:
    asked = Asked.of(
        "mean",
        (given("x", x), given("y", y)),
        (x.size, y.size),
        (-1, 1),
        missing,
        {"epsilon": epsilon},
    )
    with asked.question.paying(asked.plan.mechanism.guarantee) as paid:
        return Difference(asked.arms(paid), asked.scale)


def means() -> Iterator[Row]:
    for n in SIZES:
        for epsilon in EPSILONS:
            for name, draw in SHAPES.items():
                case = f"mean_difference, n = {n}, ε = {epsilon:g}, {name}"
                found = [difference(x, y, epsilon, "omit") for x, y in studies(draw, n)]
                held = [one.pvalue > 0.05 for one in found]
                yield Row(case, "dither", HOLD, round(float(np.mean(held)), 4))
                yield Row(case, "dither", RATE, round(float(1 - np.mean(held)), 4))
                yield Row(case, "dither", WIDE, _width(found[:WIDTHS]))


def _width(found: list[Difference]) -> float:
    ends = [one.ends(0.95) for one in found]
    return round(float(np.mean([high - low for low, high in ends])), 3)


# Beside published intervals and Welch's ---------------------------------------------


@dataclass(frozen=True)
class Halved:
    """A difference of means with half of ε on each mean and half on each variance."""

    shift: float
    law: Total

    @classmethod
    def of(
        cls, x: Reals, y: Reals, epsilon: float, source: np.random.Generator
    ) -> Halved:
        shift, variance, scales = 0.0, 0.0, []
        for sign, arm in ((1, x), (-1, y)):
            n, scale = arm.size, 4 / (epsilon * arm.size)
            shift += sign * (arm.mean() + source.laplace(0, scale))
            noisy = arm.var(ddof=1) + source.laplace(0, 2 * scale)
            variance += max(noisy, 0.0) / n
            scales.append(scale)
        return cls(shift, Total(tuple(scales), math.sqrt(variance)))


def beside() -> Iterator[Row]:
    draw = SHAPES["normal"]
    source = np.random.default_rng(23)
    for n in SIZES:
        exact = [
            3.92 * math.sqrt((x.var(ddof=1) + y.var(ddof=1)) / n)
            for x, y in studies(draw, n, WIDTHS)
        ]
        case = f"mean_difference, n = {n}, normal, none missing"
        yield Row(case, "Welch, exact outcomes", WIDE, round(float(np.mean(exact)), 3))
        for epsilon in EPSILONS:
            both = list(studies(draw, n, WIDTHS))
            here = [difference(x, y, epsilon, "middle") for x, y in both]
            halves = [Halved.of(x, y, epsilon, source) for x, y in both]
            wide = float(np.mean([2 * one.law.quantile(0.95) for one in halves]))
            named = f"{case}, ε = {epsilon:g}"
            yield Row(named, "dither", WIDE, _width(here))
            yield Row(named, "half and half", WIDE, round(min(wide, 4.0), 3))


def power() -> Iterator[Row]:
    source = np.random.default_rng(29)
    for n in (50, 100, 200):
        case = f"mean_difference, effect 0.5, n = {n}, ε = 1"
        both = [(x + 0.1, y) for x, y in studies(SHAPES["normal"], n)]
        here = [difference(x, y, 1.0, "middle").pvalue <= 0.05 for x, y in both]
        halves = [Halved.of(x, y, 1.0, source) for x, y in both]
        other = [one.law.outside(abs(one.shift)) <= 0.05 for one in halves]
        yield Row(case, "dither", POWER, round(float(np.mean(here)), 3))
        yield Row(case, "half and half", POWER, round(float(np.mean(other)), 3))


# Medians ----------------------------------------------------------------------------

OPPOSITE: dict[str, tuple[Draw, Draw, float]] = {
    "normal": (SHAPES["normal"], SHAPES["normal"], 0.0),
    "skew": (_skew, _skew, 0.0),
    "skew against skew": (_skew, lambda source, shape: -_skew(source, shape), -1.8),
    "ties": (SHAPES["ties"], SHAPES["ties"], 0.0),
    "missing": (SHAPES["missing"], SHAPES["missing"], 0.0),
    "constant": (SHAPES["constant"], SHAPES["constant"], 0.0),
}


def medians() -> Iterator[Row]:
    for n in SIZES:
        for epsilon in EPSILONS:
            for name, (one, other, truth) in OPPOSITE.items():
                case = f"median_difference, n = {n}, ε = {epsilon:g}, {name}"
                ask = partial(trials.median_difference, bounds=(-1, 1))
                yield from _held(case, ask, one, other, truth, n, epsilon)


def shifts() -> Iterator[Row]:
    for n in SIZES:
        for epsilon in EPSILONS:
            for name in ("normal", "ties", "missing"):
                case = f"location_shift, n = {n}, ε = {epsilon:g}, {name}"
                ask = partial(trials.location_shift, within=(-1, 1))
                draw = SHAPES[name]
                yield from _held(case, ask, draw, draw, 0.0, n, epsilon)


def _held(
    case: str,
    ask: Callable[..., trials.TrialRelease],
    one: Draw,
    other: Draw,
    truth: float,
    n: int,
    epsilon: float,
) -> Iterator[Row]:
    source = np.random.default_rng(31)
    held, widths = 0, []
    for _ in range(STUDIES):
        x, y = one(source, (1, n))[0], other(source, (1, n))[0]
        try:
            found = ask(x, y, sizes=(n, n), epsilon=epsilon)
        except ArgumentError:  # by public facts: the same for all studies
            yield Row(case, "dither", HOLD, None)
            return
        low, high = found.confidence_interval()
        held += low - 1e-9 <= truth <= high + 1e-9
        widths.append(high - low)
    yield Row(case, "dither", HOLD, round(held / STUDIES, 4))
    yield Row(case, "dither", WIDE, round(float(np.mean(widths)), 3))


def two_choices(n: int, epsilon: float, points: int) -> float | None:
    """About how wide the difference's interval is if each end is chosen by itself:
    between exact outcomes at the ranks that hold, for normal ones.
    """
    people, chances = _coins(n)
    least = (1 - math.sqrt(0.95)) / 2
    for rank in range(n // 2, -1, -1):
        off = np.clip(epsilon / 4 * (people - rank), -50, 700)
        if chances @ np.minimum(1, points * np.exp(-off)) <= least:
            return -4 * 0.2 * NormalDist().inv_cdf((rank + 0.5) / (n + 1))
    return None


def median_beside() -> Iterator[Row]:
    for n in (50, 200, 1000):
        for epsilon in EPSILONS:
            case = f"median_difference, n = {n}, ε = {epsilon:g}, normal"
            try:
                points = around(_question(epsilon), (n,), math.sqrt(0.95), None)[
                    1
                ].points
            except ArgumentError:
                continue
            width = two_choices(n, epsilon, points)
            held = None if width is None else round(width, 3)
            yield Row(case, "two choices", WIDE, held)


def _question(epsilon: float) -> Question:
    return Question("median", Cost(epsilon=epsilon), trials.PERSON)


# Regression -------------------------------------------------------------------------

EXPLAINED: dict[str, Callable[[np.random.Generator, int], Reals]] = {
    "wide": lambda source, n: source.uniform(-1, 1, n),
    "narrow": lambda source, n: np.clip(source.normal(0.3, 0.25, n), -1, 1),
}


def regressions() -> Iterator[Row]:
    for n in (*SIZES, 1000):
        for epsilon in EPSILONS:
            for name, draw in EXPLAINED.items():
                case = f"linregress, n = {n}, ε = {epsilon:g}, {name} x"
                yield from _regression(case, draw, n, epsilon)


def _regression(
    case: str,
    draw: Callable[[np.random.Generator, int], Reals],
    n: int,
    epsilon: float,
) -> Iterator[Row]:
    source = np.random.default_rng(37)
    held, widths = 0, []
    for study in range(STUDIES):
        x = draw(source, n)
        y = 0.4 * x + source.normal(0, 0.2, n)
        x[source.random(n) < 0.05] = np.nan
        asked = AskedFit.of(x, y, (-1, 1), (-1, 1), n, {"epsilon": epsilon})
        with asked.question.paying(asked.plan.mechanism.guarantee) as paid:
            fit = asked.fit(paid)
        error = fit._error(1)
        held += error is None or error.outside(0.4 - fit.shares[1]) > 0.05
        if study % 20 == 0:
            low, high = fit._ends(1, 0.95)
            widths.append(high - low)
    closed = [width for width in widths if math.isfinite(width)]
    yield Row(case, "dither", HOLD, round(held / STUDIES, 4))
    yield Row(case, "dither", OPEN, round(1 - len(closed) / len(widths), 2))
    if closed:
        yield Row(case, "dither", WIDE, round(float(np.median(closed)), 3))


def rows() -> Iterator[Row]:
    yield from means()
    yield from beside()
    yield from power()
    yield from medians()
    yield from median_beside()
    yield from shifts()
    yield from regressions()


def goals(found: tuple[Row, ...]) -> Iterator[Goal]:
    for test in TESTS:
        held = _values(found, test, HOLD)
        yield at_least(f"{test}: the worst coverage of 95 %", 0.935, min(held))
    wrong = max(_values(found, "mean_difference", RATE))
    yield at_most("mean_difference: the most false positives", round(MISSES, 4), wrong)


def _values(found: tuple[Row, ...], test: str, metric: str) -> list[float]:
    return [
        row.value
        for row in found
        if row.case.startswith(test)
        and row.metric == metric
        and row.system == "dither"
        and row.value is not None
    ]
