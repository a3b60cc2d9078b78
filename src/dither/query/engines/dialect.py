"""SQL that the engines write alike. Each engine's `dialect.py` lists its differences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dither.errors import ArgumentError
from dither.query.catalogue import calendar as dates
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.expressions import Call

__all__ = ["CALENDAR", "Dialect"]

NUMBERS = (Type.INTEGER, Type.REAL)
"""Written into the SQL; other constants are parameters."""
CALENDAR = {Type.DATE: dates.DAYS, Type.TIMESTAMP: dates.MICROSECONDS}
"""Dates and times have bounds even if none is declared: the years 1 to 9999."""


class Dialect(ABC):
    """How an engine writes constants, stored columns, owners and bounded contributions.

    Texts and dates are bound as parameters, and parameters are numbered ($1, $2, …): a
    statement's SQL may repeat or reorder its parts, so one list of parameters serves
    one whole statement, and every part written to it must be used.
    """

    name: ClassVar[str]
    types: ClassVar[Mapping[Type, str]]
    """The engine's names for the types of declared columns."""
    widest: ClassVar[str]
    """Its widest exact integer, of at least 126 bits."""
    division: ClassVar[str] = "//"
    """The operator between two integers that are divided and rounded toward zero."""
    same_owner: ClassVar[str] = "USING (u)"
    """How rows find what is known of their owner, where `kept` joins the two."""
    qualifier: ClassVar[str] = ""
    """What `kept` writes before its columns after that join."""

    @abstractmethod
    def call(self, expr: Call, args: Sequence[str]) -> str:
        """The SQL of one operation of the allow-list, given the SQL of its arguments.

        It is total: no row makes it raise.
        """

    # Constants

    def literal(self, value: Any, type: Type, parameters: list[Any]) -> str:
        """A constant; strings and dates are appended to the parameters."""
        if value is None:
            return f"CAST(NULL AS {self.types[type]})"
        if type is Type.BOOLEAN:
            return "TRUE" if value else "FALSE"
        if type in NUMBERS:
            return self.constant(value, type)
        parameters.append(self.sent(value, type))
        return self.parameter(len(parameters), type)

    def constant(self, value: float, type: Type) -> str:
        """A number. With an exponent, engines read a real as a double at once, and not
        as a decimal first.
        """
        text = repr(float(value)) if type is Type.REAL else str(int(value))
        if type is Type.REAL and "e" not in text:
            text += "e0"
        return f"CAST({text} AS {self.types[type]})"

    def sent(self, value: Any, type: Type) -> Any:  # noqa: ARG002 - engines differ by type
        """A string or a date as the engine's driver takes it."""
        return value

    def parameter(self, place: int, type: Type) -> str:
        """The parameter at a place, as a value of a type."""
        return f"CAST(${place} AS {self.types[type]})"

    # Stored columns and owners

    @abstractmethod
    def relation(self, table: Table) -> str:
        """The stored table in a FROM clause."""

    @abstractmethod
    def column(self, table: Table, field: Field) -> str:
        """A stored column as its declared type; what cannot be read is NULL."""

    @abstractmethod
    def row_id(self, table: Table) -> str:
        """A row's own id, where each row is a unit."""

    def read(self, table: Table, field: Field) -> str:
        """A stored column as its declared type: what cannot be read is NULL, what is
        out of bounds is clipped.
        """
        column = self.column(table, field)
        unbounded = field.type is Type.INTEGER and field.range == ANY
        if unbounded or field.type in (Type.TEXT, Type.BOOLEAN):
            return column
        return self.clipped(column, field.type, field.range)

    def columns(self, table: Table) -> list[str]:
        """All declared columns of a table, each as `read` writes it."""
        return [self.read(table, field) for field in table.fields]

    def owner(self, table: Table) -> str:
        """The unit's id of a stored row in one byte-exact form (rule R10), or the
        hidden row id.
        """
        if table.owner is None:
            return self.row_id(table)
        return self.id_column(table, _owner_field(table, table.owner))

    def id_column(self, table: Table, field: Field) -> str:
        """A stored column as an id; two ids are one where their bytes are."""
        return self.column(table, field)

    def clipped(self, x: str, type: Type, range: Range) -> str:
        """A column within its declared bounds. If there is none on a side, an infinity
        there is NULL; a NaN always is.
        """
        low, high = self.ends(type, range)
        # The usual case comes first: most values are within their bounds.
        inside = " AND ".join(self.inside(x, type, low, high))
        cases = [f"WHEN {inside} THEN {x}"]
        for sign, end, declared in (("<", low, range.low), (">", high, range.high)):
            if end is not None:
                bound = self.bound(end, type)
                unless = self.unless(x, sign, type, declared)
                cases.append(f"WHEN {x} {sign} {bound}{unless} THEN {bound}")
        return f"(CASE {' '.join(cases)} END)"

    def ends(self, type: Type, range: Range) -> tuple[float | None, float | None]:
        """The bounds of a column: those that are declared, else the calendar's."""
        whole = CALENDAR.get(type, ANY)
        low = whole.low if range.low is None else range.low
        high = whole.high if range.high is None else range.high
        return low, high

    def inside(
        self, x: str, type: Type, low: float | None, high: float | None
    ) -> list[str]:
        """Conditions under which a value is left as it is."""
        sides = [(">=", low), ("<=", high)]
        found = [
            f"{x} {sign} {self.bound(end, type)}"
            for sign, end in sides
            if end is not None
        ]
        # Two bounds leave no infinity inside
        if type is Type.REAL and len(found) < len(sides):
            found.append(f"isfinite({x})")
        return found

    def unless(self, x: str, sign: str, type: Type, declared: float | None) -> str:
        """What else must hold before a value is clipped to a bound: it is a number, and
        an infinite date is clipped to a declared bound only.
        """
        # Engines take a NaN for larger than all numbers
        if type is Type.REAL and sign == ">":
            return f" AND NOT isnan({x})"
        return f" AND isfinite({x})" if declared is None else ""

    def bound(self, value: float, type: Type) -> str:
        """A bound as a constant; dates and times are given by their places in a range."""
        if type in NUMBERS:
            return self.constant(value, type)
        word = self.types[type].upper()
        if type is Type.DATE:
            return f"{word} '{dates.day(int(value)).isoformat()}'"
        return f"{word} '{dates.moment(int(value)).isoformat(sep=' ')}'"

    # Bounded contributions

    def kept(
        self,
        rows: str,
        columns: Sequence[str],
        most: int,
        salt: str,
        parameters: list[Any],
    ) -> str:
        """Of rows with an owner `u`, at most so many for each owner: all of them, or
        those whose keyed hash of owner and columns lies below the owner's (most + 1)-th
        smallest. Which are kept never depends on another owner's rows.

        The hash decides which rows are kept, not how many, so privacy does not rest on
        it; the salt is secret and fresh, so nobody can aim at being kept.
        """
        parameters.append(salt)
        secret = f"CAST(${len(parameters)} AS {self.types[Type.TEXT]})"
        owned = ["u", *columns]
        top = self.lowest(self.keyed(owned, secret), most + 1)
        # Only owners with too many rows are looked at: far cheaper than a window over
        # all of them.
        over = f"SELECT u FROM kept_rows GROUP BY u HAVING count(*) > {most}"
        cut = f"SELECT u, {top} AS top FROM kept_rows WHERE u IN ({over}) GROUP BY u"
        joined = f"kept_rows LEFT JOIN ({cut}) kept_cut {self.same_owner}"
        place = self.keyed([f"{self.qualifier}{one}" for one in owned], secret)
        return (
            f"WITH kept_rows AS ({rows}) SELECT kept_rows.* FROM {joined} "
            f"WHERE top IS NULL OR {place} < top"
        )

    def keyed(self, owned: Sequence[str], secret: str) -> str:
        """A hash of an owner and columns that nobody can compute without the salt."""
        return self.hashed([*owned, secret])

    @abstractmethod
    def hashed(self, parts: Sequence[str]) -> str:
        """A hash of some values, of at least 60 bits, the same wherever the values are
        the same.
        """

    @abstractmethod
    def lowest(self, x: str, place: int) -> str:
        """An aggregate: the value that comes at this place in rising order."""

    @abstractmethod
    def listed(
        self,
        values: Sequence[Sequence[Any]],
        types: Sequence[Type],
        parameters: list[Any],
    ) -> str:
        """A SELECT of public values k0, k1, …, one row for each, and its place i."""

    # Exact integers

    @abstractmethod
    def number(self, x: str, type: Type) -> str:
        """A date or timestamp as the whole number its range counts in; integers stay as
        they are.
        """

    def numbered(self) -> str:
        """A window function: a number from 0 on for each row, in any order."""
        return "row_number() OVER () - 1"

    def real(self, x: str) -> str:
        """An integer as a double."""
        return f"CAST({x} AS {self.types[Type.REAL]})"

    def wide(self, x: str) -> str:
        """An integer in the widest exact type."""
        return f"CAST({x} AS {self.widest})"

    def total(self, x: str) -> str:
        """An aggregate: the exact sum of integers, narrow or wide, in the widest type."""
        return f"sum({x})"

    def totals(self, numbers: Sequence[str]) -> str:
        """The exact sums of several integers, listed."""
        return ", ".join(map(self.total, numbers))

    def divided(self, x: str, by: str) -> str:
        """A quotient of wide integers, rounded toward zero."""
        return f"({x} {self.division} {by})"

    def without_low_bits(self, x: str, shift: int) -> str:
        """A narrow integer that is not negative, without its lowest `shift` bits,
        rounded up.
        """
        return f"(({x} + {(1 << shift) - 1}) >> {shift})"

    def scaled(self, numbers: Sequence[str], times: int, by: str) -> list[str]:
        """Integers times a constant, divided by another integer: in the widest type,
        where the product fits.
        """
        return [self.divided(f"({self.wide(x)} * {times})", by) for x in numbers]

    def root_above(self, x: str) -> str:
        """The square root of a wide integer, rounded up: where the square of the root
        nearby is below, it is one more.
        """
        root = self.root_near(x)
        return f"(CASE WHEN {root} * {root} < {x} THEN {root} + 1 ELSE {root} END)"

    @abstractmethod
    def root_near(self, x: str) -> str:
        """The square root of a wide integer, rounded down or up."""

    @abstractmethod
    def doublings(self, x: str, first: int, power: int) -> str:
        """ceil(power · log2(x / first)) as an integer, for a positive x."""


def _owner_field(table: Table, owner: str) -> Field:
    """The column with the unit's id, which must be of a type that ids can have."""
    field = next((one for one in table.fields if one.name == owner), None)
    if field is None:
        missing = f"the table {table.name!r} has no column {owner!r}"
        raise ArgumentError("unit", f"{missing}; declare it with its type")
    if field.type in (Type.REAL, Type.BOOLEAN):
        found = f"the column {owner!r} is {field.type.value.upper()}"
        raise ArgumentError(
            "unit", f"{found}, which ids cannot be; declare it as INTEGER or TEXT"
        )
    return field
