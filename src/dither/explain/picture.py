"""Small SVG pictures with axes, drawn without any package.

Lines and words take the colour of the page around them (`currentColor`), so that they
show on light and on dark; one accent colour marks what matters, and what it marks is
also named in words. The same numbers give the same text.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

__all__ = ["ACCENT", "Axis", "Panel", "document", "logarithmic", "percents"]

ACCENT = "#0d9488"
"""Stands out from white and from black alike: 3.7 and 5.6 to 1."""
DASHES = ' stroke-dasharray="5 4"'

Point = tuple[float, float]
Ticks = tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Axis:
    """Numbers from low to high on a line, evenly or by their logarithms."""

    label: str
    low: float
    high: float
    ticks: Ticks
    log: bool = False

    def place(self, value: float) -> float:
        """The position of a number, from 0 to 1; those outside lie at the ends."""
        inside = min(max(value, self.low), self.high)
        if not self.log:
            return (inside - self.low) / (self.high - self.low)
        start = math.log(self.low)
        return (math.log(inside) - start) / (math.log(self.high) - start)


def percents(label: str) -> Axis:
    """Percentages from 0 to 100 %."""
    return Axis(label, 0.0, 1.0, tuple((i / 4, f"{25 * i} %") for i in range(5)))


def logarithmic(label: str, values: Iterable[float], *, most: int = 7) -> Axis:
    """Whole powers of ten around all finite values above 0, with as many of them named
    as there is room for.
    """
    shown = [value for value in values if 0.0 < value < math.inf] or [1.0]
    low, high = (
        math.floor(math.log10(min(shown)) + 0.01),
        math.ceil(math.log10(max(shown)) - 0.01),
    )
    low = min(max(low, -300), 299)
    high = min(max(high, low + 1), 300)
    step = math.ceil((high - low) / most)
    ticks = tuple((10.0**power, _power(power)) for power in range(low, high + 1, step))
    return Axis(label, 10.0**low, 10.0**high, ticks, log=True)


def _power(power: int) -> str:
    return f"{10.0**power:,.{max(0, -power)}f}" if -4 <= power <= 6 else f"1e{power}"


@dataclass(frozen=True)
class Panel:
    """One plot: its place in the picture, its axes, and the `parts` drawn on it from
    the back to the front.
    """

    left: float
    top: float
    width: float
    height: float
    across: Axis
    upwards: Axis
    parts: tuple[str, ...] = ()
    named: int = 0

    def at(self, point: Point) -> Point:
        across, upwards = self.across.place(point[0]), self.upwards.place(point[1])
        return self.left + self.width * across, self.top + self.height * (1.0 - upwards)

    def line(
        self, points: Sequence[Point], *, accent: bool = False, dashed: bool = False
    ) -> Panel:
        colour, width = (ACCENT, 2.5) if accent else ("currentColor", 1.2)
        drawn = (
            f'<path d="{self._path(points)}" fill="none" stroke="{colour}" '
            f'stroke-width="{width}"'
        )
        return self._with(f"{drawn}{DASHES if dashed else ''}/>")

    def area(self, upper: Sequence[Point], lower: Sequence[Point]) -> Panel:
        """The area between two lines."""
        outline = self._path([*upper, *reversed(lower)])
        return self._with(f'<path d="{outline}Z" fill="{ACCENT}" fill-opacity="0.22"/>')

    def dot(self, point: Point, *, accent: bool = True) -> Panel:
        x, y = self.at(point)
        colour = ACCENT if accent else "currentColor"
        return self._with(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
        )

    def ring(self, point: Point) -> Panel:
        """An open dot, distinguished from a full one without its colour."""
        x, y = self.at(point)
        paint = f'fill="none" stroke="{ACCENT}" stroke-width="2"'
        return self._with(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" {paint}/>')

    def words(
        self,
        point: Point,
        text: str,
        *,
        anchor: str = "start",
        shift: Point = (8.0, -6.0),
    ) -> Panel:
        x, y = self.at(point)
        place = f'x="{x + shift[0]:.1f}" y="{y + shift[1]:.1f}" text-anchor="{anchor}"'
        return self._with(
            f'<text {place} fill="currentColor">{html.escape(text)}</text>'
        )

    def legend(
        self,
        text: str,
        *,
        accent: bool = False,
        dashed: bool = False,
        area: bool = False,
    ) -> Panel:
        """The legend of a line or an area, below the plot."""
        x, y = self._next_name()
        colour, width = (
            (ACCENT, 10 if area else 2.5) if accent else ("currentColor", 1.2)
        )
        faint = ' stroke-opacity="0.3"' if area else ""
        style = (
            f'stroke="{colour}" stroke-width="{width}"{faint}{DASHES if dashed else ""}'
        )
        swatch = f'<path d="M{x:.1f} {y - 4:.1f}h26" fill="none" {style}/>'
        return self._named(text, swatch)

    def remark(self, text: str) -> Panel:
        """Words below the plot that belong to the line above them."""
        return self._named(text, "")

    def svg(self) -> str:
        """The plot with its axes."""
        box = (
            f'x="{self.left}" y="{self.top}" width="{self.width}" '
            f'height="{self.height}"'
        )
        frame = f'<rect {box} fill="none" stroke="currentColor" stroke-opacity="0.5"/>'
        return "".join([*self._grid(), frame, *self._labels(), *self.parts])

    def _named(self, text: str, swatch: str) -> Panel:
        x, y = self._next_name()
        words = (
            f'<text x="{x + 34:.1f}" y="{y:.1f}" '
            f'fill="currentColor">{html.escape(text)}</text>'
        )
        return replace(self._with(swatch + words), named=self.named + 1)

    def _next_name(self) -> Point:
        return self.left, self.top + self.height + 58 + 18 * self.named

    def _with(self, part: str) -> Panel:
        return replace(self, parts=(*self.parts, part))

    def _path(self, points: Sequence[Point]) -> str:
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in map(self.at, points))

    def _grid(self) -> Iterable[str]:
        right, bottom = self.left + self.width, self.top + self.height
        for value, text in self.across.ticks:
            x = self.at((value, self.upwards.low))[0]
            yield _rule(f"M{x:.1f} {self.top}V{bottom}")
            yield (
                f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" '
                f'fill="currentColor">{text}</text>'
            )
        for value, text in self.upwards.ticks:
            y = self.at((self.across.low, value))[1]
            yield _rule(f"M{self.left} {y:.1f}H{right}")
            yield (
                f'<text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end" '
                f'fill="currentColor">{text}</text>'
            )

    def _labels(self) -> Iterable[str]:
        middle, below = self.left + self.width / 2, self.top + self.height + 34
        yield (
            f'<text x="{middle}" y="{below}" text-anchor="middle" '
            f'fill="currentColor">{_safe(self.across)}</text>'
        )
        yield (
            f'<text x="{self.left}" y="{self.top - 10}" '
            f'fill="currentColor">{_safe(self.upwards)}</text>'
        )


def _safe(axis: Axis) -> str:
    return html.escape(axis.label)


def _rule(path: str) -> str:
    return f'<path d="{path}" stroke="currentColor" stroke-opacity="0.15" fill="none"/>'


def document(
    title: str, description: str, size: tuple[int, int], panels: Iterable[Panel]
) -> str:
    """The whole picture, with a title and a description for those who do not see it."""
    width, height = size
    head = f"<title>{html.escape(title)}</title><desc>{html.escape(description)}</desc>"
    attributes = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    style = 'font-family="sans-serif" font-size="12"'
    inside = "".join(panel.svg() for panel in panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {attributes} '
        f"{style}>{head}{inside}</svg>"
    )
