"""What one row is: its inputs (a tensor, several, or named ones) and its target. Shapes
and types are public, as the columns of a table are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from dither.learn.gradients.oracle import Inputs

__all__ = ["Field", "Schema", "arranged", "plain", "plain_targets", "real"]


@dataclass(frozen=True)
class Field:
    """One tensor of a row."""

    shape: tuple[int, ...]
    type: torch.dtype

    @classmethod
    def of(cls, rows: Tensor) -> Field:
        return cls(tuple(rows.shape[1:]), rows.dtype)

    def blank(self, count: int) -> Tensor:
        return torch.zeros(count, *self.shape, dtype=self.type, device="cpu")

    def __str__(self) -> str:
        return f"{self.shape} of {str(self.type).removeprefix('torch.')}"


@dataclass(frozen=True)
class Schema:
    """One row. `inputs` is a Field, a tuple of them for a model of several arguments, or
    a dict of them by the model's names.
    """

    inputs: Any
    target: Field

    @classmethod
    def of(cls, inputs: Inputs, targets: Tensor) -> Schema:
        return cls(tree_map(Field.of, inputs), Field.of(targets))

    def blank(self, count: int) -> tuple[Inputs, Tensor]:
        inputs = tree_map(lambda one: one.blank(count), self.inputs)
        return inputs, self.target.blank(count)

    def real(self, kind: torch.dtype) -> Schema:
        """This row with real numbers of another type."""

        def field(one: Field) -> Field:
            return replace(one, type=kind) if one.type.is_floating_point else one

        return Schema(tree_map(field, self.inputs), field(self.target))

    @property
    def words(self) -> str:
        """The inputs, as messages name them."""
        if isinstance(self.inputs, dict):
            named = (f"{name}: {one}" for name, one in self.inputs.items())
            return ", ".join(named)
        return " and ".join(map(str, tree_leaves(self.inputs)))


def arranged(values: Any, one: Callable[[Any], Any]) -> Any:
    """The caller's inputs in one form: a dict by sorted names, a tuple if there are
    several tensors, else the result of `one`.
    """
    if isinstance(values, Mapping):
        return {name: one(values[name]) for name in sorted(values)}
    if isinstance(values, tuple | list) and values and all(map(_is_array, values)):
        return tuple(one(part) for part in values)
    return one(values)


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray) and value.ndim > 0


def plain(values: Any) -> Tensor:
    """Numbers as the trainer has them: reals in float32, whole numbers in int64; booleans
    stay what they are.
    """
    if isinstance(values, np.ndarray):
        # PyTorch takes neither steps backwards nor arrays that cannot be written.
        values = np.require(values, requirements=["C", "W"])
    found = torch.as_tensor(values, device="cpu").detach()
    if found.dtype.is_complex or found.dtype.is_floating_point:
        return found.to(torch.float32)
    return found if found.dtype == torch.bool else found.to(torch.int64)


def plain_targets(values: Any) -> Tensor:
    """Targets as the trainer has them: booleans are labels 0 and 1."""
    found = plain(values)
    return found.to(torch.int64) if found.dtype == torch.bool else found


def real(values: Tensor, kind: torch.dtype) -> Tensor:
    """Real numbers in this type; others stay as they are."""
    return values.to(kind) if values.is_floating_point() else values
