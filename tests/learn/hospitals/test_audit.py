"""Audits of what a hospital sends: they accept what is there, and refute hospitals that
leave something out.

Noise of training is float arithmetic, whose low bits are not covered: answers are
rounded before they are compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from dither import audit
from dither.learn.hospitals.member import Member
from dither.learn.rows import Tensors, units_of
from dither.privacy import GaussianDP
from tests.chance import chance
from tests.learn.hospitals.data import PATIENT, account, asked, hospital

DRAWS, MANY = 300, 2000
NOISE = 1.0
CLAIMED = GaussianDP(1 / NOISE, unit=PATIENT)
INPUTS = torch.tensor([[30.0], [1.0]])
TARGETS = torch.tensor([[-1.0], [0.0]])


def line() -> nn.Module:
    found = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(found.weight)
    return found


def member(rounds: int = 1) -> Member:
    one = hospital(data=(INPUTS, TARGETS), owner=["a", "b"], units=2, budget=account())
    run = asked(loss=nn.functional.mse_loss, batch=2, rounds=rounds, steps=1, lr=1.0)
    return one.join(line(), **run | {"noise": NOISE})


class Sender:
    """Updates of one hospital, with and without a patient whose gradient is large."""

    def __init__(self) -> None:
        self.member = member()
        self.loops = {count: self.loop(count) for count in (1, 2)}

    def loop(self, count: int) -> Any:
        found = self.member._read()
        rows = Tensors.of(INPUTS[2 - count :], TARGETS[2 - count :])
        found.units = units_of(rows, np.arange(2)[2 - count :], 1)
        return found

    def __call__(self, patients: int) -> float:
        self.member._loop = self.loops[patients]
        start = {"weight": np.zeros((1, 1), np.float32)}
        return answer(self.member, start)


def answer(member: Member, start: Any) -> float:
    return round(float(member._answer(start, 1)["weight"][0, 0]), 3)


@pytest.fixture(scope="module")
def sender() -> Sender:
    return Sender()


@chance(1e-8)
@pytest.mark.parametrize("draws", [DRAWS, pytest.param(MANY, marks=pytest.mark.full)])
def test_an_update_keeps_its_promise(sender: Sender, draws: int) -> None:
    found = audit.mechanism(
        sender, 1, 2, claimed=CLAIMED, draws=draws, confidence=1 - 1e-8
    )
    assert not found.refuted


@chance(1e-8)
def test_noise_without_clipping_promises_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Noise of the right size on gradients that nobody clipped: an odd patient is seen."""
    from dither.learn.gradients.clipping import Flat

    def whole(self: Flat, squares: Any) -> Any:  # noqa: ARG001
        return {name: torch.ones_like(one) for name, one in squares.items()}

    monkeypatch.setattr(Flat, "__call__", whole)
    sender = Sender()
    assert audit.mechanism(
        sender, 1, 2, claimed=CLAIMED, draws=DRAWS, confidence=1 - 1e-8
    ).refuted


@chance(1e-8)
def test_noise_shared_by_two_rounds_promises_nothing(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same noise with another sign of the gradient: the difference has none."""
    from dither.learn import gaussian

    def two_rounds(patients: int) -> float:
        drawn = gaussian.gaussians(1)
        with monkeypatch.context() as patched:
            patched.setattr(gaussian, "gaussians", lambda count: drawn[:count])
            first = sender(patients)
            # The second round begins where the slope of the loss is turned around
            start = {"weight": np.full((1, 1), -5.0, np.float32)}
            second = answer(sender.member, start)
        return round(first - second, 2)

    both = GaussianDP(2**0.5 / NOISE, unit=PATIENT)
    assert audit.mechanism(
        two_rounds, 1, 2, claimed=both, draws=DRAWS, confidence=1 - 1e-8
    ).refuted


@chance(1e-8)
@pytest.mark.full
def test_a_round_that_is_answered_often_is_not_paid_by_one_charge(
    sender: Sender,
) -> None:
    """Fresh noise each time: the mean of nine answers has a third of it."""

    def often(patients: int) -> float:
        return round(float(np.mean([sender(patients) for _ in range(9)])), 3)

    assert audit.mechanism(
        often, 1, 2, claimed=CLAIMED, draws=DRAWS, confidence=1 - 1e-8
    ).refuted


def test_a_member_answers_a_round_with_one_noise() -> None:
    """However often it is asked, there is one answer to average."""
    joined = member(rounds=2)
    answers = {joined.update(line(), 1).digest for _ in range(9)}
    assert len(answers) == 1


@chance(1e-8)
@pytest.mark.full
def test_rounds_together_keep_the_promise_of_all(sender: Sender) -> None:
    """Two rounds, the second from weights that the first one made, as a server does."""

    def two_rounds(patients: int) -> tuple[float, float]:
        first = sender(patients)
        start = {"weight": np.full((1, 1), first, np.float32)}
        return first, answer(sender.member, start)

    both = GaussianDP(2**0.5 / NOISE, unit=PATIENT)
    assert not audit.mechanism(
        two_rounds, 1, 2, claimed=both, draws=MANY, confidence=1 - 1e-8
    ).refuted
