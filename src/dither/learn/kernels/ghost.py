"""The norm of each unit's gradient from bfloat16 sides, without that gradient.

For each pair of tiles of places, both inner products are made on tensor cores, multiplied
and added up; the diagonal gives the lengths that the margin is made of. The matrix is
symmetric, so half of the tiles are enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

from dither.learn.gradients.products import TENSOR_CORE

__all__ = ["margin", "squares"]

DEPTH = 64
"""Products that a tensor core adds up at a time; such sums are added in float32."""
PARTS = 4
WARPS = {16: 2, 32: 4, 64: 4, 128: 8}


@triton.jit
def _products(
    values,
    rows,
    columns,
    places,
    width,
    TILE: tl.constexpr,
    DEPTH: tl.constexpr,
):
    """Inner products of rows with columns, [TILE, TILE]."""
    along = tl.arange(0, DEPTH)
    left = values + rows[:, None].to(tl.int64) * width + along[None, :]
    right = values + columns[None, :].to(tl.int64) * width + along[:, None]
    high, wide = (rows < places)[:, None], (columns < places)[None, :]
    found = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, width, DEPTH):
        inside = along < width - start
        one = tl.load(left + start, mask=high & inside[None, :], other=0.0)
        two = tl.load(right + start, mask=wide & inside[:, None], other=0.0)
        # A sum of its own each time: see `margin`.
        found += tl.dot(one, two)
    return found


@triton.jit
def _tiles(
    left,
    right,
    out,
    places,
    height,
    width,
    TILE: tl.constexpr,
    DEPTH: tl.constexpr,
):
    """Four sums for each unit and pair of tiles: of products, of both sides' lengths
    times each other, of the left ones, of the right ones.
    """
    down, across, unit = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    many = tl.num_programs(0)
    kept = out + ((unit * many + down) * many + across) * 4
    if down <= across:
        rows = down * TILE + tl.arange(0, TILE)
        columns = across * TILE + tl.arange(0, TILE)
        first = left + unit.to(tl.int64) * places * height
        second = right + unit.to(tl.int64) * places * width
        one = _products(first, rows, columns, places, height, TILE, DEPTH)
        two = _products(second, rows, columns, places, width, TILE, DEPTH)
        total = tl.sum(tl.sum((one * two).to(tl.float64), 1), 0)
        if down == across:
            own = rows[:, None] == columns[None, :]
            ones = tl.sqrt(tl.sum(tl.where(own, one, 0.0), 1)).to(tl.float64)
            twos = tl.sqrt(tl.sum(tl.where(own, two, 0.0), 1)).to(tl.float64)
            tl.store(kept, total)
            tl.store(kept + 1, tl.sum(ones * twos, 0))
            tl.store(kept + 2, tl.sum(ones, 0))
            tl.store(kept + 3, tl.sum(twos, 0))
        else:
            tl.store(kept, 2 * total)
            for i in tl.static_range(1, 4):
                tl.store(kept + i, 0.0)
    else:
        for i in tl.static_range(4):
            tl.store(kept + i, 0.0)


@triton.jit
def _bounded(sums, out, table, tiles, SIZE: tl.constexpr):
    """What `norms._ghost` makes of the four sums."""
    unit, layer = tl.program_id(0), tl.program_id(1)
    line = layer * tl.num_programs(0) + unit
    tile = tl.arange(0, SIZE)
    own = sums + (line * tiles + tile) * 4
    there = tile < tiles
    total = tl.sum(tl.load(own, mask=there, other=0.0), 0)
    most = tl.sum(tl.load(own + 1, mask=there, other=0.0), 0)
    lefts = tl.sum(tl.load(own + 2, mask=there, other=0.0), 0)
    rights = tl.sum(tl.load(own + 3, mask=there, other=0.0), 0)
    square = total + tl.load(table + layer * 4) * most * most
    # Not a maximum, which would make 0 of what is no number.
    square = tl.where(square < 0, 0.0, square)
    norm = tl.sqrt(square) + tl.load(table + layer * 4 + 1) * rights
    norm += tl.load(table + layer * 4 + 2) * lefts + tl.load(table + layer * 4 + 3)
    tl.store(out + line, norm * norm)


def margin(height: int, width: int) -> float:
    """How far a sum of products of two inner products may be off, as a share of the
    squared sum of lengths: each inner product by `DEPTH` additions on a tensor core and
    as many in float32 as there are such sums.
    """
    sums = math.ceil(height / DEPTH) + math.ceil(width / DEPTH)
    # A 64th more, because lengths on the diagonal are rounded too.
    return (2 * DEPTH * TENSOR_CORE + (sums + 16) * 2.0**-24) * (1 + 2.0**-6)


Pair = tuple[Tensor, Tensor]


def squares(pairs: Sequence[Pair], lost: float) -> Tensor:
    """Squared norms of Σ over places of left times right, for each pair and unit,
    rounded up.

    Pairs are [units, places, …] in bfloat16, with as many units and places each;
    numbers below `lost` have squares that are none.
    """
    units, places = pairs[0][0].shape[:2]
    device = pairs[0][0].device
    tile = min(max(triton.next_power_of_2(places), 16), 128)
    many = triton.cdiv(places, tile)
    shape = (len(pairs), units, many * many, PARTS)
    sums = torch.empty(shape, dtype=torch.float64, device=device)
    for (left, right), out in zip(pairs, sums, strict=True):
        _tiles[(many, many, units)](
            left.contiguous(),
            right.contiguous(),
            out,
            places,
            left.shape[2],
            right.shape[2],
            TILE=tile,
            DEPTH=DEPTH,
            num_warps=WARPS[tile],
            num_stages=4,
        )
    lengths = tuple((left.shape[2], right.shape[2]) for left, right in pairs)
    found = torch.empty(shape[:2], dtype=torch.float64, device=device)
    _bounded[(units, len(pairs))](
        sums,
        found,
        _margins(lengths, places, lost, device),
        many * many,
        SIZE=triton.next_power_of_2(many * many),
        num_warps=1,
    )
    return found


@cache
def _margins(
    lengths: tuple[tuple[int, int], ...],
    places: int,
    lost: float,
    device: torch.device,
) -> Tensor:
    """For each pair its margin, and what left, right and all places may lose. Never
    forgotten: a captured graph reads it where it is.
    """
    rows = [
        (
            margin(height, width),
            lost * math.sqrt(height),
            lost * math.sqrt(width),
            lost * places,
        )
        for height, width in lengths
    ]
    return torch.tensor(rows, dtype=torch.float64).to(device)
