"""The power of tests of proportions and tables, from public numbers alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms import Gaussian, Laplace
from dither.privacy.numbers import fraction
from dither.science.trials import checks
from dither.science.trials.arms import LEFT_OUT, Known, Steps
from dither.science.trials.checks import share
from dither.science.trials.groups import best, critical, power_of_blocks
from dither.science.trials.null import Law, special
from dither.science.trials.squares import Independence
from dither.science.trials.tables import ROOT
from dither.science.trials.tulap import Binomial, Tulap, bisect
from dither.science.trials.unbiased import Unbiased

__all__ = ["binomial_power", "blocks_power", "chi2_power", "odds_power"]


def law_of(
    epsilon: float | None, rho: float | None, l1: float = 1, l2: float = 1
) -> Law:
    """The noise of a stated cost."""
    if (epsilon is None) == (rho is None):
        raise ArgumentError(
            "epsilon", "pass exactly one of epsilon and rho as the cost of the test"
        )
    if rho is not None:
        return Law.of(Gaussian(sensitivity=l2, rho=rho))
    return Law.of(Laplace(sensitivity=l1, epsilon=epsilon or 0.0))


def binomial_power(
    *,
    n: int,
    proportion: float,
    p: float = 0.5,
    alternative: str = checks.TWO_SIDED,
    alpha: float = 0.05,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """The power of `binomtest` among n people, where the population has `proportion`:
    exact.
    """
    people, level = checks.size(n, "n"), checks.level(alpha)
    side = checks.alternative(alternative)
    truth, null = share("proportion", proportion), share("p", p)
    tulap = Tulap(law_of(epsilon, rho))
    low, high = cuts(Binomial(people, null), tulap, side, level)
    counts = Binomial(people, truth)
    found = tulap.below(low - counts.values) + tulap.below(counts.values - high)
    return min(1.0, counts.mean(found))


def cuts(
    counts: Binomial, tulap: Tulap, side: str, alpha: float
) -> tuple[float, float]:
    """Below the one and above the other cut, the test rejects."""
    centre = counts.n * counts.p
    reach = counts.n + 2 + 40 * tulap.law.scale
    test = Unbiased(counts, tulap)

    def upper(cut: float) -> bool:
        alone = counts.mean(tulap.below(counts.values - cut)) <= alpha
        return alone if side == checks.GREATER else test.pvalue(cut) <= alpha

    def lower(away: float) -> bool:
        cut = -away
        alone = counts.mean(tulap.below(cut - counts.values)) <= alpha
        return alone if side == checks.LESS else test.pvalue(cut) <= alpha

    far = counts.n + 2 * reach  # nothing is beyond it
    low = -far if side == checks.GREATER else -bisect(lower, -centre, reach, 40)
    high = far if side == checks.LESS else bisect(upper, centre, centre + reach, 40)
    return low, high


def odds_power(
    *,
    n: int,
    proportions: tuple[float, float],
    alternative: str = checks.TWO_SIDED,
    alpha: float = 0.05,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """The power of `odds_ratio` and `risk_difference` with n people in each arm, whose
    sizes are public, where the population has these two proportions. Nuisances are
    taken at their means, so it is about right (to a few hundredths).
    """
    people, level = checks.size(n, "n"), checks.level(alpha)
    side = checks.alternative(alternative)
    if not hasattr(proportions, "__len__") or len(proportions) != 2:
        raise ArgumentError("proportions", "must be two numbers, such as (0.6, 0.4)")
    first, second = (share("proportions", one) for one in proportions)
    arm = Known(0, people, law_of(epsilon, rho))
    each = (level / 2 if side == checks.TWO_SIDED else level) - 2 * LEFT_OUT
    middle = arm.law((first + second) / 2, people)
    most = 4.0 * people + 60 * arm.noise.scale
    cut = bisect(lambda u: _beyond(middle, middle, u) <= each, 0.0, most, 60)
    cut += 1e-3  # counts are whole: past the last one that is kept
    shift = people * (first - second)
    truth = arm.law(first, people), arm.law(second, people)
    up = _beyond(*truth, cut - shift)
    down = _beyond(truth[1], truth[0], cut + shift)
    sides = {checks.GREATER: up, checks.LESS: down}
    return min(1.0, sides.get(side, up + down))


def _beyond(first: Steps, second: Steps, cut: float) -> float:
    """P(X - Y ≥ cut)."""
    return float(first.weights @ second.below(first.values - cut))


def chi2_power(
    *,
    n: int,
    table: Any,
    public_rows: bool = False,
    alpha: float = 0.05,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """The power of `chi2_contingency` with n people in total, where cells have the
    probabilities in `table`: by the noncentral χ² law, so it is about right.
    `public_rows` says that sizes of rows are declared.
    """
    people, level = checks.size(n, "n"), checks.level(alpha)
    cells = _cells(table)
    single = public_rows and cells.shape[1] == 2
    law = law_of(epsilon, rho, *((1, 1) if single else (2, ROOT)))
    sizes = tuple((people * cells.sum(axis=1)).tolist()) if public_rows else None
    variance = law.variance * (2 if single else 1)
    away = float(Independence(law, variance, sizes).statistics(people * cells))
    dof = (cells.shape[0] - 1) * (cells.shape[1] - 1)
    found = special()
    return float(1 - found.chndtr(found.chdtri(dof, level), dof, away))


def _cells(table: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Probabilities of cells, or anything in proportion to them."""
    way_out = "pass rows of probabilities, such as [[0.3, 0.2], [0.2, 0.3]]"
    try:
        found = np.array(table, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError("table", f"must be a matrix; {way_out}") from None
    good = found.ndim == 2 and min(found.shape) > 1 and np.isfinite(found).all()
    if not good or found.min() < 0 or not found.sum() > 0:
        words = "must have two or more rows and columns of numbers from 0 on"
        raise ArgumentError("table", f"{words}; {way_out}")
    return np.asarray(found / found.sum())


def blocks_power(
    *,
    n: int,
    effect: float,
    groups: int | None = None,
    alpha0: float | None = None,
    alpha: float = 0.05,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """The power of a test of tests that runs a two-sided t test on blocks: n people in
    each of two arms, normal outcomes, `effect` standard deviations apart. Both arms of
    a block are taken to have as many people.
    """
    people, level = checks.size(n, "n"), checks.level(alpha)
    apart = float(fraction("effect", effect, "pass an effect such as 0.5"))
    law = law_of(epsilon, rho)
    count = None if groups is None else checks.size(groups, "groups")
    stated = None if alpha0 is None else checks.level(alpha0, "alpha0")
    blocks, each = best(law, count, stated, 2 * people)
    rejects = _rejects(people, blocks, apart, each)
    return power_of_blocks(law, blocks, rejects, critical(law, blocks, each, level))


def _rejects(people: int, blocks: int, effect: float, level: float) -> float:
    """How often a block rejects: the mean over the sizes that it may have."""
    sizes = Binomial(people, 1 / blocks, 30.0)
    found = special()
    size = np.maximum(sizes.values, 2.0)
    freedom, away = 2 * size - 2, effect * np.sqrt(size / 2)
    edge = -found.stdtrit(freedom, level / 2)
    chance = 1 - found.nctdtr(freedom, away, edge) + found.nctdtr(freedom, away, -edge)
    return sizes.mean(np.where(sizes.values >= 2, np.nan_to_num(chance), 0.0))
