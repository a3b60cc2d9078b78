"""Columns of frames and datasets as numbers that a model reads.

Numbers with declared bounds go to 0 to 1, by these bounds. Declared keys become one
number each, 1 for the row's key and 0 for the others; of a target, the key's number. All
of it is public, so nothing is learned from the rows about how to read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dither.dataset import ColumnFacts
from dither.learn.encoding import Column, Keyed, Numeric, column_of, declared
from dither.learn.rows import Schema, Tensors

__all__ = ["Columns", "column_of"]


@dataclass(frozen=True)
class Columns:
    """The columns to learn from, and the one to learn."""

    inputs: tuple[Column, ...]
    target: Column

    @classmethod
    def declared(cls, facts: Sequence[ColumnFacts]) -> Columns:
        *inputs, target = (declared(one) for one in facts)
        return cls(tuple(inputs), target)

    @property
    def schema(self) -> Schema:
        width = sum(one.width for one in self.inputs)
        if isinstance(self.target, Keyed):
            return Schema((width,), torch.float32, (), torch.int64)
        return Schema((width,), torch.float32, (1,), torch.float32)

    def rows(self, columns: Sequence[Any]) -> Tensors:
        *others, last = columns
        with np.errstate(all="ignore"):  # odd numbers must not warn (rule R1)
            pairs = zip(self.inputs, others, strict=True)
            held = [one.read(column) for one, column in pairs]
            count = min(len(one) for one in held)
            inputs = np.hstack([one[:count] for one in held]).astype(np.float32)
            if isinstance(self.target, Numeric):
                target = self.target.read(last).astype(np.float32)
                return _tensors(inputs, target)
        classes = self.target.numbers(last)
        found = _tensors(inputs, classes)
        known = torch.from_numpy(classes[: len(found)] >= 0)
        return Tensors(found.inputs, found.targets, found.there & known)


def _tensors(inputs: NDArray[Any], targets: NDArray[Any]) -> Tensors:
    return Tensors.of(torch.from_numpy(inputs), torch.from_numpy(targets))
