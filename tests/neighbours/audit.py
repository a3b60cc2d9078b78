"""Lower bounds on ε from samples: can anyone tell two neighbouring inputs apart better
than the promise allows?

The event is chosen on half of the draws and judged on the other half, each probability
by Clopper–Pearson at 1 − ALARM / 2. A true guarantee is therefore called broken with
probability at most ALARM for each call.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from scipy.stats import beta

ALARM = 4e-8
"""Two of them are less than a test of chance may fail (tests/chance.py)."""


def epsilon_lower_bound(
    here: Sequence[Hashable], there: Sequence[Hashable], delta: float = 0.0
) -> float:
    """The largest ε that the samples refute, over the best event in either direction."""
    return max(_one_way(here, there, delta), _one_way(there, here, delta))


def _one_way(
    here: Sequence[Hashable], there: Sequence[Hashable], delta: float
) -> float:
    half = len(here) // 2
    event = _event(Counter(here[:half]), Counter(there[:half]))
    hits = (
        sum(value in event for value in here[half:]),
        sum(value in event for value in there[half:]),
    )
    low = _clopper_pearson(hits[0], len(here) - half)[0]
    high = _clopper_pearson(hits[1], len(there) - half)[1]
    return math.log((low - delta) / high) if low > delta else 0.0


def _event(here: Counter[Hashable], there: Counter[Hashable]) -> set[Hashable]:
    """All values up to the likelihood ratio whose refutable ε is largest."""
    ranked = sorted(
        here, key=lambda value: here[value] / (there[value] + 1), reverse=True
    )
    best, best_size, a, b = 0.0, 1, 0, 0
    for size, value in enumerate(ranked, 1):
        a, b = a + here[value], b + there[value]
        if (
            a >= 50
            and (gain := (a - 3 * math.sqrt(a)) / (b + 3 * math.sqrt(b) + 3)) > best
        ):
            best, best_size = gain, size
    return set(ranked[:best_size])


def _clopper_pearson(hits: int, draws: int) -> tuple[float, float]:
    low = beta.ppf(ALARM / 4, hits, draws - hits + 1) if hits else 0.0
    high = beta.isf(ALARM / 4, hits + 1, draws - hits) if hits < draws else 1.0
    return float(low), float(high)
