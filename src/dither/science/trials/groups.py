"""How many blocks a test of tests takes, and at which level each is tested: from public
numbers alone, so that the least effect is needed.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from dither.science.trials.null import Law
from dither.science.trials.tulap import Binomial, Tulap, bisect

__all__ = ["best", "critical", "power_of_blocks"]

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
FEWEST = 20
"""A block should have so many people, so that its test keeps its own level."""
MOST = 2_000
POWER, ALPHA = 0.8, 0.05


def best(
    law: Law, groups: int | None, level: float | None, people: int | None
) -> tuple[int, float]:
    """The number of blocks and their level with which the smallest effect is found
    with a power of 80 %, where what is not stated is free.

    The number is a fit to the best ones for normal data and scales of the noise from
    0.1 to 10; a tenth more or less makes no difference that one could see.
    """
    count = groups or _groups(law, people)
    return count, level or _level(law, count)


def _groups(law: Law, people: int | None) -> int:
    noise = math.sqrt(law.variance / 2)  # the scale, for Laplace noise
    count = min(max(1, round(11 * math.pow(noise, 1.28))), MOST)
    return count if people is None else min(count, max(1, people // FEWEST))


@lru_cache(maxsize=256)
def _level(law: Law, count: int) -> float:
    return min(LEVELS, key=lambda level: _needed(law, count, level))


def _needed(law: Law, count: int, level: float) -> float:
    """The shift of a normal statistic of all people that is found often enough."""
    cut = critical(law, count, level, ALPHA)
    normal = NormalDist()
    edge = -normal.inv_cdf(level / 2)

    def found(shift: float) -> bool:
        each = shift / math.sqrt(count)
        rejects = normal.cdf(each - edge) + normal.cdf(-each - edge)
        return power_of_blocks(law, count, rejects, cut) >= POWER

    most = 40.0 * math.sqrt(count)
    return bisect(found, 0.0, most, 20) if found(most) else math.inf


def critical(law: Law, count: int, level: float, alpha: float) -> float:
    """The noisy count from which on a test of tests rejects."""
    reach = 40 * law.scale + 2

    def rejects(cut: float) -> bool:
        return power_of_blocks(law, count, level, cut) <= alpha

    return bisect(rejects, -reach, count + reach, 50)


def power_of_blocks(law: Law, count: int, rejects: float, cut: float) -> float:
    """How often the noisy count reaches a cut, where each block rejects so often."""
    counts = Binomial(count, min(max(rejects, 0.0), 1.0))
    return counts.mean(Tulap(law).below(counts.values - cut))
