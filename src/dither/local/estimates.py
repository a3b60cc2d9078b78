"""From evidence to intervals, p-values and discoveries."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dither.local.evidence import Evidence, Law
from dither.privacy.binomial import log_tail, lower, upper

__all__ = ["Score", "detection_limit", "discoveries"]

Reals = NDArray[np.float64]

FEW = 50.0  # expected hits below which the normal law is not trusted
FOUND = 0.8  # how likely a value at the detection limit is found
NORMAL = NormalDist()


@dataclass(frozen=True)
class Score:
    """Where the frequency of each item lies: a `Spread` of a release.

    The ends are the frequencies that the statistic is z standard errors away from, each
    with the variance it would have there (a score interval, Wilson 1927). If few hits
    are expected, the ends are exact instead (Clopper & Pearson 1934): a sum of
    independent coins is nowhere further from its mean than a binomial variable with the
    same mean (Hoeffding 1956).
    """

    evidence: Evidence

    @property
    def value(self) -> Reals:
        return self.evidence.counts / self.evidence.messages

    @property
    def errors(self) -> Reals:
        """The standard error of each frequency."""
        found = self.evidence
        held = np.clip(found.counts, 0, found.messages)
        variance = found.null + found.slope * held + found.curve * held**2
        variance = np.maximum(variance, 0)
        return np.sqrt(variance) / found.gain / found.messages

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        found = self.evidence
        z = NORMAL.inv_cdf((1 + confidence) / 2)
        # (above − gain·m)² = z²(null + slope·m + curve·m²), for m
        square = found.gain**2 - z**2 * found.curve
        middle = found.above * found.gain + z**2 * found.slope / 2
        rest = found.above**2 - z**2 * found.null
        root = np.sqrt(np.maximum(middle**2 - square * rest, 0))
        low, high = (
            (middle + sign * root) / square / found.messages for sign in (-1, 1)
        )
        low, high = self._exact_where_few(low, high, confidence)
        # where a value is an exact end, the two are rounded differently
        return np.minimum(low, self.value), np.maximum(high, self.value)

    def _exact_where_few(
        self, low: Reals, high: Reals, confidence: float
    ) -> tuple[Reals, Reals]:
        law = self.evidence.law
        if law is None:
            return low, high
        few = np.flatnonzero(_few(law))
        pairs = np.stack([law.hits[few], law.trials[few]], axis=1)
        kinds, which = np.unique(pairs, axis=0, return_inverse=True)
        for kind, (hits, trials) in enumerate(kinds.tolist()):
            at = few[which.reshape(-1) == kind]
            low[at], high[at] = self._exactly(law, hits, trials, (1 - confidence) / 2)
        return low, high

    def _exactly(
        self, law: Law, hits: int, trials: int, tail: float
    ) -> tuple[float, float]:
        found = self.evidence
        if not law.halves:
            ends = _exact(hits, trials, tail)
            return tuple((end - law.probability) / found.gain for end in ends)  # type: ignore[return-value]
        # of all messages, the share in one half less that in the other
        own = _exact(hits, found.messages, tail / 2)
        other = _exact(trials - hits, found.messages, tail / 2)
        both = 2 * found.gain
        return (own[0] - other[1]) / both, (own[1] - other[0]) / both

    @cached_property
    def p_values(self) -> Reals:
        """Probability of a statistic this large if nobody holds the item."""
        found = self.evidence
        shift, chance = found.doubt
        noise = np.sqrt(np.maximum(found.null, np.finfo(float).tiny))
        scaled = ((found.above - shift) / noise / math.sqrt(2)).tolist()
        normal: Reals = np.fromiter(map(math.erfc, scaled), np.float64) / 2
        normal = np.minimum(normal + chance, 1)
        if found.law is not None:
            return _exact_tails(found.law, normal)
        if found.bound is not None:
            fewer = np.maximum(found.bound.hits - math.ceil(shift), 0)
            tails = _exact_tails(replace(found.bound, hits=fewer), normal)
            return np.maximum(normal, np.minimum(tails + chance, 1))
        return normal


def _few(law: Law) -> NDArray[np.bool_]:
    """Where the normal law is not to be trusted: few hits, or few misses, expected."""
    share = min(law.probability, 1 - law.probability)
    few: NDArray[np.bool_] = (law.trials * share < FEW) & (law.trials > 0)
    return few


def _exact(hits: int, trials: int, tail: float) -> tuple[float, float]:
    return lower(hits, trials, tail), upper(hits, trials, tail)


MANY = 5000  # different counts above which the normal tail has to do


def _exact_tails(law: Law, normal: Reals) -> Reals:
    """Binomial tails. There are few different counts unless many hits are expected,
    and then the normal tail is as good where it is not tiny.
    """
    # pairs of hits and trials as one number: numpy sorts rows far more slowly
    sizes, size = np.unique(law.trials, return_inverse=True)
    kinds, which = np.unique(law.hits * len(sizes) + size, return_inverse=True)
    if len(kinds) > MANY:
        return normal
    hits, size = np.divmod(kinds, len(sizes))
    tails = [
        math.exp(log_tail(count, trials, law.probability))
        for count, trials in zip(hits.tolist(), sizes[size].tolist(), strict=True)
    ]
    exact: Reals = np.array(tails)[which]
    return exact


def discoveries(p_values: Reals, rate: float) -> NDArray[np.bool_]:
    """Which items are found, so that among them a share of at most `rate` is not there
    (Benjamini & Hochberg 1995).
    """
    order = np.argsort(p_values)
    steps = rate * np.arange(1, len(order) + 1) / len(order)
    below = np.flatnonzero(p_values[order] <= steps)
    found = np.zeros(len(order), np.bool_)
    if below.size:
        found[order[: below[-1] + 1]] = True
    return found


def detection_limit(evidence: Evidence, items: int, rate: float) -> float:
    """The smallest frequency that is found four times in five, tested against as many
    items at once (Bonferroni, which discoveries are never stricter than).
    """
    z = NORMAL.inv_cdf(1 - rate / items)
    reach = NORMAL.inv_cdf(FOUND)
    null, slope = float(np.max(evidence.null)), float(np.max(evidence.slope))
    needed = z * math.sqrt(null) + evidence.doubt[0]
    held = needed / evidence.gain
    for _ in range(20):  # the variance grows with the frequency, slowly
        noise = math.sqrt(max(null + slope * held, 0.0))
        held = (needed + reach * noise) / evidence.gain
        held = min(held, float(evidence.messages))
    return float(min(held / evidence.messages, 1.0))
