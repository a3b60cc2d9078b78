"""What a model does with made-up rows, before anything is charged: that it mixes no rows,
changes no buffers, and how its gradients are found.

Made-up rows have the shape of one row, which is public. They are not random: the same
model is always tried with the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from dither.errors import ArgumentError
from dither.learn.gradients.clipping import Flat
from dither.learn.gradients.layouts import layouts_of
from dither.learn.gradients.oracle import Ghost, Loss, Oracle, row_losses, trained
from dither.learn.gradients.single import Single
from dither.learn.rows import Batch, Schema

__all__ = ["Probed", "guarded", "made_up", "probe"]

TRIED = 3
"""Rows that a model is tried with."""
MANY = 5_000_000
"""Models with more numbers than this are not differentiated in two ways to compare."""
NEAR = 1e-3


@dataclass(frozen=True)
class Probed:
    """How gradients are found, and how many classes the model tells apart; None where
    the target is no class.
    """

    oracle: Oracle
    classes: int | None

    @property
    def route(self) -> str:
        return "one way back" if isinstance(self.oracle, Ghost) else "row by row"

    def fitting(self, batch: Batch) -> Batch:
        """The batch without rows whose label is none of the classes."""
        if self.classes is None:
            return batch
        targets = batch.targets
        known = (targets >= 0) & (targets < self.classes) | (targets == IGNORED)
        there = batch.there & known.flatten(1).all(1) if known.ndim > 1 else known
        there = there & batch.there
        targets = torch.where(known, targets, 0)
        return Batch(batch.inputs, targets, there)


IGNORED = -100
"""The label that PyTorch's losses leave out, of one token among others."""


def probe(model: nn.Module, loss: Loss, schema: Schema, device: torch.device) -> Probed:
    """Try a model; what it does that training cannot protect is refused by name."""
    _check_parts(model)
    inputs = made_up(schema, TRIED, model).to(device)
    with _undone(model):
        outputs = _outputs(model, inputs)
        _check_buffers(model, inputs)
        _check_rows_apart(model, inputs)
        targets, classes = _targets(schema, outputs, device)
        _check_loss(loss, outputs, targets)
        return Probed(_route(model, loss, inputs, targets), classes)


def made_up(schema: Schema, count: int, model: nn.Module) -> Tensor:
    """Inputs of the right shape: reals between -1 and 1, or numbers of embeddings."""
    size = count
    for one in schema.inputs:
        size *= one
    places = torch.arange(1, size + 1, dtype=torch.float64)
    shape = (count, *schema.inputs)
    if schema.input_type.is_floating_point:
        return torch.sin(places * 12.9898).to(schema.input_type).view(shape)
    lines = [one.num_embeddings for one in model.modules() if isinstance(one, LOOKUPS)]
    return (places.long() * 7919 % min([*lines, 2**15])).view(shape)


LOOKUPS = (nn.Embedding, nn.EmbeddingBag)


