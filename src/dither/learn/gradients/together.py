"""Norms and sums of many parameters in few launches: on a GPU small ones cost more to
launch than to compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from dither.learn.gpu import runs
from dither.learn.gradients.norms import LOST, Measured, fused, measured
from dither.learn.gradients.uses import Kernel, Outer, Use, Whole, turned

__all__ = ["all_measured", "totals"]

SMALL = 1 << 14
"""Entries of a parameter whose gradients are copied to lie beside others."""
Uses = Mapping[str, Sequence[Use]]


@dataclass(frozen=True)
class Joined:
    """Gradients of several parameters side by side: [units, entries] in float32."""

    names: tuple[str, ...]
    gradients: Tensor
    begins: tuple[int, ...]


@dataclass(frozen=True)
class Piece(Use):
    """One parameter's part of them."""

    joined: Joined
    index: int
    kernel: Kernel

    @property
    def span(self) -> slice:
        return slice(*self.joined.begins[self.index : self.index + 2])

    def alone(self) -> Whole:
        return Whole(self.joined.gradients[:, self.span], self.kernel)

    def whole(self) -> Tensor:
        return self.alone().whole()

    def total(self, weights: Tensor) -> Tensor:
        return self.alone().total(weights)

    def without(self, units: Tensor) -> Whole:
        return self.alone().without(units)


def all_measured(uses: Uses) -> dict[str, Measured]:
    """What `measured` says of each parameter."""
    small: dict[str, Whole] = {}
    pairs: dict[tuple[int, ...], dict[str, Outer]] = {}
    found: dict[str, Measured] = {}
    for name, own in uses.items():
        use = own[0] if len(own) == 1 else None
        if isinstance(use, Whole) and _is_small(use):
            small[name] = use
        elif isinstance(use, Outer) and fused(use):
            pairs.setdefault(tuple(use.left.shape[:2]), {})[name] = use
        else:
            found[name] = measured(own)
    found |= dict(_joined(small))
    for alike in pairs.values():
        found |= dict(_paired(alike))
    return {name: found[name] for name in uses}


def _is_small(use: Whole) -> bool:
    each = use.gradients
    return each.shape[1] <= SMALL and each.dtype == torch.float32 and runs(each)


def _joined(small: Mapping[str, Whole]) -> Iterator[tuple[str, Measured]]:
    if not small:
        return
    from dither.learn.kernels import sums

    each = [use.gradients for use in small.values()]
    begins = tuple(accumulate((one.shape[1] for one in each), initial=0))
    joined = Joined(tuple(small), torch.cat(each, 1), begins)
    squares = sums.squares(joined.gradients, begins)
    for i, (name, use) in enumerate(small.items()):
        yield name, Measured([Piece(joined, i, use.kernel)], squares[i])


def _paired(pairs: Mapping[str, Outer]) -> Iterator[tuple[str, Measured]]:
    from dither.learn.kernels import ghost

    squares = ghost.squares([(use.left, use.right) for use in pairs.values()], LOST)
    for i, (name, use) in enumerate(pairs.items()):
        yield name, Measured([use], squares[i])


def totals(
    found: Mapping[str, Measured], weights: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Each parameter's weighted sum of gradients, in one line."""
    made: dict[str, Tensor] = {}
    for name, one in found.items():
        use = one.uses[0]
        if name in made:
            continue
        if isinstance(use, Piece):
            made |= _together(use.joined, found, weights)
        else:
            made[name] = one.total(weights[name])
    return made


def _together(
    joined: Joined, found: Mapping[str, Measured], weights: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    from dither.learn.kernels import sums

    each = torch.stack([weights[name] for name in joined.names])
    total = sums.weighted(joined.gradients, joined.begins, each)
    pieces = [found[name].uses[0] for name in joined.names]
    return {
        name: turned(total[piece.span], piece.kernel)
        for name, piece in zip(joined.names, pieces, strict=True)
        if isinstance(piece, Piece)
    }
