"""The menu of the documentation: by door and by field, short at every level, in plain
words, and complete.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
TABS = [
    *("Home", "Tutorial", "Analysts", "Curators", "Developers", "Machine learning"),
    *("Science", "Teaching", "Reference"),
]
DOORS = ("analyst", "curator", "developer", "learning", "science", "teaching")
MOST = 9
PLAIN = re.compile(r"[A-Z][a-zA-Z]+( [a-zA-Z]+){0,5}")

Entry = str | dict[str, Any]


def levels(entries: list[Entry], name: str) -> Iterator[tuple[str, list[Entry]]]:
    """Each level of the menu, with the name of its section."""
    yield name, entries
    for entry in entries:
        if isinstance(entry, dict):
            for title, inside in entry.items():
                if isinstance(inside, list):
                    yield from levels(inside, title)


LEVELS = list(levels(SETTINGS["nav"], "Home"))


def pages() -> list[str]:
    """The page of each entry."""
    found = []
    for _, entries in LEVELS:
        for entry in entries:
            inside = next(iter(entry.values())) if isinstance(entry, dict) else entry
            if isinstance(inside, str):
                found.append(inside)
    return found


def test_there_is_a_tab_for_each_door() -> None:
    assert [next(iter(entry)) for entry in SETTINGS["nav"]] == TABS
    landings = [f"doors/{door}.md" for door in DOORS]
    firsts = [entries[0] for _, entries in LEVELS if isinstance(entries[0], str)]
    assert [first for first in firsts if first.startswith("doors/")] == landings


@pytest.mark.parametrize(("name", "entries"), LEVELS, ids=[name for name, _ in LEVELS])
def test_a_level_is_short(name: str, entries: list[Entry]) -> None:
    assert 1 <= len(entries) <= MOST, f"{name} has {len(entries)} entries"


def test_each_page_has_one_entry() -> None:
    there = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert Counter(pages()) == Counter(there)


@pytest.mark.parametrize("name", [name for name, _ in LEVELS])
def test_a_section_has_a_plain_name(name: str) -> None:
    assert PLAIN.fullmatch(name), name


@pytest.mark.parametrize("door", DOORS)
def test_a_door_names_the_pages_behind_it(door: str) -> None:
    """Its landing page links to each page of its section."""
    (section,) = [found for _, found in LEVELS if found[0] == f"doors/{door}.md"]
    behind = {
        inside
        for _, entries in levels(section, door)
        for entry in entries
        for inside in (entry.values() if isinstance(entry, dict) else [entry])
        if isinstance(inside, str) and not inside.startswith("doors/")
    }
    text = (DOCS / "doors" / f"{door}.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(\.\./([^)#]+\.md)", text))
    assert behind - linked == set()
    assert f"doors/{door}.md" in (DOCS / "index.md").read_text(encoding="utf-8")


def test_the_theme_has_what_readers_expect() -> None:
    features = set(SETTINGS["theme"]["features"])
    assert {"content.code.copy", "navigation.footer", "navigation.tabs"} <= features
    schemes = [one.get("scheme") for one in SETTINGS["theme"]["palette"]]
    assert schemes == [None, "default", "slate"]
    assert all("toggle" in one for one in SETTINGS["theme"]["palette"])


def test_no_plugin_but_search() -> None:
    """The successor of the theme reads these settings; it reads few plugins."""
    names = [next(iter(one)) for one in SETTINGS["plugins"]]
    assert names == ["search"]
