"""Recurrent layers, one step after the other, as PyTorch computes them.

Each weight is used at every step. What it is multiplied with is held, and the gradients
of all steps come back at once, so it has one use with a place for each step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gradients.layers import Weight, added, linear, plain
from dither.learn.gradients.recorder import Part, Recorder
from dither.learn.gradients.taps import Copied, Passed, tapped
from dither.learn.gradients.untraceable import Untraceable
from dither.learn.gradients.uses import Outer, Whole

__all__ = ["recurrent"]

State = tuple[Tensor, ...]
"""[rows, width] each: what a layer hands on to its next step, its output first."""
Step = Callable[[Tensor, Tensor, State], State]
"""The next state from what the inputs and the last output add to the gates."""


def recurrent(
    recorder: Recorder | None,
    kind: str,
    inputs: Tensor,
    begin: Sequence[Tensor],
    weights: Sequence[Weight],
    *,
    biased: bool,
    layers: int,
    dropout: float,
    both_ways: bool,
) -> tuple[Tensor, list[Tensor]]:
    """Outputs [rows, steps, width] and the last states [layers, rows, width] for inputs
    [rows, steps, width]. `begin` are the first states, as [layers, rows, width].
    """
    ways, each = 2 if both_ways else 1, 4 if biased else 2
    if len(weights) != layers * ways * each:
        raise Untraceable("a recurrent layer with projections")
    last: list[State] = []
    for layer in range(layers):
        if layer and dropout:
            inputs = functional.dropout(inputs, dropout)
        outputs = []
        for way in range(ways):
            place = layer * ways + way
            own = weights[place * each : (place + 1) * each]
            state = tuple(one[place] for one in begin)
            cell = _Cell(recorder, kind, own)
            found, state = cell.run(inputs, state, backwards=way == 1)
            outputs.append(found)
            last.append(state)
        inputs = torch.cat(outputs, 2) if ways > 1 else outputs[0]
    return inputs, [torch.stack(one) for one in zip(*last, strict=True)]


class _Cell:
    """One layer in one direction."""

    def __init__(
        self, recorder: Recorder | None, kind: str, weights: Sequence[Weight]
    ) -> None:
        self.recorder = recorder
        self.kind = kind
        self.inward, self.again = weights[:2]
        self.biases = tuple(weights[2:]) or (None, None)
        self.step = STEPS[kind]

    def run(
        self, inputs: Tensor, state: State, backwards: bool
    ) -> tuple[Tensor, State]:
        given = self._given(inputs)
        held: list[Tensor] = []
        given, shifts = self._noted(given, held)
        turn = reversed if backwards else iter
        matrix, shift = plain(self.again), plain(self.biases[1])
        assert matrix is not None
        matrix = matrix.to(given.dtype).T
        if shift is not None:
            shift = shift.to(given.dtype)
        outputs: list[Tensor] = []
        pairs = list(zip(given.unbind(1), shifts, strict=True))
        for one, own in turn(pairs):
            last = state[0].to(given.dtype)
            held.append(last.detach())
            gates = last @ matrix if shift is None else torch.addmm(shift, last, matrix)
            state = self.step(one, gates if own is None else gates + own, state)
            outputs.append(state[0])
        if backwards:
            outputs.reverse()
            held.reverse()
        return torch.stack(outputs, 1), state

    def _given(self, inputs: Tensor) -> Tensor:
        """The part of all steps' gates that comes from the inputs."""
        if self.recorder is None:
            matrix = plain(self.inward)
            assert matrix is not None
            return functional.linear(inputs, matrix, plain(self.biases[0]))
        assert self.inward is not None
        return linear(self.recorder, inputs, self.inward, self.biases[0])

    def _noted(
        self, given: Tensor, held: list[Tensor]
    ) -> tuple[Tensor, Sequence[Tensor | None]]:
        """The inputs' part, and zeros that are added to the gates of each step: the
        gradients of one of them are those of the last outputs' products.
        """
        recorder = self.recorder
        none = [None] * given.shape[1]
        trained = any(isinstance(one, Part) for one in (self.again, self.biases[1]))
        if recorder is None or not trained:
            return given, none

        def seen(_: Any, gradient: Tensor) -> None:
            left = recorder.arranged(gradient)
            recorder.note(
                self.again,
                lambda: Outer(left, recorder.arranged(torch.stack(held, 1))),
            )
            recorder.note(self.biases[1], lambda: Whole(added(left)))
            held.clear()

        if self.kind != "gru":  # what comes back to both is the same
            return tapped(Passed, given, recorder.anchor, seen), none
        zeros = given.new_zeros(1, 1, 1)
        shifts = tapped(Copied, recorder.anchor, zeros, tuple(given.shape), seen)
        return given, shifts.unbind(1)


def _lstm(one: Tensor, gates: Tensor, state: State) -> State:
    let_in, forget, fresh, let_out = (one + gates).chunk(4, 1)
    cell = forget.sigmoid() * state[1] + let_in.sigmoid() * fresh.tanh()
    return let_out.sigmoid() * cell.tanh(), cell


def _gru(one: Tensor, gates: Tensor, state: State) -> State:
    ours, theirs = one.chunk(3, 1), gates.chunk(3, 1)
    reset = (ours[0] + theirs[0]).sigmoid()
    keep = (ours[1] + theirs[1]).sigmoid()
    fresh = (ours[2] + reset * theirs[2]).tanh()
    return (fresh + keep * (state[0] - fresh),)


def _tanh(one: Tensor, gates: Tensor, _: State) -> State:
    return ((one + gates).tanh(),)


def _relu(one: Tensor, gates: Tensor, _: State) -> State:
    return ((one + gates).relu(),)


STEPS: dict[str, Step] = {
    "lstm": _lstm,
    "gru": _gru,
    "rnn_tanh": _tanh,
    "rnn_relu": _relu,
}
