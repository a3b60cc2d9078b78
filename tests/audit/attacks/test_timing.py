"""Timing bits: told by a clock that the test holds, and outside of every guarantee."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks.timing import told_by_time
from tests.audit.attacks.support import shown_well


def still() -> Callable[[], float]:
    """A clock that shows one second more at every look: all questions take as long."""
    seconds = 0.0

    def look() -> float:
        nonlocal seconds
        seconds += 1.0
        return seconds

    return look


def test_nothing_is_promised_and_nothing_told_by_a_still_clock() -> None:
    found = attacks.timing(tries=4, clock=still())
    shown_well(found)
    assert all(one.bound is None for one in found.rates)
    assert found.refused
    # All are called well, so as many are right as are well.
    assert found.rates[0].share == found.rates[1].share
    assert "outside of the guarantee" in " ".join(str(found).split())


@pytest.mark.full
def test_a_database_tells_by_the_time_it_computes() -> None:
    """A row that takes some twenty times as much computing as all others together."""
    assert attacks.timing(tries=10).rates[0].share >= 0.9


def test_a_line_between_fast_and_slow() -> None:
    source = np.random.default_rng(4)
    ill = source.integers(0, 2, 200) == 1
    ill[:2] = (True, False)
    assert told_by_time(1.0 + ill, ill).all()
    assert told_by_time(2.0 - ill, ill).all()
    noise = source.normal(size=200)
    # 100 tries, six standard errors
    assert abs(told_by_time(noise, ill).mean() - 0.5) < 0.3
    assert told_by_time(np.ones(200), ill).mean() == (~ill[100:]).mean()


def test_refusals() -> None:
    for few in (0, 1):
        with pytest.raises(ArgumentError, match="tries"):
            attacks.timing(tries=few)
