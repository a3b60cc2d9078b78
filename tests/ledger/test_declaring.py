"""Declared runs on an account: charged the cheapest way, and rechecked by another
accountant.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from dither.errors import ArgumentError
from dither.ledger import Ledger, verify
from dither.ledger.declaring import cheapest, noise_for_share, share_taken
from dither.ledger.export import export, recheck
from dither.ledger.terms import Accounting, Terms
from dither.privacy import (
    ApproxDP,
    Declared,
    GaussianDP,
    Guarantee,
    PoissonSampled,
    Run,
    Unit,
)
from dither.privacy.training import MOST_NOISE

THREE = Terms.of(Accounting.RENYI, ApproxDP(3.0, 1e-5))
DIGITS = Run(round(0.0043 * 2**32), ((1.0, 3516),))


def taken(guarantee: Guarantee, terms: Terms = THREE) -> float:
    return float(share_taken(terms.cost(guarantee), terms))


def test_a_run_is_charged_the_cheapest_way() -> None:
    assert THREE.order == 8
    run = DIGITS.times(0.9).guarantee
    charged = cheapest(run, THREE)
    assert isinstance(charged, Declared)
    assert charged.of == run
    plain = [run.approx(5e-6 / 2**halved) for halved in range(4)]
    assert taken(charged) < min(taken(one) for one in (run, *plain))


def test_little_noise_over_a_few_steps_needs_no_delta() -> None:
    """Where the loss at the order is as good, the run is charged as it is."""
    run = GaussianDP(0.01)
    assert cheapest(run, THREE) == run
    assert THREE.cost(run).delta == 0


@pytest.mark.parametrize(
    ("rate", "steps", "share", "noise"),
    [
        (0.01, 40, 0.1, 0.821),
        pytest.param(0.0043, 3516, 0.5, 0.861, marks=pytest.mark.full),
        pytest.param(0.0043, 3516, 1, 0.738, marks=pytest.mark.full),
        pytest.param(0.0011, 9375, 1, 0.583, marks=pytest.mark.full),
    ],
)
def test_the_noise_for_a_share(
    rate: float, steps: int, share: float, noise: float
) -> None:
    run = Run(round(rate * 2**32), ((1.0, steps),))
    found = noise_for_share(run, THREE, Fraction(share))
    assert found.stages[0][0] == pytest.approx(noise, abs=2e-3)
    assert taken(cheapest(found.guarantee, THREE)) <= share


def test_a_share_that_is_too_small_is_said() -> None:
    run = Run(1 << 32, ((1.0, 3_000_000),))
    with pytest.raises(ArgumentError, match="is too small") as refused:
        noise_for_share(run, THREE, Fraction(1, 100))
    least = taken(cheapest(run.times(MOST_NOISE).guarantee, THREE))
    assert f"{least:.3g}" in str(refused.value)


def test_accounts_of_other_kinds() -> None:
    run = PoissonSampled(0.01, GaussianDP(1.0), 200)
    gdp = Terms.of(Accounting.GDP, ApproxDP(3.0, 1e-5))
    charged = cheapest(run, gdp)
    assert isinstance(charged, ApproxDP)
    assert charged.delta <= 5e-6
    assert taken(charged, gdp) < taken(run.approx(1e-9), gdp)
    assert cheapest(GaussianDP(0.3), gdp) == GaussianDP(0.3)
    with pytest.raises(ArgumentError, match="δ"):
        cheapest(run, Terms.of(Accounting.PURE, ApproxDP(3.0, 0.0)))


def test_a_replace_account_is_charged_without_amplification() -> None:
    person = Unit("person", "replace")
    terms = Terms.of(Accounting.RENYI, ApproxDP(3.0, 1e-5, unit=person))
    run = Run(1 << 20, ((40.0, 100),), person)
    charged = cheapest(run.guarantee, terms)
    assert taken(charged, terms) <= taken(GaussianDP(0.5, unit=person), terms) * 1.001


def test_training_and_questions_share_an_account() -> None:
    ledger = Ledger.open(":memory:")
    account = ledger.account("clinic", epsilon=3, delta=1e-5)
    account.charge(GaussianDP(0.2))
    run = Run(1 << 24, ((1.0, 100), (0.8, 50)))
    account.charge(cheapest(run.guarantee, account.terms), purpose="training")
    account.charge(GaussianDP(0.2))
    assert verify(ledger)
    totals = recheck(export(ledger))
    assert totals[0].charges == 3
    assert totals[0].fits
    spent = account.remaining.state.loss_spent / 1e9
    assert totals[0].spent.loss == pytest.approx(spent, rel=1e-6)
    assert account.remaining.state.delta_spent > 0
