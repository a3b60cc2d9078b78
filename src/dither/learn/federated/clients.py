"""Clients and what they hold. Before the charge only types and declared shapes are looked
at; after it nothing refuses: what cannot be used is not there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.ids import mixed
from dither.learn.failures import read_or_none
from dither.learn.rows import Batch, Units
from dither.learn.schema import Field, Schema, arranged, plain, plain_targets
from dither.noise import random_words

__all__ = ["Clients", "Held", "Owned", "is_listed", "schema_of"]

Places = NDArray[np.intp]
WAY_OUT = "pass a made-up row of a client, such as (torch.zeros(4), 0)"


def is_listed(data: Any) -> bool:
    """Whether clients are listed one by one: a dict of them by their names, or a list.
    A frame is a table, and a pair holds the rows of all.
    """
    if isinstance(data, Mapping):
        return True
    pair = isinstance(data, tuple) and len(data) == 2
    lazy = hasattr(data, "__getitem__") and hasattr(data, "__len__")
    return lazy and not pair and not hasattr(data, "columns")


class Clients(ABC):
    """The clients that are present. Their number is private."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, clients: Places, count: int) -> Batch:
        """The rows of these clients, as many for each, and of as many empty ones as
        `count` has more.
        """


@dataclass(frozen=True)
class Owned(Clients):
    """Clients that own rows of one table."""

    units: Units

    def __len__(self) -> int:
        return len(self.units)

    def take(self, clients: Places, count: int) -> Batch:
        return self.units.take(clients, count)


@dataclass(frozen=True)
class Held(Clients):
    """Clients one by one, each with its own inputs and targets. They are asked for when
    they take part, so a list that makes them up as it goes needs no memory for all.
    """

    data: Any
    schema: Schema | None
    rows: int
    salt: np.uint64 = field(
        default_factory=lambda: random_words(2).view(np.uint64)[0], repr=False
    )

    @cached_property
    def names(self) -> list[Any]:
        named = isinstance(self.data, Mapping)
        return list(self.data) if named else list(range(len(self.data)))

    def __len__(self) -> int:
        return len(self.data)

    def held(self, client: int) -> Any:
        """Whatever a client holds."""
        named = isinstance(self.data, Mapping)
        return self.data[self.names[client] if named else client]

    def take(self, clients: Places, count: int) -> Batch:
        assert self.schema is not None
        inputs, targets = self.schema.blank(count * self.rows)
        there = torch.zeros(count * self.rows, dtype=torch.bool)
        wanted = [*tree_leaves(inputs), targets]
        for line, client in enumerate(clients.tolist()):
            if client < 0:  # nobody's place
                continue
            found = read_or_none(partial(self._found, client))
            if found is not None:
                begin = line * self.rows
                own = slice(begin, begin + len(found[0]))
                for whole, part in zip(wanted, found, strict=True):
                    whole[own] = part
                there[own] = True
        return _finite(Batch(inputs, targets, there))

    @cached_property
    def _fields(self) -> tuple[list[Field], Any]:
        """What a client's tensors must be, and how they are arranged."""
        assert self.schema is not None
        inputs, structure = tree_flatten(self.schema.inputs)
        return [*inputs, self.schema.target], structure

    def _found(self, client: int) -> list[Tensor] | None:
        """The rows of a client that count; None if it has rows of another shape. Its own
        code may fail.
        """
        inputs, targets = self.held(client)
        fields, structure = self._fields
        leaves, own = tree_flatten(arranged(inputs, plain))
        if own != structure:
            return None
        pairs = zip([*leaves, plain_targets(targets)], fields, strict=True)
        found = [_typed(one, wanted) for one, wanted in pairs]
        return self._counted(client, found)

    def _counted(self, client: int, found: list[Tensor]) -> list[Tensor]:
        # A row without one of its parts is none.
        count = min(map(len, found))
        if count <= self.rows:
            return [one[:count] for one in found]
        places = torch.from_numpy(self._kept(client, count))
        return [one[places] for one in found]

    def _kept(self, client: int, count: int) -> Places:
        """Which rows count: the first ones in a secret order of the client's own."""
        own = mixed(np.array([client], np.uint64) + self.salt)
        places = np.arange(count)
        words = mixed(own + mixed(places.astype(np.uint64)))
        return places[np.argsort(words, kind="stable")[: self.rows]]


def _typed(values: Tensor, wanted: Field) -> Tensor:
    """Rows as declared; whole numbers where reals are declared become reals."""
    if wanted.type.is_floating_point:
        values = values.to(wanted.type)
    if Field.of(values) != wanted:
        raise ValueError
    return values


def _finite(block: Batch) -> Batch:
    """Rows with a number that is missing or infinite do not count."""
    there = block.there
    for one in (*tree_leaves(block.inputs), block.targets):
        if one.numel() and one.is_floating_point():
            there = there & torch.isfinite(one).reshape(len(one), -1).all(1)

    def masked(values: Tensor) -> Tensor:
        gone = ~there.view(-1, *[1] * (values.ndim - 1))
        return values.masked_fill(gone, 0)

    return Batch(tree_map(masked, block.inputs), masked(block.targets), there)


def schema_of(example: Any) -> Schema:
    """What a row is, from one that was made up: any client's own rows are private."""
    if example is None:
        raise ArgumentError("example", f"is missing; {WAY_OUT}")
    try:
        inputs, target = example
        inputs = arranged(inputs, plain)
        rows = tree_map(lambda one: one[None], inputs)
        return Schema.of(rows, plain_targets(target)[None])
    except Exception:
        raise ArgumentError(
            "example", f"must be a pair (inputs, target); {WAY_OUT}"
        ) from None
