"""Where rows are in what each layer sees, found out with made-up inputs: the gradient of
one row's loss reaches that row's place and no other.

A layer whose gradients are all zero says nothing, so a copy of the model with moved
parameters is looked at, a few times: weights that begin at zero and units that are off
then give gradients too. What is found must hold for the norm and the sum of gradients of
single rows; a model for which it does not is `Untraceable`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither.learn.gaussian import gaussians
from dither.learn.gradients.layers import KNOWN
from dither.learn.gradients.losses import Loss, row_losses
from dither.learn.gradients.oracle import (
    Ghost,
    Inputs,
    as_given,
    called,
    size_of,
    trained,
)
from dither.learn.gradients.tape import LEADING, SECOND, SHARED, UNSEEN, Call, Tape
from dither.learn.gradients.untraceable import Untraceable

__all__ = ["layouts_of"]

Seen = Mapping[Call, list[Tensor]]
LAYOUTS = (LEADING, SECOND, SHARED)
TRIALS = 12
CONFIRMED = 3
NEAR = 1e-3
LARGE = 1e3
"""How many times larger rows are tried as well."""


def layouts_of(
    model: nn.Module, loss: Loss, inputs: Inputs, targets: Tensor
) -> dict[Call, str]:
    """The layout of each tapped call; raises `Untraceable` if a call has none.

    Takes two rows or more. A model that draws numbers is looked at in both modes, and
    compared with single rows when it does not draw.
    """
    if size_of(inputs) < 2:
        raise Untraceable("a batch of one row")
    try:
        return _layouts(model, loss, inputs, targets)
    except Untraceable:
        raise
    except Exception as error:  # whatever a model of somebody's own does with copies
        raise Untraceable(f"a model that cannot be looked at: {error}") from error


def _layouts(
    model: nn.Module, loss: Loss, inputs: Inputs, targets: Tensor
) -> dict[Call, str]:
    moved = copy.deepcopy(model)
    found: dict[Call, str] = {}
    shown: dict[Call, Tensor] = {}
    way: list[Call] | None = None
    for trial in range(TRIALS):
        _move(moved, model, 0.5 + 0.2 * trial)
        seen, calls = _gradients(moved, loss, inputs, targets, found)
        if way is not None and calls != way:
            raise Untraceable("a model that takes another way each time")
        way = calls
        new = {
            call: _layout(one, found.get(call))
            for call, one in seen.items()
            if call in found or bool(_lit(one).all())
        }
        if SHARED in new.values() and SHARED not in found.values():
            # Copies for each row have one axis more in all calls that follow.
            found, way = {one: SHARED for one in new if new[one] == SHARED}, None
            shown = {}
            continue
        if any(found.get(call, one) != one for call, one in new.items()):
            raise Untraceable("a layer that sees rows in two ways")
        found |= new
        for call, one in seen.items():
            shown[call] = shown.get(call, torch.zeros(1, dtype=torch.float32)) + _lit(
                one
            )
        if len(found) == len(shown) and all(bool(one.all()) for one in shown.values()):
            break
    else:
        raise Untraceable("a layer that no gradient reaches")
    found = {call: found.get(call, UNSEEN) for call in calls}
    _move_and_confirm(moved.eval(), model, loss, inputs, targets, found)
    larger = tree_map(_larger, inputs)
    _check_larger(_gradients(moved, _directed, larger, targets, found)[0], found)
    return found


def _directed(outputs: Tensor, _: Tensor) -> Tensor:
    """Some direction. A loss of large rows may be flat, and then shows nothing."""
    places = torch.arange(outputs.numel(), device=outputs.device).to(outputs.dtype)
    return (outputs.flatten() * torch.sin(places + 1)).sum()


def _move_and_confirm(
    moved: nn.Module,
    model: nn.Module,
    loss: Loss,
    inputs: Inputs,
    targets: Tensor,
    layouts: Mapping[Call, str],
) -> None:
    """Confirm at other parameters if it fails: a number that is all but 0 may be above
    it in a batch and below it alone, and a ReLU then tells them apart. What is not seen
    fails each time. Autocast rounds gradients of single rows to fewer bits than could
    be compared.
    """
    for trial in range(CONFIRMED):
        try:
            with as_given(targets):
                return _confirm(moved, loss, inputs, targets, layouts)
        except Untraceable:
            if trial == CONFIRMED - 1:
                raise
        _move(moved, model, 0.5 + 0.2 * trial)
    return None


def _larger(rows: Tensor) -> Tensor:
    return rows * LARGE if rows.is_floating_point() else rows


def _check_larger(seen: Seen, layouts: Mapping[Call, str]) -> None:
    """That large rows are apart too, where their gradients are numbers."""
    for call, gradients in seen.items():
        layout = layouts.get(call, UNSEEN)
        usual = all(bool(torch.isfinite(one).all()) for one in gradients)
        if usual and layout != UNSEEN and not _fits(gradients, layout, layout):
            raise Untraceable("a layer that sees large rows in another way")


def _move(moved: nn.Module, model: nn.Module, far: float) -> None:
    """Set the parameters beside the model's own, so many times their size away."""
    pairs = zip(moved.parameters(), model.parameters(), strict=True)
    with torch.no_grad():
        for one, other in pairs:
            if one.is_floating_point():
                spread = other.float().square().mean().sqrt() + 0.05
                noise = gaussians(one.numel()).view(one.shape).to(one.device)
                one.copy_(other + (far * spread * noise).to(one.dtype))


