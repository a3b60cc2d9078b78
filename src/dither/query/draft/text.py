"""A draft written as a commented catalogue, which opens as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dither.query.catalogue.text import key, value
from dither.query.catalogue.types import Type
from dither.query.draft.draft import (
    BY_VALUES,
    GUESSED,
    ROW,
    Draft,
    DraftField,
    Sheet,
)
from dither.query.draft.guesses import named_like_an_id

__all__ = ["CHECK", "guesses", "otherwise", "text", "unlike"]

CHECK = "CHECK"
"""Marks what was guessed."""
HEAD = f"""\
# A catalogue: what is public about some private tables. `dither init` drafted it from names and types; only the types
# of columns of text files were guessed from their values. Lines marked {CHECK} are guesses. Declare what is known
# without looking at the data, and name the source with by = "…": types, bounds and keys that are read off the data
# reveal it. Remove the columns that must not be asked about.
"""
WIDTH = 32
NUMBERS = "add low = … and high = … for sums, means and quantiles"
HINTS = {
    Type.INTEGER: NUMBERS,
    Type.REAL: NUMBERS,
    Type.DATE: "add low = 2020-01-01 and high = 2024-12-31 for quantiles",
    Type.TIMESTAMP: (
        "add low = 2020-01-01T00:00:00 and high = 2024-12-31T23:59:59 for quantiles"
    ),
    Type.TEXT: 'add keys = ["…", "…"] if its values are public',
    Type.BOOLEAN: "",
}
TEXTS = """\
# CSV files hold strings, and a column is read as the type declared here; what does not fit it is NULL. For numbers,
# dates and booleans write age = { type = "integer", low = 0, high = 110 } (or "real", "date", "timestamp", "boolean");
# for public values write ward = { type = "text", keys = ["A", "B"] }.
"""
UNLISTED = """\
# The file does not list its columns. Write those that may be asked about, such as name = "text"."""


def text(draft: Draft) -> str:
    """The catalogue. `load_catalogue` reads it as it is."""
    lines = [
        HEAD,
        *_top(draft),
        *(line for sheet in draft.sheets for line in _sheet(draft, sheet)),
    ]
    if any(_is_text(sheet) for sheet in draft.sheets):
        lines.insert(1, TEXTS)
    return "\n".join(lines) + "\n"


def guesses(draft: Draft) -> list[str]:
    """Marked guesses: the unit, links, types and bounds, by their names."""
    found = [
        f"{name} = {value(fact)}"
        for name, fact in (("unit", draft.unit),)
        if name in draft.guessed
    ]
    for sheet in draft.open_sheets:
        found += [f"{sheet.name}.link"] if sheet.link else []
        found += [f"{sheet.name}.{one.name}" for one in sheet.columns if _guessed(one)]
    return found


def unlike(draft: Draft) -> Iterator[str]:
    """Strings in text files that are not read as values, for the curator alone: these are
    exact facts about private rows.
    """
    yield from otherwise(draft)
    for sheet in draft.open_sheets:
        for one in sheet.columns:
            about = f"{sheet.name}.{one.name}"
            if one.unread:
                yield (
                    f"{about}: {one.unread:,} values are not of type {one.type} and are "
                    "read as NULL"
                )
            if one.missing:
                read = "NULL" if one.type else "strings"
                signs = ", ".join(one.missing)
                yield f"{about}: missing values are written as {signs} and read as {read}"


def otherwise(draft: Draft) -> Iterator[str]:
    """Advice on how to write text files again, for the curator alone."""
    for sheet in draft.open_sheets:
        if sheet.empty:
            yield (
                f"{sheet.name}: no line has as many fields as the header, so no row is "
                "read; R leaves the name of the first column out: write one"
            )
        for one in sheet.columns:
            if one.looks:
                yield f"{sheet.name}.{one.name}: the values look like {one.looks}"


def _guessed(column: DraftField) -> bool:
    by_name = column.by.startswith(GUESSED)
    return by_name and (
        column.low is not None or (column.type is not None and not column.typed)
    )


def _line(fact: str, words: str) -> str:
    """A fact and, in a column of their own, words about it."""
    return f"{fact:<{WIDTH}} # {words}" if words else fact


