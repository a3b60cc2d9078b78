"""What hospitals promise together is what an independent accountant adds up: the sum, or
the largest where the id of a patient decides the hospital.
"""

from __future__ import annotations

from typing import Any

import pytest

from dither import ArgumentError
from dither.learn import hospitals
from dither.learn.hospitals import joint
from dither.privacy import Composed, GaussianDP, PoissonSampled, PureDP, Unit
from tests.learn.hospitals.data import (
    PATIENT,
    account,
    asked,
    hospital,
    lines,
    model,
    records,
)

DELTA = 1e-6
ONE = "in one hospital"
GRID = 5e-4


def run(noise: float, rate: float = 0.2, steps: int = 40) -> PoissonSampled:
    return PoissonSampled(rate, GaussianDP(1 / noise, unit=PATIENT), steps)


RUNS = {"north": run(1.5), "south": run(2.0, 0.1), "east": run(3.0, 0.5, 20)}


def independent(*runs: Any) -> float:
    """ε as dp-accounting adds it up, on a grid that rounds losses up."""
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=GRID)
    for one in runs:
        step = dp_event.GaussianDpEvent(1 / one.of.mu)
        sampled = dp_event.PoissonSampledDpEvent(one.rate, step)
        accountant.compose(dp_event.SelfComposedDpEvent(sampled, one.steps))
    return float(accountant.get_epsilon(DELTA))


def near(found: float, known: float, steps: int) -> bool:
    """Not below what is known by more than that one's own rounding, nor far above."""
    return known - steps * GRID <= found <= known * 1.01


def test_a_patient_in_several_hospitals_pays_for_all() -> None:
    found = joint(RUNS, delta=DELTA)
    assert isinstance(found, Composed)
    known = independent(*RUNS.values())
    assert near(found.epsilon_at(DELTA), known, 100)
    alone = [one.epsilon_at(DELTA) for one in RUNS.values()]
    assert max(alone) < found.epsilon_at(DELTA) < sum(alone)


def test_a_patient_in_one_hospital_pays_for_the_largest() -> None:
    found = joint(RUNS, delta=DELTA, patients=ONE)
    known = max(independent(one) for one in RUNS.values())
    assert near(found.epsilon_at(DELTA), known, 40)
    least = max(one.epsilon_at(DELTA) for one in RUNS.values())
    assert found.epsilon_at(DELTA) >= least


def test_no_hospital_promises_less_than_all_together() -> None:
    """At the joint ε no hospital has a larger δ, up to rounding."""
    for patients in (ONE, "in several hospitals"):
        found = joint(RUNS, delta=DELTA, patients=patients)
        epsilon = found.epsilon_at(DELTA)
        assert all(one.delta_at(epsilon) <= 1.001 * DELTA for one in RUNS.values())


def test_hospitals_that_promise_the_same_promise_it_together() -> None:
    same = {"north": run(2.0), "south": run(2.0)}
    assert joint(same, delta=DELTA, patients=ONE) == run(2.0)
    twice = joint(same, delta=DELTA)
    assert twice == Composed([run(2.0), run(2.0)])
    assert near(twice.epsilon_at(DELTA), independent(run(2.0, steps=80)), 80)


def test_one_hospital_promises_what_it_promises() -> None:
    assert joint({"north": run(2.0)}, delta=DELTA) == run(2.0)


@pytest.mark.parametrize(
    ("guarantees", "more", "words"),
    [
        ({}, {}, "missing"),
        ({"north": 3.0}, {}, "is not a guarantee"),
        (RUNS, {"patients": "somewhere"}, "in several hospitals"),
        ({"a": PureDP(1.0), "b": PureDP(1.0, unit=PATIENT)}, {}, "the same unit"),
        (
            {
                "a": GaussianDP(1.0, unit=PATIENT),
                "b": GaussianDP(1.0, unit=Unit("patient", "replace")),
            },
            {"patients": ONE},
            "the same unit",
        ),
    ],
)
def test_what_says_nothing_together_is_refused(
    guarantees: Any, more: dict[str, str], words: str
) -> None:
    with pytest.raises(ArgumentError, match=words):
        joint(guarantees, delta=DELTA, **more)


@pytest.mark.parametrize("patients", [ONE, "in several hospitals"])
def test_accounts_may_add_up_in_their_own_ways(patients: str) -> None:
    """A Gaussian and a Rényi account are charged in other ways; the joint promise is
    that of the steps, and the same.
    """
    accounts = {name: account(name, accounting=name) for name in ("renyi", "gdp")}
    members = [hospital(name, budget=one) for name, one in accounts.items()]
    found = hospitals.train(model(), members, patients=patients, **asked(noise=2.0))
    charged = [one.receipt.guarantee for one in found.members.values()]
    assert type(charged[0]) is not type(charged[1])
    promised = {name: one.guarantee for name, one in found.members.items()}
    assert found.guarantee == joint(promised, delta=DELTA, patients=patients)
    assert len(set(promised.values())) == 1


def test_the_same_records_are_not_in_one_hospital() -> None:
    data = records()
    both = [hospital(name, data=data) for name in ("north", "south")]
    with pytest.raises(ArgumentError, match="same records"):
        hospitals.train(model(), both, patients="in one hospital", **asked())
    for one in both:
        assert lines(one.budget, "charge") == []  # type: ignore[arg-type]


def test_hospitals_of_other_units_are_refused_and_nobody_pays() -> None:
    accounts = [account("a"), account("b", unit=Unit("patient", "replace"))]
    members = [hospital(one.name, budget=one) for one in accounts]
    with pytest.raises(ArgumentError, match="the same unit"):
        hospitals.train(model(), members, **asked())
    assert [one.charges for one in accounts] == [0, 0]
