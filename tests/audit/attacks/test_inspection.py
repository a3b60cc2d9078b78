"""Records are read off updates without noise, and not off those of a hospital."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import dither
from dither import ArgumentError
from dither.audit import attacks
from dither.learn import hospitals
from tests.chance import chance

torch.set_num_threads(1)
PATIENTS, WIDTH = 40, 5


def network(hidden: int = 12) -> nn.Module:
    torch.manual_seed(2)  # allowed: starting weights are public
    return nn.Sequential(nn.Linear(WIDTH, hidden), nn.ReLU(), nn.Linear(hidden, 2))


def records(count: int = PATIENTS, seed: int = 4) -> tuple[Any, Any]:
    made = np.random.default_rng(seed)  # allowed: made-up data
    inputs = made.uniform(size=(count, WIDTH)).astype(np.float32)
    return torch.from_numpy(inputs), torch.from_numpy(made.integers(0, 2, count))


def gradient(inputs: Any, targets: Any, hidden: int = 12) -> dict[str, Any]:
    model = network(hidden)
    functional.cross_entropy(model(inputs), targets).backward()
    return {name: one.grad for name, one in model.named_parameters()}


def test_a_batch_of_one_is_read_exactly() -> None:
    inputs, targets = records()
    sent = [gradient(inputs[i : i + 1], targets[i : i + 1]) for i in range(PATIENTS)]
    found = attacks.inspection(sent, inputs, tolerance=1e-4)
    assert found.share == 1.0
    assert found.chance == 0.0
    assert found.errors.max() < 1e-4
    assert found.bound is None
    assert "100.0 %" in str(found)


def test_of_larger_batches_some_are_read() -> None:
    """Of those for whom alone a neuron fires; wider layers have more of them."""
    shares = []
    for hidden in (8, 256):
        batches = [records(4, seed) for seed in range(30)]
        sent = [gradient(*one, hidden) for one in batches]
        truths = [inputs for inputs, _ in batches]
        found = attacks.inspection(sent, truths, tolerance=1e-3)
        assert found.patients == 120
        shares.append(found.share)
    assert 0 < shares[0] < shares[1] < 1


def noisy(place: int, epsilon: float) -> tuple[Any, Any]:
    """What a hospital of one patient sends."""
    inputs, targets = records()
    budget = dither.Budget(50.0, 1e-6, unit=dither.Unit("patient"))
    data = inputs[place : place + 1], targets[place : place + 1]
    one = hospitals.Hospital("tiny", data, owner=["a"], units=1, rows=1, budget=budget)
    member = one.join(
        network(),
        loss=functional.cross_entropy,
        rounds=1,
        steps=1,
        batch=1,
        lr=1.0,
        epsilon=epsilon,
    )
    return member.update(network()), member.guarantee


@pytest.fixture(scope="module")
def answers() -> list[tuple[Any, Any]]:
    return [noisy(place, 3.0) for place in range(PATIENTS)]


@chance(1e-8)
@pytest.mark.parametrize("tolerance", [0.01, 0.5])
def test_noisy_updates_are_read_no_better_than_allowed(
    answers: list[tuple[Any, Any]], tolerance: float
) -> None:
    sent, promises = zip(*answers, strict=True)
    found = attacks.inspection(
        sent, records()[0], tolerance=tolerance, guarantee=promises[0]
    )
    assert found.bound is not None
    assert found.share <= found.bound + 6 * found.standard_error
    assert found.share <= found.chance + 6 * found.standard_error
    if tolerance == 0.01:
        assert found.share == 0.0


def test_a_picture_and_words(answers: list[tuple[Any, Any]]) -> None:
    sent, promises = zip(*answers, strict=True)
    found = attacks.inspection(sent, records()[0], guarantee=promises[0])
    assert "The guarantee allows" in str(found)
    assert "says nothing about others" in str(found)
    assert "allowed" in found.plot().svg()


@pytest.mark.parametrize(
    ("updates", "truths", "words"),
    [
        ([], [], "at least two entries"),
        ([{}], [[1.0]], "at least two entries"),
        ([{}, {}], [[1.0], [1.0]], "must have a linear layer"),
        ([3, 4], [[1.0], [1.0]], "must contain arrays"),
        ([{}, {}], [[1.0], [1.0, 2.0]], "the same length"),
    ],
)
def test_bad_questions(updates: Any, truths: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        attacks.inspection(updates, truths)


def test_updates_without_a_usable_number_give_no_reading() -> None:
    odd = [np.full((3, 2), np.nan), np.zeros(3)]
    found = attacks.inspection([odd, odd], [[1.0, 2.0], [3.0, 4.0]])
    assert found.share == found.chance == 0.0
    assert found.errors.tolist() == [np.inf, np.inf]
