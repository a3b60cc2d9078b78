"""How often intervals of rank tests hold what they are about, and how wide they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.harness import Row
from bench.trials.rank_noise import (
    EPSILONS,
    SIZES,
    UNITS,
    Reals,
    draws,
    law_of,
    private_arms,
)
from dither.science.trials.null import Law
from dither.science.trials.rank_nulls import least
from dither.science.trials.ranks import signed, wins
from dither.science.trials.signed_rank import PositiveSums
from dither.science.trials.superiority import Pairs

COVERED = 4_000
HOLD, WIDE = "intervals hold (95 %)", "mean width"


@dataclass(frozen=True)
class Population:
    """Outcomes of one arm, or of two, and what an interval must hold."""

    name: str
    truth: float
    draw: Callable[[np.random.Generator, tuple[int, int]], Reals]
    other: Callable[[np.random.Generator, tuple[int, int]], Reals] | None = None


def _phi(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def normal(mean: float, sd: float = 1.0) -> Callable[..., Reals]:
    return lambda source, shape: source.normal(mean, sd, shape)


def among(values: Sequence[float], chances: Sequence[float]) -> Callable[..., Reals]:
    return lambda source, shape: source.choice(values, shape, p=chances)


def holed(draw: Callable[..., Reals]) -> Callable[..., Reals]:
    def found(source: np.random.Generator, shape: tuple[int, int]) -> Reals:
        return np.where(source.random(shape) < 0.2, np.nan, draw(source, shape))

    return found


def two_populations() -> Iterator[Population]:
    shifted = _phi(0.5 / math.sqrt(2))
    levels, first, second = [0.0, 1, 2, 3], [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]
    above = np.greater.outer(levels, levels) + np.equal.outer(levels, levels) / 2
    ordinal = float(np.array(first) @ above @ np.array(second))
    yield Population("no effect", 0.5, normal(0), normal(0))
    yield Population("shift 0.5", shifted, normal(0.5), normal(0))
    yield Population("shift 2.5", _phi(2.5 / math.sqrt(2)), normal(2.5), normal(0))
    yield Population(
        "skew", shifted, lambda s, shape: np.exp(s.normal(0.5, 1, shape)), _lognormal
    )
    yield Population(
        "variances 1 and 25", _phi(0.5 / math.sqrt(26)), normal(0.5), normal(0, 5)
    )
    yield Population(
        "outliers",
        0.5 + math.atan(0.5) / math.pi,
        lambda s, shape: s.standard_cauchy(shape) + 1,
        lambda s, shape: s.standard_cauchy(shape),
    )
    yield Population(
        "four levels", ordinal, among(levels, first), among(levels, second)
    )
    missing = 0.64 * shifted + 0.36 * 0.5
    yield Population("missing", missing, holed(normal(0.5)), holed(normal(0)))
    for chance in (0.5, 0.8, 0.95, 0.99):
        two = among([-1.0, 1.0], [1 - chance, chance])
        yield Population(f"two points, {chance:g}", chance, two, among([0.0], [1.0]))


def _lognormal(source: np.random.Generator, shape: tuple[int, int]) -> Reals:
    return source.lognormal(size=shape)


def of_differences() -> Iterator[Population]:
    yield Population("no effect", 0.5, normal(0))
    yield Population("shift 0.3", _phi(0.3 * math.sqrt(2)), normal(0.3))
    yield Population("shift 1.5", _phi(1.5 * math.sqrt(2)), normal(1.5))
    cauchy = 0.5 + math.atan(0.5) / math.pi
    yield Population(
        "outliers", cauchy, lambda s, shape: s.standard_cauchy(shape) + 0.5
    )
    for name, values, chances in (
        ("levels and zeros", [-2.0, -1, 0, 1, 2], [0.05, 0.15, 0.4, 0.2, 0.2]),
        ("skew", [-1.0, 9.0], [0.7, 0.3]),
        ("rare", [-1.0, 9.0], [0.95, 0.05]),
    ):
        signs = np.sign(np.add.outer(values, values))
        truth = (1 + float(np.array(chances) @ signs @ np.array(chances))) / 2
        yield Population(name, truth, among(values, chances))
    # a missing difference counts as 0, so the sum has the sign of the other
    part = 0.64 * _phi(0.3 * math.sqrt(2)) + 0.32 * _phi(0.3) + 0.02
    yield Population("missing", part, holed(normal(0.3)))


def held(
    statistics: list[int],
    law: Law,
    ends: Callable[[int], tuple[float, float]],
    truth: float,
) -> tuple[float, float]:
    """How often intervals hold a truth, by the noisy statistics whose intervals do, and
    their mean width.
    """
    noisy = np.array(statistics) + law.draw(len(statistics))
    low = least(lambda t: ends(t)[1] >= truth - 1e-9)
    high = least(lambda t: ends(t)[0] > truth + 1e-9) - 1
    wide = [np.subtract(*ends(one)[::-1]) for one in noisy[:40].tolist()]
    return float(np.mean((noisy >= low) & (noisy <= high))), float(np.mean(wide))


def coverage() -> Iterator[Row]:
    for sizes in ((50, 50), (200, 200), (20, 100)):
        for one in two_populations():
            x = one.draw(draws(11), (COVERED, sizes[0]))
            assert one.other is not None
            y = one.other(draws(12), (COVERED, sizes[1]))
            found = [wins(a, b) for a, b in zip(x, y, strict=True)]
            for epsilon in EPSILONS:
                law = law_of(2 * max(sizes), epsilon)
                case = f"mannwhitneyu, {sizes[0]} and {sizes[1]}, ε = {epsilon:g}"
                ends = partial(_superior, sizes=sizes, law=law)
                yield from _covered(case, one, found, law, ends)
    for n in SIZES:
        for one in of_differences():
            found = [signed(d) for d in one.draw(draws(13), (COVERED, n))]
            for epsilon in EPSILONS:
                law = law_of(2 * n, epsilon)
                case = f"wilcoxon, n = {n}, ε = {epsilon:g}"
                yield from _covered(case, one, found, law, partial(_sums, n=n, law=law))


def _sums(noisy: int, n: int, law: Law) -> tuple[float, float]:
    return PositiveSums(noisy, n, law).ends(0.95)


def _superior(noisy: int, sizes: tuple[int, int], law: Law) -> tuple[float, float]:
    pairs = math.prod(sizes)
    return Pairs(noisy + pairs, min(sizes), 2 * max(sizes), law).ends(0.95)


def _covered(
    case: str,
    one: Population,
    found: list[int],
    law: Law,
    ends: Callable[[int], tuple[float, float]],
) -> Iterator[Row]:
    rate_of, width = held(found, law, ends, one.truth)
    yield Row(f"{case}, {one.name}", "dither", HOLD, round(rate_of, 4))
    yield Row(f"{case}, {one.name}", "dither", WIDE, round(width, 3))


def private_coverage() -> Iterator[Row]:
    for n in SIZES:
        for name, unit in UNITS.items():
            source, seen, wide = draws(n + 4), 0, 0.0
            for _ in range(500):
                values = np.append(source.normal(0.5, 1, n), source.normal(0, 1, n))
                low, high = private_arms(values, n, 1.0, unit).confidence_interval()
                seen += low <= _phi(0.5 / math.sqrt(2)) <= high
                wide += (high - low) / 500
            case = f"mannwhitneyu, private n = {n}, ε = 1, shift 0.5, {name}"
            yield Row(case, "dither", HOLD, seen / 500)
            yield Row(case, "dither", WIDE, round(wide, 3))
