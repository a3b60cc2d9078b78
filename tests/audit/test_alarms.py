"""Audits of what is sound call it refuted as seldom as they say.

Neither noise nor the coins of an audit can be seeded. So each limit leaves room for
chance, as much as an honest audit would need if its bounds had no slack.
"""

import pytest

from bench.audit import SOUND
from dither import audit
from tests.chance import at_most, chance

DRAWS = 600


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


@chance(1e-8)
def test_false_alarms_are_as_rare_as_stated():
    assert alarms(200, 0.05) <= at_most(200, 0.05, 1e-8)


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("rate", [0.05])
def test_false_alarms_in_a_thousand_audits(rate):
    assert alarms(1000, rate) <= at_most(1000, rate, 1e-8)


@chance(1e-8)
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
    assert sum(found) <= at_most(20, 0.2, 1e-8)
