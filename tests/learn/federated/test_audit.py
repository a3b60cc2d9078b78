"""The audit accepts federated rounds at their claims, and refutes copies that leave out
one of the things that the claim rests on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from dither import audit
from dither.learn.federated import Banded, Independent, Participation, Tree, Weighted
from dither.learn.federated.aggregation import Sum
from dither.learn.federated.clients import Held
from dither.learn.federated.participation import Admission
from dither.learn.federated.rounds import Rounds
from dither.privacy import GaussianDP, Guarantee, PoissonSampled
from tests.chance import chance
from tests.learn.federated.data import NAN, number, ready, told

DRAWS = 500
Made = Callable[[list[Any]], list[float]]


def rounds_of(options: dict[str, Any]) -> Callable[[list[Any]], Rounds]:
    """Fresh rounds for the same settled run."""
    made, _ = ready(number(), [], **options)

    def begun(clients: list[Any]) -> Rounds:
        torch.nn.init.zeros_(made.model.weight)
        return Rounds(made, Held(clients, None, 1))

    return begun


def released(begun: Rounds, rounds: int) -> list[float]:
    """The weights after each round."""
    found = []
    for at in range(1, rounds + 1):
        begun.step(at, begun.ready.plan.noises[at - 1])
        found.append(float(begun.ready.model.weight.detach()))
    return found


def mechanism(rounds: int = 1, **more: Any) -> Made:
    begin = rounds_of(told(rounds=rounds, **more))
    return lambda clients: released(begin(clients), rounds)


def refuted(
    made: Made,
    one: list[Any],
    two: list[Any],
    claimed: Guarantee,
    draws: int = DRAWS,
    confidence: float = 1 - 1e-8,
) -> bool:
    return audit.mechanism(
        made, one, two, claimed=claimed, draws=draws, confidence=confidence
    ).refuted


WITHOUT = [0.3, NAN, -0.2]
WITH = [*WITHOUT, 900.0]
MU = 0.5


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("clip", [1.0, 0.01], ids=["clip 1", "clip 0.01"])
def test_rounds_keep_their_claim(clip: float) -> None:
    made = mechanism(noise=1 / MU, clip=clip)
    assert not refuted(made, WITH, WITHOUT, GaussianDP(MU))


@chance(1e-8)
def test_weighted_rounds_keep_their_claim() -> None:
    made = mechanism(noise=1 / MU, weight=Weighted(most=2, mean=1))
    liar = [*WITHOUT, (1.0, 1e9)]
    assert not refuted(made, liar, WITHOUT, GaussianDP(MU))


@chance(1e-8)
@pytest.mark.full
def test_sampled_rounds_keep_their_claim() -> None:
    made = mechanism(rounds=3, cohort=1, noise=1.0)
    claimed = PoissonSampled(0.25, GaussianDP(1.0), 3).approx(1e-2)
    assert not refuted(made, WITH, WITHOUT, claimed)


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("how", [Banded(3), Tree(), Independent()], ids=str)
def test_correlated_rounds_keep_their_claim(how: Any) -> None:
    made = limited(how)
    assert not refuted(made, [0.0, 900.0], [0.0], GaussianDP(MU))


def limited(how: Any) -> Made:
    """A client that comes to each round, of which two are allowed."""
    return mechanism(
        rounds=4,
        cohort=1,
        noise=1 / MU,
        participation=Participation(2, 2),
        factorization=how,
        arrivals=lambda _: [0, 1],
    )


@chance(1e-8)
@pytest.mark.full
def test_an_update_that_is_not_clipped_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def add(self: Sum, updates: Any) -> None:
        for name, one in updates.changes.items():
            self.totals[name] = self.totals.get(name, 0.0) + one.double().sum(0)

    made = mechanism(noise=1 / MU)
    monkeypatch.setattr(Sum, "add", add)
    assert refuted(made, [0.3, 9.0], [0.3], GaussianDP(MU))


@chance(1e-8)
def test_a_weight_without_a_bound_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = mechanism(noise=1 / MU, weight=Weighted(most=2, mean=1))
    monkeypatch.setattr(Weighted, "of", lambda _, sizes: sizes.double())
    assert refuted(made, [*WITHOUT, (1.0, 50.0)], WITHOUT, GaussianDP(MU))


@chance(1e-8)
@pytest.mark.full
def test_a_realised_denominator_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise of a mean over who came tells how many they were."""
    plain = Rounds._noisy

    def noisy(self: Rounds, *rest: Any) -> Any:
        declared = self.ready.plan.batch
        found = plain(self, *rest)
        came = max(len(self.clients), 1)
        return {name: one * declared / came for name, one in found.items()}

    made = mechanism(noise=10.0)
    assert not refuted(made, [0.0, 0.0], [0.0], GaussianDP(0.1))
    monkeypatch.setattr(Rounds, "_noisy", noisy)
    few: dict[str, Any] = {"draws": 4000, "confidence": 0.999}
    assert refuted(made, [0.0, 0.0], [0.0], GaussianDP(0.1), **few)


@chance(1e-8)
@pytest.mark.full
def test_amplification_for_a_fixed_schedule_is_refuted() -> None:
    """Somebody who comes to the first round, by plan, is in no sample."""
    made = mechanism(
        cohort=1,
        noise=1.0,
        participation=Participation(4, 1),
        factorization=Independent(),
        arrivals=lambda _: [0, 1],
    )
    assert not refuted(made, [0.0, 9.0], [0.0], GaussianDP(1.0))
    claimed = PoissonSampled(0.05, GaussianDP(1.0)).approx(1e-2)
    assert refuted(made, [0.0, 9.0], [0.0], claimed, confidence=0.999)


@chance(1e-8)
@pytest.mark.full
def test_participation_that_nobody_enforces_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def admit(_: Admission, __: int, arrived: Any) -> Any:
        return np.repeat(arrived[arrived > 0], 3)

    made = limited(Independent())
    monkeypatch.setattr(Admission, "admit", admit)
    assert refuted(made, [0.0, 900.0], [0.0], GaussianDP(MU))
