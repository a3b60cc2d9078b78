"""Matrix products whose results are at least float32 (rule R25).

Factors in bfloat16 have exact products; a result in bfloat16 would round away up to a
256th part of it. Norms and sums therefore leave their product in float32.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dither.learn.gpu import runs

__all__ = ["LENGTH", "TENSOR_CORE", "batched", "gram", "rounding", "summed"]

LENGTH = 2048
"""The longest inner product in float32; longer ones are cut, and their parts added in
double precision, so that rounding stays bounded for large vocabularies."""
FULL = (torch.float32, torch.float64)


TENSOR_CORE = 2.0**-22
"""What an addition on a GPU's tensor core may lose, as a share of the sum of sizes. They
cut bits off where IEEE rounds, and sums of a few products at a time; this is about twice
what was found of them (Fasi, Higham, Mikaitis, Pranesh 2021)."""


def rounding(values: Tensor) -> float:
    """Half the distance from 1 to the next number of what products are made in."""
    if values.dtype in FULL:
        return torch.finfo(values.dtype).eps / 2
    return TENSOR_CORE if values.is_cuda else torch.finfo(torch.float32).eps / 2


def gram(one: Tensor, other: Tensor) -> Tensor:
    """Inner products: [units, t, n] and [units, s, n] give [units, t, s]."""
    one, other = _alike(one, other)
    length = one.shape[2]
    if length <= LENGTH:
        return batched(one, other)
    starts = range(0, length, LENGTH)
    parts = [
        batched(one[..., i : i + LENGTH], other[..., i : i + LENGTH]) for i in starts
    ]
    found = parts[0].double()
    for part in parts[1:]:
        found += part
    return found


def batched(one: Tensor, other: Tensor) -> Tensor:
    """Inner products of any length, in float32 at least."""
    one, other = _alike(one, other)
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
    narrow = left.shape[2] <= right.shape[2]
    if left.dtype not in FULL and left.is_cuda:
        return _two_parts(left, right, weights, narrow)
    each = weights.view(-1, 1, 1)
    left, right = (left * each, right) if narrow else (left, right * each)
    # A product with weights is in float32 at least.
    left, right = _alike(left.flatten(0, 1), right.flatten(0, 1))
    return left.T @ right


def _two_parts(left: Tensor, right: Tensor, weights: Tensor, narrow: bool) -> Tensor:
    parts = _split(left if narrow else right, weights)
    other = (right if narrow else left).flatten(0, 1)
    high, low = (one.flatten(0, 1) for one in parts)
    if narrow:
        found = torch.mm(high.T, other, out_dtype=torch.float32)
        return _and(found, low.T, other)
    found = torch.mm(other.T, high, out_dtype=torch.float32)
    return _and(found, other.T, low)


def _and(found: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """Add a product in place."""
    torch.ops.aten.addmm.dtype_out(found, one, other, torch.float32, out=found)
    return found


def _split(values: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Values times weights, as a sum of two numbers in the type of the values."""
    if runs(values) and values.dtype == torch.bfloat16:
        from dither.learn.kernels.sums import split

        return split(values, weights)
    scaled = values * weights[:, None, None]
    high = scaled.to(values.dtype)
    return high, (scaled - high).to(values.dtype)


def _alike(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    if one.dtype == other.dtype:
        return one, other
    dtype = torch.promote_types(one.dtype, other.dtype)
    return one.to(dtype), other.to(dtype)
