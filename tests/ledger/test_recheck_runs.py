"""Declared runs computed anew: true ones pass, and those that state too little do
not.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dither.errors import LedgerError
from dither.ledger.recheck import _loss_of
from dither.ledger.recheck_runs import declared_loss
from dither.ledger.wire import from_json, to_json
from dither.privacy import (
    Composed,
    Declared,
    FixedSizeSampled,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    PoissonSampled,
    Unit,
)
from dither.privacy.truncated import truncated

RUN = PoissonSampled(0.01, GaussianDP(1.0), 200)
REPLACED = Unit("row", "replace")


@pytest.fixture(scope="module")
def declared() -> Declared:
    return truncated(RUN, 8, 1e-6)


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        GaussianDP(0.7),
        PoissonSampled(1.0, GaussianDP(0.1), 25),
        Composed([RUN, PoissonSampled(0.01, GaussianDP(0.6), 50)]),
        PoissonSampled(0.001, GaussianDP(1.0), 3),
    ],
)
def test_true_charges_pass(run: Guarantee) -> None:
    data = to_json(truncated(run, 8, 1e-6))
    assert declared_loss(data) == data["loss"]


@pytest.mark.parametrize(
    "change",
    [{"loss": 0.99}, {"epsilon": 0.99}, {"delta": 0.5}, {"delta": 0.9}],
)
def test_charges_that_state_too_little_do_not(
    declared: Declared, change: dict[str, float]
) -> None:
    ((name, factor),) = change.items()
    forged = to_json(declared)
    forged[name] *= factor
    with pytest.raises(LedgerError):
        declared_loss(forged)


def test_a_run_with_more_steps_than_were_charged_does_not(declared: Declared) -> None:
    forged = to_json(declared)
    forged["of"]["steps"] += 20
    with pytest.raises(LedgerError):
        declared_loss(forged)


def test_at_another_order_the_run_itself_is_counted(declared: Declared) -> None:
    lost = _loss_of(to_json(declared), "renyi", 9, "add/remove")
    assert lost.loss == pytest.approx(RUN.renyi(9), rel=1e-6)
    assert lost.delta == Fraction("1e-06")


@pytest.mark.parametrize(
    "guarantee",
    [
        LaplaceDP(0.5),
        FixedSizeSampled(0.01, GaussianDP(1.0, unit=REPLACED), 10),
        Declared(RUN, 8, 0.5, 1e-6, 1.0),
        Declared(Composed([RUN, RUN]), 8, 0.5, 1e-6, 1.0),
    ],
)
def test_new_kinds_are_written_and_read(guarantee: Guarantee) -> None:
    assert from_json(to_json(guarantee)) == guarantee


def _loss(data: dict[str, Any], relation: str) -> Any:
    return _loss_of(data, "renyi", 8, relation)


def test_laplace_noise_is_rechecked_as_such() -> None:
    lost = _loss(to_json(LaplaceDP(0.5)), "add/remove")
    assert float(lost.pure) == 0.5
    assert lost.exact
    assert lost.loss == pytest.approx(LaplaceDP(0.5).renyi(8), rel=1e-9)


def test_samples_of_a_fixed_size_have_a_larger_bound() -> None:
    promise = FixedSizeSampled(0.01, GaussianDP(1.0, unit=REPLACED), 10)
    lost = _loss(to_json(promise), "replace")
    assert not lost.exact
    assert promise.renyi(8) <= lost.loss <= promise.renyi(8) * 4


def test_runs_that_cannot_be_composed_anew_are_refused(declared: Declared) -> None:
    forged = to_json(declared)
    forged["of"] = to_json(LaplaceDP(0.5))
    with pytest.raises(LedgerError, match="unknown kind"):
        declared_loss(forged)
