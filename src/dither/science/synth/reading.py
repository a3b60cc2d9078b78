"""Private tables as codes of a declared domain: frames, columns by name, datasets.

`source_of` looks at types and names only. What it returns reads the data after the
charge, and then nothing is refused: a row with a value that has no place in the domain
is ignored, whatever it holds, and of each unit at most `rows` rows count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.dataset import Account, Dataset
from dither.errors import ArgumentError
from dither.ledger import Receipt
from dither.privacy import ROW, Unit
from dither.privacy.numbers import whole
from dither.science.owners import StoredIds
from dither.science.synth.catalogue import table_of
from dither.science.synth.domain import Domain
from dither.science.synth.keeping import kept
from dither.science.synth.values import Codes

__all__ = ["Source", "source_of"]

OWNER = Unit("owner")
MANY = 10**9
WAY_OUT = "pass a frame, a mapping of columns, or a dataset"
NO_IDS = ("float", "double", "half", "bool", "date", "time", "duration")
HOW_MANY = "pass how many rows per unit are used at most, such as 1"
Read = Callable[[Receipt | None], tuple[Mapping[str, Any], Any]]


@dataclass(frozen=True)
class Source:
    """Where the rows come from. `rows` is the number of rows of one unit that are
    counted; `owned` is true if units are distinguished by an id, and `owner` is the
    name of its column, if it has one.
    """

    domain: Domain
    rows: int
    owned: bool
    columns: Read
    owner: str | None = None
    dataset: Dataset | None = None

    def read(self, receipt: Receipt | None = None) -> Codes:
        """The codes of the rows that count, without those that have no place.

        Guarantee: one unit that comes or goes adds or takes at most `rows` rows.
        Why: a row's code depends on that row alone, and which rows of a unit are kept
        on that unit's rows alone (rule R8).
        Assumes: the receipt is of a charge for what is computed from the rows.
        """
        columns, owners = self.columns(receipt)
        codes = self.domain.code(columns)
        there = np.flatnonzero((codes >= 0).all(axis=1))
        if not self.owned:
            return codes if there.size == len(codes) else codes[there]
        return kept(codes, there, owners, self.rows, self.domain.sizes)

    def unit(self, budget: Account | None = None) -> Unit:
        """Whom a release protects: the unit of the account that pays, where that is
        about the same units.
        """
        if self.dataset is not None:
            return self.dataset.unit
        terms = getattr(budget, "terms", None)
        held: Unit | None = None if terms is None else terms.total.unit
        if not self.owned:
            return held if held is not None and held.name == ROW.name else ROW
        if self.owner is None:  # ids of whatever the account is about
            return held if held is not None and held.name != ROW.name else OWNER
        # a column of that name holds owners, and not one for each row
        named = OWNER if self.owner == ROW.name else Unit(self.owner)
        return held if held is not None and held.name == named.name else named

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about how rows became records."""
        said = [self.domain.note, LEFT_OUT]
        if self.owned:
            rows = "1 row" if self.rows == 1 else f"{self.rows} rows"
            said.append(f"at most {rows} of each unit, chosen by a keyed hash")
        if self.dataset is not None:
            said.append("values are clamped to the bounds of their columns")
        return tuple(said)


LEFT_OUT = (
    "numbers and dates are clamped to the declared ends; rows with any other value that is "
    "not declared are left out"
)


def source_of(
    table: Any,
    domain: Any,
    *,
    owner: Any = None,
    rows: int | None = None,
    name: str | None = None,
) -> Source:
    """How to read a table, decided by types and declared names. `name` is a table of a
    dataset. Nothing is read.
    """
    if domain is None and isinstance(table, Dataset):
        domain = Domain.of(table, table=name)
    if not isinstance(domain, Domain):
        domain = Domain(domain)
    if isinstance(table, Dataset):
        return _of_dataset(table, domain, owner, rows, name)
    if name is not None:
        raise ArgumentError(
            "table", "can be passed only with a dataset; leave table out"
        )
    columns = {one: _column(table, one) for one in domain.names}
    ids = None if owner is None else _ids(table, owner)
    lengths = {len(one) for one in columns.values()} | ({len(ids)} if ids else set())
    if len(lengths) > 1:
        raise ArgumentError(
            "table",
            "must have columns (and owner ids) of equal length; pass one record per row",
        )
    most = _most(rows, owner is not None, None)
    named = owner if isinstance(owner, str) else None
    held = None if ids is None else ids.held
    return Source(domain, most, owner is not None, lambda _: (columns, held), named)