def _top(draft: Draft) -> Iterator[str]:
    yield f"name = {value(draft.name)}"
    yield (
        "# The unit to protect: all rows with one id, in all tables, or "
        '"row" if each row is a different person.'
    )
    yield _line(f"unit = {value(draft.unit)}", _about_unit(draft))
    if draft.population is None:
        yield _line(
            "# population = 10000",
            "number of people who could be in the data: a public number that "
            "determines δ.",
        )
        yield _line("#", "Private keys need a δ, and many answers are better with one")
    else:
        yield _line(
            f"population = {draft.population}", "a public number that determines δ"
        )
    yield _line(
        '# relation = "replace"',
        "neighbours differ by one replaced unit (default: add/remove)",
    )
    yield _line('version = "1"', "change it when the data changes")
    yield _line(
        f"# book = {value(draft.name + '.dither.db')}",
        "the ledger (default: next to this file)",
    )
    yield from ("", "[budget]")
    spent = "total cost of all answers; `dither amend` raises it later"
    yield _line(
        f"epsilon = {value(draft.epsilon)}",
        spent if "budget" not in draft.guessed else f"{CHECK}: {spent}",
    )
    yield _line("# delta = 1e-8", "default: at most 1/(1000·population)")
    yield from (
        "",
        "# [analysts]",
        _line("# alice = 0.25", "share of the budget that she may spend"),
    )


def _about_unit(draft: Draft) -> str:
    others = [one for one in draft.candidates if one != draft.unit][:5]
    also = f"; also possible: {', '.join(others)}" if others else ""
    if "unit" not in draft.guessed:
        return also.removeprefix("; ")
    return f"{CHECK}: guessed from its name{also}"


def _sheet(draft: Draft, sheet: Sheet) -> Iterator[str]:
    lines = [f"[tables.{key(sheet.name)}]", *_place(sheet), *_owner(draft, sheet)]
    lines += ["", f"[tables.{key(sheet.name)}.columns]", *_columns(draft, sheet)]
    yield ""
    if not sheet.closed:
        yield from lines
        return
    yield f"# {sheet.name} is not open: {' '.join(sheet.closed.split())}"
    yield from (f"# {line}".rstrip() for block in lines for line in block.split("\n"))


def _place(sheet: Sheet) -> Iterator[str]:
    server = "://" in sheet.source
    yield _line(
        f"source = {value(sheet.source)}",
        "keep the password in ~/.pgpass or PGPASSWORD" if server else "",
    )
    if sheet.stored:
        yield f"table = {value(sheet.stored)}"


def _owner(draft: Draft, sheet: Sheet) -> Iterator[str]:
    if sheet.public:
        yield _line("public = true", "holds no private data")
    if draft.unit == ROW or sheet.public:
        return
    if sheet.link is not None:
        to = {"column": sheet.link.column, "to": sheet.link.to}
        unique = f"{sheet.link.to} must be unique, and leads to the owner of a row"
        yield _line(f"link = {value(to)}", f"{CHECK}: guessed from the names; {unique}")
    if sheet.closed:
        return
    if sheet.rows is None:
        yield _line(
            "# rows = 50",
            f"a cap, if known: no {draft.unit} has more rows here. Intervals need it",
        )
    else:
        yield _line(
            f"rows = {sheet.rows}", f"no {draft.unit} has more rows here: a public fact"
        )


def _columns(draft: Draft, sheet: Sheet) -> Iterator[str]:
    if not sheet.listed:
        yield UNLISTED
    for column in sheet.columns:
        yield _column(column, id=column.name.casefold() == draft.unit.casefold())


def _is_text(sheet: Sheet) -> bool:
    path = Path(sheet.source)
    return not sheet.stored and any(
        kind in (".csv", ".tsv") for kind in path.suffixes[-2:]
    )


def _column(column: DraftField, *, id: bool) -> str:
    facts = column.facts
    written = value(facts if len(facts) > 1 else facts["type"])
    line = f"{key(column.name)} = {written}"
    guess = "the type is a guess from the values; " if _by_values(column) else ""
    if id:
        return _line(
            line, f"{CHECK}: {guess}the unit's id" if guess else "the unit's id"
        )
    if len(facts) > 1:
        return f"{line}    # {CHECK}" if column.by.startswith(GUESSED) else line
    hint = "" if named_like_an_id(column.name) else HINTS[column.type or Type.TEXT]
    hint = f"perhaps {column.looks}" if column.looks else hint
    words = f"in {column.measure}; {hint}" if column.measure and hint else hint
    if column.typed or column.type is None:
        return _line(line, words)
    guess = guess or "the type is a guess; "
    return _line(line, f"{CHECK}: {guess}{words}".removesuffix("; "))


def _by_values(column: DraftField) -> bool:
    """Whether the type was found in the values of a text file."""
    return (
        column.by.startswith(BY_VALUES) and not column.typed and column.type is not None
    )
