"""A picture of a few plain shapes: SVG without any package, PNG with Pillow.

Colours are distinguished by everyone and in black and white: shades grow darker with
the number they stand for, and lines differ in their dashes too.
"""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError, MissingExtra
from dither.terminal import SPELLED
from dither.text import clean

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

__all__ = [
    "BLACK",
    "DASHES",
    "GREY",
    "LINES",
    "Area",
    "Dot",
    "Line",
    "Picture",
    "Rect",
    "Shape",
    "Text",
    "shade",
]

Point = tuple[float, float]
Colour = tuple[int, int, int]

BLACK, GREY, WHITE = (0, 0, 0), (130, 130, 130), (255, 255, 255)
# Okabe & Ito's colours, from dark to light, and a dash for each
LINES: tuple[Colour, ...] = ((0, 0, 0), (0, 114, 178), (213, 94, 0), (86, 180, 233))
DASHES: tuple[tuple[int, ...], ...] = ((), (8, 4), (2, 3), (10, 3, 2, 3))
# Points of cividis (Nuñez, Anderton & Renslow 2018), light first
SHADES: tuple[Colour, ...] = (
    (255, 250, 214),
    (239, 218, 93),
    (187, 172, 111),
    (124, 123, 120),
    (65, 77, 107),
    (0, 32, 77),
)
FINER = 2  # a PNG is drawn this much larger, and has so many points more
FONT = 12


def shade(share: float) -> Colour:
    """The colour of a number between 0 (light) and 1 (dark)."""
    place = min(max(share, 0.0), 1.0) * (len(SHADES) - 1)
    first = min(int(place), len(SHADES) - 2)
    part = place - first
    red, green, blue = (
        round(a + (b - a) * part)
        for a, b in zip(SHADES[first], SHADES[first + 1], strict=True)
    )
    return red, green, blue


@dataclass(frozen=True)
class Rect:
    """A filled box."""

    x: float
    y: float
    width: float
    height: float
    fill: Colour | None = None
    stroke: Colour | None = None

    def svg(self) -> str:
        place = f'x="{self.x:.1f}" y="{self.y:.1f}"'
        size = f'width="{self.width:.1f}" height="{self.height:.1f}"'
        return f"<rect {place} {size} {_paint(self.fill, self.stroke)}/>"

    def draw(self, on: ImageDraw) -> None:
        right, low = self.x + self.width, self.y + self.height
        box = [_large((self.x, self.y)), _large((right, low))]
        on.rectangle(box, self.fill, self.stroke)


@dataclass(frozen=True)
class Area:
    """A filled outline. Holes are drawn as areas of the ground on top of it."""

    points: tuple[Point, ...]
    fill: Colour | None = None
    stroke: Colour | None = None

    def svg(self) -> str:
        return f'<path d="{_path(self.points)}Z" {_paint(self.fill, self.stroke)}/>'

    def draw(self, on: ImageDraw) -> None:
        on.polygon([_large(one) for one in self.points], self.fill, self.stroke)


@dataclass(frozen=True)
class Line:
    """A line through points."""

    points: tuple[Point, ...]
    stroke: Colour = BLACK
    width: float = 1.0
    dashes: tuple[int, ...] = ()

    def svg(self) -> str:
        dashes = " ".join(map(str, self.dashes))
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        paint = f'{_paint(None, self.stroke)} stroke-width="{self.width:g}"{dashed}'
        return f'<path d="{_path(self.points)}" {paint}/>'

    def draw(self, on: ImageDraw) -> None:
        width = max(1, round(self.width * FINER))
        for part in _dashed(self.points, self.dashes) if self.dashes else [self.points]:
            on.line([_large(one) for one in part], self.stroke, width)


@dataclass(frozen=True)
class Dot:
    """A round mark."""

    x: float
    y: float
    radius: float = 2.5
    fill: Colour | None = BLACK
    stroke: Colour | None = None

    def svg(self) -> str:
        place = f'cx="{self.x:.1f}" cy="{self.y:.1f}" r="{self.radius:g}"'
        return f"<circle {place} {_paint(self.fill, self.stroke)}/>"

    def draw(self, on: ImageDraw) -> None:
        low = self.x - self.radius, self.y - self.radius
        high = self.x + self.radius, self.y + self.radius
        on.ellipse([_large(low), _large(high)], self.fill, self.stroke)


