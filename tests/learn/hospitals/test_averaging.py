"""A server adds noisy updates up by public weights; odd ones contribute nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.learn.hospitals import Update, average
from tests.learn.hospitals.data import model

SHARES = {"north": 3.0, "south": 1.0}


def change(value: float) -> dict[str, Any]:
    return {"weight": np.full((2, 3), value), "bias": np.full(2, value)}


def moved(updates: dict[str, Any]) -> dict[str, float]:
    """How far each parameter moves; all of its numbers do alike."""
    found, start = average(model(), updates, SHARES), model()
    apart = {
        name: found[name] - one.detach().numpy()
        for name, one in start.named_parameters()
    }
    assert all(np.ptp(one) < 1e-6 for one in apart.values())
    return {name: round(float(one.mean()), 5) for name, one in apart.items()}


def test_public_weights_decide() -> None:
    sent = Update("north", 1, change(1.0)), list(change(5.0).values())
    found = moved({"north": sent[0], "south": sent[1]})
    assert found == {"weight": 2.0, "bias": 2.0}


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "nothing",
        {"weight": np.zeros((2, 3))},
        {"weight": np.zeros((3, 2)), "bias": np.zeros(2)},
        {"weight": np.full((2, 3), np.nan), "bias": np.zeros(2)},
        {"weight": np.full((2, 3), np.inf), "bias": np.zeros(2)},
        [np.zeros((2, 3))],
        Update("south", 1, {}),
    ],
)
def test_an_odd_update_contributes_nothing(odd: Any) -> None:
    """And nobody else has a larger share for it."""
    expected = {"weight": 0.75, "bias": 0.75}
    assert moved({"north": change(1.0), "south": odd}) == expected
    assert moved({"north": change(1.0)}) == expected


@pytest.mark.parametrize(
    "shares", [{}, {"south": 1.0}, {"north": 0.0}, {"north": float("nan")}]
)
def test_bad_weights_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ArgumentError, match="shares"):
        average(model(), {"north": change(1.0)}, shares)
