"""Whether a model mixes the rows of a batch, found out with made-up rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.learn.draws import Draws
from dither.learn.gradients.oracle import Inputs, called, size_of
from dither.learn.history import evaluating
from dither.learn.separation import alike, short

__all__ = [
    "check_batch_apart",
    "check_odd_batches",
    "check_rows_apart",
    "refuse_mixing",
    "resized",
]

SIZES = (-3.0, 0.0, 1e3, -1e3)
"""How many times larger rows are tried: a model may do something else with those."""
ODD = (float("nan"), float("inf"), 1e6)
NUMBERS = (0, -1, 1 << 31)


def check_rows_apart(model: nn.Module, inputs: Inputs) -> None:
    """What one row gives must not change with another row: seen by another row there, by
    one that is large or not a number, and by derivatives.
    """
    for rows in (inputs, *_larger(inputs)):
        _check_apart(model, rows, named=True)
    if _derivative(model, inputs):
        refuse_mixing(model, "")


def check_batch_apart(model: nn.Module, inputs: Inputs) -> None:
    """The same for a batch of full size, by what the whole model gives."""
    if size_of(inputs) > 1:
        _check_apart(model, inputs, named=False)
        check_odd_batches(model, inputs)


def check_odd_batches(model: nn.Module, inputs: Inputs) -> None:
    """The same where all rows but one are short, or alike; and rows that are alike must
    give the same wherever they are.
    """
    if size_of(inputs) < 2:
        return
    for rows in (short(inputs, model), alike(inputs)):
        _check_apart(model, rows, named=False, changes=[_second(rows, inputs)])
    if not _same_everywhere(model, alike(inputs)):
        refuse_mixing(model, "")


def _second(rows: Inputs, others: Inputs) -> Inputs:
    def taken(mine: Tensor, theirs: Tensor) -> Tensor:
        return torch.cat([mine[:1], theirs[1:2], mine[2:]])

    return tree_map(taken, rows, others)


def _same_everywhere(model: nn.Module, rows: Inputs) -> bool:
    """Whether equal rows give the same; if the model draws, then in its final form."""
    before = Draws.now(_device(rows))
    try:
        with torch.no_grad():
            found = called(model, rows)
            if before.moved:
                with evaluating(model):
                    found = called(model, rows)
    except Exception:  # a model may refuse such rows
        return True
    first = found[:1].expand_as(found)
    return torch.allclose(found, first, rtol=1e-3, atol=1e-5, equal_nan=True)


def _check_apart(
    model: nn.Module,
    inputs: Inputs,
    named: bool,
    changes: Iterable[Inputs] | None = None,
) -> None:
    state = Draws.now(_device(inputs))
    try:
        names, before = _seen(model, inputs, state, named)
    except Exception:  # a model may refuse large rows, or what is no number
        return
    for change in _changes(inputs) if changes is None else changes:
        try:
            after = _seen(model, change, state, named)[1]
        except Exception:
            continue
        if _same_elsewhere(before[-1], after[-1]):
            continue
        layers = zip(names, before, after, strict=False)
        apart = (name for name, *both in layers if not _same_elsewhere(*both))
        refuse_mixing(model, next(apart, ""))


def _device(inputs: Inputs) -> torch.device:
    found: torch.device = tree_leaves(inputs)[0].device
    return found


def _larger(inputs: Inputs) -> Iterator[Inputs]:
    if any(one.is_floating_point() for one in tree_leaves(inputs)):
        yield tree_map(
            lambda one: one * 1e3 if one.is_floating_point() else one, inputs
        )


def _changes(inputs: Inputs) -> Iterator[Inputs]:
    """The same rows but for one, of one tensor after the other."""
    leaves, structure = tree_flatten(inputs)
    for place, leaf in enumerate(leaves):
        for row in _others(leaf):
            other = leaf.clone()
            other[1] = row
            yield structure.unflatten([*leaves[:place], other, *leaves[place + 1 :]])


def _others(values: Tensor) -> list[Tensor]:
    """What may be in the place of a row."""
    own, real = values[1], values.is_floating_point()
    sizes = [own * size for size in SIZES] if real else [(own + 1) % (values.max() + 1)]
    return [*sizes, *(torch.full_like(own, one) for one in (ODD if real else NUMBERS))]


def resized(inputs: Inputs) -> Iterator[Inputs]:
    """The same rows with larger and smaller numbers."""
    for place in range(len(SIZES)):
        yield tree_map(lambda one, place=place: _resized(one, place), inputs)


def _resized(values: Tensor, place: int) -> Tensor:
    if values.is_floating_point():
        return values * SIZES[place]
    top = values.max()
    return (values * 0, values * 0 + top, (values + 1) % (top + 1), values)[place]


def _derivative(model: nn.Module, inputs: Inputs) -> bool:
    """Whether one row's input has any part in what other rows give."""
    moved = tree_map(_leaf, inputs)
    leaves = [one for one in tree_leaves(moved) if one.requires_grad]
    if not leaves:
        return False
    try:
        rest = called(model, tree_map(torch.clone, moved))[[0, 2]].sum()
    except RuntimeError:  # no gradients at all, as is found out later
        return False
    if not rest.requires_grad:
        return False
    found = torch.autograd.grad(rest, leaves, allow_unused=True)
    return any(one is not None and bool(one[1].ne(0).any()) for one in found)


def _leaf(values: Tensor) -> Tensor:
    copied = values.clone()
    return copied.requires_grad_() if copied.is_floating_point() else copied


def _seen(
    model: nn.Module, inputs: Inputs, state: Draws, named: bool
) -> tuple[list[str], list[Tensor]]:
    """What each layer gives if it is `named`, and the whole model at the end, with the
    same dropout.
    """
    names: list[str] = []
    found: list[Tensor] = []
    count = size_of(inputs)

    def note(name: str) -> Callable[..., None]:
        def hook(_module: Any, _given: Any, output: Any) -> None:
            if isinstance(output, Tensor) and output.ndim and len(output) == count:
                names.append(name)
                found.append(output.detach())

        return hook

    hooks = [
        one.register_forward_hook(note(name))
        for name, one in model.named_modules()
        if named or not name
    ]
    try:
        state.restore()
        with torch.no_grad():
            # It may write into them.
            called(model, tree_map(torch.clone, inputs))
    finally:
        for hook in hooks:
            hook.remove()
    return names, found


def _same_elsewhere(first: Tensor, second: Tensor) -> bool:
    one, two = (torch.cat([each[:1], each[2:]]).double() for each in (first, second))
    return torch.allclose(one, two, rtol=1e-5, atol=1e-6, equal_nan=True)


def refuse_mixing(model: nn.Module, name: str) -> None:
    found = dict(model.named_modules()).get(name, model)
    kind = type(found).__name__
    where = f"layer {name!r} ({kind})" if name else f"the model ({kind})"
    raise ArgumentError(
        "model",
        f"{where} mixes the rows of a batch: what it gives for one row changes with "
        "another; use layers that see each row alone, such as nn.GroupNorm or "
        "nn.LayerNorm",
    )
