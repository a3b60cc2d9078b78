"""A report: the same facts as a page to read and print, and as data."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dither._version import __version__
from dither.errors import ArgumentError
from dither.explain.report.glossary import WORDS
from dither.explain.report.page import page
from dither.explain.report.section import Section
from dither.text import clean

__all__ = ["Report"]

SCHEMA = "dither.report/1"
WIDTH = 88
FOOTER = (
    f"Made by Dither {__version__}. Every number here is public or was charged. This "
    "page loads nothing and runs nothing."
)


@dataclass(frozen=True)
class Report:
    """What a release, or an account, promised and cost. `html()` is one file that opens
    without a network and prints; `to_json()` holds the same facts.
    """

    about: str
    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]

    def __getitem__(self, name: str) -> Section:
        """A section by its name."""
        for section in self.sections:
            if section.name == name:
                return section
        names = ", ".join(section.name for section in self.sections)
        raise ArgumentError(
            "section", f"{name!r:.40} is not a section; pass one of {names}"
        )

    def html(self) -> str:
        """The page."""
        return page(self.title, self.lead, self.sections, FOOTER)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "schema": SCHEMA,
            "about": self.about,
            "title": clean(self.title),
            "lead": list(map(clean, self.lead)),
            "code": f"dither {__version__}",
            "sections": {one.name: one.to_dict() for one in self.sections},
            "words": dict(WORDS),
        }

    def to_json(self) -> str:
        """Everything as JSON; a number without bound is null."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file that ends in .html, or the data to one in .json."""
        place = Path(path)
        kinds = {".html": self.html, ".htm": self.html, ".json": self.to_json}
        make = kinds.get(place.suffix.lower())
        if make is None:
            raise ArgumentError(
                "path", "must end in .html or .json; pass a name such as report.html"
            )
        place.write_text(make(), encoding="utf-8")
        return place

    def __str__(self) -> str:
        lines = [self.title, *(textwrap.fill(one, WIDTH) for one in self.lead)]
        for section in self.sections:
            lines += ["", section.title, *_told(section)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        # A page in a page: a notebook shows it in a frame of its own.
        import html

        inside = html.escape(self.html(), quote=True)
        title = html.escape(clean(self.title), quote=True)
        size = 'width="100%" height="640"'
        return f'<iframe title="{title}" {size} sandbox srcdoc="{inside}"></iframe>'


def _told(section: Section) -> list[str]:
    from dither.text import aligned

    words = [textwrap.fill(clean(one), WIDTH) for one in section.words]
    pairs = [(clean(name), clean(text)) for name, text in section.facts]
    table = [[clean(one) for one in row] for row in (section.heading, *section.rows)]
    shown = aligned(table) if section.rows else []
    return [*words, *aligned(pairs), *shown]
