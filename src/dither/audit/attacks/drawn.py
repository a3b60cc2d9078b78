"""The two pictures of attacks: bars of rates, and curves of shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dither.audit.attacks.rates import Rate
from dither.audit.attacks.rebuilt import percent
from dither.axes import Axes, Scale
from dither.picture import BLACK, LINES, Line, Picture, Rect, Shape, Text

__all__ = ["Curve", "bars", "curves"]

LABELS, WIDTH, VALUES, STEP, TOP, FOOT = 230, 320, 70, 34, 36, 74
FILL = (200, 221, 240)
LONGEST = 34


def bars(title: str, rates: Sequence[Rate]) -> Picture:
    """A bar for each release with its interval. A line marks guessing, and a broken one
    what the guarantee allows.
    """
    bottom = TOP + STEP * len(rates)
    shapes = [Text(12, 20, title, bold=True), *_scale(bottom)]
    for place, one in enumerate(rates):
        shapes += _bar(one, TOP + STEP * place)
    promised = any(one.bound is not None for one in rates)
    shapes += _key(bottom + 48, (1, 2) if promised else (1,))
    return Picture.of(LABELS + WIDTH + VALUES, bottom + FOOT, shapes, title)


def _across(share: float) -> float:
    return LABELS + WIDTH * min(max(share, 0.0), 1.0)


def _scale(bottom: float) -> Iterator[Shape]:
    for part in range(0, 101, 25):
        across = _across(part / 100)
        yield Line(((across, TOP - 6), (across, bottom)), (222, 222, 222))
        yield Text(across, bottom + 16, f"{part} %", anchor="middle")


def _bar(one: Rate, top: float) -> Iterator[Shape]:
    middle = top + STEP / 2 - 3
    label = one.release
    shown = label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
    yield Text(LABELS - 8, middle + 4, shown, anchor="end")
    yield Rect(LABELS, top + 2, _across(one.share) - LABELS, STEP - 10, FILL, BLACK)
    wide = one.within
    ends = _across(one.share - wide), _across(one.share + wide)
    yield Line(((ends[0], middle), (ends[1], middle)), BLACK, 1.6)
    yield _mark(one.guessing, top, 1)
    if one.bound is not None:
        yield _mark(one.bound, top, 2)
    yield Text(LABELS + WIDTH + 10, middle + 4, percent(one.share, 1))


def _mark(share: float, top: float, style: int) -> Line:
    across = _across(share)
    dashes = (4, 2) if style == 2 else ()
    return Line(((across, top - 2), (across, top + STEP - 4)), LINES[style], 3, dashes)


def _key(down: float, marks: Sequence[int]) -> Iterator[Shape]:
    words = ("right, ± at 95 %", "guessing", "the guarantee allows")
    yield Rect(LABELS - 100, down - 10, 16, 11, FILL, BLACK)
    yield Text(LABELS - 78, down, words[0])
    for style in marks:
        left = LABELS - 50 + 100 * style
        dashes = (4, 2) if style == 2 else ()
        yield Line(((left, down - 12), (left, down + 3)), LINES[style], 3, dashes)
        yield Text(left + 8, down, words[style])


@dataclass(frozen=True)
class Curve:
    """A named line; `dots` marks the places where it was measured. So many of the last
    places are not `joined` to the others: they stand for something else.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    dots: bool = True
    apart: int = 0

    @property
    def joined(self) -> int:
        return len(self.xs) - self.apart


def curves(
    title: str,
    x: str,
    y: str,
    lines: Sequence[Curve],
    *,
    log: bool = False,
    names: dict[float, str] | None = None,
) -> Picture:
    """Shares between 0 and 1 as lines, up to four, with a legend below."""
    across = [value for line in lines for value in line.xs]
    low, high = min(across), max(across)
    scale = Scale(low, high if high > low else low + 1, log)
    axes = Axes(64, 40, 420, 250, scale, Scale(0, 1))
    shapes: list[Shape] = [*axes.frame(x, y, names), Text(12, 22, title, bold=True)]
    for style, line in enumerate(lines):
        shapes.append(axes.line(line.xs[: line.joined], line.ys[: line.joined], style))
        first = 0 if line.dots else line.joined
        shapes += [axes.dot(*at, style) for at in _places(line, first)]
    shapes += axes.legend([line.name for line in lines], left=0, top=axes.height + 62)
    height = 40 + 250 + 56 + 18 * len(lines)
    return Picture.of(536, height, shapes, title)


def _places(line: Curve, first: int) -> Iterator[tuple[float, float]]:
    yield from zip(line.xs[first:], line.ys[first:], strict=True)
