"""Rows that have been read: inputs, targets, and which rows belong to one unit.

Nothing here refuses: what cannot be used is not there, row by row (rule R1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dither.noise import random_words

__all__ = ["Batch", "Rows", "Samples", "Schema", "Tensors", "Units", "units_of"]

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Schema:
    """The shapes and types of one row: public, as the columns of a table are."""

    inputs: tuple[int, ...]
    input_type: torch.dtype
    targets: tuple[int, ...]
    target_type: torch.dtype

    def blank(self, count: int) -> tuple[Tensor, Tensor]:
        inputs = torch.zeros(count, *self.inputs, dtype=self.input_type, device="cpu")
        targets = torch.zeros(
            count, *self.targets, dtype=self.target_type, device="cpu"
        )
        return inputs, targets


@dataclass(frozen=True)
class Batch:
    """Rows of several units, of one fixed shape; `there` is 0 for rows that fill up."""

    inputs: Tensor
    targets: Tensor
    there: Tensor

    def each(self, rows: int) -> Iterator[Batch]:
        """The units one by one."""
        for start in range(0, len(self.there), rows):
            one = slice(start, start + rows)
            yield Batch(self.inputs[one], self.targets[one], self.there[one])

    def to(self, device: torch.device) -> Batch:
        parts = (self.inputs, self.targets, self.there)
        return Batch(*(part.to(device) for part in parts))


class Rows(ABC):
    """Where rows are taken from, by their numbers."""

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

    inputs: Tensor
    targets: Tensor
    there: Tensor = field(
        default_factory=lambda: torch.ones(0, dtype=torch.bool, device="cpu")
    )

    @classmethod
    def of(cls, inputs: Tensor, targets: Tensor) -> Tensors:
        # A row without its other half is none.
        count = min(len(inputs), len(targets))
        inputs, targets = inputs[:count], targets[:count]
        return cls(inputs, targets, _finite(inputs) & _finite(targets))

    def __len__(self) -> int:
        return len(self.there)

    def take(self, places: Places) -> Batch:
        index = torch.from_numpy(np.maximum(places, 0))
        there = self.there[index] & torch.from_numpy(places >= 0)
        inputs, targets = self.inputs[index], self.targets[index]
        # Not 0 times what is there: that may be NaN.
        return Batch(_masked(inputs, there), _masked(targets, there), there)


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
        for line, place in enumerate(places.tolist()):
            found = None if place < 0 else self._row(place)
            if found is not None:
                inputs[line], targets[line], there[line] = *found, True
        return Batch(inputs, targets, there)

    def _row(self, place: int) -> tuple[Tensor, Tensor] | None:
        try:
            one, target = self.collate([self.dataset[place]])
            one, target = plain(one)[0], plain(target)[0]
        except Exception:  # whatever its code does with an odd record
            return None
        shapes = (tuple(one.shape), tuple(target.shape))
        types = (one.dtype, target.dtype)
        schema = self.schema
        fits = shapes == (schema.inputs, schema.targets)
        same = types == (schema.input_type, schema.target_type)
        fine = fits and same and bool(_finite(one[None]) & _finite(target[None]))
        return (one, target) if fine else None


def plain(values: Any) -> Tensor:
    """Numbers as the trainer has them: reals in float32, whole numbers in int64."""
    if isinstance(values, np.ndarray):
        # PyTorch takes neither steps backwards nor arrays that cannot be written.
        values = np.require(values, requirements=["C", "W"])
    found = torch.as_tensor(values).detach().cpu()
    if found.dtype.is_complex or found.dtype.is_floating_point:
        return found.to(torch.float32)
    return found.to(torch.int64)


def _finite(values: Tensor) -> Tensor:
    """Whether all numbers of a row are finite."""
    if not len(values):
        return torch.ones(0, dtype=torch.bool, device="cpu")
    return torch.isfinite(values).reshape(len(values), -1).all(1)


def _masked(values: Tensor, there: Tensor) -> Tensor:
    return values.masked_fill(~there.view(-1, *[1] * (values.ndim - 1)), 0)


@dataclass(frozen=True)
class Units:
    """Which rows each unit has: at most so many, in random order. Where a unit has more
    rows, a random choice of them counts (rule R8).
    """

    rows: Rows
    begin: Places
    order: Places
    most: int

    def __len__(self) -> int:
        return len(self.begin) - 1

    def take(self, units: Places, count: int) -> Batch:
        """The rows of these units and of as many empty ones as `count` has more."""
        places = np.full((count, self.most), -1, np.intp)
        if self.most == 1:
            places[: len(units), 0] = self.order[self.begin[units]]
            return self.rows.take(places.reshape(-1))
        for line, unit in enumerate(units.tolist()):
            own = self.order[self.begin[unit] : self.begin[unit + 1]][: self.most]
            places[line, : own.size] = own
        return self.rows.take(places.reshape(-1))


def units_of(rows: Rows, owners: NDArray[np.int64] | None, most: int) -> Units:
    """The units that own the rows, by a number for each owner; -1 owns nothing. Which
    rows of a unit count is drawn for that unit alone: who else is there changes nothing.
    """
    count = len(rows)
    if owners is None:
        return Units(rows, np.arange(count + 1), np.arange(count), most)
    owners = owners[:count]
    mixed = random_words(2 * len(owners)).view(np.uint64)
    order = np.lexsort((mixed, owners))
    order = order[np.searchsorted(owners[order], 0) :]
    owned = owners[order]
    change = np.flatnonzero(np.diff(owned)) + 1
    ends = np.concatenate([[0], change, [owned.size]]) if owned.size else np.zeros(1)
    return Units(rows, ends.astype(np.intp), order.astype(np.intp), most)
