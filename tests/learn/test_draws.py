"""What a model draws for itself is secret, and nobody's generators are moved."""

from __future__ import annotations

import random  # allowed: its state is looked at
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dither import ArgumentError
from dither.learn import preview, train
from dither.learn.draws import Draws, secret, secretly, sow
from dither.learn.loop import Loop
from dither.learn.run.course import Step
from tests.chance import chance
from tests.learn.data import owned, records

CPU = torch.device("cpu")


def dropped() -> nn.Sequential:
    torch.manual_seed(3)  # allowed: starting weights are public
    return nn.Sequential(nn.Linear(4, 30), nn.Dropout(0.5), nn.Linear(30, 3))


def drawn() -> list[float]:
    numbers = np.random.random()  # allowed: looked at by a test
    return [float(torch.rand(())), random.random(), float(numbers)]


def sums(monkeypatch: pytest.MonkeyPatch, **more: Any) -> Tensor:
    """The sum of clipped gradients of one step, after a public seed."""
    caught: list[Tensor] = []
    descend = Loop._descend

    def noted(loop: Loop, found: dict[str, Tensor], deviation: float) -> None:
        caught.append(torch.cat([one.flatten() for one in found.values()]).clone())
        descend(loop, found, deviation)

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_descend", noted)
        torch.manual_seed(1)  # allowed: what everybody does
        train(dropped(), records(), **owned(batch=200, epochs=1, **more))
    return caught[0]


@chance(1e-12)
def test_a_known_seed_tells_no_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = sums(monkeypatch), sums(monkeypatch)
    assert float((one - two).norm()) > 0.1


def test_generators_are_left_as_they_were() -> None:
    made, before = dropped(), Draws.now(CPU)
    train(made, records(), **owned(micro=10))
    assert not before.moved


def test_callbacks_find_generators_as_they_were() -> None:
    made, before, moved = dropped(), Draws.now(CPU), []

    def look(_: Step) -> None:
        moved.append(before.moved)

    train(made, records(), **owned(callbacks=[look]))
    assert set(moved) == {False}


@chance(1e-7)
def test_one_seed_gives_the_same_draws_everywhere() -> None:
    seed = secret()
    with secretly(CPU):
        sow(CPU, seed)
        one = drawn()
        sow(CPU, seed)
        two = drawn()
        sow(CPU, secret())
        other = drawn()
    assert one == two
    assert not set(one) & set(other)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_was_drawn_is_seen(place: int) -> None:
    with secretly(CPU):
        before = Draws.now(CPU)
        assert not before.moved
        if place == 0:
            torch.rand(1)
        elif place == 1:
            random.random()
        else:
            np.random.random()  # allowed: looked at by a test
        assert before.moved
        assert before.moved_elsewhere == (place > 0)


class Seeded(nn.Module):
    def __init__(self, made: Any) -> None:
        super().__init__()
        self.line, self.made = nn.Linear(4, 3), made

    def forward(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.line(inputs)
        return found


@pytest.mark.parametrize(
    "made",
    [[random.Random(1)], {"a": np.random.default_rng(1)}],  # allowed: refused
    ids=["python", "numpy"],
)
def test_generators_of_a_model_are_refused(made: Any) -> None:
    with pytest.raises(ArgumentError, match="secret"):
        preview(Seeded(made), records(), **owned())
