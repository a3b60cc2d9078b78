"""The declared domain of a synthetic table: its columns, what each may hold, and where
that is known from. Nothing of it is read off the data (rule R6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.declared import note
from dither.science.synth.catalogue import BINS, columns_of
from dither.science.synth.columns import Column, categories
from dither.science.synth.limits import check_columns, check_sizes

if TYPE_CHECKING:
    from dither.dataset import Dataset
    from dither.science.synth.values import Codes

__all__ = ["Domain"]

MANY = 1_000_000
HUGE = 10**300
"""Numbers that are smaller are floats."""
WHY_NOT = (
    "a domain is declared and never read off the data, which would reveal one person's "
    "rare or extreme value (arXiv 2405.10994 found this in 4 of 6 tools)"
)
WAY_OUT = 'pass {"age": numbers([0, 18, 65, 110]), "sex": ["f", "m"]}'


class _NotFromData(type):
    """Ways to read a domain off data, as other tools have them, say why not."""

    def __getattr__(cls, name: str) -> NoReturn:
        words = f"type object {cls.__name__!r} has no attribute {name!r}"
        if name.startswith(("from", "infer", "fit", "detect", "read")):
            words = (
                f"Domain.{name} does not exist: {WHY_NOT}; write the domain down, or take "
                "the columns that a dataset declares with Domain.of(dataset)"
            )
        raise AttributeError(words, name=name, obj=cls)


@dataclass(frozen=True)
class Domain(metaclass=_NotFromData):
    """Columns by name: `Domain({"age": numbers([0, 18, 65, 110]), "sex": ["f", "m"]})`.

    A bare list means categories. `provenance` says where all this is publicly known
    from. A domain whose pairs of columns have too many cells to count is refused.
    """

    columns: Mapping[str, Column]
    provenance: str | None = None
    note: str = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        columns: Mapping[str, Column | Sequence[Any]],
        provenance: str | None = None,
    ) -> None:
        found = {_name(one): _column(one, given) for one, given in _items(columns)}
        object.__setattr__(self, "columns", found)
        object.__setattr__(self, "provenance", provenance)
        check_sizes(self.names, self.sizes)
        columns_ = "1 column" if len(found) == 1 else f"{len(found)} columns"
        words = f"a domain of {columns_} and {_written(self.size)} different rows"
        object.__setattr__(self, "note", note(words, provenance))

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        *,
        table: str | None = None,
        columns: Sequence[str] | None = None,
        bins: int | Mapping[str, Any] = BINS,
        missing: bool = True,
        provenance: str | None = None,
    ) -> Domain:
        """The domain that a dataset's catalogue declares: keys as categories, numbers
        and dates between their bounds, and booleans.

        `bins` is the largest number of bins per column, or a mapping from columns to
        numbers of bins or edges. `columns` are all except ids (default). With
        `missing=True`, numbers, dates and booleans have a category for missing values;
        categories have one if None is among the declared keys. Otherwise, rows with
        missing values are left out.
        """
        found, said = columns_of(dataset, table, columns, bins, missing)
        return cls(found, provenance if provenance is not None else said)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return tuple(column.size for column in self.columns.values())

    @property
    def size(self) -> int:
        """How many different rows there can be."""
        return math.prod(self.sizes)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self.columns:
            listed = ", ".join(map(repr, self.columns))
            words = f"the domain has no column {name!r:.80}; use one of {listed}"
            raise ArgumentError("column", words)
        return self.columns[name]

    def only(self, names: Sequence[str]) -> Domain:
        """The domain of some of the columns, in this order."""
        return Domain({name: self[name] for name in names}, self.provenance)

    def code(self, columns: Mapping[str, Any]) -> Codes:
        """Private columns as codes, a row for each record, -1 where a record has no
        place. It looks at the data: only what was charged may call it.
        """
        each = [column.code(columns[name]) for name, column in self.columns.items()]
        found = np.empty((min(one.size for one in each), len(each)), np.int32)
        for place, one in enumerate(each):
            found[:, place] = one[: len(found)]
        return found

    def frame_columns(self, codes: NDArray[np.integer[Any]]) -> dict[str, NDArray[Any]]:
        """Columns of the declared types for rows of codes. Values inside a bin are drawn
        afresh in every call, so a release calls it once.
        """
        pairs = zip(self.columns.items(), np.asarray(codes).T, strict=True)
        return {name: column.decode(one) for (name, column), one in pairs}


def _items(columns: Any) -> list[tuple[Any, Any]]:
    if not isinstance(columns, Mapping):
        kind = type(columns).__name__
        frame = f"cannot be of type {kind}: {WHY_NOT}; {WAY_OUT}"
        raise ArgumentError("domain", frame)
    check_columns(len(columns))
    return list(columns.items())


def _name(given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise ArgumentError("domain", f"must have strings as column names; {WAY_OUT}")
    return given


def _column(name: str, given: Any) -> Column:
    if isinstance(given, Column) and hasattr(given, "labels"):
        return given
    if isinstance(given, tuple) and len(given) == 2 and all(map(_is_number, given)):
        words = f"numbers([{given[0]}, …, {given[1]}]) between them"
        raise ArgumentError(
            name,
            f"the column {name!r} has two numbers, like bounds; pass edges, {words}, or a "
            "list of categories",
        )
    if isinstance(given, list | tuple | range):
        try:
            return categories(given)
        except ArgumentError as error:
            raise ArgumentError(name, f"in the column {name!r}, {error}") from None
    raise ArgumentError(
        name,
        f"the column {name!r} cannot be of type {type(given).__name__}: {WHY_NOT}; {WAY_OUT}",
    )


def _is_number(value: Any) -> bool:
    numeric = isinstance(value, int | float | np.number)
    return numeric and not isinstance(value, bool)


def _written(size: int) -> str:
    if size < MANY:
        return f"{size:,}"
    return f"{size:.3g}" if size < HUGE else f"10^{len(str(size)) - 1}"
