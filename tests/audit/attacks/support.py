"""What every attack's tests look at."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml

from dither.audit.attacks import Attack, Rate
from tests.chance import at_least, at_most

__all__ = ["held", "near", "shown_well"]

RATE = 1e-9
"""How often chance alone may carry a rate over a limit."""


def near(found: Rate, expected: float) -> bool:
    """Whether a rate is what a closed form says, but for chance on either side."""
    least = at_least(found.tries, expected, RATE)
    return least <= found.right <= at_most(found.tries, expected, RATE)


def held(*rates: Rate) -> bool:
    """Whether promised rates keep to their bounds, but for chance. `kept` leaves three
    standard errors on purpose: it shows a reader what is odd, and chance is, once in
    700 times.
    """
    return all(
        one.bound is None or one.right <= at_most(one.tries, one.bound, RATE)
        for one in rates
    )


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
