"""How likely rank tests are to find a normal shift: from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import numpy as np

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.privacy.numbers import fraction
from dither.question import Question
from dither.science.trials import checks
from dither.science.trials.columns import Reals
from dither.science.trials.kruskal_wallis import Arms, lengths
from dither.science.trials.null import Law, public_draws, special
from dither.science.trials.private_sizes import (
    UNKNOWN,
    ArmSizes,
    OneSize,
    SizesPlan,
    margin,
)
from dither.science.trials.rank_nulls import RankNull, signed_null, wins_null

__all__ = ["kruskal", "mannwhitneyu", "wilcoxon"]

RELATIONS = ("replace", "add/remove")
MOST_ARMS = 30
PLANNED = 40_000
"""Number of studies that are simulated for the power of a test."""
PARTS = 9
"""Into so many equally likely parts the noise of a size is cut."""


@dataclass(frozen=True)
class Wanted:
    """What a test is to find, and how sure it is to be."""

    alpha: float
    alternative: str

    @classmethod
    def of(cls, alpha: Any, alternative: Any) -> Wanted:
        return cls(checks.level(alpha), checks.alternative(alternative))

    def power(self, null: RankNull, law: Law, mean: float, sd: float) -> float:
        """The probability that a normal statistic with noise is significant."""
        critical = null.critical(law, self.alpha, self.alternative)
        above = float(law.beyond(critical - mean, sd))
        below = float(law.beyond(critical + mean, sd))
        sides = {checks.GREATER: above, checks.LESS: below}
        return min(1.0, sides.get(self.alternative, above + below))

    def less(
        self, unknown: float, null: RankNull, law: Law, mean: float, sd: float
    ) -> float:
        """The same if p-values are larger by what is unknown. A normal law will do."""
        if self.alpha <= unknown:
            return 0.0
        rest = Wanted(self.alpha - unknown, self.alternative)
        return rest.power(RankNull(null.sensitivity, null.sd), law, mean, sd)


def mannwhitneyu(
    *,
    effect: float,
    n: int | None = None,
    sizes: Any = None,
    alpha: float = 0.05,
    alternative: str = checks.TWO_SIDED,
    epsilon: float | None = None,
    rho: float | None = None,
    private_sizes: bool = False,
    relation: str = RELATIONS[0],
) -> float:
    """The power against normal outcomes whose means lie `effect` standard deviations
    apart, with n people in each arm, or two sizes. If people come and go, sizes are
    private.
    """
    first, second = _sizes(n, sizes)
    wanted = Wanted.of(alpha, alternative)
    mean, sd = shifted_wins(_effect(effect), first, second)
    question = _question(epsilon, rho, relation)
    if private_sizes or not question.replacing:
        found = _unsure(question, (first, second), wanted, mean, sd)
        return float(np.mean(found))
    null = wins_null(first, second)
    return wanted.power(null, Law.of(question.additive(null.sensitivity)), mean, sd)


def _unsure(
    question: Question, sizes: tuple[int, int], wanted: Wanted, mean: float, sd: float
) -> list[float]:
    """The power for each pair of noisy sizes, all equally likely."""
    plan = SizesPlan.of(question)
    law = Law.of(plan.sizing)
    seen = [
        ArmSizes((sizes[0] + one, sizes[1] + other), law)
        for one, other in product(_parts(law), repeat=2)
    ]
    return [
        wanted.less(UNKNOWN, one.null, Law.of(plan.noise(*one.caps)), mean, sd)
        for one in seen
    ]


def _parts(law: Law) -> list[int]:
    """Noise in equally likely parts, each by its middle."""
    return [margin(law, (2 * part + 1) / (2 * PARTS)) for part in range(PARTS)]


def _question(epsilon: float | None, rho: float | None, relation: Any) -> Question:
    unit = Unit("person", checks.chosen("relation", relation, RELATIONS))  # type: ignore[arg-type]
    return Question("power", Cost(epsilon=epsilon, rho=rho), unit)


def shifted_wins(effect: float, first: int, second: int) -> tuple[float, float]:
    """Mean and standard deviation of Σ sign(xᵢ − yⱼ) for normal outcomes, by the
    chances that an x lies above one y, and above two.
    """
    found = special()
    height = effect / math.sqrt(2)
    one = float(found.ndtr(height))
    two = one - 2 * float(found.owens_t(height, 1 / math.sqrt(3)))
    pairs = first * second
    shared = (first + second - 2) * (two - one**2)
    variance = pairs * (one * (1 - one) + shared)
    return pairs * (2 * one - 1), 2 * math.sqrt(variance)


def wilcoxon(
    *,
    effect: float,
    n: int,
    alpha: float = 0.05,
    alternative: str = checks.TWO_SIDED,
    epsilon: float | None = None,
    rho: float | None = None,
    private_sizes: bool = False,
    relation: str = RELATIONS[0],
) -> float:
    """The power against normal differences whose mean lies `effect` standard deviations
    from 0, with n people. If people come and go, their number is private.
    """
    size = checks.size(n, "n")
    wanted = Wanted.of(alpha, alternative)
    mean, sd = shifted_signs(_effect(effect), size)
    question = _question(epsilon, rho, relation)
    if private_sizes or not question.replacing:
        return float(np.mean(_unsure_size(question, size, wanted, mean, sd)))
    null = signed_null(size)
    return wanted.power(null, Law.of(question.additive(null.sensitivity)), mean, sd)


def _unsure_size(
    question: Question, size: int, wanted: Wanted, mean: float, sd: float
) -> list[float]:
    """The power for each noisy size, all equally likely."""
    plan = SizesPlan.of(question, arms=1)
    law = Law.of(plan.sizing)
    seen = [OneSize(size + one, law) for one in _parts(law)]
    return [
        wanted.less(UNKNOWN, one.null, Law.of(plan.noise(one.cap)), mean, sd)
        for one in seen
    ]


def shifted_signs(effect: float, size: int) -> tuple[float, float]:
    """Mean and standard deviation of Σ sign(dᵢ + dⱼ) over i ≤ j for normal differences.

    A pair of pairs that share one person are normal with correlation ½; a pair and one
    of its own two, ½·√2.
    """
    one, pair = effect, math.sqrt(2) * effect
    single, double = _ndtr(one), _ndtr(pair)
    both = _orthant(pair, pair, 0.5)
    mixed = _orthant(one, pair, math.sqrt(0.5))
    pairs = size * (size - 1) / 2
    mean = size * (2 * single - 1) + pairs * (2 * double - 1)
    variance = (
        size * single * (1 - single)
        + pairs * double * (1 - double)
        + 2 * pairs * (size - 2) * (both - double**2)
        + 4 * pairs * (mixed - single * double)
    )
    return mean, 2 * math.sqrt(max(variance, 0.0))


def kruskal(
    *,
    effect: Any,
    n: int | None = None,
    arms: int = 3,
    sizes: Any = None,
    alpha: float = 0.05,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """The power against normal outcomes, by simulation: `effect` is how many standard
    deviations the first arm lies above all others, or the mean of each arm. `arms` have
    n people each, or `sizes`.
    """
    people = _many(n, arms, sizes)
    study = Arms(people)
    means = _means(effect, len(people))
    question = Question("power", Cost(epsilon=epsilon, rho=rho))
    law = Law.of(question.additive(study.sensitivity))
    critical = study.critical(law, checks.level(alpha))
    tails = law.survival(critical - lengths(shifted_sums(means, people), people))
    return float(tails.mean())


def shifted_sums(means: tuple[float, ...], sizes: tuple[int, ...]) -> Reals:
    """Normal draws of each arm's wins against all others, for normal outcomes."""
    centre, spread = np.zeros(len(sizes)), np.zeros((len(sizes), len(sizes)))
    for i, j in permutations(range(len(sizes)), 2):
        mean, sd = shifted_wins(means[i] - means[j], sizes[i], sizes[j])
        centre[i] += mean
        spread[i, i] += sd**2
        spread[i, j] -= sd**2
    for i, j, k in permutations(range(len(sizes)), 3):
        # an outcome of arm i against one of arm j and one of arm k
        near, far = (means[i] - means[one] for one in (j, k))
        moved = 4 * sizes[i] * sizes[j] * sizes[k] * _shared(near, far)
        spread[i, i] += moved
        spread[i, k] -= moved
        spread[k, i] -= moved
        spread[j, k] += moved
    drawn = public_draws().multivariate_normal(centre, spread, PLANNED, method="eigh")
    return np.asarray(drawn)


