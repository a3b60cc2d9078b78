"""The norm of each unit's gradient of one parameter, never below the true one (R25)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dither.learn.gpu import runs
from dither.learn.gradients.products import LENGTH, rounding
from dither.learn.gradients.uses import (
    BLOCK,
    Factored,
    Outer,
    Use,
    gathered,
    norms,
)

__all__ = ["LOST", "Measured", "cheaper", "fused", "ghost_is_cheaper", "measured"]

LOST = 2.0**-62
"""Numbers below half of it have squares that are not a usual float32."""

SMALL = 4096
"""Number of entries up to which a parameter's per-unit gradients are always computed.
"""


@dataclass(frozen=True)
class Measured:
    """A parameter's uses and, for each unit, the square of its gradient's norm."""

    uses: Sequence[Use]
    squares: Tensor

    def without(self, units: Tensor) -> Measured:
        """The result with zeros for these units."""
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
    if len(factored) == len(uses) and ghost_is_cheaper(factored):
        return Measured(uses, _ghost(factored))
    held = gathered(uses)
    return Measured([held], _direct(held.gradients))


def ghost_is_cheaper(uses: Sequence[Factored]) -> bool:
    """Products of places cost places² × (height + width), gradients places × entries.

    Gradients are then held only where they are about as large as what layers keep. A
    lookup's left sides are compared and not multiplied, so its height costs nothing.
    """
    if len({use.kernel for use in uses}) > 1:
        return False
    height, width = uses[0].height, uses[0].right.shape[2]
    lengths = max(use.left_length for use in uses) + width
    places = sum(use.places for use in uses)
    return cheaper(places, lengths, height * width, uses[0].right)


def cheaper(places: int, lengths: int, entries: int, like: Tensor) -> bool:
    """Whether products of places cost less than gradients of this many entries.

    Gradients that are held make the product of the sum unnecessary. So they may be twice
    as large where memory is not scarce: not on a GPU.
    """
    if places == 1:
        return True
    spare = 1 if like.is_cuda else 2
    return entries > SMALL and spare * places * lengths <= entries


def _direct(gradients: Tensor) -> Tensor:
    if gradients.dtype == torch.float32 and runs(gradients):
        from dither.learn.kernels import sums

        return sums.squares(gradients.contiguous(), (0, gradients.shape[1]))[0]
    share = 1 + (BLOCK + 8) * rounding(gradients)
    lost = LOST * math.sqrt(gradients.shape[1])
    return (norms(gradients) + lost).square_().mul_(share)


def _ghost(uses: Sequence[Factored]) -> Tensor:
    if len(uses) == 1:
        (use,) = uses
        if use.places == 1:
            return _single(use)
        if isinstance(use, Outer) and fused(use):
            from dither.learn.kernels import ghost

            return ghost.squares([(use.left, use.right)], LOST)[0]
    found = uses[0].right.new_zeros(uses[0].right.shape[0], dtype=torch.float64)
    for i, one in enumerate(uses):
        found = found + one.product(one)
        for other in uses[i + 1 :]:
            found = found + 2 * one.product(other)
    # What cancels does so up to rounding of products that may be much larger than what
    # is left, so the margin is absolute: a share of the norm if nothing cancelled.
    sides = [(use.left_norms, use.right_norms) for use in uses]
    most = sum((left * right).sum(1) for left, right in sides)
    lost = sum(_lost(*pair, use) for pair, use in zip(sides, uses, strict=True))
    norm = (found + _margin(uses) * most**2).clamp_min(0).sqrt()
    return (norm + lost).square()


def fused(use: Outer) -> bool:
    """Whether one kernel makes the norm from products of places."""
    in_bfloat16 = use.left.dtype == use.right.dtype == torch.bfloat16
    return (
        in_bfloat16
        and use.places > 1
        and runs(use.left, use.right)
        and ghost_is_cheaper([use])
    )


def _single(use: Factored) -> Tensor:
    """One place: nothing is added up, so nothing cancels. What small numbers lose (see
    `_lost`) is added to both sides.
    """
    high, wide = math.sqrt(use.left_length), math.sqrt(use.right.shape[2])
    left = use.left_norms[:, 0] + LOST * high
    right = use.right_norms[:, 0] + LOST * wide
    share = 1 + (2 * BLOCK + 32) * rounding(use.right)
    return left.mul_(right).square_().mul_(share)


def _lost(left: Tensor, right: Tensor, use: Factored) -> Tensor:
    """What numbers lose whose squares are too small for a float: at most `LOST` each,
    on one side, beside whatever is on the other.
    """
    high, wide = math.sqrt(use.left_length), math.sqrt(use.right.shape[2])
    return LOST * (high * right.sum(1) + wide * left.sum(1) + use.places)


def _margin(uses: Sequence[Factored]) -> float:
    """How far rounding moves a sum of products of two inner products, as a share of the
    product of norms: each inner product of length n by n roundings.
    """
    width = min(uses[0].right.shape[2], LENGTH)
    height = min(max(use.left_length for use in uses), LENGTH)
    return (height + width + 8) * max(rounding(use.right) for use in uses)