@dataclass(frozen=True)
class Text:
    """Words. `anchor` is start, middle or end; `turned` reads from below."""

    x: float
    y: float
    words: str
    size: float = FONT
    anchor: str = "start"
    bold: bool = False
    turned: bool = False
    fill: Colour = BLACK

    def svg(self) -> str:
        place = f'x="{self.x:.1f}" y="{self.y:.1f}" font-size="{self.size:g}"'
        weight = ' font-weight="bold"' if self.bold else ""
        turn = (
            f' transform="rotate(-90 {self.x:.1f} {self.y:.1f})"' if self.turned else ""
        )
        look = f'text-anchor="{self.anchor}" fill="{_hex(self.fill)}"'
        words = html.escape(clean(self.words))
        return f"<text {place} {look}{weight}{turn}>{words}</text>"

    def draw(self, on: ImageDraw) -> None:
        font = _font(self.size)
        if self.turned:
            self._turned(on, font)
            return
        place = {"start": "l", "middle": "m", "end": "r"}[self.anchor]
        stroke = 1 if self.bold else 0
        on.text(
            _large((self.x, self.y)),
            _in_latin(self.words),
            self.fill,
            font,
            anchor=f"{place}s",
            stroke_width=stroke,
            stroke_fill=self.fill,
        )

    def _turned(self, on: ImageDraw, font: Any) -> None:
        from PIL import Image, ImageDraw

        words = _in_latin(self.words)
        box = on.textbbox((0, 0), words, font)
        mask = Image.new("L", (round(box[2]) + 1, round(box[3]) + 1))
        ImageDraw.Draw(mask).text((0, 0), words, 255, font)
        upright = mask.rotate(90, expand=True)
        x, y = _large((self.x, self.y))
        shift = {"start": 1.0, "middle": 0.5, "end": 0.0}[self.anchor]
        corner = round(x - upright.width), round(y - upright.height * shift)
        on.bitmap(corner, upright, self.fill)


Shape = Rect | Area | Line | Dot | Text


@dataclass(frozen=True)
class Picture:
    """A picture. Notebooks show it; `save` writes an SVG or a PNG."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
    title: str = ""

    @classmethod
    def of(
        cls, width: int, height: int, shapes: Iterable[Shape], title: str = ""
    ) -> Picture:
        return cls(width, height, tuple(shapes), title)

    def svg(self) -> str:
        size = f'width="{self.width}" height="{self.height}"'
        view = f'viewBox="0 0 {self.width} {self.height}"'
        space = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"'
        ground = Rect(0, 0, self.width, self.height, WHITE).svg()
        drawn = "\n".join(shape.svg() for shape in self.shapes)
        title = f"<title>{html.escape(clean(self.title))}</title>"
        return f'<svg {space} role="img" {size} {view}>{title}{ground}\n{drawn}\n</svg>'

    def png(self) -> bytes:
        """The picture as a PNG, with two points to each one of the SVG."""
        try:
            from PIL import Image, ImageDraw
        except ImportError:
            raise MissingExtra("pillow", "science") from None
        image = Image.new("RGB", (self.width * FINER, self.height * FINER), WHITE)
        on = ImageDraw.Draw(image)
        for shape in self.shapes:
            shape.draw(on)
        held = io.BytesIO()
        image.save(held, "PNG")
        return held.getvalue()

    def save(self, path: str | Path) -> None:
        """Write the picture to a file that ends in .svg or .png."""
        kind = Path(path).suffix.casefold()
        if kind == ".svg":
            Path(path).write_text(self.svg(), encoding="utf-8")
        elif kind == ".png":
            Path(path).write_bytes(self.png())
        else:
            name = Path(path).stem
            raise ArgumentError("path", f"must end in .svg or .png; pass {name}.svg")

    def _repr_svg_(self) -> str:
        return self.svg()


def _hex(colour: Colour) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


def _paint(fill: Colour | None, stroke: Colour | None) -> str:
    inside = "none" if fill is None else _hex(fill)
    return f'fill="{inside}"' + ("" if stroke is None else f' stroke="{_hex(stroke)}"')


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _large(point: Point) -> Point:
    return point[0] * FINER, point[1] * FINER


def _in_latin(words: str) -> str:
    """Words as Pillow's own font can show them: it has no Greek letters."""
    return "".join(
        sign if sign <= "\xff" else SPELLED.get(sign, sign) for sign in clean(words)
    )


def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size * FINER)


def _dashed(points: Sequence[Point], dashes: Sequence[int]) -> Iterable[list[Point]]:
    """The drawn parts of a dashed line."""
    left, number = float(dashes[0]), 0
    for (x, y), (far_x, far_y) in pairwise(points):
        length = ((far_x - x) ** 2 + (far_y - y) ** 2) ** 0.5
        done = 0.0
        while done < length:
            step = min(left, length - done)
            if number % 2 == 0:
                ends = (done / length, (done + step) / length)
                yield [(x + (far_x - x) * at, y + (far_y - y) * at) for at in ends]
            done, left = done + step, left - step
            if left <= 0:
                number += 1
                left = float(dashes[number % len(dashes)])
