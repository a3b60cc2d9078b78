"""Catalogue files: a curator's declarations in TOML.

    name = "clinic"
    unit = "patient_id"              # whom to protect: the column with a person's id, or "row"
    relation = "add/remove"          # or "replace"; add/remove if absent
    # given = ["total of each state"]  # exact facts published beside all answers; with "replace" alone
    population = 20000               # a public size; delta is at most 1/(1000·population) if it is not stated
    version = "2026-01"              # change it when the data changes (rule R19)
    book = "clinic.dither.db"        # where spending is kept, relative to this file
    # engine = "spark"               # who reads the tables, if their sources do not say so

    [budget]
    epsilon = 3.0
    delta = 1e-8

    [analysts]
    alice = 0.25                     # the share of the budget that she may spend

    [policy]
    ceiling = 1.0                    # the largest epsilon of one answer; also renew_days, failures, minimum

    [limits]
    seconds = 60                     # how long the engine may work on one question; also memory, disk, fan_out

    [tables.visits]
    source = "visits.csv"            # CSV, TSV, JSON, Parquet or DuckDB file beside this one; postgresql://…
    owner = "patient_id"             # the column with the unit's id; if absent, the column named like the unit
    rows = 40                        # a bound on the rows of one unit, if there is one

    [tables.visits.columns]
    patient_id = "text"
    ward = { type = "text", keys = ["A", "B"], by = "data protection officer, from the admission form" }
    region = { type = "text", keys_from = "regions.region" }
    cost = { type = "integer", low = 0, high = 20000 }
    day = { type = "date", low = 2023-01-01, high = 2024-12-31 }
    outcome = { type = "text", keys = ["well", "ill"], null_key = true }    # NULL is a public key as well

    [tables.diagnoses]
    source = "clinic.duckdb"
    table = "main.diagnoses"         # its name in the database
    link = { column = "visit_id", to = "visits.visit_id" }

    [tables.regions]
    source = "regions.csv"
    public = true

Columns that are not declared cannot be asked about.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from dither.errors import ArgumentError
from dither.ledger import Policy
from dither.privacy import Unit
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import Catalogue, Field, Link, Table, usual_delta
from dither.query.catalogue.names import find, nearest, same
from dither.query.catalogue.text import dump_catalogue
from dither.query.catalogue.types import ANY, Type
from dither.query.catalogue.values import bounds_of

__all__ = ["OPEN", "KeysFrom", "PublicKeys", "dump_catalogue", "read_catalogue"]

OPEN = "?"
"""The entry of a draft where the curator has to decide."""

KNOWN = {
    "top": (
        *("name", "unit", "relation", "given", "population", "version", "book"),
        "engine",
        *("budget", "analysts", "policy", "limits", "tables"),
    ),
    "budget": ("epsilon", "delta"),
    "policy": (
        "ceiling",
        "renew_days",
        "failures",
        "failures_in_all",
        "deadline",
        "minimum",
    ),
    "limits": tuple(field.name for field in fields(Limits)),
    "table": ("source", "table", "owner", "link", "rows", "public", "columns"),
    "link": ("column", "to"),
    "column": ("type", "low", "high", "keys", "keys_from", "null_key", "total", "by"),
}
OPEN_WORDS = {
    "unit": 'the column with a person\'s id, or "row"',
    "epsilon": "the total cost of all answers, such as 3.0",
}
WORDS = {
    str: "a string in quotes",
    int: "a whole number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}
Built = TypeVar("Built")


@dataclass(frozen=True)
class KeysFrom:
    """A column of a public table whose values are keys. `engine` and `stored` (the
    table's name there) are as the file has them; None if it does not say.
    """

    table: str
    column: str
    type: Type
    source: str
    stored: str | None
    engine: str | None


PublicKeys = Callable[[KeysFrom], list[Any]]
"""What reads the values of a public column, each once and in order."""


def read_catalogue(
    text: str,
    public_keys: PublicKeys,
    file: str = "catalogue",
    folder: Path | None = None,
) -> Catalogue:
    """The catalogue that the text of a file declares. Other files that it names are in
    the folder.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError(file, _no_toml(file, text, str(error))) from None
    with _at(file):
        top = _Part("top", content)
        engine = top.get("engine", str, "")
        reader = _Reader(folder or Path(), top.part("tables"), public_keys, engine)
        return reader.catalogue(top, Path(file).stem)


def _no_toml(file: str, text: str, why: str) -> str:
    """What cannot be read, with its line. Another file than a catalogue may hold
    private rows, and is not shown.
    """
    if Path(file).suffix != ".toml":
        return "is not a catalogue; name a file in TOML, such as clinic.toml"
    place = re.search(r"line (\d+)", why)
    line = "" if place is None else text.split("\n")[int(place[1]) - 1].strip()
    shown = f": {line:.60}" if line.isprintable() and line else ""
    way_out = "write strings in quotes, numbers with a point, lists in brackets"
    return f"is not valid TOML: {why[:1].lower()}{why[1:]}{shown}; {way_out}"


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say in front of an error where it is."""
    try:
        yield
    except ArgumentError as error:
        own = same(error.argument, place)
        words = error.message if own else f"in {place}, {error}"
        raise ArgumentError(place, words) from None


@dataclass(frozen=True)
class _Part:
    """A table of the file; one of a known kind holds only what is known there."""

    kind: str
    content: Mapping[str, Any]

    def __post_init__(self) -> None:
        known = KNOWN.get(self.kind, self.content)
        for name in self.content:
            if name not in known:
                raise ArgumentError(
                    name, f"is not a known entry; {nearest(name, known)}"
                )

    def get(self, name: str, type_: type, default: Any = None) -> Any:
        """A value of this type; `default` if there is none."""
        value = self.value(name)
        if value is None:
            return default
        if not isinstance(value, type_) or (
            isinstance(value, bool) and type_ is not bool
        ):
            raise ArgumentError(name, f"must be {WORDS[type_]}, not {value!r:.40}")
        return value

    def number(self, name: str, default: float | None = None) -> Any:
        value = self.value(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ArgumentError(name, f"must be a number, not {value!r:.40}")
        return value

    def value(self, name: str) -> Any:
        """The value under a name, of any type; None if there is none."""
        value = self.content.get(name)
        if value == OPEN:
            raise ArgumentError(
                name, f'is still "{OPEN}"; declare {OPEN_WORDS.get(name, "it")}'
            )
        return value

    def part(self, name: str, kind: str = "") -> _Part:
        return _Part(kind or name, self.get(name, dict, {}))

    def each(
        self, kind: str, build: Callable[[str, _Part], Built]
    ) -> tuple[Built, ...]:
        """What is built from each of the tables inside."""
        found = []
        for name in self.content:
            with _at(name):
                found.append(build(name, self.part(name, kind)))
        return tuple(found)


@dataclass(frozen=True)
class _Reader:
    """Builds a catalogue from the content of a file in a folder."""

    folder: Path
    tables: _Part
    public_keys: PublicKeys
    engine: str = ""

    def catalogue(self, top: _Part, stem: str) -> Catalogue:
        budget, population = top.part("budget"), top.get("population", int)
        usual = (
            usual_delta(population)
            if population is not None and population >= 1
            else 0.0
        )
        unit = self._unit(top)
        if not self.tables.content:
            raise ArgumentError(
                "tables", "are missing; declare at least one, such as [tables.visits]"
            )
        return Catalogue(
            name=top.get("name", str, stem),
            tables=self.tables.each(
                "table", lambda name, part: self._table(name, part, unit)
            ),
            unit=unit,
            population=population,
            epsilon=budget.number("epsilon"),
            delta=budget.number("delta", usual),
            analysts={
                name: top.part("analysts").number(name)
                for name in top.part("analysts").content
            },
            policy=self._policy(top.part("policy")),
            limits=self._limits(top.part("limits")),
            version=top.get("version", str, "1"),
            book=self._place(top.get("book", str, "")) or None,
            engine=self.engine,
        )

    def _unit(self, top: _Part) -> Unit:
        name = top.get("unit", str)
        if name is None:
            raise ArgumentError("unit", f"is missing; declare {OPEN_WORDS['unit']}")
        relation, given = top.get("relation", str, "add/remove"), top.get("given", list)
        return Unit(name, relation, tuple(given or ()))

    def _policy(self, part: _Part) -> Policy:
        rules: dict[str, Any] = {
            name: part.number(name)
            for name in ("ceiling", "renew_days", "deadline", "minimum")
        }
        rules |= {name: part.get(name, int) for name in ("failures", "failures_in_all")}
        return Policy(
            **{name: rule for name, rule in rules.items() if rule is not None}
        )

    def _limits(self, part: _Part) -> Limits:
        return Limits.of({name: part.number(name) for name in part.content})

    def _place(self, written: str) -> str:
        """A path beside the file; addresses and books in memory stay as they are."""
        if (
            not written
            or "://" in written
            or written == ":memory:"
            or self.folder == Path()
        ):
            return written
        return str(self.folder / written)

    def _table(self, name: str, part: _Part, unit: Unit) -> Table:
        columns = {
            name: _spelled_out(value)
            for name, value in part.get("columns", dict, {}).items()
        }
        fields = _Part("columns", columns).each("column", self._field)
        public, owner = part.get("public", bool, False), part.get("owner", str)
        link = self._link(part.part("link")) if "link" in part.content else None
        if owner is None and link is None and not public:
            owner = find(unit.name, (field.name for field in fields))
        source, stored = (
            self._place(part.get("source", str, "")),
            part.get("table", str, ""),
        )
        return Table(
            name, fields, public, owner, link, part.get("rows", int), source, stored
        )

    def _link(self, part: _Part) -> Link:
        column, to = part.get("column", str), part.get("to", str)
        if column is None or to is None:
            raise ArgumentError(
                "link",
                "needs a column and the column that it points to; write "
                '{ column = "visit_id", to = "visits.visit_id" }',
            )
        return Link(column, *self._split("to", to))

    def _split(self, argument: str, text: str) -> tuple[str, str]:
        """A table of the file and a column; both names may hold dots."""
        places = [place for place, sign in enumerate(text) if sign == "."]
        for place in places:
            if find(text[:place], self.tables.content):
                return text[:place], text[place + 1 :]
        known = nearest(text.partition(".")[0], self.tables.content)
        raise ArgumentError(
            argument,
            f"{argument} = {text!r} does not name a table and its column, as in "
            f"visits.visit_id; {known}",
        )

    def _field(self, name: str, part: _Part) -> Field:
        written = part.get("type", str)
        if written is None or find(written, Type) is None:
            raise ArgumentError(
                "type",
                f"is missing; declare one of {', '.join(Type)}"
                if written is None
                else f"the type {written!r:.40} is unknown; {nearest(written, Type)}",
            )
        type_ = Type(written.lower())
        low, high = part.value("low"), part.value("high")
        range_ = (
            ANY
            if low is None and high is None
            else bounds_of("bounds", low, high, type_)
        )
        keys, by = self._keys(part, type_), part.get("by", str, "")
        return Field(name, type_, range_, keys, by, part.number("total"))

    def _keys(self, part: _Part, type_: Type) -> tuple[Any, ...] | None:
        keys, table = part.get("keys", list), part.get("keys_from", str)
        if keys is not None and table is not None:
            raise ArgumentError(
                "keys",
                "are listed and also taken from a table; leave out keys or keys_from",
            )
        if table is not None:
            keys = self._public_keys(table, type_)
        null = part.get("null_key", bool, False)
        if keys is None and null:
            raise ArgumentError(
                "null_key", "needs keys; list them, or leave null_key out"
            )
        return None if keys is None else (*keys, None) if null else tuple(keys)

    def _public_keys(self, text: str, type_: Type) -> list[Any]:
        """The different values of a public table's column, read now and fixed from then
        on.
        """
        name, column = self._split("keys_from", text)
        table = self.tables.part(find(name, self.tables.content) or name, "table")
        if not table.get("public", bool, False):
            raise ArgumentError(
                "keys_from",
                f"the table {name!r} is not public; list the keys, or declare the "
                "table with public = true",
            )
        return self.public_keys(
            KeysFrom(
                name,
                column,
                type_,
                self._place(table.get("source", str, "")),
                table.get("table", str),
                self.engine or None,
            )
        )


def _spelled_out(value: Any) -> Any:
    """A column may be written as its type alone."""
    return {"type": value} if isinstance(value, str) else value
