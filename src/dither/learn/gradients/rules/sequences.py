"""Rules for attention and recurrent layers, and for the loss of many labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gradients.operations import name_of
from dither.learn.gradients.recurrent import recurrent
from dither.learn.gradients.rowed import Context, Rowed, Rule, is_shared
from dither.learn.gradients.rules.parameters import multiplied
from dither.learn.gradients.untraceable import Untraceable

__all__ = ["RULES"]


def _attention(
    context: Context,
    _: Any,
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    dropout: float = 0.0,
    causal: bool = False,
    **words: Any,
) -> Any:
    """Fused attention has no axis for rows: they are folded into the first one."""
    sides = [context.rows(one) for one in (query, key, value)]
    axes = sides[0].ndim
    if any(one.ndim != axes for one in sides) or axes < 3:
        return NotImplemented
    first = sides[0].shape[: axes - 3]
    if any(one.shape[: axes - 3] != first for one in sides):
        return NotImplemented
    many = context.count * first.numel()
    folded = [one.values.reshape(many, *one.shape[axes - 3 :]) for one in sides]
    if mask is not None:
        mask = _mask(context, mask, axes, first)
    attend: Any = functional.scaled_dot_product_attention
    found: Tensor = attend(*folded, mask, dropout, causal, **words)
    return Rowed(found.reshape(context.count, *first, *found.shape[1:]))


def _mask(context: Context, mask: Any, axes: int, first: torch.Size) -> Tensor:
    if isinstance(mask, Tensor) and (mask.ndim < 4 or mask.shape[:-3].numel() == 1):
        return mask.reshape(mask.shape[-3:]) if mask.ndim > 3 else mask
    values = context.rows(mask).values
    between = [1] * (axes - values.ndim + 1)
    values = values.reshape(context.count, *between, *values.shape[1:])
    values = values.expand(context.count, *first, *values.shape[axes - 2 :])
    return values.reshape(-1, *values.shape[axes - 2 :])


def _cross_entropy(
    _: Context,
    __: Any,
    outputs: Any,
    targets: Any,
    weight: Any = None,
    reduction: int = 1,
    ignored: int = -100,
    smoothing: float = 0.0,
) -> Any:
    """One line of scores for each label, where each has a loss of its own."""
    alike = isinstance(outputs, Rowed) and isinstance(targets, Rowed)
    if not alike or weight is not None or reduction or outputs.ndim != 2:
        return NotImplemented
    if targets.values.is_floating_point():
        return NotImplemented
    found = functional.cross_entropy(
        outputs.folded(),
        targets.folded(),
        reduction="none",
        ignore_index=ignored,
        label_smoothing=smoothing,
    )
    return outputs.like(found)


def _recurrent(
    context: Context,
    target: Any,
    inputs: Any,
    begin: Any,
    weights: Any,
    biased: bool,
    depth: int,
    dropout: float,
    training: bool,
    both_ways: bool,
    rows_first: bool,
) -> Any:
    if target._overloadname != "input" or not is_shared(*weights):
        raise Untraceable(
            "a recurrent layer of packed rows, or whose weights are computed"
        )
    kind = name_of(target)
    states = [_states(context, one) for one in _listed(begin, kind)]
    values = context.rows(inputs).values
    if not rows_first:
        values = values.transpose(1, 2)
    many = values.shape[1]
    found, last = recurrent(
        context.recorder,
        kind,
        values.flatten(0, 1),
        states,
        weights,
        biased=biased,
        layers=depth,
        dropout=dropout if training else 0.0,
        both_ways=both_ways,
    )
    outputs = found.reshape(context.count, many, *found.shape[1:])
    if not rows_first:
        outputs = outputs.transpose(1, 2)
    apart = [one.reshape(len(one), context.count, many, -1) for one in last]
    ends = [one.transpose(0, 1) for one in apart]
    return (Rowed(outputs), *map(Rowed, ends))


def _lstm_cell(
    context: Context,
    _: Any,
    inputs: Any,
    states: Sequence[Any],
    inward: Any,
    again: Any,
    shift: Any = None,
    other: Any = None,
) -> Any:
    """`vmap` has no rule for it."""
    if not is_shared(inward, again, shift, other):
        raise Untraceable("an LSTM cell whose weights are computed")
    hidden, cell = (context.rows(one).values for one in states)
    given = multiplied(context, context.rows(inputs).values, inward, shift)
    gates = given + multiplied(context, hidden, again, other)
    let_in, forget, fresh, let_out = gates.chunk(4, -1)
    cell = forget.sigmoid() * cell + let_in.sigmoid() * fresh.tanh()
    return Rowed(let_out.sigmoid() * cell.tanh()), Rowed(cell)


def _listed(begin: Any, kind: str) -> Sequence[Any]:
    return begin if kind == "lstm" else [begin]


def _states(context: Context, value: Any) -> Tensor:
    """[layers, rows, width]"""
    return context.rows(value).values.transpose(0, 1).flatten(1, 2)


RULES: dict[str, Rule] = {
    "scaled_dot_product_attention": _attention,
    "cross_entropy_loss": _cross_entropy,
    "lstm": _recurrent,
    "gru": _recurrent,
    "rnn_tanh": _recurrent,
    "rnn_relu": _recurrent,
    "lstm_cell": _lstm_cell,
}
