"""A part of a report: a title, then sentences, facts, a table or a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dither.text import clean, finite

__all__ = ["Section", "plain"]


@dataclass(frozen=True)
class Section:
    """What a report says about one thing. All of it is text that may come from anywhere
    (a question, a name), so anyone who draws it escapes it; `picture` is SVG of our
    own.

    `data` holds the same facts as numbers, for programs.
    """

    name: str
    title: str
    words: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    heading: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    picture: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def texts(self) -> list[str]:
        """All of its content, piece by piece."""
        pairs = [text for pair in self.facts for text in pair]
        cells = [cell for row in (self.heading, *self.rows) for cell in row]
        return [self.title, *self.words, *pairs, *cells]

    def to_dict(self) -> dict[str, Any]:
        """The section as plain data."""
        return {
            "title": self.title,
            "words": list(map(clean, self.words)),
            "facts": [
                {"name": clean(name), "text": clean(text)} for name, text in self.facts
            ],
            "table": {
                "heading": list(map(clean, self.heading)),
                "rows": [list(map(clean, row)) for row in self.rows],
            },
            "data": plain(self.data),
        }


def plain(value: Any) -> Any:
    """Plain data without infinities, which JSON has not; texts as a terminal may show
    them.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return finite(value)
