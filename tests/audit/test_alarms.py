"""Audits of what is sound call it refuted as seldom as they say.

Neither noise nor the coins of an audit can be seeded. So each limit is five standard
errors above the stated rate, which an honest audit passes in less than 1 of 1e4 runs, and
only if its bounds had no slack.
"""

import math

import pytest

from bench.audit import SOUND
from dither import audit

DRAWS = 600


def limit(audits, rate):
    return audits * rate + 5 * math.sqrt(audits * rate * (1 - rate))


def alarms(audits, rate):
    cases = SOUND * (audits // len(SOUND))
    found = [
        audit.mechanism(
            one.f,
            one.a,
            one.b,
            claimed=one.claimed,
            draws=DRAWS,
            confidence=1 - rate,
        )
        for one in cases
    ]
    assert len(found) == audits
    assert all(one.false_alarm == pytest.approx(rate) for one in found)
    return sum(one.refuted for one in found)


def test_false_alarms_are_as_rare_as_stated():
    assert alarms(200, 0.05) <= limit(200, 0.05)


@pytest.mark.full
@pytest.mark.parametrize("rate", [0.05])
def test_false_alarms_in_a_thousand_audits(rate):
    assert alarms(1000, rate) <= limit(1000, rate)


def test_several_pairs_share_the_rate():
    """20 equal pairs at 20 % together: one audit of each at 1 %."""
    one = SOUND[2]
    found = [
        audit.mechanism(
            one.f,
            pairs=[(0, 1)] * 10 + [(1, 0)] * 10,
            claimed=one.claimed,
            draws=DRAWS,
            confidence=0.8,
        ).refuted
        for _ in range(20)
    ]
    assert sum(found) <= limit(20, 0.2)
