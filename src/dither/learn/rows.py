"""Rows that have been read: inputs, targets, and which rows belong to one unit.

Nothing here refuses: what cannot be used is not there, row by row (rule R1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from dither.ids import codes_of, hashed, mixed
from dither.learn.draws import apart
from dither.learn.failures import read_or_none
from dither.learn.gradients.oracle import Inputs
from dither.learn.schema import Schema, arranged, plain, plain_targets, real
from dither.noise import secret_bytes

__all__ = ["Batch", "Places", "Real", "Rows", "Samples", "Tensors", "Units", "units_of"]

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Batch:
    """Rows of several units, of one fixed shape; `there` is 0 for rows that fill up."""

    inputs: Inputs
    targets: Tensor
    there: Tensor

    def each(self, rows: int) -> Iterator[Batch]:
        """The units one by one."""
        for start in range(0, len(self.there), rows):
            yield self.map(itemgetter(slice(start, start + rows)))

    def halves(self, rows: int) -> list[Batch]:
        """The batch with one half of the units, and with the other, in the same shape;
        none if there is one unit or nobody.
        """
        units = self.there.view(-1, rows).any(1).nonzero().flatten()
        if len(units) < 2:
            return []
        later = torch.arange(len(self.there), device=units.device) // rows
        later = later >= units[len(units) // 2]
        return [self._without(later), self._without(~later)]

    def filled(self, row: Batch) -> Batch:
        """The batch with this row in all places where none is there. A model may fail on
        rows of zeros, and whether a part has such places must change nothing.
        """
        if self.there.device.type == "cpu" and bool(self.there.all()):
            return self

        def filled(values: Tensor, one: Tensor) -> Tensor:
            there = self.there.view(-1, *[1] * (values.ndim - 1)).bool()
            return torch.where(there, values, one)

        inputs = tree_map(filled, self.inputs, row.inputs)
        return Batch(inputs, filled(self.targets, row.targets), self.there)

    def _without(self, gone: Tensor) -> Batch:
        return self.map(lambda one: _masked(one, ~gone))

    def to(self, device: torch.device) -> Batch:
        return self.map(methodcaller("to", device))

    def map(self, function: Callable[[Tensor], Tensor]) -> Batch:
        """The batch with a function applied to each tensor."""
        inputs = tree_map(function, self.inputs)
        return Batch(inputs, function(self.targets), function(self.there))


class Rows(ABC):
    """Source of rows, which are taken by their numbers."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, places: Places) -> Batch:
        """The rows with these numbers. -1 is a row that fills up."""


@dataclass(frozen=True)
class Tensors(Rows):
    """Rows in memory. Those with a number that is missing or infinite, or without a
    class, do not count.
    """

    inputs: Inputs
    targets: Tensor
    there: Tensor = field(
        default_factory=lambda: torch.ones(0, dtype=torch.bool, device="cpu")
    )

    @classmethod
    def of(cls, inputs: Inputs, targets: Tensor) -> Tensors:
        # A row without one of its parts is none.
        count = min(len(one) for one in (*tree_leaves(inputs), targets))
        inputs = tree_map(itemgetter(slice(count)), inputs)
        targets = targets[:count]
        return cls(inputs, targets, _finite(inputs, targets))

    def __len__(self) -> int:
        return len(self.there)

    def take(self, places: Places) -> Batch:
        index = torch.from_numpy(np.maximum(places, 0))
        there = self.there[index] & torch.from_numpy(places >= 0)

        def taken(values: Tensor) -> Tensor:
            # Not 0 times what is there: that may be NaN.
            return _masked(values[index], there)

        return Batch(tree_map(taken, self.inputs), taken(self.targets), there)


@dataclass(frozen=True)
class Real(Rows):
    """Rows whose real numbers have the type of a model's parameters."""

    rows: Rows
    kind: torch.dtype

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: Places) -> Batch:
        return self.rows.take(places).map(lambda one: real(one, self.kind))


