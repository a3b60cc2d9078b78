"""What every explanation has: two sentences, numbers, notes and a picture; for
terminals, notebooks and programs.
"""

from __future__ import annotations

import html
import json
import textwrap
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from dither.text import aligned, finite

__all__ = ["Explanation"]

WIDTH = 100

Rows = tuple[tuple[str, ...], ...]


class Explanation(ABC):
    """Numbers with their meaning. `print` shows it in words, a notebook with its
    picture.
    """

    @property
    @abstractmethod
    def title(self) -> str:
        """What is explained, in a few words."""

    @property
    @abstractmethod
    def sentences(self) -> tuple[str, str]:
        """Two sentences for someone who knows nothing of the theory."""

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """The numbers in words, line by line; each line begins with what it is about."""

    @property
    def heading(self) -> tuple[str, ...]:
        """The names of the columns of `rows`; none where they speak for themselves."""
        return ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know beside the numbers."""
        return ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""

    @abstractmethod
    def svg(self) -> str:
        """The picture: SVG that takes its colour from the page around it."""

    def to_json(self) -> str:
        """Everything as JSON; a number without bound is null."""
        return json.dumps(
            _plain(self.to_dict()), indent=2, ensure_ascii=False, allow_nan=False
        )

    def save(self, path: str | Path) -> None:
        """Write the picture to an SVG file."""
        Path(path).write_text(self.svg(), encoding="utf-8")

    def __str__(self) -> str:
        table = aligned([self.heading, *self.rows] if self.heading else self.rows)
        prose = [textwrap.fill(words, WIDTH) for words in self.sentences]
        notes = [textwrap.fill(words, WIDTH) for words in self.notes]
        return "\n".join(
            [
                self.title,
                "",
                *prose,
                "",
                *(f"  {line}" for line in table),
                *([""] if notes else []),
                *notes,
            ]
        )

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th scope="col">{html.escape(name)}</th>' for name in self.heading
        )
        body = "".join(map(_line, self.rows))
        table = f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
        notes = "<br>".join(map(html.escape, self.notes))
        words = "".join(
            f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences
        )
        return f"<div><strong>{html.escape(self.title)}</strong>{words}{self.svg()}{table}<small>{notes}</small></div>"


def _line(row: tuple[str, ...]) -> str:
    first, *rest = map(html.escape, row)
    return (
        "<tr><th "
        f'scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return (
        [_plain(each) for each in value]
        if isinstance(value, list | tuple)
        else finite(value)
    )
