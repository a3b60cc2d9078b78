"""The pictures of the documentation: small, described in words, shown on a page, and
true of the source.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from dither.cli.budget import ACCOUNTS
from tools.pictures import (
    FLOORS,
    FOLDER,
    HOUSES,
    ROOT,
    SOURCE,
    Table,
    furnished,
    house,
    noise,
)

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = sorted(FOLDER.glob("*.svg"))
DRAWN = sorted((ROOT / "docs").rglob("*.svg"))


def test_the_house_has_the_rooms_of_the_source() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")} - {"data"}
    assert {room for floor in FLOORS.values() for room in floor} == rooms
    assert (FOLDER / "house.svg").read_text(encoding="utf-8") == house(), (
        "run python tools/pictures.py"
    )


@pytest.mark.parametrize("page", HOUSES, ids=lambda page: page.name)
def test_pages_list_the_rooms(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == furnished(text), "run python tools/pictures.py"


def test_releases_are_drawn_anew() -> None:
    assert noise() != noise()


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_small_and_says_what_it_shows(path: Path) -> None:
    root = ET.parse(path).getroot()
    assert path.stat().st_size < 30_000
    assert root.findtext(f"{SVG}title")
    assert len(root.findtext(f"{SVG}desc", "")) > 40


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_shown(path: Path) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert any(
        f"pictures/{path.name})" in page.read_text(encoding="utf-8") for page in pages
    )


def test_the_terminal_shows_the_columns_of_the_budget() -> None:
    shown = ET.parse(FOLDER / "terminal.svg").getroot().iter(f"{SVG}text")
    lines = [line.text or "" for line in shown]
    at = lines.index("$ dither budget clinic/clinic.toml")
    title, headings, _ = ACCOUNTS
    assert lines[at + 1].startswith(f"{title} in "), "run python tools/pictures.py"
    columns = tuple(one.strip() for one in lines[at + 3].strip("┃").split("┃"))
    assert columns == headings, "run python tools/pictures.py"


def test_a_table_is_read_off_its_html() -> None:
    found = Table(
        "<table><tr><th>n</th></tr><tr><td>1 &lt; 2</td></tr></table><small>one<br>two</small>"
    )
    assert (found.rows, found.below) == ([["n"], ["1 < 2"]], ["one", "two"])


def luminance(colour: str) -> float:
    """Relative luminance, by WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    ]
    return sum(
        weight * part
        for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def size_of(element: ET.Element, name: str, whole: float) -> float:
    given = element.get(name, "0")
    return whole if given == "100%" else float(given)


def words_on_ground(root: ET.Element) -> Iterator[tuple[str, str, str]]:
    """The words of a picture, their colour, and the colour of the topmost box that they
    lie on. Nothing lies below the first box but the page, whose colour is not known.
    """
    width, height = (float(side) for side in root.attrib["viewBox"].split()[2:])
    boxes: list[tuple[float, float, float, float, str]] = []
    own = root.get("color", "#000000"), root.get("fill", "#000000")
    for element in root.iter():
        fill = element.get("fill", own[1])
        fill = own[0] if fill == "currentColor" else fill
        if element.tag == f"{SVG}rect" and fill.startswith("#"):
            x, y = size_of(element, "x", 0), size_of(element, "y", 0)
            far = x + size_of(element, "width", width)
            boxes.append((x, y, far, y + size_of(element, "height", height), fill))
        elif element.tag == f"{SVG}text":
            x, y = float(element.get("x", 0)), float(element.get("y", 0)) - 4
            below = [
                colour
                for left, top, right, bottom, colour in boxes
                if left <= x <= right and top <= y <= bottom
            ]
            yield element.text or "", fill, below[-1]


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.stem)
def test_words_can_be_read_on_light_and_on_dark_pages(path: Path) -> None:
    """A picture has a ground of its own, and its words stand out from it."""
    root = ET.parse(path).getroot()
    ground = next(root.iter(f"{SVG}rect"))
    sides = [float(side) for side in root.attrib["viewBox"].split()[2:]]
    assert [
        size_of(ground, name, whole)
        for name, whole in zip(("width", "height"), sides, strict=True)
    ] == sides
    faint = [
        (words, fill, below)
        for words, fill, below in words_on_ground(root)
        if contrast(fill, below) < 4.5
    ]
    assert faint == []
