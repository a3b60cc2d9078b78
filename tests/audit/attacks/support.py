"""What every attack's tests look at."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml

from dither.audit.attacks import Attack, Rate

__all__ = ["SIX", "held", "near", "shown_well"]

SIX = 6
"""Standard errors: a rate lies further from its expectation with a chance of 2e-9."""


def near(found: Rate, expected: float, errors: float = SIX) -> bool:
    """Whether a rate is what a closed form says, but for chance."""
    wide = (expected * (1 - expected) / found.tries) ** 0.5
    return abs(found.share - expected) <= errors * wide + 1e-12


def held(*rates: Rate) -> bool:
    """Whether promised rates keep to their bounds, but for chance. `kept` is half as
    wide on purpose: it shows a reader what is odd, and chance is, once in 700 times.
    """
    return all(one.above is None or one.above <= SIX for one in rates)


def shown_well(found: Attack) -> None:
    """Words with every number, a picture, and plain data."""
    words = " ".join(str(found).split())
    for row in found.rows:
        assert all(cell in words for cell in row), row
    assert all(" ".join(one.split()) in words for one in found.sentences)
    assert "Not stopped by differential privacy: " in words
    assert found.title in Xml.fromstring(found.svg())[0].text
    data = json.loads(found.to_json())
    assert data["attack"] == found.name
    assert len(data["rates"]) == len(found.rates)
    assert "<table>" in found._repr_html_()
    assert all(0 <= one.share <= 1 for one in found.rates)
