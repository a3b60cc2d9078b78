"""A stand-in for a database, so that commands can be tested without one: it remembers
how it was opened and asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import pytest

import dither
from dither.errors import QueryError
from dither.privacy import PureDP
from dither.query.preview import Preview, PreviewColumn
from dither.release import Source
from dither.table import TableRelease
from tests.ledger.conftest import server  # noqa: F401 - a fixture of this folder too

ROWS = (("[bold]A[/bold]", 1023), ("B\x1b[31m", 7))


@dataclass
class Fake:
    """As much of a database as the commands need."""

    opened: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    closed: int = 0
    account: dither.Budget = field(default_factory=lambda: dither.Budget(epsilon=2.0))

    def open(self, source: str, **declared: Any) -> Self:
        self.opened.append((source, declared))
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed += 1

    def sql(self, query: str, **cost: Any) -> TableRelease | Preview:
        self.asked.append(("sql", query, cost))
        if query.startswith("EXPLAIN"):
            return self.preview(query, **cost)
        if "SELEKT" in query:
            raise QueryError("SELEKT is not understood; write SELECT", query, 1, 1)
        receipt = self.account.charge(PureDP(0.5), by=cost.get("by"))
        source = Source(PureDP(0.5), receipt)
        return TableRelease(("ward", "[i]n"), ROWS, (source,), _spread, ("a note",))

    def preview(self, query: str, **cost: Any) -> Preview:
        self.asked.append(("preview", query, cost))
        columns = (
            PreviewColumn("ward", "key"),
            PreviewColumn("[i]n", "count", (("", 12.0),)),
        )
        return Preview(
            columns,
            PureDP(0.5),
            0.5,
            0.25,
            2,
            ("a note",),
            cost="25 % of the account",
            remaining="all of it",
        )


def _spread(confidence: float) -> list[list[tuple[int, int] | None]]:
    width = 10 if confidence <= 0.95 else 20
    return [[None, (n - width, n + width)] for _, n in ROWS]


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    monkeypatch.setattr(dither, "open", fake.open, raising=False)
    monkeypatch.setattr("getpass.getuser", lambda: "login")
    monkeypatch.setenv("COLUMNS", "120")
    return fake
