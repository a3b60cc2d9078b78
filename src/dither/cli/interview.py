"""The questions of `dither init`: the unit, the budget, and public facts about each
column.

The questions show no data, and no answer needs a look at it.
"""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dither.cli.source import listed, value
from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.query.catalogue.types import Type
    from dither.query.draft.draft import Draft, DraftField, Sheet

__all__ = ["interview"]

Answer = TypeVar("Answer")

HOW = """\
For each column, press Enter to accept the value in brackets, or type one of these:
  integer       a type: integer, real, text, boolean, date or timestamp
  0..120 years  bounds, and what they are measured in
  = A, B, C     public values
  -             to leave the column out
  .             to accept the guesses for all remaining columns"""
RANGE = re.compile(r"(?P<low>\S+?)\s*(?:\.\.|\bto\b)\s*(?P<high>\S+)(?P<measure>.*)")
REST = "."
OUT = "-"


def interview(draft: Draft, *, stated: bool) -> Draft:
    """Ask what a catalogue needs. `stated` is true if the unit is already known."""
    if not stated:
        draft = _unit(draft)
    draft = draft.stating(
        population=draft.population or _population(), epsilon=_epsilon(draft)
    )
    draft = replace(draft, sheets=tuple(_public(sheet) for sheet in draft.sheets))
    sheets = {sheet.name: _rows(draft, sheet) for sheet in draft.open_sheets}
    click.echo(HOW)
    asking = Columns(draft, _who())
    return replace(
        draft,
        sheets=tuple(asking.about(sheets.get(one.name, one)) for one in draft.sheets),
    )


def _ask(question: str, read: Callable[[str], Answer], default: str = "") -> Answer:
    """Ask until the answer can be read."""
    while True:
        answer = str(
            click.prompt(question, default=default, show_default=bool(default))
        )
        try:
            return read(answer.strip())
        except ArgumentError as problem:
            click.echo(f"  {problem}")


def _unit(draft: Draft) -> Draft:
    if draft.candidates:
        click.echo(
            "Columns whose names suggest a person's id: "
            f"{', '.join(draft.candidates[:8])}."
        )
    click.echo(
        "All rows with the same id are protected together. Type 'row' if each row is "
        "another person."
    )
    likely = draft.unit or next(iter(draft.candidates), "")
    return _ask(
        "Column with the id of the person to protect",
        lambda name: _named(draft, name),
        likely,
    )


def _named(draft: Draft, name: str) -> Draft:
    if not name:
        raise ArgumentError(
            "unit", "is needed; type a column, or 'row' if each row is another person"
        )
    return draft.with_unit(name)


def _population() -> int | None:
    words = (
        "Public number of people that the data is about (Enter: not known; δ is then 0)"
    )
    return _ask(words, lambda answer: _whole("population", answer))


def _epsilon(draft: Draft) -> float:
    words = "Total ε of all answers (you can raise it later)"
    return _ask(words, _positive, f"{draft.epsilon:g}")


def _public(sheet: Sheet) -> Sheet:
    """Only a person who knows a table can say that it is not about people."""
    words = (
        f"{sheet.name} has no column with a person's id. Is it public, without data about "
        "people"
    )
    if not sheet.ownerless or not click.confirm(words, default=False):
        return sheet
    return replace(sheet, closed="", ownerless=False, public=True)


def _rows(draft: Draft, sheet: Sheet) -> Sheet:
    if draft.unit == "row" or sheet.public or sheet.rows is not None:
        return sheet
    words = (
        f"{sheet.name}: largest number of rows per {draft.unit}, a public fact (Enter: "
        "not known)"
    )
    return replace(sheet, rows=_ask(words, lambda answer: _whole("rows", answer)))


def _whole(argument: str, answer: str) -> int | None:
    if not answer:
        return None
    found = value(answer.replace(",", "").replace("_", ""))
    if not isinstance(found, int) or found < 1:
        raise ArgumentError(
            argument, "must be a whole number of at least 1; press Enter if not known"
        )
    return found


def _positive(answer: str) -> float:
    found = value(answer)
    if not isinstance(found, int | float) or not found > 0:
        raise ArgumentError("epsilon", "must be a positive number, such as 1.0")
    return float(found)


def _who() -> str:
    """Name of the person who declares all this; the catalogue keeps it (rule R6)."""
    name = ""
    with suppress(Exception):  # the user may not have a name on this machine
        name = getpass.getuser()
    return _ask(
        "Who declares these facts, and from which source (kept with each bound)",
        lambda answer: answer or "the curator",
        name,
    )


