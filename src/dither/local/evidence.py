"""The evidence of tallied messages about each item, in the one form that all oracles
share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Evidence", "Law", "apart", "pure", "sampled", "squares"]

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Law:
    """Law of the number of messages, out of `trials`, that support an item that nobody
    holds: exactly binomial.
    """

    hits: Whole
    trials: Whole
    probability: float
    halves: bool = False
    """Whether misses are as telling as hits: then `trials` depends on others' items."""


@dataclass(frozen=True)
class Evidence:
    """A statistic for each item, and its law: if m messages come from holders of the
    item, it has mean gain · m and variance null + slope · m + curve · m².

    `law` is its exact law for m = 0, if there is one.
    """

    messages: int
    above: Reals
    gain: float
    null: Reals
    slope: float | Reals
    curve: float = 0.0
    law: Law | None = None
    doubt: tuple[float, float] = (0.0, 0.0)
    """By how much the statistic can be shifted by one collision, and the chance that it
    is more.
    """
    bound: Law | None = None
    """Its law for m = 0 if nothing collided. Of few messages, the tail is longer than
    the normal one.
    """

    @property
    def counts(self) -> Reals:
        """Unbiased estimates of how many messages come from each item's holders."""
        return self.above / self.gain


def pure(
    hits: Whole,
    messages: int,
    one: float,
    other: float,
    *,
    periods: int = 1,
    fixed: tuple[float, float] = (0.0, 0.0),
    collisions: float | Reals = 0.0,
) -> Evidence:
    """For oracles whose message supports its own item with probability `one`, and each
    other item with probability `other`.

    `fixed` are the parts of the two variances that a device's memo repeats in every
    period: messages of `periods` periods come from at least messages / periods
    devices, so these parts count that many times (rule R28). `collisions` is a
    variance for the whole statistic, of hash functions that are few and fixed.
    """
    variances = [rate * (1 - rate) for rate in (one, other)]
    held, null = (
        variance + (periods - 1) * part
        for variance, part in zip(variances, fixed, strict=True)
    )
    trials = np.full(hits.shape, messages, np.int64)
    exact = periods == 1 and not np.any(collisions)
    return Evidence(
        messages=messages,
        above=hits.astype(np.float64) - messages * other,
        gain=one - other,
        null=np.full(hits.shape, messages * null + collisions),
        slope=held - null,
        law=Law(hits, trials, other) if exact else None,
    )


def sampled(found: Evidence, everyone: int, periods: int) -> Evidence:
    """Evidence of devices that were drawn among `everyone`, about everyone: which of
    them were drawn is one more reason to be off, the same in all periods.
    """
    left_out = 1 - found.messages / everyone
    extra = found.gain**2 * periods * left_out
    curve = -extra / max(found.messages, 1)
    return replace(found, slope=found.slope + extra, curve=curve)


def apart(
    found: Evidence, held: Reals, other: float, periods: int, *, adds_up: bool
) -> Reals:
    """Variances of the statistic of all items, of which `held` are held, as if each was
    off on its own, and drawing the devices was one more reason to be off.

    Given that all shares make one, such items are off as a sample of devices is. If an
    oracle's estimates always add up, they are off at least as its messages are, and for
    k-ary response exactly so.
    """
    noise = found.null + found.slope * held
    drawn = periods * found.gain**2 * held
    if not adds_up:
        return np.asarray(noise + drawn)
    said = other + found.gain * held / found.messages
    each = noise + drawn * (1 - held / found.messages)
    return np.asarray(each * (1 + said / (1 - said) / said.sum()))


def squares(found: Evidence) -> float:
    """Σ m² over the items, from unbiased estimates of each; at most messages²."""
    noise = found.null + found.slope * np.clip(found.counts, 0, found.messages)
    each = found.counts**2 - noise / found.gain**2
    return float(np.clip(each.sum(), 0, found.messages**2))
