"""What servers do with a noisy mean update."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from dither.errors import ArgumentError
from dither.learn.federated import FedAdam, FedAvg


def moved(server: Any, means: list[float]) -> float:
    weights, stepper = {"w": torch.zeros(1)}, server.begin()
    for mean in means:
        stepper.step(weights, {"w": torch.tensor([mean])})
    return float(weights["w"])


def test_averaging_moves_by_the_mean() -> None:
    assert moved(FedAvg(lr=0.5), [1.0, 2.0]) == pytest.approx(1.5)
    wanted = 1.0 + (0.9 * 1.0 + 2.0)
    assert moved(FedAvg(momentum=0.9), [1.0, 2.0]) == pytest.approx(wanted)


def test_adam_is_that_of_the_paper() -> None:
    """m ← β₁m + (1−β₁)Δ, v ← β₂v + (1−β₂)Δ², w ← w + lr·m/(√v + τ)."""
    m = v = w = 0.0
    for delta in (1.0, -0.5, 2.0):
        m, v = 0.9 * m + 0.1 * delta, 0.99 * v + 0.01 * delta**2
        w += 0.1 * m / (v**0.5 + 1e-3)
    assert moved(FedAdam(lr=0.1), [1.0, -0.5, 2.0]) == pytest.approx(w, rel=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FedAvg(lr=0),
        lambda: FedAvg(momentum=1.0),
        lambda: FedAvg(momentum="x"),  # type: ignore[arg-type]
        lambda: FedAdam(lr=float("nan")),
        lambda: FedAdam(beta1=-0.1),
        lambda: FedAdam(tau=0),
    ],
)
def test_odd_numbers_are_refused(make: Any) -> None:
    with pytest.raises(ArgumentError):
        make()
