"""The norm of each unit's gradient of one parameter, never below the true one (R25)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dither.learn.gradients.uses import Factored, Use, Whole, gathered

__all__ = ["Measured", "measured"]


BLOCK = 32
SMALL = 4096
"""Entries of a parameter whose gradients are made without a second thought."""


@dataclass(frozen=True)
class Measured:
    """A parameter's uses and, for each unit, the square of its gradient's norm."""

    uses: Sequence[Use]
    squares: Tensor

    def without(self, units: Tensor) -> Measured:
        """The same with zeros for these units."""
        return Measured([use.without(units) for use in self.uses], self.squares)

    def total(self, weights: Tensor) -> Tensor:
        """The weighted sum of gradients, in one line."""
        found = self.uses[0].total(weights)
        for use in self.uses[1:]:
            found = found + use.total(weights)
        return found


def measured(uses: Sequence[Use]) -> Measured:
    """Norms by the cheaper way: from products of places with each other (the gradient
    itself is never made), or from the gradient of each unit.
    """
    factored = [use for use in uses if isinstance(use, Factored)]
    if len(factored) == len(uses) and _ghost_is_cheaper(factored):
        return Measured(uses, _ghost(factored))
    held = gathered([Whole(use.whole()) for use in uses])
    return Measured(held, _direct(held[0].whole()))


def _ghost_is_cheaper(uses: Sequence[Factored]) -> bool:
    places = sum(use.places for use in uses)
    height, width = uses[0].height, uses[0].right.shape[2]
    if places == 1:
        return True
    entries = height * width
    return entries > SMALL and places * (height + width) <= entries


def _direct(gradients: Tensor) -> Tensor:
    return squares_of(gradients) * (1 + BLOCK * _unit(gradients))


def squares_of(values: Tensor) -> Tensor:
    """The squared norm of each row, in double precision.

    Blocks are summed in the precision of the values, which costs half as much as
    turning all of them into doubles.
    """
    rows, entries = values.shape
    most = entries - entries % BLOCK
    blocks = values[:, :most].reshape(rows, -1, BLOCK)
    rest = values[:, most:].double().square().sum(1)
    return torch.linalg.vector_norm(blocks, dim=2).double().square().sum(1) + rest


def _ghost(uses: Sequence[Factored]) -> Tensor:
    if len(uses) == 1 and uses[0].places == 1:
        return _single(uses[0])
    found = uses[0].right.new_zeros(uses[0].right.shape[0], dtype=torch.float64)
    for i, one in enumerate(uses):
        found = found + one.product(one)
        for other in uses[i + 1 :]:
            found = found + 2 * one.product(other)
    # What cancels does so up to rounding of products that may be much larger than what
    # is left, so the margin is absolute: a share of the norm if nothing cancelled.
    most = torch.stack([use.bound for use in uses]).sum(0).square()
    return (found + _margin(uses) * most).clamp_min(0)


def _single(use: Factored) -> Tensor:
    """One place: nothing is added up, so nothing cancels."""
    sides = (use.left_squares[:, 0], squares_of(use.right[:, 0]))
    return sides[0] * sides[1] * (1 + 2 * BLOCK * _unit(use.right))


def _margin(uses: Sequence[Factored]) -> float:
    """How far rounding moves a sum of products of two inner products, as a share of the
    product of norms: each inner product of length n by n units.
    """
    height, width = uses[0].height, uses[0].right.shape[2]
    return (height + width + 8) * _unit(uses[0].right) / 2


def _unit(values: Tensor) -> float:
    return torch.finfo(values.dtype).eps
