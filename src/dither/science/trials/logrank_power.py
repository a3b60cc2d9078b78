"""The power of the log-rank test, from public numbers alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.privacy.numbers import fraction, positive, whole
from dither.question import Question
from dither.science.trials.asking import PERSON
from dither.science.trials.cells import MOST_BINS
from dither.science.trials.checks import chosen, level, size
from dither.science.trials.curve import ENDS, EVENLY, WITHIN, LifeTable
from dither.science.trials.logrank_test import two_sided
from dither.science.trials.null import Law, special
from dither.science.trials.scores import Scores, clear, reachable
from dither.science.trials.survival import sensitivities

__all__ = ["expected", "power_of"]

Reals = NDArray[np.float64]


def power_of(
    *,
    hazard_ratio: float,
    n: int,
    survival: float,
    bins: int,
    alpha: float = 0.05,
    censored: float = 0.0,
    censoring: str = WITHIN,
    epsilon: float | None = None,
    rho: float | None = None,
) -> float:
    """The power of the log-rank test of two arms of n people, whose sizes are public.

    `survival` is the share of the first arm that outlives the study; the second arm's
    hazard is `hazard_ratio` times as high. `censored` is the share of people who are
    lost before its end, at an even rate, and `censoring` what will be declared about
    them. Fewer `bins` have less noise. The score is taken as normal around its mean.
    """
    rate, people = level(alpha), size(n, "n")
    ratio = positive("hazard_ratio", hazard_ratio, "pass a ratio such as 0.6")
    alive = _share("survival", survival)
    lost = _share("censored", censored) if censored else 0.0
    count = _bins(bins)
    used = _mechanism(epsilon, rho)
    law = Law.of(used)
    arms = np.array([alive, alive**ratio])
    when = chosen("censoring", censoring, (WITHIN, EVENLY, ENDS))
    table = expected(people, arms, lost, count, law.variance)
    return _power(*_scores(table, when), law, rate)


def _scores(table: LifeTable, censoring: str) -> tuple[Scores, float, float]:
    """Scores, and the least and the largest that the first arm may have."""
    if censoring == WITHIN:
        scores = Scores(table, clear(table.leaving(1.0)))
        low, high = (float(end[0]) for end in reachable(scores))
        return scores, low, high
    scores = Scores.of(table.evenly() if censoring == EVENLY else table)
    value = float(scores.values[0])
    return scores, value, value


def _share(argument: str, value: Any) -> float:
    found = float(fraction(argument, value, "pass a share such as 0.7"))
    if not 0 < found < 1:
        raise ArgumentError(
            argument, "must lie strictly between 0 and 1; pass a share such as 0.7"
        )
    return found


def _bins(value: Any) -> int:
    count = whole("bins", value, "pass how many time bins there are, such as 12")
    if not 1 <= count <= MOST_BINS:
        raise ArgumentError("bins", f"must be from 1 to {MOST_BINS}, such as 12")
    return count


def _mechanism(epsilon: float | None, rho: float | None) -> Additive:
    stated = {"epsilon": epsilon, "rho": rho}
    cost = {name: value for name, value in stated.items() if value is not None}
    question = Question.of("log-rank test", cost, unit=PERSON)
    return question.vector(*sensitivities(question))


def expected(
    people: int, survival: Reals, lost: float, bins: int, variance: float
) -> LifeTable:
    """The cells that arms of these survivals have on average, with people censored
    after the deaths of their bins.
    """
    places = np.arange(bins)
    alive = survival[:, None] ** (places / bins)
    here = (1 - lost) ** (places / bins)
    at_risk = people * alive * here
    deaths = at_risk * (1 - survival[:, None] ** (1 / bins))
    gone = (at_risk - deaths) * (1 - (1 - lost) ** (1 / bins))
    ended = (at_risk - deaths - gone)[:, -1]
    return LifeTable(deaths, gone, ended, variance, known=True)


def _power(scores: Scores, low: float, high: float, law: Law, alpha: float) -> float:
    """How often all scores that may be lie, on one side, where the p-value is at most
    alpha.
    """
    deviation = math.sqrt(scores.sampling[0, 0] + scores.noise[0, 0])
    if not scores.used.any() or deviation == 0:
        return 0.0
    near, far = 0.0, 60 * deviation
    for _ in range(60):
        middle = (near + far) / 2
        enough = two_sided(middle, scores, law) <= alpha
        near, far = (near, middle) if enough else (middle, far)
    normal = special().ndtr
    return float(normal((low - far) / deviation) + normal((-high - far) / deviation))
