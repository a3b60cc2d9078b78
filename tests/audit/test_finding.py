"""What an audit found, as two sentences and as data."""

from bench.audit import whole_scale
from dither import audit
from dither.privacy import (
    PureDP,
)
from tests.chance import chance

CLAIM = PureDP(1.0)


@chance(2e-9)
def test_two_plain_sentences():
    strict = {"draws": 5000, "confidence": 1 - 1e-9}
    good = audit.mechanism(whole_scale, 0, 1, claimed=CLAIM, **strict)
    bad = audit.mechanism(whole_scale, 0, 5, claimed=CLAIM, draws=5000)
    assert str(good).startswith(
        "Not refuted: 5,000 draws of each input show that ε is at least "
    )
    assert "99.9999999 % confidence" in str(good)
    assert "does not prove" in str(good)
    assert str(bad).startswith("Refuted: ε is at least ")
    assert "99.9 % confidence" in str(bad)
    assert bad.event in str(bad)
    assert len(str(good).splitlines()) == len(str(bad).splitlines()) == 2


def test_findings_are_data():
    found = audit.mechanism(lambda x: x, 0, 1, claimed=CLAIM, draws=1000).to_dict()
    assert found["refuted"] is True
    assert found["stated"] == 1.0
    assert found["right"] == found["guesses"] == 1600
