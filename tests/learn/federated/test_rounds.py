"""The noise that rounds really get, measured on many numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from dither.learn import Adaptive
from dither.learn.federated import (
    Banded,
    Independent,
    Participation,
    Tree,
    Weighted,
)
from dither.learn.federated.rounds import Rounds
from tests.chance import chance
from tests.learn.federated.data import number, ready, told
from tests.learn.federated.test_factorizations import matrix

COUNT = 40_000
NEAR = 6.5 / math.sqrt(2 * COUNT)
"""6.5 deviations of an estimated deviation, relative to it."""


def large() -> nn.Linear:
    found = nn.Linear(COUNT, 1, bias=False)
    nn.init.zeros_(found.weight)
    return found


def deviations(rounds: int, **more: Any) -> list[float]:
    """Of the weights after each round to which nobody comes."""
    options = told(rounds=rounds, cohort=20, units=40, noise=1.5) | more
    made, clients = ready(large(), [], **options)
    begun, found = Rounds(made, clients), []
    for at in range(1, rounds + 1):
        begun.step(at, made.plan.noises[at - 1])
        found.append(float(made.model.weight.detach().std()))
    return found


@chance(1e-9)
def test_sampled_rounds_have_the_noise_that_is_charged() -> None:
    weight = Weighted(most=4, mean=2)
    found = deviations(3, clip=0.5, weight=weight)
    each = 1.5 * 0.5 * 4 / (20 * 2)
    wanted = [each * math.sqrt(at) for at in (1, 2, 3)]
    assert found == pytest.approx(wanted, rel=NEAR)


@chance(1e-9)
def test_an_adaptive_radius_takes_a_part_of_the_cost() -> None:
    found = deviations(1, clip=Adaptive(0.5, count_noise=2.0))
    assert found[0] == pytest.approx(0.5 / math.sqrt(1.5**-2 - 4.0**-2) / 20, rel=NEAR)


@chance(1e-9)
@pytest.mark.parametrize("how", [Banded(3), Tree(), Independent()], ids=str)
def test_correlated_rounds_have_the_noise_that_is_charged(how: Any) -> None:
    """Weights are running sums: their noise has the lines of A·C⁻¹."""
    rule, rounds = Participation(gap=2, most=3), 6
    found = deviations(
        rounds,
        clip=0.5,
        weight=Weighted(most=4, mean=2),
        participation=rule,
        factorization=how,
    )
    sums = np.tril(np.ones((rounds, rounds))) @ np.linalg.inv(matrix(how, rounds))
    each = 1.5 * how.sensitivity(rounds, rule) * 0.5 * 4 / (20 * 2)
    wanted = each * np.sqrt((sums**2).sum(1))
    assert found == pytest.approx(wanted.tolist(), rel=NEAR)


@chance(5e-9)
def test_who_is_drawn_is_drawn_at_the_declared_rate() -> None:
    """How many are there does not matter."""
    options = told(rounds=1, cohort=10, units=40)
    made, clients = ready(large(), [0.0] * 8000, **options)
    drawn = len(Rounds(made, clients).chosen(1))
    assert abs(drawn - 2000) < 6 * math.sqrt(8000 * 0.25 * 0.75)


@chance(1e-20)
def test_noise_is_never_the_same_again() -> None:
    options = told(rounds=1)
    found = []
    for _ in range(2):
        torch.manual_seed(7)  # allowed: what a caller seeds has no part in it
        made, clients = ready(large(), [], **options)
        Rounds(made, clients).step(1, 1.0)
        found.append(made.model.weight.detach().clone())
    assert not torch.equal(*found)


def test_noise_hides_sums_of_models_with_more_bits() -> None:
    """Noise has the bits of a float32. Less of it leaves the sum of a model in float64,
    and such a model has no other numbers than one whose sum is 0.
    """
    for _ in range(20):
        made, clients = ready(number().double(), [0.3], **told(cohort=1, units=1))
        Rounds(made, clients).step(1, 1.0)
        found = made.model.weight.detach()
        assert torch.equal(found, found.float().double())
