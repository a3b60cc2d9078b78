"""How each row of a batch used one parameter: enough to know the norm of its gradient,
and to sum gradients with weights, without one gradient for each row.

Rows of one unit stand beside each other, `rows` of them for each unit, so that a unit's
rows become one longer row (rule R25).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from dither.learn.gradients.products import gram, summed

__all__ = ["Factored", "Lookup", "Outer", "Use", "Whole", "gathered", "norms"]


BLOCK = 128
Kernel = tuple[int, int] | None
"""Spots and channels of a convolution's kernel."""


class Use(ABC):
    """One use of a parameter by all rows."""

    @abstractmethod
    def whole(self) -> Tensor:
        """One gradient for each unit, with the parameter's entries in one line."""

    @abstractmethod
    def total(self, weights: Tensor) -> Tensor:
        """The sum of gradients with a weight for each unit, in one line."""

    @abstractmethod
    def without(self, units: Tensor) -> Use:
        """The gradients with zeros for these units: 0 times NaN is NaN."""


@dataclass(frozen=True)
class Whole(Use):
    """Gradients that are small enough to be held: [units, entries], in float32 or
    float64. With a `kernel`, entries stand as `turned` says.
    """

    gradients: Tensor
    kernel: Kernel = None

    def whole(self) -> Tensor:
        return turned(self.gradients, self.kernel)

    def total(self, weights: Tensor) -> Tensor:
        return turned(weights.to(self.gradients.dtype) @ self.gradients, self.kernel)

    def without(self, units: Tensor) -> Whole:
        return Whole(self.gradients.masked_fill(units[:, None], 0.0), self.kernel)


class Factored(Use):
    """A gradient that is a sum over places t of an outer product, left times right."""

    right: Tensor
    """[units, places, width]"""
    kernel: Kernel

    @property
    @abstractmethod
    def height(self) -> int:
        """Number of rows of the parameter."""

    @property
    @abstractmethod
    def left_length(self) -> int:
        """Number of products that an inner product of left sides adds."""

    @property
    @abstractmethod
    def left_norms(self) -> Tensor:
        """[units, places]"""

    @abstractmethod
    def lefts_with(self, other: Factored) -> Tensor:
        """Products of left sides: [units, my places, other's places]"""

    @property
    def places(self) -> int:
        return self.right.shape[1]

    @property
    def right_norms(self) -> Tensor:
        """[units, places]"""
        return norms(self.right)

    def product(self, other: Factored) -> Tensor:
        """The inner product of two uses' gradients, for each unit."""
        both = self.lefts_with(other)
        both = both * gram(self.right, other.right)
        # In double precision, so that only the products themselves are rounded.
        return both.sum((1, 2), dtype=torch.float64)


@dataclass(frozen=True)
class Outer(Factored):
    """A linear layer: output gradients [units, places, height] times inputs."""

    left: Tensor
    right: Tensor
    kernel: Kernel = None

    @property
    def height(self) -> int:
        return self.left.shape[2]

    @property
    def left_length(self) -> int:
        return self.height

    @property
    def left_norms(self) -> Tensor:
        return norms(self.left)

    def lefts_with(self, other: Factored) -> Tensor:
        if isinstance(other, Outer):
            return gram(self.left, other.left)
        return other.lefts_with(self).transpose(1, 2)

    def whole(self) -> Tensor:
        sides = (self.left.transpose(1, 2), self.right.transpose(1, 2))
        return turned(gram(*sides).flatten(1), self.kernel)

    def total(self, weights: Tensor) -> Tensor:
        found = summed(self.left, self.right, weights).flatten()
        return turned(found, self.kernel)

    def without(self, units: Tensor) -> Outer:
        where = units[:, None, None]
        left, right = (one.masked_fill(where, 0.0) for one in (self.left, self.right))
        return Outer(left, right, self.kernel)


@dataclass(frozen=True)
class Lookup(Factored):
    """An embedding: which line each place looked up, and its output's gradient."""

    lines: Tensor
    right: Tensor
    size: int
    kernel: Kernel = None

    @property
    def height(self) -> int:
        return self.size

    @property
    def left_length(self) -> int:
        return 1

    @property
    def left_norms(self) -> Tensor:
        return torch.ones_like(self.lines, dtype=torch.float64)

    def lefts_with(self, other: Factored) -> Tensor:
        if isinstance(other, Lookup):
            same = self.lines[:, :, None] == other.lines[:, None, :]
            return same.to(torch.float32)
        assert isinstance(other, Outer)
        lines = self.lines[:, None, :].expand(-1, other.places, -1)
        return other.left.gather(2, lines).transpose(1, 2)

    def whole(self) -> Tensor:
        units, width = self.right.shape[0], self.right.shape[2]
        right = full(self.right)
        found = right.new_zeros(units, self.size, width)
        lines = self.lines[:, :, None].expand(-1, -1, width)
        return found.scatter_add_(1, lines, right).flatten(1)

    def total(self, weights: Tensor) -> Tensor:
        right = self.right * weights[:, None, None]
        found = right.new_zeros(self.size, right.shape[2])
        found.index_add_(0, self.lines.flatten(), right.flatten(0, 1))
        return found.flatten()

    def without(self, units: Tensor) -> Lookup:
        right = self.right.masked_fill(units[:, None, None], 0.0)
        return Lookup(self.lines, right, self.size)


def gathered(uses: Sequence[Use]) -> Whole:
    """All uses as one gradient for each unit."""
    if len(uses) == 1:
        (use,) = uses
        return use if isinstance(use, Whole) else Whole(use.whole())
    return Whole(torch.stack([use.whole() for use in uses]).sum(0))


def turned(values: Tensor, kernel: Kernel) -> Tensor:
    """Entries as the parameter has them, where they stand with channels last. A norm
    does not mind, so a sum of gradients is turned and not each of them.
    """
    if kernel is None:
        return values
    spots, channels = kernel
    apart = values.reshape(*values.shape[:-1], -1, spots, channels)
    return apart.transpose(-1, -2).flatten(values.ndim - 1)


def norms(values: Tensor) -> Tensor:
    """The length of each last axis, in double precision.

    Blocks are measured in the precision of the values, which costs less than turning
    all of them into doubles, and rounds a sum of squares `BLOCK` times at most.
    """
    *before, width = values.shape
    blocks = full(values).reshape(*before, -1, _block(width))
    each = torch.linalg.vector_norm(blocks, dim=-1)
    found: Tensor = torch.linalg.vector_norm(each, dim=-1, dtype=torch.float64)
    return found


@cache
def _block(width: int) -> int:
    """The largest block, so that blocks are of one size."""
    return max(size for size in range(1, BLOCK + 1) if width % size == 0)


def full(values: Tensor) -> Tensor:
    """In float32 at least."""
    return values.float() if values.dtype.itemsize < 4 else values
