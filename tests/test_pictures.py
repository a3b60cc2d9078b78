"""The pictures of the documentation: small, described in words, shown on a page, and
true of the source.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tools.pictures import FLOORS, FOLDER, ROOT, SOURCE, Table, house, noise

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = sorted(FOLDER.glob("*.svg"))


def test_the_house_has_the_rooms_of_the_source() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")} - {"data"}
    assert {room for floor in FLOORS.values() for room in floor} == rooms
    assert (FOLDER / "house.svg").read_text(encoding="utf-8") == house(), (
        "run python tools/pictures.py"
    )


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


def test_a_table_is_read_off_its_html() -> None:
    found = Table(
        "<table><tr><th>n</th></tr><tr><td>1 &lt; 2</td></tr></table><small>one<br>two</small>"
    )
    assert (found.rows, found.below) == ([["n"], ["1 < 2"]], ["one", "two"])