@contextmanager
def guarded(model: nn.Module) -> Iterator[None]:
    """Numbers that no embedding has a line for become those of the nearest line: they
    are data, and must not stop the run.
    """

    def nearest(module: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (given[0].clamp(0, module.num_embeddings - 1), *given[1:])

    hooks = [
        one.register_forward_pre_hook(nearest)
        for one in model.modules()
        if isinstance(one, LOOKUPS)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _check_parts(model: nn.Module) -> None:
    parameters = trained(model)
    if not parameters:
        raise ArgumentError(
            "model", "has nothing to train; leave requires_grad on for some parameter"
        )
    for name, one in parameters.items():
        if one.dtype not in (torch.float32, torch.float64):
            raise ArgumentError(
                "model",
                f"parameter {name!r} is {one.dtype}; call .float() on the model: noise "
                "is added in float32",
            )
    for name, module in model.named_modules():
        learns = any(one.requires_grad for one in module.parameters(recurse=False))
        if getattr(module, "sparse", False) and learns:
            raise ArgumentError(
                "model",
                f"layer {name!r} has sparse gradients, which show which lines were "
                "used; make it with sparse=False",
            )
        if isinstance(module, _BatchNorm) and module.training:
            raise ArgumentError(
                "model",
                f"layer {name!r} ({type(module).__name__}) mixes the rows of a batch; "
                "use nn.GroupNorm in its place, or call .eval() on it where its "
                "statistics are public",
            )


@contextmanager
def _undone(model: nn.Module) -> Iterator[None]:
    """Leave buffers and PyTorch's own random numbers as they were."""
    before = {name: one.clone() for name, one in model.named_buffers()}
    with torch.random.fork_rng():
        try:
            yield
        finally:
            for name, one in model.named_buffers():
                if name in before:
                    one.data.copy_(before[name])


def _outputs(model: nn.Module, inputs: Tensor) -> Tensor:
    try:
        found = model(inputs)
    except Exception as error:
        words = str(error).strip().split("\n")[0][:200]
        raise ArgumentError(
            "model",
            f"does not take rows of shape {tuple(inputs.shape[1:])}, "
            f"{inputs.dtype} ({words}); pass a model for such rows",
        ) from None
    if not isinstance(found, Tensor) or not found.ndim or len(found) != len(inputs):
        raise ArgumentError(
            "model", "must give one tensor with a line for each row; wrap it so"
        )
    return found


def _check_buffers(model: nn.Module, inputs: Tensor) -> None:
    before = {name: one.clone() for name, one in model.named_buffers()}
    model(inputs)
    for name, one in model.named_buffers():
        if name not in before or not torch.equal(one, before[name]):
            raise ArgumentError(
                "model",
                f"changes its buffer {name!r} as it reads rows, and a buffer gets no "
                "noise; call .eval() on that layer, or use one without such statistics",
            )


def _check_rows_apart(model: nn.Module, inputs: Tensor) -> None:
    """What one row gives must not change with another row: seen by another row there, by
    one that is not a number, and by derivatives.
    """
    state = torch.get_rng_state()
    names, before = _seen(model, inputs, state)
    for change in _changes(inputs):
        after = _seen(model, change, state)[1]
        if _same_elsewhere(before[-1], after[-1]):
            continue
        layers = zip(names, before, after, strict=False)
        apart = (name for name, *both in layers if not _same_elsewhere(*both))
        _refuse_mixing(model, next(apart, ""))
    if inputs.is_floating_point() and _derivative(model, inputs):
        _refuse_mixing(model, "")


def _changes(inputs: Tensor) -> Iterator[Tensor]:
    """The same rows but for one."""
    other = inputs.clone()
    real = inputs.is_floating_point()
    other[1] = inputs[1] * -3 if real else inputs[0]
    yield other
    if real:
        odd = inputs.clone()
        odd[1] = float("nan")
        yield odd


def _derivative(model: nn.Module, inputs: Tensor) -> bool:
    """Whether one row's input has any part in what other rows give."""
    leaf = inputs.clone().requires_grad_()
    rest = model(leaf)[[0, 2]].sum()
    if not rest.requires_grad:
        return False
    (found,) = torch.autograd.grad(rest, leaf, allow_unused=True)
    return found is not None and bool(found[1].ne(0).any())


def _seen(
    model: nn.Module, inputs: Tensor, state: Tensor
) -> tuple[list[str], list[Tensor]]:
    """What each layer gives, and the whole model at the end, with the same dropout."""
    names: list[str] = []
    found: list[Tensor] = []

    def note(name: str) -> Callable[..., None]:
        def hook(_module: Any, _given: Any, output: Any) -> None:
            if isinstance(output, Tensor) and output.ndim and len(output) == TRIED:
                names.append(name)
                found.append(output.detach())

        return hook

    hooks = [
        one.register_forward_hook(note(name)) for name, one in model.named_modules()
    ]
    try:
        torch.set_rng_state(state)
        with torch.no_grad():
            model(inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return names, found


def _same_elsewhere(first: Tensor, second: Tensor) -> bool:
    one, two = first[[0, 2]].double(), second[[0, 2]].double()
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


def _targets(
    schema: Schema, outputs: Tensor, device: torch.device
) -> tuple[Tensor, int | None]:
    """Made-up targets, and the number of classes where targets are classes."""
    shape = (TRIED, *schema.targets)
    if not schema.target_type.is_floating_point:
        classes = outputs.shape[1] if outputs.ndim == len(shape) + 1 else None
        if classes is None:
            raise ArgumentError(
                "model",
                f"gives rows of shape {tuple(outputs.shape[1:])}, which are no scores "
                "of classes for whole-number targets; give one score for each class, "
                "or make targets reals",
            )
        places = torch.arange(TRIED * _size(schema.targets), device=device)
        return (places % classes).view(shape), classes
    if outputs.shape != shape:
        raise ArgumentError(
            "model",
            f"gives rows of shape {tuple(outputs.shape[1:])} and targets have "
            f"{tuple(shape[1:])}; make them alike, or the loss would spread one over "
            "the other",
        )
    return torch.full(shape, 0.5, dtype=schema.target_type, device=device), None


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for one in shape:
        size *= one
    return size


def _check_loss(loss: Loss, outputs: Tensor, targets: Tensor) -> None:
    """The loss of a batch must be the mean or the sum of what it is for each row."""
    scores = outputs.detach()
    try:
        each = row_losses(loss, scores, targets)
        whole = loss(scores, targets)
    except Exception as error:
        words = str(error).strip().split("\n")[0][:200]
        raise ArgumentError(
            "loss",
            f"cannot be computed for one row ({words}); pass a function of outputs and "
            "targets, such as torch.nn.functional.cross_entropy",
        ) from None
    if each.shape != (TRIED,) or whole.ndim:
        raise ArgumentError(
            "loss", 'must be one number; pass one with reduction="mean" or "sum"'
        )
    near = [torch.allclose(whole, one, rtol=1e-3) for one in (each.mean(), each.sum())]
    if not any(near) and bool(torch.isfinite(whole)):
        raise ArgumentError(
            "loss",
            "mixes rows: for a batch it is neither the mean nor the sum of what it is "
            'for each row; pass one of single rows (with class weights, reduction="sum")',
        )


def _route(model: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor) -> Oracle:
    """One way back where the tape can follow the model and agrees with gradients of
    single rows; else those.
    """
    single = Single(model, loss)
    ghost, together = _tried(
        lambda: _ghost(model, loss, inputs, targets), inputs, targets
    )
    size = sum(one.numel() for one in trained(model).values())
    if ghost is not None and (size > MANY or not _steady(model, inputs)):
        return ghost
    found, alone = _tried(lambda: single, inputs, targets)
    if ghost is not None and (found is None or _agree(together, alone)):
        return ghost
    if found is None:
        raise ArgumentError(
            "model", "has no gradients of single rows; build it from PyTorch's layers"
        )
    return single


def _ghost(model: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor) -> Oracle:
    return Ghost(model, loss, layouts_of(model, loss, inputs, targets))


def _tried(
    make: Callable[[], Oracle], inputs: Tensor, targets: Tensor
) -> tuple[Oracle | None, dict[str, Tensor]]:
    there = torch.ones(TRIED, device=inputs.device)
    try:
        oracle = make()
        return oracle, oracle.sums(inputs, targets, there, Flat(1.0))
    except Exception:  # whatever a model of somebody's own does under it
        return None, {}


def _steady(model: nn.Module, inputs: Tensor) -> bool:
    """Whether the model gives the same twice: no dropout."""
    with torch.no_grad():
        return torch.equal(model(inputs), model(inputs))


def _agree(one: dict[str, Tensor], two: dict[str, Tensor]) -> bool:
    apart = sum(float((one[name] - two[name]).square().sum()) for name in two)
    whole = sum(float(part.square().sum()) for part in two.values())
    return apart <= NEAR**2 * whole
