"""The cost of a question and the error of its answer, before anything is spent or read."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

from dither.ledger.wire import to_json
from dither.privacy import Guarantee
from dither.text import aligned, clean, finite, level, width_in_words
from dither.wording import (
    REFUSED,
    UNCHARGED,
    foretold,
    in_markdown,
    promised,
    table_in_markdown,
)

__all__ = ["Preview", "PreviewColumn"]

SCHEMA = "dither.preview/1"
REPEATED = "nothing, this was asked before and the stored answer is given again"
Width = float | str | None


@dataclass(frozen=True)
class PreviewColumn:
    """A column of the answer: its name, what it is, and its ± under each condition.

    `errors` holds pairs of a condition and a width. The condition is empty where the
    width holds always (counts, sums), or says when: "for groups of 1,000", "for 250
    rows", "for a radius of 10 rows". The width is the half width of the interval, its
    description in words, or None if nothing is known. A key has no errors.
    """

    name: str
    what: str
    errors: tuple[tuple[str, Width], ...] = ()

    def in_words(self) -> list[str]:
        """Each ± with its condition."""
        return [f"{_width(width)} {clean(when)}".strip() for when, width in self.errors]

    def as_data(self) -> dict[str, Any]:
        errors = [{"when": when, "width": finite(width)} for when, width in self.errors]
        return {"name": self.name, "what": self.what, "errors": errors}


def _width(width: Width) -> str:
    if width is None:
        return "unknown"
    return clean(width) if isinstance(width, str) else width_in_words(width)


@dataclass(frozen=True)
class Preview:
    """The cost and the error of a question, from public facts alone.

    `epsilon_alone` is the ε of this answer by itself at `delta`. `share` is the part of
    the account that it costs, and `cost` is the same in words. `groups` is the number of
    rows if keys are public, or says that they are private. `remaining` is the remaining
    budget in words: after this answer, or now if it would be refused or costs nothing.
    `replay`: this was answered before, and asking again costs nothing.
    """

    columns: tuple[PreviewColumn, ...]
    guarantee: Guarantee
    epsilon_alone: float
    share: float | None
    groups: int | str = 1
    notes: tuple[str, ...] = ()
    affordable: bool = True
    cost: str = UNCHARGED
    remaining: str = ""
    refused: str = ""
    replay: bool = False
    delta: float = 0.0
    confidence: float = 0.95

    @property
    def heading(self) -> tuple[str, str, str]:
        """The names of the three columns in which `columns` are shown."""
        return "column", "what", f"± at {level(self.confidence)}"

    def table(self) -> list[tuple[str, str, str]]:
        """Name, what it is and each error in words, line by line, for each column of
        the answer.
        """
        lines = []
        for column in self.columns:
            first, *more = column.in_words() or [""]
            lines += [
                (clean(column.name), clean(column.what), first),
                *(("", "", words) for words in more),
            ]
        return lines

    def about(self) -> list[str]:
        """The number of rows, the guarantee, the cost, what remains, and notes, line by
        line.
        """
        promise = promised(self.guarantee, self.delta, self.epsilon_alone)
        return [
            f"rows: {self.rows_in_words()}",
            f"guarantee: {promise}",
            *self._paid(),
            *self._notes(),
        ]

    def _paid(self) -> list[str]:
        if self.replay:
            left = [f"remaining: {self.remaining}"] if self.remaining else []
            return [f"cost: {REPEATED}", *left]
        return foretold(
            self.cost, self.remaining, affordable=self.affordable, refused=self.refused
        )

    def _notes(self) -> list[str]:
        return [clean(note) for note in self.notes]

    def rows_in_words(self) -> str:
        return (
            f"{self.groups:,}" if isinstance(self.groups, int) else clean(self.groups)
        )

    def __str__(self) -> str:
        return "\n".join([*aligned([self.heading, *self.table()]), *self.about()])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        """What IPython shows in a terminal."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.heading)
        rows = (
            "".join(f"<td>{html.escape(text)}</td>" for text in row)
            for row in self.table()
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        about = "<br>".join(html.escape(line) for line in self.about())
        return f"<table><tr>{head}</tr>{body}</table><small>{about}</small>"

    def to_json(self, indent: int | None = None) -> str:
        """The preview as JSON text of a versioned shape."""
        data = {
            "schema": SCHEMA,
            "columns": [column.as_data() for column in self.columns],
            "confidence": self.confidence,
            "groups": self.groups,
            "guarantee": to_json(self.guarantee) | {"text": str(self.guarantee)},
            "epsilon_alone": finite(self.epsilon_alone),
            "delta": self.delta,
            "replay": self.replay,
            "cost": REPEATED if self.replay else self.cost,
            "share": self.share,
            "affordable": self.affordable,
            "refused": self._refused() or None,
            "remaining": self.remaining,
            "notes": list(self.notes),
        }
        return json.dumps(data, indent=indent)

    def _refused(self) -> str:
        """The reason why this would be refused, if it would be."""
        if self.replay or self.affordable:
            return ""
        return self.refused or REFUSED

    def to_markdown(self) -> str:
        """Markdown with the same lines as `print`, for a paper or a notebook."""
        table = table_in_markdown(self.heading, self.table(), ())
        return in_markdown(table, self.about())

    def __repr__(self) -> str:
        cost = "nothing" if self.replay else self.cost
        left, _, _ = self.remaining.partition(",")
        would = "remains" if self.replay or self._refused() else "would remain"
        parts = [
            "refused" if self._refused() else "",
            f"cost {cost}" if self.share is not None or self.replay else cost,
            f"{left} {would}" if left else "",
        ]
        return f"<Preview: {', '.join(filter(None, parts))}>"
