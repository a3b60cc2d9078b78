"""Bars with their intervals as a small picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from dither.errors import ArgumentError
from dither.picture import Line, Picture, Rect, Shape, Text
from dither.text import cell, missing

__all__ = ["MOST", "Bar", "Chart"]

LABELS, WIDTH, VALUES, STEP, TOP = 160, 360, 150, 24, 30
MOST = 60
LONGEST = 24
FILL, EDGE = (147, 180, 245), (30, 58, 138)

Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its value, and the ends of its interval if it has one."""

    label: str
    value: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class Chart:
    """A picture of one column. Notebooks show it; `save` writes it to a file."""

    title: str
    bars: tuple[Bar, ...]

    @classmethod
    def of(
        cls,
        title: str,
        labels: Sequence[str],
        values: Sequence[Any],
        ends: Sequence[Ends | None],
    ) -> Chart:
        """A bar for each value, in their order."""
        if len(values) > MOST:
            raise ArgumentError(
                "plot",
                f"can show at most {MOST} bars; add LIMIT {MOST} to the question, or "
                "ask for fewer keys or bins",
            )
        if not all(missing(value) or isinstance(value, Real) for value in values):
            raise ArgumentError(
                "column",
                f"the column {title!r} does not hold numbers; choose a column that does",
            )
        return cls(
            title, tuple(bar(*one) for one in zip(labels, values, ends, strict=True))
        )

    def scale(self) -> tuple[float, float]:
        """The smallest and the largest number drawn; zero is always there."""
        ends = [
            end
            for bar in self.bars
            for end in (bar.low, bar.high, bar.value)
            if math.isfinite(end)
        ]
        low, high = min([0.0, *ends]), max([0.0, *ends])
        return low, high if high > low else low + 1

    def picture(self) -> Picture:
        """The bars as shapes."""
        height = TOP + STEP * max(len(self.bars), 1)
        title = Text(LABELS, 18, self.title, bold=True)
        shapes = (title, *self._drawn())
        return Picture(LABELS + WIDTH + VALUES, height, shapes, self.title)

    def svg(self) -> str:
        return self.picture().svg()

    def _drawn(self) -> Iterator[Shape]:
        low, high = self.scale()

        def across(number: float) -> float:
            return LABELS + WIDTH * (min(max(number, low), high) - low) / (high - low)

        for row, bar in enumerate(self.bars):
            yield from drawn(bar, TOP + STEP * row, across)

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path) -> None:
        """Write the picture to a file that ends in .svg or .png."""
        self.picture().save(path)


def bar(label: str, value: Any, ends: Ends | None) -> Bar:
    number = math.nan if missing(value) else float(value)
    low, high = (
        (number, number) if ends is None or ends[0] is None else map(float, ends)
    )
    return Bar(
        label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…",
        number,
        low,
        high,
        cell(value, ends),
    )


def drawn(bar: Bar, top: int, across: Callable[[float], float]) -> Iterator[Shape]:
    """Label, bar, whiskers and the number in words."""
    middle = top + STEP // 2
    yield Text(LABELS - 8, middle + 4, bar.label, anchor="end")
    yield Text(LABELS + WIDTH + 8, middle + 4, bar.text)
    if math.isnan(bar.value):
        return
    left, right = sorted((across(0.0), across(bar.value)))
    yield Rect(left, top + 4, right - left, STEP - 8, FILL)
    low, high = across(bar.low), across(bar.high)
    yield Line(((low, middle), (high, middle)), EDGE)
    for end in (low, high):
        yield Line(((end, middle - 4), (end, middle + 4)), EDGE)
