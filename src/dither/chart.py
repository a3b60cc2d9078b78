"""Bars with their intervals as a small SVG picture, without any package to draw it."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from dither.errors import ArgumentError
from dither.text import cell, clean, missing

__all__ = ["Bar", "Chart"]

LABELS, WIDTH, VALUES, STEP, TOP = 160, 360, 150, 24, 30
MOST = 60
LONGEST = 24

Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its value, and the ends of its interval where it has one."""

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
                f"shows at most {MOST} bars; add LIMIT {MOST} to the question, or "
                "ask for fewer keys or bins",
            )
        if not all(missing(value) or isinstance(value, Real) for value in values):
            raise ArgumentError(
                "column", f"{title!r} does not hold numbers; it has no bars"
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

    def svg(self) -> str:
        height = TOP + STEP * max(len(self.bars), 1)
        size = f'width="{LABELS + WIDTH + VALUES}" height="{height}"'
        view = f'viewBox="0 0 {LABELS + WIDTH + VALUES} {height}"'
        title = html.escape(clean(self.title))
        head = (
            f'<title>{title}</title><text x="{LABELS}" y="18" '
            f'font-weight="bold">{title}</text>'
        )
        font = 'font-family="sans-serif" font-size="12"'
        space = 'xmlns="http://www.w3.org/2000/svg"'
        return (
            f'<svg {space} role="img" {size} {view} '
            f"{font}>{head}{''.join(self._drawn())}</svg>"
        )

    def _drawn(self) -> Iterator[str]:
        low, high = self.scale()

        def across(number: float) -> float:
            return LABELS + WIDTH * (min(max(number, low), high) - low) / (high - low)

        for row, bar in enumerate(self.bars):
            yield from drawn(bar, TOP + STEP * row, across)

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path) -> None:
        """Write the picture to an SVG file."""
        if Path(path).suffix.casefold() != ".svg":
            raise ArgumentError(
                "path",
                f"the picture is an SVG; name a file such as {Path(path).stem}.svg",
            )
        Path(path).write_text(self.svg(), encoding="utf-8")


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


def drawn(bar: Bar, top: int, across: Any) -> Iterator[str]:
    """Label, bar, whiskers and the number in words."""
    middle = top + STEP // 2
    yield (
        f'<text x="{LABELS - 8}" y="{middle + 4}" '
        f'text-anchor="end">{html.escape(bar.label)}</text>'
    )
    yield (
        f'<text x="{LABELS + WIDTH + 8}" '
        f'y="{middle + 4}">{html.escape(bar.text)}</text>'
    )
    if math.isnan(bar.value):
        return
    left, right = sorted((across(0.0), across(bar.value)))
    yield (
        f'<rect x="{left:.1f}" y="{top + 4}" width="{right - left:.1f}" '
        f'height="{STEP - 8}" fill="#93b4f5"/>'
    )
    low, high = across(bar.low), across(bar.high)
    ends = (f"M{end:.1f} {middle - 4}V{middle + 4}" for end in (low, high))
    yield (
        f'<path d="M{low:.1f} {middle}H{high:.1f}{"".join(ends)}" '
        'stroke="#1e3a8a" fill="none"/>'
    )
