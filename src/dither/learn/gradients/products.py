"""Matrix products whose results are at least float32 (rule R25).

Factors in bfloat16 have exact products; a result in bfloat16 would round away up to a
256th part of it. Norms and sums therefore leave their product in float32.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["LENGTH", "gram", "rounding", "summed"]

LENGTH = 2048
"""The longest inner product in float32; longer ones are cut, and their parts added in
double precision, so that rounding stays bounded for large vocabularies."""
FULL = (torch.float32, torch.float64)


def rounding(values: Tensor) -> float:
    """Half the distance from 1 to the next number of what products are made in."""
    dtype = values.dtype if values.dtype in FULL else torch.float32
    return torch.finfo(dtype).eps / 2


def gram(one: Tensor, other: Tensor) -> Tensor:
    """Inner products: [units, t, n] and [units, s, n] give [units, t, s]."""
    one, other = _alike(one, other)
    length = one.shape[2]
    if length <= LENGTH:
        return _batched(one, other)
    starts = range(0, length, LENGTH)
    parts = [
        _batched(one[..., i : i + LENGTH], other[..., i : i + LENGTH]) for i in starts
    ]
    found = parts[0].double()
    for part in parts[1:]:
        found += part
    return found


def _batched(one: Tensor, other: Tensor) -> Tensor:
    if one.dtype in FULL:
        return one @ other.transpose(1, 2)
    if one.is_cuda:
        return torch.bmm(one, other.transpose(1, 2), out_dtype=torch.float32)
    return one.float() @ other.float().transpose(1, 2)


def summed(left: Tensor, right: Tensor, weights: Tensor) -> Tensor:
    """Σ over units and places of weight times left times right: [height, width].

    The narrower side is scaled. In bfloat16 it then has two parts: rounding the scaled
    side to one would move a gradient whose places cancel by more than its norm.
    """
    left, right = _alike(left, right)
    each = weights.view(-1, 1, 1)
    narrow = left.shape[2] <= right.shape[2]
    scaled, other = (left, right) if narrow else (right, left)
    scaled = (scaled * each).flatten(0, 1)
    other = other.flatten(0, 1)
    found = _product(scaled, other)
    return found if narrow else found.T


def _product(scaled: Tensor, other: Tensor) -> Tensor:
    if other.dtype in FULL:
        return scaled.T @ other
    if not other.is_cuda:
        return scaled.T @ other.to(scaled.dtype)
    high = scaled.to(other.dtype)
    low = (scaled - high).to(other.dtype)
    first = torch.mm(high.T, other, out_dtype=torch.float32)
    return first + torch.mm(low.T, other, out_dtype=torch.float32)


def _alike(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    if one.dtype == other.dtype:
        return one, other
    dtype = torch.promote_types(one.dtype, other.dtype)
    return one.to(dtype), other.to(dtype)
