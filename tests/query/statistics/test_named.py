"""Intervals of numbers that named their keys: exact coverage given that the key was
named, from the laws of the noise.
"""

from __future__ import annotations

import math

import pytest

from dither.mechanisms import KeyThreshold
from dither.query.statistics.named import NamedCount, named_counts

LAWS = {
    "gaussian": {"mu": 0.15},
    "laplace": {"epsilon": 0.5, "truncated": False},
    "truncated": {"epsilon": 0.5},
    "sixteen keys": {"epsilon": 3.0, "groups": 16},
}
GIVEN = {"groups": 1, "delta": 1e-6, "at_least": 2}


def keys_of(law: str) -> KeyThreshold:
    return KeyThreshold(**GIVEN | LAWS[law])  # type: ignore[arg-type]


def covered(
    keys: KeyThreshold,
    units: int,
    confidence: float,
    left_out: int | None = None,
    *,
    open_: bool = False,
) -> float:
    """The probability that the interval holds the number of units, given that the key
    is shown. `left_out` is a key that ranks behind if numbers are equal.
    """
    first = keys.threshold if left_out is None else max(keys.threshold, left_out)
    named = math.exp(keys.log_tail(first - units))
    held, seen = 0.0, 0.0
    for noisy in range(first, max(first, units) + 12 * math.ceil(keys.scale)):
        here, next_ = (math.exp(keys.log_tail(noisy - units + i)) for i in (0, 1))
        (estimate,) = named_counts([noisy], keys, left_out, open_=open_)
        low, high = estimate.ends(confidence)
        assert low <= noisy <= high
        seen += here - next_
        held += (here - next_) * (low <= units <= high)
    assert seen == pytest.approx(named, rel=1e-4)
    return held / named


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_intervals_hold_at_their_rate_given_that_the_key_is_named(
    law: str, confidence: float
) -> None:
    keys = keys_of(law)
    deviation = math.sqrt(keys.noise.integer_variance)
    for place in range(-6, 13, 3):
        units = max(round(keys.threshold + place * deviation / 2), keys.at_least)
        beaten = keys.threshold + round(deviation)
        for left_out, open_ in ((None, False), (beaten, False), (beaten, True)):
            found = covered(keys, units, confidence, left_out, open_=open_)
            assert found >= confidence - 1e-4, (units, left_out, open_)


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_the_interval_of_the_noise_alone_does_not(law: str) -> None:
    """The check above can fail."""
    keys = keys_of(law)
    units = keys.threshold - round(3 * math.sqrt(keys.noise.integer_variance))
    named = math.exp(keys.log_tail(keys.threshold - units))
    width = keys.error(0.95)
    missed = math.exp(keys.log_tail(math.floor(width) + 1))
    assert missed / named > 0.5


def test_a_number_near_its_threshold_has_no_lower_end() -> None:
    """It says "at most": the least number of units of a named key is known anyway."""
    keys = keys_of("laplace")
    low, high = NamedCount(keys.threshold, keys, keys.threshold, False).ends(0.95)
    assert (low, high) == (-math.inf, keys.threshold + keys.error(0.95))
    open_ = NamedCount(keys.threshold, keys, keys.threshold, True)
    assert open_.ends(0.95) == (keys.at_least, math.inf)
    far = NamedCount(10**6, keys, keys.threshold, False)
    assert far.ends(0.95) == (10**6 - keys.error(0.95), 10**6 + keys.error(0.95))
