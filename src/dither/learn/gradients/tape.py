"""What a model did with its parameters on the way forward, and what came back.

While the tape is on, known layers are called through `taps`; any other use of a
parameter that is trained is `Untraceable`, and its model goes by `torch.func`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from dither.learn.gradients import attention
from dither.learn.gradients.convolutions import geometry, unfolded
from dither.learn.gradients.taps import (
    Affine,
    Convolved,
    Linear,
    LookedUp,
    Seen,
    tapped,
)
from dither.learn.gradients.untraceable import Untraceable
from dither.learn.gradients.uses import Lookup, Outer, Use, Whole

__all__ = ["LEADING", "SECOND", "SHARED", "Tape"]

LEADING, SECOND, SHARED = "leading", "second", "shared"
"""Where rows are in what a layer sees: along its first axis (maybe with places inside
it), along its second, or nowhere, because all rows look up the same."""


@dataclass
class Tape(TorchFunctionMode):
    """`names` are the trained parameters by identity; `units` and `rows` how many units
    a batch has, and rows a unit; `layouts` where rows are at each tapped call. With a
    `watcher`, gradients of outputs are shown to it by the call's number, and no use is
    noted.
    """

    names: Mapping[int, str]
    units: int
    rows: int = 1
    layouts: Mapping[int, str] = field(default_factory=dict)
    watcher: Callable[[int, Tensor], None] | None = None
    uses: dict[str, list[Use]] = field(default_factory=dict)
    calls: int = 0

    def __post_init__(self) -> None:
        super().__init__()
        self.anchor = torch.zeros((), requires_grad=True)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        words = kwargs or {}
        if not any(self._watched(one) for one in _flat((args, words.values()))):
            return func(*args, **words)
        known = KNOWN.get(func)
        if known is not None:
            return known(self, *args, **words)
        found = func(*args, **words)
        if any(isinstance(one, Tensor) and one.requires_grad for one in _flat(found)):
            name = getattr(func, "__name__", str(func))
            raise Untraceable(name)
        return found

    def _watched(self, value: Any) -> bool:
        return isinstance(value, Tensor) and id(value) in self.names

    def call(self, seen: Callable[[str, Tensor, Tensor], None]) -> tuple[str, Seen]:
        """Where rows are in the next tapped call, and what to do on its way back."""
        number, self.calls = self.calls, self.calls + 1
        layout = self.layouts.get(number, LEADING)
        watcher = self.watcher
        if watcher is not None:
            return layout, lambda _, gradient: watcher(number, gradient)
        return layout, partial(seen, layout)

    def arranged(self, values: Tensor, layout: str, axes: int = 1) -> Tensor:
        """[units, places, …] with the last `axes` axes as they are."""
        moved = values.transpose(0, 1) if layout == SECOND else values
        tail = moved.shape[moved.ndim - axes :]
        return moved.reshape(self.units, -1, *tail)

    def note(self, parameter: Any, use: Callable[[], Use]) -> None:
        """Remember how a trained parameter was used; others are passed over."""
        if self._watched(parameter):
            self.uses.setdefault(self.names[id(parameter)], []).append(use())


def _flat(values: Any) -> Iterable[Any]:
    if isinstance(values, (list, tuple)) or type(values).__name__ == "dict_values":
        for one in values:
            yield from _flat(one)
    else:
        yield values


def _linear(tape: Tape, inputs: Tensor, weight: Tensor, bias: Any = None) -> Tensor:
    def seen(layout: str, before: Tensor, gradient: Tensor) -> None:
        left = tape.arranged(gradient, layout)
        tape.note(weight, lambda: Outer(left, tape.arranged(before, layout)))
        tape.note(bias, lambda: Whole(left.sum(1)))

    plain = None if bias is None else bias.detach()
    back = tape.call(seen)[1]
    return tapped(Linear, inputs, tape.anchor, weight.detach(), plain, back)


def _embedding(
    tape: Tape,
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
        alone = lines[0] if lines.ndim > 1 else lines
        lines = alone.expand(tape.units * tape.rows, *alone.shape)
    return tapped(LookedUp, lines, tape.anchor, weight.detach(), back)


def _scaled(
    tape: Tape, inputs: Tensor, weight: Any, bias: Any, shape: tuple[int, ...]
) -> Tensor:
    """Normalized inputs times a weight plus a bias, which have this shape beside the
    inputs' other axes.
    """

    def seen(layout: str, before: Tensor, gradient: Tensor) -> None:
        scale = lambda: Whole(_spread(tape, gradient * before, layout, shape))  # noqa: E731
        tape.note(weight, scale)
        tape.note(bias, lambda: Whole(_spread(tape, gradient, layout, shape)))

    plain = [
        None if one is None else one.detach().view(shape) for one in (weight, bias)
    ]
    return tapped(Affine, inputs, tape.anchor, *plain, tape.call(seen)[1])


def _spread(tape: Tape, values: Tensor, layout: str, shape: tuple[int, ...]) -> Tensor:
    """Sums over all axes that the parameter is spread over: [units, entries]."""
    kept = tape.arranged(values, layout, axes=len(shape))
    over = [1, *(2 + i for i, size in enumerate(shape) if size == 1)]
    return kept.sum(over).reshape(tape.units, -1)


def _layer_norm(
    tape: Tape,
    inputs: Tensor,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Tensor:
    plain = functional.layer_norm(inputs, normalized_shape, eps=eps)
    return _scaled(tape, plain, weight, bias, tuple(normalized_shape))


def _rms_norm(
    tape: Tape,
    inputs: Tensor,
    normalized_shape: Any,
    weight: Any = None,
    eps: float | None = None,
) -> Tensor:
    plain = functional.rms_norm(inputs, normalized_shape, eps=eps)
    return _scaled(tape, plain, weight, None, tuple(normalized_shape))


def _group_norm(
    tape: Tape,
    inputs: Tensor,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Tensor:
    plain = functional.group_norm(inputs, num_groups, eps=eps)
    shape = (inputs.shape[1], *[1] * (inputs.ndim - 2))
    return _scaled(tape, plain, weight, bias, shape)


def _convolution(
    tape: Tape,
    inputs: Tensor,
    weight: Tensor,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    if inputs.ndim != weight.ndim:
        raise Untraceable("a convolution without an axis for rows")
    inputs, how = geometry(inputs, weight, stride, padding, dilation, groups)

    def seen(_: str, before: Tensor, gradient: Tensor) -> None:
        def held() -> Whole:
            each = unfolded(before, gradient, weight.shape, how)
            return Whole(each.reshape(tape.units, tape.rows, -1).sum(1))

        tape.note(weight, held)
        shift = gradient.flatten(2).sum(2)
        tape.note(bias, lambda: Whole(shift.reshape(tape.units, tape.rows, -1).sum(1)))

    layout, back = tape.call(seen)
    if layout != LEADING:
        raise Untraceable("a convolution whose first axis is not rows")
    plain = None if bias is None else bias.detach()
    return tapped(Convolved, inputs, tape.anchor, weight.detach(), plain, how, back)


def _attention(tape: Tape, *args: Any, **words: Any) -> Any:
    with tape:
        return attention.forward(*args, **words)


KNOWN: dict[Any, Callable[..., Any]] = {
    functional.linear: _linear,
    functional.embedding: _embedding,
    functional.layer_norm: _layer_norm,
    functional.rms_norm: _rms_norm,
    functional.group_norm: _group_norm,
    functional.conv1d: _convolution,
    functional.conv2d: _convolution,
    functional.multi_head_attention_forward: _attention,
}
