"""What the tape does at each function it knows: call the layer by a tap, and note how
parameters were used when gradients come back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gpu import runs
from dither.learn.gradients import attention
from dither.learn.gradients.convolutions import geometry, used
from dither.learn.gradients.tape import LEADING, SHARED, Tape
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
from dither.learn.gradients.untraceable import Untraceable
from dither.learn.gradients.uses import Lookup, Outer, Whole, full

__all__ = ["KNOWN"]


def _linear(
    tape: Tape, _: Any, inputs: Tensor, weight: Tensor, bias: Any = None
) -> Tensor:
    def seen(layout: str, before: Tensor, gradient: Tensor) -> None:
        left = tape.arranged(gradient, layout)
        tape.note(weight, lambda: Outer(left, tape.arranged(before, layout)))
        tape.note(bias, lambda: Whole(_added(left)))

    _only_data(tape, inputs)
    plain = None if bias is None else bias.detach()
    back = tape.call(seen)[1]
    return tapped(Linear, inputs, tape.anchor, weight.detach(), plain, back)


def _only_data(tape: Tape, *values: Any) -> None:
    """A parameter where data go would get no gradient."""
    if any(tape.watched(one) for one in values):
        raise Untraceable("a layer whose input is a parameter")


def _added(left: Tensor) -> Tensor:
    """The sum over places, in float32 at least."""
    if left.shape[1] == 1:
        return full(left[:, 0])
    return left.sum(1, dtype=torch.promote_types(left.dtype, torch.float32))


def _embedding(
    tape: Tape,
    _: Any,
    lines: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,  # noqa: ARG001
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise Untraceable("embedding with max_norm, scale_grad_by_freq or sparse")
    size = weight.shape[0]

    def seen(layout: str, looked: Tensor, gradient: Tensor) -> None:
        right = tape.arranged(gradient, layout)
        places = tape.arranged(looked, layout, axes=0)
        if padding_idx is not None:
            padding = padding_idx % size
            right = right * (places != padding)[:, :, None]
        tape.note(weight, lambda: Lookup(places, right, size))

    layout, back = tape.call(seen)
    if layout == SHARED:
        alone = lines[0] if lines.ndim > 1 and len(lines) == 1 else lines
        lines = alone.expand(tape.count, *alone.shape)
    return tapped(LookedUp, lines, tape.anchor, weight.detach(), back)


def _scaled(
    tape: Tape, inputs: Tensor, weight: Any, bias: Any, shape: tuple[int, ...]
) -> Tensor:
    """Normalized inputs times a weight plus a bias, which have this shape beside the
    inputs' other axes.
    """

    def seen(layout: str, before: Tensor, gradient: Tensor) -> None:
        _note_affine(tape, (weight, bias), shape, layout, before, gradient)

    plain = [
        None if one is None else one.detach().view(shape) for one in (weight, bias)
    ]
    return tapped(Affine, inputs, tape.anchor, *plain, tape.call(seen)[1])


def _note_affine(
    tape: Tape,
    parameters: tuple[Any, Any],
    shape: tuple[int, ...],
    layout: str,
    before: Tensor,
    gradient: Tensor,
) -> None:
    def spread(values: Tensor) -> Whole:
        """Sums over all axes that the parameter is spread over."""
        kept = tape.arranged(values, layout, axes=len(shape))
        over = [1, *(2 + i for i, size in enumerate(shape) if size == 1)]
        return Whole(full(kept).sum(over).reshape(tape.units, -1))

    weight, bias = parameters
    tape.note(weight, lambda: spread(full(before) * full(gradient)))
    tape.note(bias, lambda: spread(gradient))


def _layer_norm(
    tape: Tape,
    _: Any,
    inputs: Tensor,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Tensor:
    _only_data(tape, inputs)
    shape = list(normalized_shape)

    def seen(layout: str, before: Moments, gradient: Tensor) -> None:
        places = gradient.shape[: gradient.ndim - len(shape)]
        alone = layout == LEADING and tape.absent is None
        if alone and places.numel() % tape.units == 0 and runs(gradient):
            _note_moments(tape, (weight, bias), before, gradient)
        else:
            values = before.normalized()
            _note_affine(tape, (weight, bias), tuple(shape), layout, values, gradient)

    plain = [None if one is None else one.detach() for one in (weight, bias)]
    back = tape.call(seen)[1]
    return tapped(Normalized, inputs, tape.anchor, shape, *plain, eps, back)


def _note_moments(
    tape: Tape, parameters: tuple[Any, Any], before: Moments, gradient: Tensor
) -> None:
    """Both gradients in one go over what is there, which is read once."""
    from dither.learn.kernels.sums import normalized

    mean, spread = before.mean.flatten(), before.spread.flatten()
    inputs = before.inputs.reshape(mean.numel(), -1)
    back = gradient.reshape(mean.numel(), -1)
    found = normalized(inputs, back, mean, spread, tape.units)
    for parameter, one in zip(parameters, found, strict=True):
        tape.note(parameter, lambda one=one: Whole(one))  # type: ignore[misc]


def _rms_norm(
    tape: Tape,
    _: Any,
    inputs: Tensor,
    normalized_shape: Any,
    weight: Any = None,
    eps: float | None = None,
) -> Tensor:
    _only_data(tape, inputs)
    plain = functional.rms_norm(inputs, normalized_shape, eps=eps)
    return _scaled(tape, plain, weight, None, tuple(normalized_shape))


def _group_norm(
    tape: Tape,
    _: Any,
    inputs: Tensor,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Tensor:
    _only_data(tape, inputs)
    plain = functional.group_norm(inputs, num_groups, eps=eps)
    shape = (inputs.shape[1], *[1] * (inputs.ndim - 2))
    return _scaled(tape, plain, weight, bias, shape)


def _convolution(
    tape: Tape,
    _: Any,
    inputs: Tensor,
    weight: Tensor,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    _only_data(tape, inputs)
    if inputs.ndim != weight.ndim:
        raise Untraceable("a convolution without an axis for rows")
    inputs, how = geometry(inputs, weight, stride, padding, dilation, groups)

    def seen(_: str, before: Tensor, gradient: Tensor) -> None:
        tape.note(weight, lambda: used(tape, before, gradient, weight.shape, how))
        tape.note(bias, lambda: Whole(tape.summed(full(gradient).flatten(2).sum(2))))

    layout, back = tape.call(seen)
    if layout != LEADING:
        raise Untraceable("a convolution whose first axis is not rows")
    plain = None if bias is None else bias.detach()
    return tapped(Convolved, inputs, tape.anchor, weight.detach(), plain, how, back)


def _attention(tape: Tape, _: Any, *args: Any, **words: Any) -> Any:
    with tape:
        return attention.forward(*args, **words)


def _product(tape: Tape, func: Any, inputs: Any, weight: Any) -> Tensor:
    """Inputs times a parameter that is a matrix."""
    _only_data(tape, inputs)
    if inputs.ndim < 2 or weight.ndim != 2:
        raise Untraceable(func.__name__)

    def seen(layout: str, before: Tensor, gradient: Tensor) -> None:
        left, right = (tape.arranged(one, layout) for one in (before, gradient))
        tape.note(weight, lambda: Outer(left, right))

    back = tape.call(seen)[1]
    return tapped(Linear, inputs, tape.anchor, weight.detach().T, None, back)


def _entrywise(tape: Tape, func: Any, *sides: Any, **words: Any) -> Tensor:
    """Parameters that are added to data, multiplied with them, and so on: each row gets
    a copy.
    """
    most = max(one.ndim for one in sides if isinstance(one, Tensor))
    first = [one for one in sides if isinstance(one, Tensor) and one.ndim == most]
    if all(tape.watched(one) or len(one) != tape.count for one in first):
        raise Untraceable(func.__name__)
    taken = [copied(tape, one, most) if tape.watched(one) else one for one in sides]
    found: Tensor = func(*taken, **words)
    return found


def copied(tape: Tape, parameter: Tensor, axes: int) -> Tensor:
    """A copy for each row, with so many axes: the first is for rows."""
    sizes = tuple(parameter.shape)
    if len(sizes) == axes and sizes[0] == 1:
        sizes = sizes[1:]
    if len(sizes) >= axes:
        raise Untraceable("a parameter with an axis for rows")

    def seen(_: str, __: Tensor, gradient: Tensor) -> None:
        tape.note(parameter, lambda: Whole(tape.summed(gradient)))

    layout, back = tape.call(seen)
    if layout != LEADING:
        raise Untraceable("a parameter beside data whose first axis is not rows")
    between = [1] * (axes - 1 - len(sizes))
    one = parameter.detach().reshape(1, *between, *sizes)
    return tapped(Copied, tape.anchor, one, (tape.count, *one.shape[1:]), back)


def _expanded(tape: Tape, func: Any, parameter: Tensor, *sizes: Any) -> Tensor:
    """A parameter that is repeated for all rows: `token.expand(rows, -1, -1)`."""
    wanted = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if len(parameter) != 1 or wanted[0] != tape.count:
        raise Untraceable(func.__name__)
    axes = max(parameter.ndim, len(wanted))
    found: Tensor = func(copied(tape, parameter, axes), *sizes)
    return found


def _part(tape: Tape, func: Any, parameter: Tensor, index: Any) -> Tensor:
    """A part of a parameter that all rows share: `places[:, :length]`."""
    whole = copied(tape, parameter, parameter.ndim + 1)
    picked = index if isinstance(index, tuple) else (index,)
    if any(isinstance(one, Tensor) for one in picked):
        raise Untraceable(func.__name__)
    found = whole[(slice(None), *picked)]
    shared = found.ndim > 1 and found.shape[1] == 1
    return found.squeeze(1) if shared else found


ENTRYWISE = (
    torch.add,
    torch.sub,
    torch.mul,
    torch.div,
    Tensor.add,
    Tensor.sub,
    Tensor.mul,
    Tensor.div,
)
KNOWN: dict[Any, Callable[..., Any]] = {
    functional.linear: _linear,
    functional.embedding: _embedding,
    functional.layer_norm: _layer_norm,
    functional.rms_norm: _rms_norm,
    functional.group_norm: _group_norm,
    functional.conv1d: _convolution,
    functional.conv2d: _convolution,
    functional.multi_head_attention_forward: _attention,
    torch.matmul: _product,
    torch.mm: _product,
    Tensor.matmul: _product,
    Tensor.mm: _product,
    Tensor.expand: _expanded,
    Tensor.__getitem__: _part,
    **dict.fromkeys(ENTRYWISE, _entrywise),
}
