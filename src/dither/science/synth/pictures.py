"""The errors of a synthetic table as a picture: a field for each pair of columns, and
for each column one on the diagonal. Pairs that were measured are framed; fields that
nothing is known about are crossed out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dither.picture import BLACK, GREY, Line, Picture, Rect, Shape, Text, shade
from dither.text import clean

if TYPE_CHECKING:
    from dither.science.synth.report import Report, TableError

__all__ = ["draw"]

LEFT, TOP, BELOW = 130, 62, 64
LARGEST, LEAST, WHOLE = 44.0, 4.0, 560.0
"""How wide a field may be, and all of them together."""
BAR, STEPS = 160, 16
NUMBERED = 30.0
"""From this width on a field has its number written in."""
LIGHT = (255, 255, 255)
# Light words on darker shades and black ones on the others: both have a contrast of at
# least 4.5 here.
DARK = 0.62


def draw(report: Report) -> Picture:
    """The whole picture."""
    count = len(report.columns)
    side = max(LEAST, min(LARGEST, WHOLE / count))
    place = {name: at for at, name in enumerate(report.columns)}
    most = _most(report)
    title = "Errors of counts by one column and by two columns"
    shapes: list[Shape] = [
        Text(16, 20, title, 15, bold=True),
        Text(16, 38, f"sum of absolute differences per row, {_basis(report)}", 11),
    ]
    for one in report.errors:
        row, across = _field(one, place)
        shapes += _drawn(one, LEFT + across * side, TOP + row * side, side, most)
    shapes += _names(report, side)
    bottom = TOP + count * side
    shapes += _scale(most, bottom + 18)
    width = round(max(LEFT + count * side + 100, 460))
    return Picture.of(width, round(bottom + BELOW), shapes, title)


def _basis(report: Report) -> str:
    return report.basis + (" on the rows released first" if report.again else "")


def _most(report: Report) -> float:
    known = [one.error for one in report.errors if one.error is not None]
    return max([*known, 1e-3])


def _field(one: TableError, place: dict[str, int]) -> tuple[int, int]:
    """Its row and its column: below the diagonal, or on it."""
    places = [place[name] for name in one.columns]
    return max(places), min(places)


def _drawn(
    one: TableError, x: float, y: float, side: float, most: float
) -> Iterator[Shape]:
    inner = side - 2
    if one.error is None:
        yield from _crossed(x + 1, y + 1, inner)
        return
    dark = one.error / most
    yield Rect(x + 1, y + 1, inner, inner, shade(dark))
    if side >= NUMBERED:
        words = f"{one.error:.2f}".removeprefix("0")
        colour = LIGHT if dark > DARK else BLACK
        middle = x + side / 2, y + side / 2 + 4
        yield Text(*middle, words, 10, "middle", fill=colour)
    if one.measured and len(one.columns) == 2:
        yield Rect(x + 1, y + 1, inner, inner, None, BLACK)
        yield Rect(x + 2, y + 2, inner - 2, inner - 2, None, BLACK)


def _names(report: Report, side: float) -> Iterator[Shape]:
    """Along the left side, and at the end of each row of fields."""
    if side < 9:
        return
    for at, name in enumerate(report.columns):
        words = clean(name)
        short = words if len(words) <= 18 else words[:17] + "…"
        middle = TOP + (at + 0.5) * side + 4
        yield Text(LEFT - 8, middle, short, min(12, side), "end")
        yield Text(LEFT + (at + 1) * side + 4, middle - side / 4, short, 9)


def _scale(most: float, top: float) -> Iterator[Shape]:
    for step in range(STEPS):
        width = BAR / STEPS
        yield Rect(LEFT + step * width, top, width + 0.3, 10, shade(step / (STEPS - 1)))
    yield Rect(LEFT, top, BAR, 10, None, BLACK)
    yield Text(LEFT, top + 24, "0", 10, "middle")
    yield Text(LEFT + BAR, top + 24, f"{most:.2g}", 10, "middle")
    left = LEFT + BAR + 30
    yield Rect(left, top - 2, 14, 14, None, BLACK)
    yield Rect(left + 1, top - 1, 12, 12, None, BLACK)
    yield Text(left + 20, top + 9, "measured pair", 11)
    yield from _crossed(left, top + 16, 14)
    yield Text(left + 20, top + 27, "not known", 11)


def _crossed(x: float, y: float, side: float) -> Iterator[Shape]:
    yield Rect(x, y, side, side, LIGHT, GREY)
    yield Line(((x, y), (x + side, y + side)), GREY)
    yield Line(((x + side, y), (x, y + side)), GREY)
