"""Small sums over rows that would else read large tensors several times."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["normalized", "split", "squares"]


@triton.jit
def _split(
    values, weights, high, low, size, SPAN: tl.constexpr
):
    unit = tl.program_id(1)
    place = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    there = place < size
    begin = unit.to(tl.int64) * size
    value = tl.load(values + begin + place, mask=there, other=0.0).to(tl.float32)
    value = value * tl.load(weights + unit)
    first = value.to(tl.bfloat16)
    tl.store(high + begin + place, first, mask=there)
    rest = (value - first.to(tl.float32)).to(tl.bfloat16)
    tl.store(low + begin + place, rest, mask=there)


def split(values: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Values [units, …] in bfloat16 times a weight for each unit, as two numbers in
    bfloat16 that add up to it but for a 2^-17th.
    """
    values = values.contiguous()
    high, low = torch.empty_like(values), torch.empty_like(values)
    size, span = values[0].numel(), 2048
    _split[(triton.cdiv(size, span), len(values))](
        values, weights.float().contiguous(), high, low, size, SPAN=span
    )
    return high, low


@triton.jit
def _squares(values, out, size, SPAN: tl.constexpr):
    unit = tl.program_id(0)
    along = tl.arange(0, SPAN)
    begin = values + unit.to(tl.int64) * size
    total = tl.zeros((SPAN,), tl.float64)
    for start in range(0, size, SPAN):
        there = along < size - start
        value = tl.load(begin + start + along, mask=there, other=0.0)
        value = value.to(tl.float64)
        total += value * value
    # Squares of float32 are exact here, and their sum is rounded less than that often.
    tl.store(out + unit, tl.sum(total, 0) * (1 + 2.0**-30))


def squares(values: Tensor) -> Tensor:
    """Squared lengths of lines of [units, entries] in float32, rounded up."""
    values = values.contiguous()
    found = torch.empty(len(values), dtype=torch.float64, device=values.device)
    _squares[(len(values),)](values, found, values.shape[1], SPAN=1024)
    return found


@triton.jit
def _normalized(
    inputs,
    gradients,
    means,
    spreads,
    scales,
    shifts,
    places,
    width,
    ROWS: tl.constexpr,
    SPAN: tl.constexpr,
):
    unit = tl.program_id(1)
    column = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    across = column < width
    scale, shift = tl.zeros((SPAN,), tl.float32), tl.zeros((SPAN,), tl.float32)
    for start in range(0, places, ROWS):
        row = start + tl.arange(0, ROWS)
        down = row < places
        line = unit.to(tl.int64) * places + row
        place = line[:, None] * width + column[None, :]
        there = down[:, None] & across[None, :]
        value = tl.load(inputs + place, mask=there, other=0.0).to(tl.float32)
        back = tl.load(gradients + place, mask=there, other=0.0).to(tl.float32)
        mean = tl.load(means + line, mask=down, other=0.0)
        spread = tl.load(spreads + line, mask=down, other=0.0)
        scale += tl.sum((value - mean[:, None]) * spread[:, None] * back, 0)
        shift += tl.sum(back, 0)
    tl.store(scales + unit * width + column, scale, mask=across)
    tl.store(shifts + unit * width + column, shift, mask=across)


def normalized(
    inputs: Tensor, gradients: Tensor, means: Tensor, spreads: Tensor, units: int
) -> tuple[Tensor, Tensor]:
    """For each unit the gradients of a layer norm's scale and shift, without what was
    normalized: inputs [rows, width], moments [rows].
    """
    width = inputs.shape[-1]
    inputs, gradients = inputs.contiguous(), gradients.contiguous()
    found = inputs.new_empty(2, units, width, dtype=torch.float32)
    _normalized[(triton.cdiv(width, 64), units)](
        inputs,
        gradients,
        means.contiguous(),
        spreads.contiguous(),
        found[0],
        found[1],
        inputs.numel() // width // units,
        width,
        ROWS=32,
        SPAN=64,
    )
    return found[0], found[1]
