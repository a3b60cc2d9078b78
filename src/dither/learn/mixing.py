"""Whether a model mixes the rows of a batch, found out with made-up rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.learn.draws import Draws
from dither.learn.gradients.oracle import Inputs, called, size_of
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


def check_rows_apart(model: nn.Module, inputs: Tensor) -> None:
    """What one row gives must not change with another row: seen by another row there, by
    one that is large or not a number, and by derivatives.
    """
    for rows in (inputs, *_larger(inputs)):
        _check_apart(model, rows, named=True)
    if inputs.is_floating_point() and _derivative(model, inputs):
        refuse_mixing(model, "")


def check_batch_apart(model: nn.Module, inputs: Tensor) -> None:
    """The same for a batch of full size, by what the whole model gives."""
    if len(inputs) > 1:
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

    found: Inputs = tree_map(taken, rows, others)
    return found


def _same_everywhere(model: nn.Module, rows: Inputs) -> bool:
    """Whether equal rows give the same; if the model draws, then in its final form."""
    device = tree_leaves(rows)[0].device
    modes = [(one, one.training) for one in model.modules()]
    before = Draws.now(device)
    try:
        with torch.no_grad():
            found = called(model, rows)
            if before.moved:
                found = called(model.eval(), rows)
    except Exception:  # a model may refuse such rows
        return True
    finally:
        for one, mode in modes:
            one.training = mode
    first = found[:1].expand_as(found)
    return torch.allclose(found, first, rtol=1e-3, atol=1e-5, equal_nan=True)


def _check_apart(
    model: nn.Module,
    inputs: Tensor,
    named: bool,
    changes: Iterable[Tensor] | None = None,
) -> None:
    state = Draws.now(inputs.device)
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


def _larger(inputs: Tensor) -> Iterator[Tensor]:
    if inputs.is_floating_point():
        yield inputs * 1e3


def _changes(inputs: Tensor) -> Iterator[Tensor]:
    """The same rows but for one."""
    own, real = inputs[1], inputs.is_floating_point()
    sizes = [own * size for size in SIZES] if real else [(own + 1) % (inputs.max() + 1)]
    odd = [torch.full_like(own, one) for one in (ODD if real else NUMBERS)]
    for row in (*sizes, *odd):
        other = inputs.clone()
        other[1] = row
        yield other


def resized(inputs: Tensor) -> Iterator[Tensor]:
    """The same rows with larger and smaller numbers."""
    if inputs.is_floating_point():
        yield from (inputs * size for size in SIZES)
        return
    top = inputs.max()
    yield from (inputs * 0, inputs * 0 + top, (inputs + 1) % (top + 1))


def _derivative(model: nn.Module, inputs: Tensor) -> bool:
    """Whether one row's input has any part in what other rows give."""
    leaf = inputs.clone().requires_grad_()
    try:
        rest = model(leaf.clone())[[0, 2]].sum()
    except RuntimeError:  # no gradients at all, as is found out later
        return False
    if not rest.requires_grad:
        return False
    (found,) = torch.autograd.grad(rest, leaf, allow_unused=True)
    return found is not None and bool(found[1].ne(0).any())


def _seen(
    model: nn.Module, inputs: Tensor, state: Draws, named: bool
) -> tuple[list[str], list[Tensor]]:
    """What each layer gives if it is `named`, and the whole model at the end, with the
    same dropout.
    """
    names: list[str] = []
    found: list[Tensor] = []

    def note(name: str) -> Callable[..., None]:
        def hook(_module: Any, _given: Any, output: Any) -> None:
            if (
                isinstance(output, Tensor)
                and output.ndim
                and len(output) == len(inputs)
            ):
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
            model(inputs.clone())  # it may write into them
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