@dataclass
class Columns:
    """Asks about columns, until the rest is taken as guessed."""

    draft: Draft
    who: str
    rest: bool = False

    def about(self, sheet: Sheet) -> Sheet:
        if sheet.closed:
            return sheet
        asked = (self._column(sheet, column) for column in sheet.columns)
        return replace(
            sheet, columns=tuple(column for column in asked if column is not None)
        )

    def _column(self, sheet: Sheet, column: DraftField) -> DraftField | None:
        from dither.query.catalogue.names import same

        if self.rest or any(same(column.name, id) for id in self._ids(sheet)):
            return column
        return _ask(
            f"{sheet.name}.{column.name}",
            lambda answer: self._read(column, answer),
            in_words(column),
        )

    def _ids(self, sheet: Sheet) -> list[str]:
        """The columns by which rows find their owner: the unit's id, and both ends of
        links.
        """
        here = [self.draft.unit, *([sheet.link.column] if sheet.link else [])]
        ends = (other.link.to for other in self.draft.sheets if other.link)
        return here + [
            end.removeprefix(f"{sheet.name}.")
            for end in ends
            if end.startswith(f"{sheet.name}.")
        ]

    def _read(self, column: DraftField, answer: str) -> DraftField | None:
        if answer == OUT:
            return None
        if answer == REST:
            self.rest = True
            return column
        declared = column if answer == in_words(column) else stated(column, answer)
        measured = f", in {declared.measure}" if declared.measure else ""
        return replace(declared, by=f"{self.who}{measured}", typed=True)


def in_words(column: DraftField) -> str:
    """A column as it may be typed."""
    type_ = (column.type.value if column.type else "text").lower()
    if column.keys is not None:
        return f"{type_} = {', '.join(map(str, column.keys))}"
    ends = "" if column.low is None else f" {column.low}..{column.high}"
    return f"{type_}{ends} {column.measure}".rstrip() if ends else type_


def stated(column: DraftField, answer: str) -> DraftField:
    """The column with the facts that were typed."""
    from dither.query.catalogue.types import Type

    first, _, rest = answer.partition(" ")
    known = next((one for one in Type if one.value == first.lower()), None)
    words = answer if known is None else rest.strip()
    plain = replace(column, type=known or column.type, low=None, high=None, keys=None)
    if not words:
        return plain
    if words.startswith("="):
        return _with_keys(plain, words.removeprefix("=").strip(), known)
    return _with_bounds(plain, words, known)


def _with_keys(column: DraftField, words: str, type_: Type | None) -> DraftField:
    from dither.query.catalogue.types import Type
    from dither.query.catalogue.values import keys_of, type_of_keys

    found = listed(words)
    if not found:
        raise ArgumentError(
            "keys", "are missing, or a quotation mark is not closed; write = A, B, C"
        )
    wanted = (
        type_ or (column.type if column.typed else None) or type_of_keys("keys", found)
    )
    texts = [str(key) for key in found] if wanted is Type.TEXT else found
    return replace(column, type=wanted, keys=keys_of("keys", texts, wanted))


def _with_bounds(column: DraftField, words: str, type_: Type | None) -> DraftField:
    from dither.query.catalogue.values import bounds_of, type_of_bounds

    match = RANGE.fullmatch(words)
    if match is None:
        raise ArgumentError(
            "answer",
            "the answer is not understood; type bounds such as 0..120 years, a type such "
            "as integer, public values such as = A, B, C, or -",
        )
    low, high = value(match["low"]), value(match["high"])
    if isinstance(low, str) or isinstance(high, str):
        raise ArgumentError(
            "bounds",
            "must be two numbers or dates, such as 0..120 or 2020-01-01..2024-12-31",
        )
    sure = type_ or (column.type if column.typed else None)
    wanted = (
        sure or _fitting(column.type, low, high) or type_of_bounds("bounds", low, high)
    )
    bounds_of("bounds", low, high, wanted)
    return replace(
        column,
        type=wanted,
        low=low,
        high=high,
        measure=match["measure"].strip() or column.measure,
    )


def _fitting(guessed: Type | None, low: Any, high: Any) -> Type | None:
    """The guessed type, if the bounds that were typed are of it."""
    from dither.query.catalogue.values import bounds_of

    with suppress(ArgumentError):
        if guessed is not None:
            bounds_of("bounds", low, high, guessed)
            return guessed
    return None
