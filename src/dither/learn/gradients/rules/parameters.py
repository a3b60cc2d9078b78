"""Rules for products and lookups with trained parameters, and for parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gradients import layers
from dither.learn.gradients.operations import name_of
from dither.learn.gradients.recorder import Part
from dither.learn.gradients.rowed import Context, Rowed, Rule, is_plain, is_shared
from dither.learn.gradients.untraceable import Untraceable

__all__ = ["RULES", "multiplied"]


def _linear(
    context: Context, _: Any, inputs: Any, weight: Any, bias: Any = None
) -> Any:
    if not is_shared(weight, bias) or weight.ndim != 2:
        return NotImplemented
    return Rowed(multiplied(context, context.rows(inputs).values, weight, bias))


def multiplied(
    context: Context, inputs: Tensor, weight: Any, bias: Any = None
) -> Tensor:
    if context.recorder is None or is_plain(weight, bias):
        matrix = layers.plain(weight)
        assert matrix is not None
        return functional.linear(inputs, matrix, layers.plain(bias))
    return layers.linear(context.recorder, inputs, weight, bias)


def _matmul(context: Context, _: Any, inputs: Any, other: Any) -> Any:
    """Inputs times a parameter that is a matrix, from either side."""
    if isinstance(other, Part) and other.ndim == 2 and not isinstance(inputs, Part):
        return Rowed(multiplied(context, context.rows(inputs).values, _turned(other)))
    if isinstance(inputs, Part) and inputs.ndim == 2 and not isinstance(other, Part):
        values = context.rows(other).values
        if values.ndim == 2:  # a vector for each row
            return Rowed(multiplied(context, values, inputs))
        found = multiplied(context, values.transpose(-1, -2), inputs)
        return Rowed(found.transpose(-1, -2))
    return NotImplemented


def _turned(part: Part) -> Part:
    return Part(part.parameter, part.begin, part.end, not part.turned)


def _addmm(
    context: Context,
    _: Any,
    bias: Any,
    inputs: Any,
    other: Any,
    beta: Any = 1,
    alpha: Any = 1,
) -> Any:
    usual = beta == 1 and alpha == 1 and isinstance(other, Part) and other.ndim == 2
    one_line = bias.ndim == 1 and is_shared(bias)
    if not usual or isinstance(inputs, Part) or not one_line:
        return NotImplemented
    return Rowed(multiplied(context, context.rows(inputs).values, _turned(other), bias))


def _transposed(_: Context, __: Any, value: Any, *axes: int) -> Any:
    if not isinstance(value, Part) or value.ndim != 2:
        return NotImplemented
    moved = not axes or axes[0] % 2 != axes[1] % 2
    return _turned(value) if moved else value


def _permuted(_: Context, __: Any, value: Any, order: Sequence[int]) -> Any:
    if not isinstance(value, Part) or value.ndim != 2:
        return NotImplemented
    return _turned(value) if [one % 2 for one in order] == [1, 0] else value


def _split(_: Context, target: Any, value: Any, size: Any, axis: int = 0) -> Any:
    """Blocks of a parameter: the three matrices of an attention."""
    if not isinstance(value, Part) or value.turned or axis % value.ndim:
        return NotImplemented
    total = value.shape[0]
    if isinstance(size, int):
        if "chunk" in name_of(target):
            size = -(-total // size)
        sizes = [min(size, total - i) for i in range(0, total, size)]
    else:
        sizes = list(size)
    begins = [sum(sizes[:i]) for i in range(len(sizes))]
    return [value.block(*one) for one in zip(begins, sizes, strict=True)]


def _slice(
    _: Context,
    __: Any,
    value: Any,
    axis: int = 0,
    begin: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    if not isinstance(value, Part) or value.turned or axis % value.ndim or step != 1:
        return NotImplemented
    first, last, _step = slice(begin, end).indices(value.shape[0])
    return value.block(first, max(last - first, 0))


def _detached(_: Context, __: Any, value: Any) -> Any:
    return value.values if isinstance(value, Part) else NotImplemented


def _same(_: Context, __: Any, value: Any, *args: Any, **words: Any) -> Any:
    """An operation that changes nothing of a parameter."""
    return (
        value if isinstance(value, Part) and not args and not words else NotImplemented
    )


def _embedding(
    context: Context,
    _: Any,
    weight: Any,
    lines: Any,
    padding: int = -1,
    by_frequency: bool = False,
    sparse: bool = False,
) -> Any:
    if not isinstance(weight, Tensor) and (by_frequency or sparse):
        raise Untraceable("embeddings with scale_grad_by_freq or sparse gradients")
    where = context.rows(lines).values
    # A record's numbers are data, and must not stop the run.
    where = where.clamp(0, weight.shape[0] - 1)
    if isinstance(weight, Rowed) or (isinstance(weight, Part) and weight.turned):
        return Rowed(_own_lines(context.rows(weight).values, where, padding))
    if context.recorder is None or not isinstance(weight, Part):
        matrix = layers.plain(weight)
        assert matrix is not None
        return Rowed(functional.embedding(where, matrix))
    return Rowed(layers.looked_up(context.recorder, where, weight, padding))


def _own_lines(tables: Tensor, where: Tensor, padding: int) -> Tensor:
    """Lines of each row's own table. `vmap` lays all tables in one, where a number that is
    too large is a line of the next row's.
    """
    rows = torch.arange(len(tables), device=tables.device)
    found = tables[rows.view(-1, *[1] * (where.ndim - 1)), where]
    if padding < 0:
        return found
    return torch.where((where == padding).unsqueeze(-1), found.detach(), found)


def _embedding_bag(
    context: Context,
    _: Any,
    weight: Any,
    lines: Any,
    offsets: Any,
    by_frequency: bool = False,
    mode: int = 0,
    sparse: bool = False,
    each: Any = None,
    last: bool = False,
    padding: int | None = None,
) -> Any:
    """Sums and means of looked-up lines, in bags that are the same for all rows."""
    usual = mode in (0, 1) and each is None and padding in (None, -1)
    if not usual or not isinstance(offsets, Tensor):
        raise Untraceable("bags of embeddings that depend on the rows")
    found = _embedding(context, None, weight, lines, -1, by_frequency, sparse)
    if found is NotImplemented:
        return found
    places, bags = found.values.shape[1], len(offsets) - bool(last)
    begins = offsets[:bags].to(found.values.device)
    whose = torch.arange(places, device=begins.device)
    whose = torch.searchsorted(begins.contiguous(), whose, right=True) - 1
    shape = (context.count, bags, found.values.shape[2])
    total = found.values.new_zeros(shape).index_add(1, whose, found.values)
    if mode == 1:
        sizes = torch.bincount(whose, minlength=bags).clamp_min(1)
        total = total / sizes[:, None]
    return Rowed(total), None, None, None


RULES: dict[str, Rule] = {
    "linear": _linear,
    "matmul": _matmul,
    "mm": _matmul,
    "mv": _matmul,
    "addmm": _addmm,
    "t": _transposed,
    "numpy_T": _transposed,
    "mT": _transposed,
    "transpose": _transposed,
    "permute": _permuted,
    "split": _split,
    "split_with_sizes": _split,
    "chunk": _split,
    "slice": _slice,
    "detach": _detached,
    "alias": _same,
    "contiguous": _same,
    "embedding": _embedding,
    "embedding_bag": _embedding_bag,
}
