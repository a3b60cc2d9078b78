"""Layers for rows side by side: each is called by a tap, and how parameters were used is
noted when gradients come back.

The first axis of all inputs is rows, or rows and then what a row has many of.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dither.learn.gpu import runs
from dither.learn.gradients.convolutions import Geometry, used
from dither.learn.gradients.recorder import Part, Recorder
from dither.learn.gradients.taps import (
    Affine,
    Convolved,
    Copied,
    Linear,
    LookedUp,
    Moments,
    Normalized,
    tapped,
)
from dither.learn.gradients.uses import Lookup, Outer, Use, Whole, full

__all__ = [
    "Weight",
    "added",
    "affine",
    "convolution",
    "copied",
    "layer_norm",
    "linear",
    "looked_up",
    "plain",
]

Weight = Part | Tensor | None
"""A trained parameter, another tensor that all rows share, or nothing."""


def plain(weight: Weight) -> Tensor | None:
    return weight.values if isinstance(weight, Part) else weight


def linear(
    recorder: Recorder, inputs: Tensor, weight: Part | Tensor, bias: Weight = None
) -> Tensor:
    """Inputs times a matrix of [outputs, inputs], plus a bias."""
    matrix = plain(weight)
    assert matrix is not None

    def seen(before: Tensor, gradient: Tensor) -> None:
        left, right = recorder.arranged(gradient), recorder.arranged(before)
        turned = isinstance(weight, Part) and weight.turned
        recorder.note(
            weight, lambda: Outer(right, left) if turned else Outer(left, right)
        )
        recorder.note(bias, lambda: Whole(added(left)))

    return tapped(Linear, inputs, recorder.anchor, matrix, plain(bias), seen)


def added(left: Tensor) -> Tensor:
    """The sum over places, in float32 at least."""
    if left.shape[1] == 1:
        return full(left[:, 0])
    return left.sum(1, dtype=torch.promote_types(left.dtype, torch.float32))


def looked_up(
    recorder: Recorder, lines: Tensor, weight: Part, padding: int = -1
) -> Tensor:
    """Lines of a table, whose numbers are in range; none comes back to `padding`."""
    size = weight.shape[0]

    def seen(looked: Tensor, gradient: Tensor) -> None:
        right = recorder.arranged(gradient)
        places = recorder.arranged(looked, axes=0)
        if padding >= 0:
            right = right * (places != padding)[:, :, None]
        recorder.note(weight, lambda: Lookup(places, right, size))

    return tapped(LookedUp, lines, recorder.anchor, weight.values, seen)


def affine(
    recorder: Recorder,
    inputs: Tensor,
    weight: Weight,
    bias: Weight,
    shape: Sequence[int],
) -> Tensor:
    """Inputs times a weight plus a bias, which have this shape along the inputs' last
    axes.
    """

    def seen(before: Tensor, gradient: Tensor) -> None:
        _note_affine(recorder, (weight, bias), shape, before, gradient)

    sides = [plain(one) for one in (weight, bias)]
    spread = [None if one is None else one.view(*shape) for one in sides]
    return tapped(Affine, inputs, recorder.anchor, *spread, seen)


def _note_affine(
    recorder: Recorder,
    parameters: tuple[Weight, Weight],
    shape: Sequence[int],
    before: Tensor,
    gradient: Tensor,
) -> None:
    def spread(values: Tensor) -> Whole:
        """Sums over all axes that the parameter is spread over."""
        kept = recorder.arranged(values, axes=len(shape))
        over = [1, *(2 + i for i, size in enumerate(shape) if size == 1)]
        return Whole(full(kept).sum(over).reshape(recorder.units, -1))

    weight, bias = parameters
    recorder.note(weight, lambda: spread(full(before) * full(gradient)))
    recorder.note(bias, lambda: spread(gradient))


def layer_norm(
    recorder: Recorder,
    inputs: Tensor,
    shape: list[int],
    weight: Weight,
    bias: Weight,
    eps: float,
) -> Tensor:
    def seen(before: Moments, gradient: Tensor) -> None:
        sides = weight, bias
        if recorder.absent is None and runs(gradient) and _both(sides):
            _note_moments(recorder, sides, before, gradient)
        else:
            values = before.normalized()
            _note_affine(recorder, sides, shape, values, gradient)

    sides = [plain(one) for one in (weight, bias)]
    return tapped(Normalized, inputs, recorder.anchor, shape, *sides, eps, seen)


def _both(sides: tuple[Weight, Weight]) -> bool:
    return all(isinstance(one, Part) for one in sides)


def _note_moments(
    recorder: Recorder,
    parameters: tuple[Weight, Weight],
    before: Moments,
    gradient: Tensor,
) -> None:
    """Both gradients in one pass over the inputs, which are read once."""
    from dither.learn.kernels.sums import normalized

    mean, spread = before.mean.flatten(), before.spread.flatten()
    inputs = before.inputs.reshape(mean.numel(), -1)
    back = gradient.reshape(mean.numel(), -1)
    found = normalized(inputs, back, mean, spread, recorder.units)
    for parameter, one in zip(parameters, found, strict=True):
        recorder.note(parameter, lambda one=one: Whole(one))  # type: ignore[misc]


def convolution(
    recorder: Recorder,
    inputs: Tensor,
    weight: Part | Tensor,
    bias: Weight,
    how: Geometry,
) -> Tensor:
    """Images, series or volumes: [rows or places of them, channels, …]."""
    kernel = plain(weight)
    assert kernel is not None

    def seen(before: Tensor, gradient: Tensor) -> None:
        recorder.note(
            weight, lambda: used(recorder, before, gradient, kernel.shape, how)
        )
        recorder.note(bias, lambda: _over_places(recorder, gradient))

    return tapped(Convolved, inputs, recorder.anchor, kernel, plain(bias), how, seen)


def _over_places(recorder: Recorder, gradient: Tensor) -> Use:
    return Whole(recorder.summed(full(gradient).flatten(2).sum(2)))


def copied(recorder: Recorder, part: Part) -> Tensor:
    """A copy for each row: [rows, …]."""

    def seen(_: Tensor, gradient: Tensor) -> None:
        def one() -> Use:
            back = gradient.transpose(1, 2) if part.turned else gradient
            return Whole(recorder.summed(back))

        recorder.note(part, one)

    values = part.values
    shape = (recorder.count, *values.shape)
    return tapped(Copied, recorder.anchor, values[None], shape, seen)
