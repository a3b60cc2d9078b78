"""What the rooms of the work floor accept: private columns with what is public about
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from dither.errors import ArgumentError
from dither.ledger import Receipt
from dither.privacy import ROW, Guarantee, Unit

__all__ = ["Account", "Column", "Dataset", "Kind", "kind_of"]


class Account(Protocol):
    """Something that charges can be made to."""

    @property
    def epsilon(self) -> float:
        """The total ε."""

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        """Spend a guarantee, or raise and spend nothing."""

    def spending(
        self, guarantee: Guarantee, *, purpose: str = ""
    ) -> AbstractContextManager[Receipt]:
        """Charge, run what is inside, settle; failures inside are counted."""


Bounds = tuple[float, float]


class Kind(Enum):
    """What a column is declared to hold. It is part of the schema, so it is public."""

    INTEGERS = "integers"
    REALS = "reals"
    TRUTHS = "truths"
    ANYTHING = "anything"
    OTHER = "other"


_KINDS = {
    ("int", "uint"): Kind.INTEGERS,
    ("float", "double", "halffloat", "decimal"): Kind.REALS,
    ("bool",): Kind.TRUTHS,
    ("object",): Kind.ANYTHING,
}


def kind_of(column: Any) -> Kind:
    """The declared kind of a numpy, pandas, Polars or Arrow column; a plain list
    declares nothing.
    """
    declared = str(getattr(column, "dtype", getattr(column, "type", "object"))).lower()
    return next(
        (kind for names, kind in _KINDS.items() if declared.startswith(names)),
        Kind.OTHER,
    )


@dataclass(frozen=True)
class Dataset:
    """Private columns, the unit they are about, and public facts: bounds, keys, and
    where these come from.

    `source` fetches columns by name; it runs in the curator's own process, and only
    after the charge. `owner` names the column that says which unit a row belongs to;
    without one, every row is a unit of its own.
    """

    source: Callable[[Sequence[str]], Mapping[str, Any]]
    names: tuple[str, ...]
    unit: Unit = ROW
    owner: str | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    keys: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None

    def __post_init__(self) -> None:
        if self.owner is not None and self.owner not in self.names:
            raise ArgumentError(
                "owner",
                (
                    f"names a column {self.owner!r} that is not there; there are "
                    f"{self._listed()}"
                ),
            )
        for argument, declared in (
            ("bounds", self.bounds),
            ("keys", self.keys),
            ("provenance", self.provenance),
        ):
            for name in declared:
                if name not in self.names:
                    raise ArgumentError(
                        argument,
                        (
                            f"names a column {name!r} that is not there; there are "
                            f"{self._listed()}"
                        ),
                    )

    @classmethod
    def of(cls, columns: Mapping[str, Any], **public: Any) -> Dataset:
        """A dataset from columns in memory: `Dataset.of({"age": ages}, bounds={"age":
        (0, 110)}, account=budget)`.
        """
        kinds = {name: kind_of(column) for name, column in columns.items()}
        return cls(
            lambda names: {name: columns[name] for name in names},
            tuple(columns),
            kinds=kinds,
            **public,
        )

    def fetch(self, columns: Sequence[str]) -> Mapping[str, Any]:
        """The private columns themselves, for the curator's own process."""
        return self.source(columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self.names:
            raise ArgumentError(
                "column", f"there is no column {name!r}; there are {self._listed()}"
            )
        return Column(self, name)

    def _listed(self) -> str:
        return ", ".join(repr(name) for name in self.names)


@dataclass(frozen=True)
class Column:
    """One private column, with the public facts of its dataset."""

    dataset: Dataset
    name: str

    def fetch(self) -> Any:
        return self.dataset.fetch([self.name])[self.name]

    @property
    def kind(self) -> Kind:
        return self.dataset.kinds.get(self.name, Kind.ANYTHING)

    @property
    def bounds(self) -> Bounds | None:
        return self.dataset.bounds.get(self.name)

    @property
    def keys(self) -> tuple[Any, ...] | None:
        return self.dataset.keys.get(self.name)
