"""The two pictures of attacks."""

from __future__ import annotations

import xml.etree.ElementTree as Xml

from dither.audit.attacks.drawn import Curve, bars, curves
from dither.audit.attacks.rates import Rate
from dither.picture import Dot, Line, Text


def words(shapes: tuple[object, ...]) -> list[str]:
    return [one.words for one in shapes if isinstance(one, Text)]


def test_a_bar_for_each_release() -> None:
    rates = [Rate("exact", 90, 100, 0.5), Rate("noisy" * 20, 60, 100, 0.5, 0.7)]
    found = bars("Who?", rates)
    Xml.fromstring(found.svg())
    said = words(found.shapes)
    assert {"exact", "90.0 %", "60.0 %", "guessing", "the guarantee allows"} <= set(
        said
    )
    assert max(map(len, said)) <= 34
    assert "the guarantee allows" not in words(bars("Who?", rates[:1]).shapes)


def test_lines_and_dots() -> None:
    measured = Curve("a", (1, 2, 3), (0.1, 0.2, 0.9), apart=1)
    limit = Curve("b", (1, 3), (0.5, 0.5), dots=False)
    found = curves("Who?", "x", "y", [measured, limit])
    assert sum(isinstance(one, Dot) for one in found.shapes) == 3
    lines = [one for one in found.shapes if isinstance(one, Line) and one.width == 1.6]
    assert [len(one.points) for one in lines] == [2, 2, 2, 2]
    assert lines[0].dashes != lines[1].dashes
    Xml.fromstring(curves("One", "x", "y", [Curve("a", (2,), (1,))]).svg())
