"""An operation of the allow-list as one record: all there is to say about it.

To add an operation, add its record to one of the files of records (`arithmetic`,
`numbers`, `choices`, `logic`, `texts`, `dates`, `casts`). Nothing else has to know it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from dither.query.catalogue.limits import LARGEST
from dither.query.catalogue.types import Range
from dither.query.operations.expressions import Call, Expr
from dither.query.operations.reading import Reading
from dither.query.operations.writing import ENGINES, Writer

__all__ = [
    "OPERATIONS",
    "UNKNOWN",
    "Builder",
    "EndsRule",
    "Group",
    "Known",
    "Operation",
    "Options",
    "register",
]

Options = tuple[Any, ...]
Builder = Callable[[tuple[Expr, ...], Options], Expr]
EndsRule = Callable[["Group", Call], "Known"]
Chosen = Callable[[Sequence[Expr]], Sequence[Expr]]


@dataclass(frozen=True)
class Operation:
    """One operation.

    `reads` says how a question writes it, and `functions` which names a question may
    use for it: a misspelled name is compared with those. `sign` is the sign that stands
    between its arguments where a plan is shown.

    `build` checks the arguments, and says which type the result has and in which range
    it lies. `largest` limits its size. `chooses` picks the arguments of which its value
    is always one, or NULL.

    `python` computes it from Python values, then from the options. If `strict`, it is
    NULL as soon as an argument is, and `python` never sees one. `skips_null` says that
    it is NULL only if all its arguments are. `ends` makes an interval of it from
    intervals of its arguments; without a rule there is none.

    `sql` is how engines write it; `duckdb`, `postgres` and `spark` are the differences.
    """

    name: str
    reads: tuple[Reading, ...]
    build: Builder
    python: Callable[..., Any]
    sql: Writer | None = None
    duckdb: Writer | None = None
    postgres: Writer | None = None
    spark: Writer | None = None
    ends: EndsRule | None = None
    strict: bool = True
    skips_null: bool = False
    functions: tuple[str, ...] = ()
    sign: str = ""
    largest: int = LARGEST
    chooses: Chosen | None = None

    def __post_init__(self) -> None:
        # a record that lacks a part is found when it is loaded, not when it is asked for
        if not self.reads:
            raise ValueError(f"{self.name} has no way to be asked for in SQL")
        for engine in ENGINES:
            self.writer(engine)

    def writer(self, engine: str) -> Writer:
        """How an engine writes it."""
        own: Writer | None = getattr(self, engine)
        found = own or self.sql
        if found is None:
            raise ValueError(f"{self.name} has no form for {engine}")
        return found


OPERATIONS: dict[str, Operation] = {}
"""All records by name. `dither.query.operations` imports every file of records, so that
anyone who imports anything of it finds them all here.
"""


def register(*records: Operation) -> None:
    for record in records:
        if record.name in OPERATIONS:
            raise ValueError(f"there are two records of {record.name}")
        OPERATIONS[record.name] = record


class Known(NamedTuple):
    """The interval of the values (None if unknown); whether it is certainly not NULL;
    whether it certainly is.
    """

    range: Range | None
    sure: bool
    null: bool = False


UNKNOWN = Known(None, sure=False)


class Group(Protocol):
    """One group of an answer, as a rule for intervals sees it."""

    def known(self, expr: Expr) -> Known:
        """Where an expression lies in this group."""

    def fixed(self, expr: Expr) -> bool:
        """Whether the group's keys alone decide about an expression."""

    def value(self, expr: Expr) -> Any:
        """The value of an expression that is fixed."""
