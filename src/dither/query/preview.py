"""What a question will cost and how far off its answer will be, known before anything
is spent or read.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

from dither.ledger.wire import to_json
from dither.privacy import Guarantee
from dither.text import aligned, clean, finite, percent, width_in_words

__all__ = ["Preview", "PreviewColumn"]

SCHEMA = "dither.preview/1"
Width = float | str | None


@dataclass(frozen=True)
class PreviewColumn:
    """A column of the answer: its name, what it is, and its ± under each condition.

    `errors` holds pairs of a condition and a width. The condition is empty where the
    width holds always (counts, sums), or says when: "for groups of 1,000", "for 250
    rows", "for a radius of 10 rows". The width is the half width of the interval, a
    text that says it in words, or None where nothing is known. A key has no errors.
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

    `epsilon_alone` is the ε of this answer by itself at `delta`; `share` is the part of
    the account it takes. `groups` is how many rows the answer has where its keys are
    public, or says that they are private. `left` says in words what is left now.
    `replay`: this was answered before, and asking again costs nothing.
    """

    columns: tuple[PreviewColumn, ...]
    guarantee: Guarantee
    epsilon_alone: float
    share: float | None
    groups: int | str = 1
    notes: tuple[str, ...] = ()
    affordable: bool = True
    left: str = ""
    replay: bool = False
    delta: float = 0.0
    confidence: float = 0.95

    @property
    def heading(self) -> tuple[str, str, str]:
        """The names of the three columns in which `columns` are shown."""
        return "column", "what", f"± at {100 * self.confidence:.4g} %"

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
        """What it costs, what it gives, what is left, and what else there is to know,
        line by line.
        """
        lines = [f"rows: {self.rows_in_words()}", f"cost: {self.cost_in_words()}"]
        if not self.affordable and not self.replay:
            lines.append(
                "this does not fit into what is left of the account: it would be "
                "refused and nothing charged"
            )
        return [
            *lines,
            *([f"left: {clean(self.left)}"] if self.left else []),
            *map(clean, self.notes),
        ]

    def rows_in_words(self) -> str:
        return (
            f"{self.groups:,}" if isinstance(self.groups, int) else clean(self.groups)
        )

    def cost_in_words(self) -> str:
        if self.replay:
            return (
                "nothing: this was answered before, and the book gives the same "
                "answer again"
            )
        at = f" at δ = {self.delta:g}" if self.delta else ""
        share = "" if self.share is None else f"; {percent(self.share)} of the account"
        return f"{self.guarantee}; ε = {self.epsilon_alone:.6g}{at} alone{share}"

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
            "guarantee": to_json(self.guarantee) | {"text": str(self.guarantee)},
            "epsilon_alone": finite(self.epsilon_alone),
            "delta": self.delta,
            "share": self.share,
            "groups": self.groups,
            "affordable": self.affordable,
            "left": self.left,
            "replay": self.replay,
            "notes": list(self.notes),
            "confidence": self.confidence,
        }
        return json.dumps(data, indent=indent)