@dataclass(frozen=True)
class Samples(Rows):
    """Rows of a map-style `Dataset`, each collated by itself, so that an odd one changes
    no other. One that cannot be read, or has another shape, does not count.
    """

    dataset: Any
    collate: Callable[[list[Any]], Any]
    schema: Schema

    def __len__(self) -> int:
        return len(self.dataset)

    def take(self, places: Places) -> Batch:
        inputs, targets = self.schema.blank(len(places))
        there = torch.zeros(len(places), dtype=torch.bool, device="cpu")
        held, begin = [*tree_leaves(inputs), targets], apart(torch.device("cpu"))
        for line, place in enumerate(places.tolist()):
            begin(line)
            found = None if place < 0 else read_or_none(partial(self._row, place))
            if found is not None:
                for one, value in zip(held, found, strict=True):
                    one[line] = value
                there[line] = True
        return Batch(inputs, targets, there)

    def _row(self, place: int) -> list[Tensor] | None:
        """The tensors of a row, if it is as declared. The dataset's own code may do
        anything with an odd record.
        """
        inputs, target = self.collate([self.dataset[place]])
        inputs, target = arranged(inputs, plain), plain_targets(target)
        if Schema.of(inputs, target) != self.schema:
            return None
        row = [one[0] for one in (*tree_leaves(inputs), target)]
        return row if all(bool(torch.isfinite(one).all()) for one in row) else None


def _finite(inputs: Inputs, targets: Tensor) -> Tensor:
    """Whether all numbers of a row are finite."""
    there = torch.ones(len(targets), dtype=torch.bool, device="cpu")
    for one in (*tree_leaves(inputs), targets):
        if one.numel() and one.is_floating_point():
            there &= torch.isfinite(one).reshape(len(there), -1).all(1)
    return there


def _masked(values: Tensor, there: Tensor) -> Tensor:
    return values.masked_fill(~there.view(-1, *[1] * (values.ndim - 1)), 0)


@dataclass(frozen=True)
class Units:
    """Which rows each unit has. If one has more than `most`, those that are first in a
    secret order count (rule R8).
    """

    rows: Rows
    begin: Places
    order: Places
    most: int

    def __len__(self) -> int:
        return len(self.begin) - 1

    def take(self, units: Places, count: int) -> Batch:
        """The rows of these units, and of empty ones: -1 is one, and as many as `count` has
        more.
        """
        places = np.full((count, self.most), -1, np.intp)
        lines = np.flatnonzero(units >= 0)
        if self.most == 1:
            places[lines, 0] = self.order[self.begin[units[lines]]]
            return self.rows.take(places.reshape(-1))
        for line, unit in zip(lines.tolist(), units[lines].tolist(), strict=True):
            own = self.order[self.begin[unit] : self.begin[unit + 1]][: self.most]
            places[line, : own.size] = own
        return self.rows.take(places.reshape(-1))


def units_of(rows: Rows, owners: Any, most: int) -> Units:
    """The units that own the rows, by the id of each row's owner; a row without one is
    nobody's. Which rows of a unit count is a matter of a keyed hash of its id and of the
    row's place among its own, with a fresh key: who else is there changes nothing.
    """
    count = len(rows)
    if owners is None:
        return Units(rows, np.arange(count + 1), np.arange(count), most)
    codes = codes_of(owners)[:count]
    order = np.argsort(codes, kind="stable")
    order = order[np.searchsorted(codes[order], 0) :]
    owned = codes[order]
    change = np.flatnonzero(np.diff(owned)) + 1
    ends = np.concatenate([[0], change, [owned.size]]) if owned.size else np.zeros(1)
    begin = ends.astype(np.intp)
    return Units(rows, begin, _shuffled(order, begin, owners, most), most)


def _shuffled(order: Places, begin: Places, owners: Any, most: int) -> Places:
    """The rows of each unit that has more than this number, in the order of their
    hashes.
    """
    sizes = np.diff(begin)
    many = np.flatnonzero(sizes > most)
    if not many.size:
        return order
    salts = hashed(owners, order[begin[many]], secret_bytes(32))
    crowded = np.repeat(sizes > most, sizes)
    place = (np.arange(order.size) - np.repeat(begin[:-1], sizes))[crowded]
    unit = np.repeat(np.arange(many.size), sizes[many])
    words = mixed(salts[unit] + mixed(place.astype(np.uint64)))
    found = order.copy()
    found[crowded] = order[crowded][np.lexsort((words, unit))]
    return found
