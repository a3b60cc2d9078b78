"""Small sums over rows that would else read large tensors several times."""

from __future__ import annotations

from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["normalized", "split", "squares", "weighted"]


@triton.jit
def _split(values, weights, high, low, size, SPAN: tl.constexpr):
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
    bfloat16 that add up to it except for a 2^-17th.
    """
    values = values.contiguous()
    high, low = torch.empty_like(values), torch.empty_like(values)
    size, span = values[0].numel(), 2048
    _split[(triton.cdiv(size, span), len(values))](
        values, weights.float().contiguous(), high, low, size, SPAN=span
    )
    return high, low


@triton.jit
def _squares(values, begins, out, width, SPAN: tl.constexpr):
    unit, part = tl.program_id(0), tl.program_id(1)
    begin, end = tl.load(begins + part), tl.load(begins + part + 1)
    along = tl.arange(0, SPAN)
    line = values + unit.to(tl.int64) * width
    total = tl.zeros((SPAN,), tl.float64)
    for start in range(begin, end, SPAN):
        there = along < end - start
        value = tl.load(line + start + along, mask=there, other=0.0)
        value = value.to(tl.float64)
        total += value * value
    # Squares of float32 are exact here, and their sum is rounded less than that often.
    total = tl.sum(total, 0) * (1 + 2.0**-30)
    tl.store(out + part * tl.num_programs(0) + unit, total)


def squares(values: Tensor, begins: tuple[int, ...]) -> Tensor:
    """Squared lengths of parts of lines, rounded up: [parts, units] of [units, entries]
    in float32. `begins` says where parts begin, and where the last one ends.
    """
    units, parts = len(values), len(begins) - 1
    found = torch.empty(parts, units, dtype=torch.float64, device=values.device)
    _squares[(units, parts)](
        values, _sent(begins, values.device), found, values.shape[1], SPAN=1024
    )
    return found


@triton.jit
def _weighted(values, parts, weights, out, units, width, SPAN: tl.constexpr):
    column = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    there = column < width
    part = tl.load(parts + column, mask=there, other=0)
    total = tl.zeros((SPAN,), tl.float32)
    line = values + column
    for unit in range(units):
        value = tl.load(line, mask=there, other=0.0)
        total += tl.load(weights + part * units + unit) * value
        line += width
    tl.store(out + column, total, mask=there)


def weighted(values: Tensor, begins: tuple[int, ...], weights: Tensor) -> Tensor:
    """The sum of lines of [units, entries] with weights [parts, units]: [entries]."""
    units, width = values.shape
    found = values.new_empty(width)
    _weighted[(triton.cdiv(width, 128),)](
        values,
        _parts(begins, values.device),
        weights.float().contiguous(),
        found,
        units,
        width,
        SPAN=128,
    )
    return found


@cache
def _sent(numbers: tuple[int, ...], device: torch.device) -> Tensor:
    """Never forgotten: a captured graph reads it where it is. So are parts."""
    return torch.tensor(numbers, dtype=torch.int32).to(device)


@cache
def _parts(begins: tuple[int, ...], device: torch.device) -> Tensor:
    """Which part each entry belongs to."""
    sizes = torch.tensor(begins).diff()
    parts = torch.arange(len(sizes), dtype=torch.int32)
    return parts.repeat_interleave(sizes).to(device)


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
