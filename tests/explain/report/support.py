"""A small clinic to report on, and a reader of pages."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import dither
from dither.dataset import Dataset

EVIL = "</script><script>alert(1)</script>"
SQL = "SELECT ward, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY ward"


def clinic(folder: Path, **other: Any) -> Dataset:
    """700 patients with up to three visits each."""
    lines = ["patient_id,ward,age"]
    lines += [f"{i % 700},{'ABC'[i % 3]},{20 + i % 60}" for i in range(2000)]
    path = folder / "visits.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    declared: dict[str, Any] = {
        "unit": "patient_id",
        "bounds": {"age": (0, 110)},
        "keys": {"ward": ["A", "B", "C"]},
        "types": {"age": "integer"},
        "rows": 50,
        "budget": 3.0,
    }
    return dither.open(path, **(declared | other))


class Page(HTMLParser):
    """What a browser would show, load and run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.shown: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._apart(tag)

    def handle_endtag(self, tag: str) -> None:
        self._apart(tag)

    def _apart(self, tag: str) -> None:
        if tag not in ("span", "wbr", "code", "em"):
            self.shown.append("\n")

    def handle_data(self, data: str) -> None:
        self.shown.append(data)

    @property
    def text(self) -> str:
        return "".join(self.shown)

    @property
    def loaded(self) -> list[str]:
        """What it would fetch: nothing, for a page that opens without a network."""
        names = ("src", "href", "srcset", "data", "action", "xlink:href", "poster")
        found = [
            str(attributes[name])
            for _, attributes in self.tags
            for name in names
            if name in attributes
        ]
        return [*found, *(tag for tag, _ in self.tags if tag in ("script", "link"))]

    @property
    def handlers(self) -> list[str]:
        """Attributes that would run something."""
        return [
            name for _, found in self.tags for name in found if name.startswith("on")
        ]
