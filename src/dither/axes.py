"""Axes for a picture: plain or logarithmic scales, ticks, lines with bands, a legend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from dither.picture import (
    BLACK,
    DASHES,
    LINES,
    Area,
    Dot,
    Line,
    Rect,
    Shape,
    Text,
)

__all__ = ["Axes", "Scale"]

PALE = (222, 222, 222)
TICK = 5
STEPS = (1, 2, 5, 10)
BAND = ((205, 205, 205), (190, 215, 235), (240, 215, 190), (222, 240, 250))


@dataclass(frozen=True)
class Scale:
    """Which numbers an axis shows. A logarithmic one starts above 0."""

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """The position of a number: 0 at the low end and 1 at the high one, never
        beyond.
        """
        held = min(max(value, self.low), self.high)
        if self.log:
            span = math.log(self.high / self.low)
            return math.log(held / self.low) / span
        return (held - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers within the scale."""
        return self._powers(most) if self.log else self._steps(most)

    def _powers(self, most: int) -> list[float]:
        first = math.ceil(math.log10(self.low) - 1e-9)
        last = math.floor(math.log10(self.high) + 1e-9)
        every = max(1, math.ceil((last - first + 1) / most))
        return [10.0**power for power in range(first, last + 1, every)]

    def _steps(self, most: int) -> list[float]:
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(one * power for one in STEPS if one * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        found: list[float] = []
        for number in count(first):
            if number * step > self.high + step * 1e-9:
                return found
            found.append(number * step)
        return found


@dataclass(frozen=True)
class Axes:
    """A frame with two scales: turns numbers into shapes."""

    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = self.left + self.x.at(x) * self.width
        return across, self.top + (1 - self.y.at(y)) * self.height

    def frame(
        self, x: str, y: str, names: Mapping[float, str] | None = None
    ) -> Iterator[Shape]:
        """Ticks, their numbers, and what the axes show. With `names` these places alone
        have a tick, and are called so.
        """
        bottom = self.top + self.height
        if names is None:
            names = {tick: _number(tick) for tick in self.x.ticks()}
        yield from self._x_ticks(bottom, names)
        yield from self._y_ticks()
        yield Rect(self.left, self.top, self.width, self.height, None, BLACK)
        yield Text(self.left + self.width / 2, bottom + 36, x, anchor="middle")
        middle = self.top + self.height / 2
        yield Text(self.left - 44, middle, y, anchor="middle", turned=True)

    def _x_ticks(self, bottom: float, names: Mapping[float, str]) -> Iterator[Shape]:
        for tick, name in names.items():
            across, _ = self.place(tick, self.y.low)
            yield Line(((across, self.top), (across, bottom)), PALE)
            yield Text(across, bottom + 17, name, anchor="middle")

    def _y_ticks(self) -> Iterator[Shape]:
        for tick in self.y.ticks():
            _, down = self.place(self.x.low, tick)
            yield Line(((self.left, down), (self.left + self.width, down)), PALE)
            yield Text(self.left - TICK, down + 4, _number(tick), anchor="end")

    def line(self, xs: Iterable[float], ys: Iterable[float], style: int = 0) -> Line:
        """A line through the points, in one of the styles."""
        points = (self.place(x, y) for x, y in zip(xs, ys, strict=True))
        return Line(tuple(points), LINES[style], 1.6, DASHES[style])

    def band(
        self,
        xs: Sequence[float],
        lows: Sequence[float],
        highs: Sequence[float],
        style: int = 0,
    ) -> Area:
        """An interval as a pale area."""
        above = [self.place(x, y) for x, y in zip(xs, highs, strict=True)]
        below = [self.place(x, y) for x, y in zip(xs, lows, strict=True)]
        return Area(tuple(above + below[::-1]), BAND[style])

    def whisker(self, x: float, low: float, high: float, style: int = 0) -> Line:
        """An interval as an upright line."""
        return Line((self.place(x, low), self.place(x, high)), LINES[style])

    def dot(self, x: float, y: float, style: int = 0) -> Dot:
        across, down = self.place(x, y)
        filled = LINES[style] if style % 2 == 0 else None
        return Dot(across, down, 3, filled, LINES[style])

    def legend(
        self, names: Sequence[str], *, left: float = 12, top: float = 16
    ) -> Iterator[Shape]:
        """The legend of each style, inside the frame."""
        for style, name in enumerate(names):
            down = self.top + top + 18 * style
            start = self.left + left
            ends = ((start, down - 4), (start + 30, down - 4))
            yield Line(ends, LINES[style], 1.6, DASHES[style])
            yield Text(start + 36, down, name)


def _number(value: float) -> str:
    """A tick in few characters."""
    if value and (abs(value) >= 1e5 or abs(value) < 1e-3):
        return (
            f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
        )
    return f"{round(value, 10):,g}"