def _gradients(
    model: nn.Module,
    loss: Loss,
    inputs: Inputs,
    targets: Tensor,
    layouts: Mapping[Call, str],
) -> tuple[Seen, list[Call]]:
    """For each tapped call that gradients reach, that of its output for each row's
    loss; and all calls there are.
    """
    names = {id(one): name for name, one in trained(model).items()}
    count = size_of(inputs)
    seen: dict[Call, list[Tensor | None]] = {}
    row = 0

    def watch(call: Call, gradient: Tensor) -> None:
        seen.setdefault(call, [None] * count)[row] = gradient

    tape = Tape(KNOWN, names, count, layouts=layouts, watcher=watch)
    with tape:
        outputs = called(model, inputs)
    losses = row_losses(loss, outputs, targets)
    for row in range(count):
        torch.autograd.grad(
            losses[row], tape.anchor, allow_unused=True, retain_graph=True
        )
    return {call: _filled(one) for call, one in seen.items()}, tape.calls


def _filled(seen: list[Tensor | None]) -> list[Tensor]:
    some = next(one for one in seen if one is not None)
    return [torch.zeros_like(some) if one is None else one for one in seen]


def _lit(seen: list[Tensor]) -> Tensor:
    """Which rows' gradients are not zero."""
    return torch.stack([(one != 0).any().cpu() for one in seen])


def _layout(seen: list[Tensor], before: str | None) -> str:
    """The layout that fits. One found before is kept while it does."""
    fits = [one for one in LAYOUTS if _fits(seen, one, before)]
    if not fits:
        raise Untraceable("a layer that sees no rows")
    return before if before in fits else fits[0]


def _fits(seen: list[Tensor], layout: str, before: str | None) -> bool:
    if layout == SECOND:
        return seen[0].ndim > 2 and _apart(seen, lambda one: one.transpose(0, 1))
    if layout == LEADING:
        return _apart(seen, lambda one: one)
    # Not yet copied for each row: no axis is for rows.
    return before is None or (before == SHARED and _apart(seen, lambda one: one))


def _apart(seen: list[Tensor], turned: Callable[[Tensor], Tensor]) -> bool:
    """Whether the gradient of each row's loss is zero at all other rows."""
    count = len(seen)
    for row, gradient in enumerate(seen):
        there = turned(gradient)
        if there.ndim == 0 or there.shape[0] % count:
            return False
        each = there.reshape(count, -1).abs().amax(1)
        # Not by a sum, which would hide what is small.
        if bool((each[torch.arange(count, device=each.device) != row] != 0).any()):
            return False
    return True


def _confirm(
    model: nn.Module,
    loss: Loss,
    inputs: Inputs,
    targets: Tensor,
    layouts: Mapping[Call, str],
) -> None:
    """That norms and sums are those of single rows."""
    count, parameters = size_of(inputs), trained(model)
    near = _near(parameters.values())
    there = torch.ones(count, dtype=torch.float32, device=targets.device)
    found = Ghost(model, loss, layouts).measured(inputs, targets, there)
    total = {
        name: one.total(torch.ones_like(there)).view_as(parameters[name])
        for name, one in found.items()
    }
    rest = {name: one.detach().clone() for name, one in total.items()}
    for row in range(count):
        each = _row_gradients(model, loss, inputs, targets, row)
        # Gradients that vanish but for rounding are compared with the whole.
        slack = near * _length(each.values())
        for name, one in each.items():
            if name not in found and bool((one != 0).any()):
                raise Untraceable(f"a use of {name} that is not seen")
            norm = math.sqrt(found[name].squares[row]) if name in found else 0.0
            if not norm >= _length([one]) - slack:
                raise Untraceable(f"a use of {name} that is not seen")
            if name in found:
                rest[name] -= one
    apart = _length(rest.values())
    if not apart <= near * _length(total.values()) + 1e-6:
        raise Untraceable("gradients that are not those of single rows")


def _near(parameters: Iterable[Tensor]) -> float:
    """How far two ways of adding may be apart."""
    return max(32 * torch.finfo(one.dtype).eps for one in parameters) + NEAR


def _length(values: Iterable[Tensor]) -> float:
    return math.sqrt(sum(float(one.double().square().sum()) for one in values))


def _row_gradients(
    model: nn.Module, loss: Loss, inputs: Inputs, targets: Tensor, row: int
) -> dict[str, Tensor]:
    some = slice(row, row + 1)
    outputs = called(model, tree_map(lambda one: one[some], inputs))
    losses = row_losses(loss, outputs, targets[some])
    parameters = trained(model)
    found = torch.autograd.grad(losses[0], list(parameters.values()), allow_unused=True)
    return {
        name: torch.zeros_like(parameters[name]) if one is None else one
        for name, one in zip(parameters, found, strict=True)
    }
