"""The curator's declarations: tables, types, unit, bounds, public values, budget. Nothing is read off the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dither.ledger import Policy
from dither.privacy import ROW, Unit
from dither.query.sql.types import ANY, Range, Type

__all__ = ["Catalogue", "Field", "Link", "Table"]


@dataclass(frozen=True)
class Field:
    """A column as declared: its type, its bounds, its public values, and who declared them from what."""

    name: str
    type: Type
    range: Range = ANY
    keys: tuple[Any, ...] | None = None
    provenance: str = ""


@dataclass(frozen=True)
class Link:
    """How rows without the unit's id find their owner: `column` here equals `key` in `table`, where it is unique."""

    column: str
    table: str
    key: str


@dataclass(frozen=True)
class Table:
    """A table as declared. `owner` names the column with the unit's id; a table with neither owner nor link has rows as
    units, or is public. `rows` is a declared bound on the rows of one unit."""

    name: str
    fields: tuple[Field, ...]
    public: bool = False
    owner: str | None = None
    link: Link | None = None
    rows: int | None = None
    source: str = ""


@dataclass(frozen=True)
class Catalogue:
    """All that is public about a dataset. `version` is a tag that the curator changes on public events (rule R19)."""

    name: str
    tables: tuple[Table, ...]
    unit: Unit = ROW
    population: int | None = None
    epsilon: float | None = None
    delta: float = 0.0
    analysts: Mapping[str, float] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    version: str = "1"
    book: str | None = None
