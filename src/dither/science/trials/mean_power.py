"""How likely differences of means and of medians, and slopes, are to be found: from
public numbers alone, for normal outcomes that hardly reach their bounds.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.privacy.numbers import fraction, positive
from dither.question import Question
from dither.science.trials import checks
from dither.science.trials.asking import PERSON
from dither.science.trials.coefficients import Fit
from dither.science.trials.differences import Difference
from dither.science.trials.gram import Gram
from dither.science.trials.means import MIDDLE, OMIT
from dither.science.trials.moments import Moments, Noisy, Scale
from dither.science.trials.order import around
from dither.science.trials.rank_power import shifted_wins
from dither.science.trials.totals import Total

__all__ = ["linregress", "location_shift", "mean_difference", "median_difference"]

NORMAL = NormalDist()
SPREAD = "pass the standard deviation that outcomes are expected to have"

PUBLIC, PRIVATE = "public", "private"
"""Whether a person who is replaced may change arms: so it is in a table."""


def mean_difference(
    *,
    effect: float,
    bounds: Any,
    sd: float = 1.0,
    n: int | None = None,
    sizes: Any = None,
    missing: str = OMIT,
    arms: str = PUBLIC,
    alpha: float = 0.05,
    alternative: str = checks.TWO_SIDED,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """The power against normal outcomes of this standard deviation whose means lie
    `effect` of them apart, in the middle of the bounds. In a table that was opened,
    arms are "private".
    """
    scale, spread = Scale(*checks.bounds(bounds)), positive("sd", sd, SPREAD)
    share, half = spread / scale.half, _number("effect", effect)
    known = checks.chosen("missing", missing, (OMIT, MIDDLE)) == MIDDLE
    plan = Moments(_question(epsilon, rho), moving=_private(arms))
    expected = tuple(
        _expected(plan, size, sign * half * share / 2, share, known)
        for size, sign in zip(_sizes(n, sizes), (1, -1), strict=True)
    )
    found = Difference(expected, scale)
    sampling = sum(share**2 / arm.people for arm in expected)
    return _rejects(
        found.law_of(found.sampling),
        found.law_of(sampling),
        found.share,
        alpha,
        alternative,
    )


def _private(arms: Any) -> bool:
    return checks.chosen("arms", arms, (PUBLIC, PRIVATE)) == PRIVATE


def _expected(
    plan: Moments, size: int, mean: float, share: float, known: bool
) -> Noisy:
    """What an arm is expected to look like."""
    square, count = plan.weights
    total = mean * size * plan.steps
    squares = (share**2 + mean**2) * size * plan.steps * square / 4
    vector = [total, squares, size * plan.steps * count / 4]
    return plan.read(np.array(vector), size if known else None)


def median_difference(
    *,
    effect: float,
    bounds: Any,
    sd: float = 1.0,
    n: int | None = None,
    sizes: Any = None,
    arms: str = PUBLIC,
    confidence: float = 0.95,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """About the probability that the interval of the difference does not hold 0, for
    normal outcomes whose medians lie `effect` standard deviations apart.
    """
    scale, spread = Scale(*checks.bounds(bounds)), positive("sd", sd, SPREAD)
    rate = checks.confidence(confidence, "confidence") ** 0.5
    question, shift = _question(epsilon, rho), abs(_number("effect", effect))
    if _private(arms):  # both choices see a person who changes arms
        question, _ = question.parts(0.5, 0.5)
    mean, variance = shift, 0.0
    for size in _sizes(n, sizes):
        try:
            pair, plan = around(question, (size,), rate, None)
        except ArgumentError:
            return 0.0  # the interval would be all of the bounds
        share = (plan.rank + 0.5) / (size + 1)
        height = NORMAL.inv_cdf(share)
        # an end falls on a point outwards; three quarters of a part away fits best
        mean -= -height + 1.5 * scale.half / pair.points / spread
        chosen = 2 / (plan.weight * size) ** 2
        variance += (share * (1 - share) / size + chosen) / NORMAL.pdf(height) ** 2
    return NORMAL.cdf(mean / math.sqrt(variance))


def location_shift(
    *,
    effect: float,
    within: Any,
    sd: float = 1.0,
    n: int | None = None,
    sizes: Any = None,
    arms: str = PUBLIC,
    confidence: float = 0.95,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """About the probability that the interval of the shift does not hold 0, for normal
    outcomes that are shifted by `effect` standard deviations.
    """
    scale, spread = Scale(*checks.bounds(within, "within")), positive("sd", sd, SPREAD)
    rate, people = checks.confidence(confidence, "confidence"), _sizes(n, sizes)
    shift = abs(_number("effect", effect))
    moved = sum(people) if _private(arms) else max(people)
    try:
        pair, plan = around(_question(epsilon, rho), people, rate, None, moved)
    except ArgumentError:
        return 0.0  # the interval would be all of the shifts
    # an end falls on a point outwards; one part away fits best
    reached = shift - 2 * scale.half / pair.points / spread
    signs, deviation = shifted_wins(reached, *people)
    lost = (plan.size - signs) / 2
    chosen = math.sqrt(2) / plan.weight
    return NORMAL.cdf((plan.rank - lost) / math.hypot(deviation / 2, chosen))


def linregress(
    *,
    slope: float,
    n: int,
    x_bounds: Any,
    y_bounds: Any,
    x_sd: float,
    sd: float,
    alpha: float = 0.05,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """The power against a slope, where x and y lie in the middle of their bounds with
    x of this standard deviation, and residuals of the other.
    """
    scales = (
        Scale(*checks.bounds(x_bounds, "x_bounds")),
        Scale(*checks.bounds(y_bounds, "y_bounds")),
    )
    x = positive("x_sd", x_sd, SPREAD) / scales[0].half
    rest = positive("sd", sd, SPREAD) / scales[1].half
    steep = _number("slope", slope) * scales[0].half / scales[1].half
    size = checks.size(n, "n")
    plan = Gram(_question(epsilon, rho), 2)
    means = np.array([[1, 0, 0], [0, 1, steep], [0, steep, steep**2]]) * x**2
    means[0, 0], means[2, 2] = 1.0, means[2, 2] + rest**2
    exact = means * size * plan.weights * plan.steps**2 / (1 if plan.gaussian else 4)
    fit = Fit(plan.read(exact[plan.places], math.inf), scales)
    error = fit._error(1)
    if error is None or error.roots(1 - checks.level(alpha)) is None:
        return 0.0
    honest = Total(error.law.laplace, error.law.normal)
    return _rejects(error.law, honest, steep, alpha, checks.TWO_SIDED)


def _rejects(
    test: Total, truth: Total, shift: float, alpha: float, alternative: str
) -> float:
    """The probability that a noisy figure around `shift` is beyond what a test allows
    for around 0.
    """
    side, rate = checks.alternative(alternative), checks.level(alpha)
    two = side == checks.TWO_SIDED
    edge = test.quantile(1 - rate if two else max(1 - 2 * rate, 0.0))
    above, below = truth.beyond(edge - shift), truth.beyond(edge + shift)
    sides = {checks.GREATER: above, checks.LESS: below}
    return min(1.0, sides.get(side, above + below))


def _question(epsilon: Any, rho: Any) -> Question:
    return Question("power", Cost(epsilon=epsilon, rho=rho), PERSON)


def _number(argument: str, value: Any) -> float:
    return float(fraction(argument, value, "pass a number such as 0.5"))


def _sizes(n: Any, sizes: Any) -> tuple[int, int]:
    if (n is None) == (sizes is None):
        raise ArgumentError(
            "n",
            "pass exactly one of n and sizes for the people in each arm, such as n=100 or "
            "sizes=(90, 110)",
        )
    first, second = (n, n) if sizes is None else checks.sizes(sizes, 2)
    return checks.size(first, "n"), checks.size(second, "n")
