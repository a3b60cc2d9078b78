"""Whether a model mixes the rows of a batch, found out with made-up rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.learn.gradients.oracle import Inputs, called, size_of

__all__ = ["check_batch_apart", "check_rows_apart", "resized"]

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
        _refuse_mixing(model, "")


def check_batch_apart(model: nn.Module, inputs: Inputs) -> None:
    """The same for a batch of full size, by what the whole model gives."""
    if size_of(inputs) > 1:
        _check_apart(model, inputs, named=False)


def _check_apart(model: nn.Module, inputs: Inputs, named: bool) -> None:
    state = _state(_device(inputs))
    try:
        names, before = _seen(model, inputs, state, named)
    except Exception:  # a model may refuse large rows, or what is no number
        return
    for change in _changes(inputs):
        try:
            after = _seen(model, change, state, named)[1]
        except Exception:
            continue
        if _same_elsewhere(before[-1], after[-1]):
            continue
        layers = zip(names, before, after, strict=False)
        apart = (name for name, *both in layers if not _same_elsewhere(*both))
        _refuse_mixing(model, next(apart, ""))


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
    rest = called(model, moved)[[0, 2]].sum()
    if not rest.requires_grad:
        return False
    found = torch.autograd.grad(rest, leaves, allow_unused=True)
    return any(one is not None and bool(one[1].ne(0).any()) for one in found)


def _leaf(values: Tensor) -> Tensor:
    copied = values.clone()
    return copied.requires_grad_() if copied.is_floating_point() else copied


def _seen(
    model: nn.Module, inputs: Inputs, state: Tensor, named: bool
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
        _restore(_device(inputs), state)
        with torch.no_grad():
            called(model, inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return names, found


def _state(device: torch.device) -> Tensor:
    """PyTorch's own random numbers, by which dropout goes: not those of noise."""
    if device.type == "cuda":
        return torch.cuda.get_rng_state(device)
    return torch.get_rng_state()


def _restore(device: torch.device, state: Tensor) -> None:
    if device.type == "cuda":
        torch.cuda.set_rng_state(state, device)
    else:
        torch.set_rng_state(state)


def _same_elsewhere(first: Tensor, second: Tensor) -> bool:
    one, two = (torch.cat([each[:1], each[2:]]).double() for each in (first, second))
    return torch.allclose(one, two, rtol=1e-5, atol=1e-6, equal_nan=True)


def _refuse_mixing(model: nn.Module, name: str) -> None:
    found = dict(model.named_modules()).get(name, model)
    kind = type(found).__name__
    where = f"layer {name!r} ({kind})" if name else f"the model ({kind})"
    raise ArgumentError(
        "model",
        f"{where} mixes the rows of a batch: what it gives for one row changes with "
        "another; use layers that see each row alone, such as nn.GroupNorm or "
        "nn.LayerNorm",
    )