def _shared(near: float, far: float) -> float:
    """The covariance of an outcome above one other and above another."""
    one, other = near / math.sqrt(2), far / math.sqrt(2)
    return _orthant(one, other, 0.5) - _ndtr(one) * _ndtr(other)


def _many(n: Any, arms: Any, sizes: Any) -> tuple[int, ...]:
    if (n is None) == (sizes is None):
        raise ArgumentError(
            "n", "pass exactly one of n and sizes for the people in each arm"
        )
    if sizes is None:
        return (checks.size(n, "n"),) * _number(checks.size(arms, "arms"))
    found = checks.sizes(sizes)
    _number(len(found))
    return found


def _number(arms: int) -> int:
    if not 2 <= arms <= MOST_ARMS:
        raise ArgumentError("arms", f"must be from 2 to {MOST_ARMS}")
    return arms


def _means(effect: Any, arms: int) -> tuple[float, ...]:
    if not isinstance(effect, Sequence | np.ndarray):
        return (_effect(effect), *[0.0] * (arms - 1))
    if len(effect) != arms:
        raise ArgumentError(
            "effect",
            f"must be {arms} means; pass a list with the mean of each arm",
        )
    return tuple(_effect(one) for one in effect)


def _ndtr(x: float) -> float:
    return float(special().ndtr(x))


def _orthant(h: float, k: float, correlation: float) -> float:
    """P(Z₁ < h, Z₂ < k) for normal numbers of that correlation, by Owen's T."""
    if h == 0 or k == 0:
        h, k = h + 1e-12, k + 1e-12  # where the formula divides by them
    found, root = special(), math.sqrt(1 - correlation**2)
    first = float(found.owens_t(h, (k - correlation * h) / (h * root)))
    second = float(found.owens_t(k, (h - correlation * k) / (k * root)))
    return (_ndtr(h) + _ndtr(k)) / 2 - first - second - (0.5 if h * k < 0 else 0.0)


def _effect(effect: Any) -> float:
    return float(fraction("effect", effect, "pass a shift in standard deviations"))


def _sizes(n: Any, sizes: Any) -> tuple[int, int]:
    if (n is None) == (sizes is None):
        raise ArgumentError(
            "n", "pass exactly one of n and two sizes for the people in each arm"
        )
    if sizes is None:
        return checks.size(n, "n"), checks.size(n, "n")
    first, second = checks.sizes(sizes, 2)
    return first, second
