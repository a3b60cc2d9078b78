"""Whether a model mixes the rows of a batch, found out with made-up rows.

No private rows meet in a model: its trace is that of one row. But a model that mixes would
be trained as another function, so it is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.learn.draws import Draws
from dither.learn.failures import FAILED, is_machine
from dither.learn.gradients.oracle import Inputs, called, size_of
from dither.learn.history import evaluating

__all__ = [
    "check_batch_apart",
    "check_rows_apart",
    "refuse_mixing",
    "resized",
]

SIZES = (-3.0, 0.0, 1e3, -1e3)
"""Factors by which rows are made larger or smaller: a model may do something else with
those.
"""
ODD = (float("nan"), float("inf"), 1e6)
NUMBERS = (0, -1, 1 << 16)
NEAR, LOOSE = 1e-3, 0.1
"""Largest difference of a row among others, in float32 and in bfloat16."""


def check_rows_apart(model: nn.Module, inputs: Inputs) -> None:
    """What one row gives must not change with another row: seen by another row there, by
    one that is large or not a number, and by derivatives.
    """
    for rows in (inputs, *_larger(inputs)):
        _check_apart(model, rows)
    if _derivative(model, inputs):
        refuse_mixing(model, "")


def check_batch_apart(model: nn.Module, inputs: Inputs) -> None:
    """Outputs of rows among many must be those of the rows alone, in the model's final
    form. If it draws numbers there too, they differ for this reason alone.
    """
    count, draws = size_of(inputs), Draws.now(_device(inputs))
    near = LOOSE if torch.is_autocast_enabled(_device(inputs).type) else NEAR
    with evaluating(model), torch.no_grad():
        whole = _lines(called(model, tree_map(torch.clone, inputs)))
        if draws.moved:
            return
        for row in sorted({0, count // 2, count - 1}):
            some = slice(row, row + 1)
            given = tree_map(lambda one, some=some: one[some], inputs)
            alone = _lines(called(model, given))
            if (alone - whole[some]).norm() > near * alone.norm() + 1e-6:
                refuse_mixing(model, "")


def _lines(outputs: Any) -> Tensor:
    """All outputs of each row in one line."""
    leaves = [one for one in tree_leaves(outputs) if one is not None]
    return torch.cat([one.double().reshape(len(one), -1) for one in leaves], 1)


def _check_apart(model: nn.Module, inputs: Inputs) -> None:
    state = Draws.now(_device(inputs))
    try:
        names, before = _seen(model, inputs, state)
    except FAILED as error:  # a model may refuse large rows, or what is no number
        if is_machine(error):
            raise
        return
    for change in _changes(inputs):
        try:
            after = _seen(model, change, state)[1]
        except FAILED as error:
            after, machine = None, is_machine(error)
        if after is None:
            if machine:  # by its values, or there is no memory for others either
                _seen(model, inputs, state)
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
    """These inputs with their second row replaced, in one tensor after the other."""
    leaves, structure = tree_flatten(inputs)
    for place, leaf in enumerate(leaves):
        for row in _others(leaf):
            other = leaf.clone()
            other[1] = row
            yield structure.unflatten([*leaves[:place], other, *leaves[place + 1 :]])


def _others(values: Tensor) -> list[Tensor]:
    """Values to put in the place of a row."""
    own, real = values[1], values.is_floating_point()
    if values.dtype == torch.bool:
        return [~own, torch.zeros_like(own), torch.ones_like(own)]
    sizes = [own * size for size in SIZES] if real else [(own + 1) % (values.max() + 1)]
    return [*sizes, *(torch.full_like(own, one) for one in (ODD if real else NUMBERS))]


def resized(inputs: Inputs) -> Iterator[Inputs]:
    """The rows with larger and smaller numbers."""
    for place in range(len(SIZES)):
        yield tree_map(lambda one, place=place: _resized(one, place), inputs)


def _resized(values: Tensor, place: int) -> Tensor:
    if values.is_floating_point():
        return values * SIZES[place]
    if values.dtype == torch.bool:
        return (~values, values & False, values | True, values)[place]
    top = values.max()
    return (values * 0, values * 0 + top, (values + 1) % (top + 1), values)[place]


def _derivative(model: nn.Module, inputs: Inputs) -> bool:
    """Whether one row's input has any part in what other rows give."""
    moved = tree_map(_leaf, inputs)
    leaves = [one for one in tree_leaves(moved) if one.requires_grad]
    if not leaves:
        return False
    try:
        rest = _lines(called(model, tree_map(torch.clone, moved)))[[0, 2]].sum()
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
    model: nn.Module, inputs: Inputs, state: Draws
) -> tuple[list[str], list[Tensor]]:
    """The outputs of each layer, and of the whole model at the end, with the same dropout."""
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
        if one is not model
    ]
    try:
        state.restore()
        with torch.no_grad():
            # It may write into them.
            whole = called(model, tree_map(torch.clone, inputs))
    finally:
        for hook in hooks:
            hook.remove()
    return [*names, ""], [*found, _lines(whole)]


def _same_elsewhere(first: Tensor, second: Tensor) -> bool:
    """Whether all rows but the second are the same, up to rounding."""
    if first.shape != second.shape:
        return False
    one, two = (_others_of(each) for each in (first, second))
    odd = one.isfinite() != two.isfinite()
    if odd.any() or not torch.equal(one.isnan(), two.isnan()):
        return False
    apart = (one - two).nan_to_num(0.0, 0.0, 0.0).abs().amax(1)
    size = one.nan_to_num(0.0, 0.0, 0.0).abs().amax(1)
    return bool((apart <= 1e-5 * size + 1e-6).all())


def _others_of(values: Tensor) -> Tensor:
    kept = torch.cat([values[:1], values[2:]]).double().reshape(len(values) - 1, -1)
    return torch.cat([kept, kept.new_zeros(len(kept), 1)], 1)


def refuse_mixing(model: nn.Module, name: str) -> None:
    found = dict(model.named_modules()).get(name, model)
    kind = type(found).__name__
    where = f"the layer {name!r} ({kind})" if name else f"the model ({kind})"
    raise ArgumentError(
        "model",
        f"{where} mixes the rows of a batch: its output for one row depends on other "
        "rows; use layers that process each row alone, such as nn.GroupNorm or "
        "nn.LayerNorm",
    )