def _of_dataset(
    dataset: Dataset, domain: Domain, owner: Any, rows: int | None, name: str | None
) -> Source:
    """A dataset knows its unit, so nobody else says who owns a row."""
    if owner is not None:
        raise ArgumentError(
            "owner",
            f"is declared by the dataset, which protects {dataset.unit}; leave owner out",
        )
    table = table_of(dataset, name)
    fields = {one: table.field(one).name for one in domain.names}
    most = _most(rows, not dataset.single, dataset.caps.get(table.name))

    def columns(receipt: Receipt | None) -> tuple[Mapping[str, Any], Any]:
        listed = list(fields.values())
        found = dataset.fetch(listed, table=table.name, receipt=receipt)
        held = {one: found.columns[field] for one, field in fields.items()}
        return held, None if found.owners is None else StoredIds(found.owners)

    return Source(domain, most, not dataset.single, columns, None, dataset)


def _most(rows: int | None, owned: bool, declared: int | None) -> int:
    """How many rows of a unit count: stated, or declared for the dataset."""
    if not owned:
        if rows not in (None, 1):
            words = "must be 1, because each row is one unit; leave rows out, or pass owner="
            raise ArgumentError("rows", words)
        return 1
    stated = declared if rows is None else rows
    if stated is None:
        raise ArgumentError(
            "rows",
            f"must be declared, because a unit may have several rows; {HOW_MANY}",
        )
    most = whole("rows", stated, HOW_MANY)
    if most > MANY:
        raise ArgumentError("rows", f"must be at most {MANY:,}; {HOW_MANY}")
    return most


def _column(table: Any, name: str, argument: str = "domain") -> Any:
    names = _names(table)
    if name not in names:
        listed = ", ".join(map(repr, names[:12]))
        words = f"the table has no column {name!r}; use one of {listed}"
        raise ArgumentError(argument, words)
    found = table[name]
    if not _is_column(found):
        raise ArgumentError(
            argument,
            f"the table must have exactly one column {name!r}, with one value per row; drop "
            "duplicate columns, or pass a list of values",
        )
    return found


def _names(table: Any) -> list[Any]:
    """An Arrow table names its columns elsewhere than pandas and Polars do."""
    if isinstance(table, Mapping):
        return list(table)
    # a lazy frame has no length, and may work for long to name its columns
    frame = table if isinstance(table, Sized) else None
    names = getattr(frame, "column_names", None)
    if not isinstance(names, list):  # a column of pandas can have that name
        names = getattr(frame, "columns", None)
    if names is None:
        kind = type(table).__name__
        raise ArgumentError("table", f"cannot be of type {kind}; {WAY_OUT}")
    return list(names)


def _is_column(given: Any) -> bool:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sized):
        return False
    flat = len(getattr(given, "shape", (0,))) == 1
    return flat and hasattr(given, "__getitem__")


@dataclass(frozen=True)
class _Ids:
    """The ids of the rows' units, as they came."""

    held: Any

    def __len__(self) -> int:
        return len(self.held)

    def __bool__(self) -> bool:
        return True


def _ids(table: Any, owner: Any) -> _Ids:
    held = _column(table, owner, "owner") if isinstance(owner, str) else owner
    dtype = getattr(held, "dtype", getattr(held, "type", None))
    other = getattr(dtype, "kind", "O") not in "iuOUST"
    other = other or str(dtype).lower().startswith(NO_IDS)
    if not _is_column(held) or other:
        raise ArgumentError(
            "owner",
            "must be a column of strings or whole numbers, because floats merge large "
            'ids; read the column as strings or, in pandas, as "Int64"',
        )
    return _Ids(held)
