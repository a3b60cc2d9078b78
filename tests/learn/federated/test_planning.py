"""What runs cost, beside dp-accounting and closed forms; never below."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import norm

import dither
from dither.errors import ArgumentError
from dither.learn import federated
from dither.learn.federated import Banded, Independent, Participation, Tree
from dither.ledger import Ledger
from dither.privacy import ROW, Relation, Unit
from tests.learn.federated.data import federation, model, number, run, told

DELTA = 1e-5


def peer(noise: float, rate: float, rounds: int, pessimistic: bool) -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld

    found = pld.from_gaussian_mechanism(
        noise,
        sampling_prob=rate,
        value_discretization_interval=1e-3,
        pessimistic_estimate=pessimistic,
    ).self_compose(rounds)
    return float(found.get_epsilon_for_delta(DELTA))


@pytest.mark.parametrize(
    ("noise", "cohort", "rounds"), [(1.0, 4, 50), (2.0, 20, 100), (0.7, 1, 10)]
)
def test_sampled_rounds_cost_what_dp_accounting_says(
    noise: float, cohort: int, rounds: int
) -> None:
    options = run(noise=noise, cohort=cohort, rounds=rounds, delta=DELTA)
    found = federated.preview(model(), federation(), **options)
    assert found.probability is not None
    rate = float(found.probability)
    assert rate <= cohort / 40
    low, high = (peer(noise, rate, rounds, side) for side in (False, True))
    assert low <= found.epsilon <= 1.01 * high


def test_noise_follows_from_a_stated_epsilon() -> None:
    options = run(noise=None, epsilon=2.0, delta=DELTA, rounds=30)
    found = federated.preview(model(), federation(), **options)
    low = peer(found.noise[0], 0.5, 30, False)
    assert 0.99 * 2 <= low <= 2.0


def test_adaptive_clipping_is_part_of_the_cost() -> None:
    """The gradients' and the count's noise together cost what one of the multiplier
    does: 1/σ² = 1/σ_g² + 1/(2σ_b)².
    """
    from dither.learn import Adaptive

    options = run(clip=Adaptive(1.0, count_noise=5.0))
    found = federated.preview(model(), federation(), **options)
    deviation = found.mean_noise[0] * found.cohort
    assert deviation**-2 + (2 * 5.0) ** -2 == pytest.approx(1.0, rel=1e-9)
    assert found.epsilon == federated.preview(model(), federation(), **run()).epsilon


@pytest.mark.parametrize("how", [Banded(4), Tree(), Independent(), None], ids=str)
def test_correlated_noise_costs_one_gaussian_release(how: Any) -> None:
    options = told(rounds=20, units=50, cohort=None, noise=1.7)
    rule = Participation(gap=5, most=3)
    found = federated.preview(
        number(), [1.0], **options, participation=rule, factorization=how
    )
    mu = 1 / 1.7
    delta = norm.cdf(mu / 2 - found.epsilon / mu) - math.exp(found.epsilon) * norm.cdf(
        -mu / 2 - found.epsilon / mu
    )
    assert found.probability is None
    assert delta == pytest.approx(1e-5, rel=1e-6)


def test_correlated_noise_is_as_large_as_its_sensitivity_says() -> None:
    rule = Participation(gap=5, most=3)
    options = told(rounds=20, units=50, cohort=10, noise=1.5, clip=2.0)
    weight = federated.Weighted(most=4, mean=2)
    found = federated.preview(
        number(),
        [1.0],
        **options,
        participation=rule,
        factorization=Banded(4),
        weight=weight,
    )
    moved = Banded(4).sensitivity(20, rule)
    least = 1.5 * moved * 2.0 * 4 / (10 * 2)
    most = least * Banded(4).largest(20)
    assert found.mean_noise == pytest.approx((least, most))
    assert most > 1.1 * least


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Any]:
    with Ledger.open(tmp_path / "book.db") as found:
        yield found


def account(book: Any, relation: Relation = Relation.ADD_REMOVE) -> Any:
    unit, name = Unit("phone", relation), f"phones {relation.name}"
    return book.account(name, epsilon=8.0, delta=1e-6, unit=unit)


def test_replaced_clients_gain_nothing_from_sampling(book: Any) -> None:
    replaced = account(book, Relation.REPLACE)
    options = run(noise=10.0, budget=replaced)
    found = federated.preview(model(), federation(), **options)
    assert found.guarantee == dither.GaussianDP(found.guarantee.mu, unit=replaced.unit)
    assert found.guarantee.mu == pytest.approx(2 / 10 * math.sqrt(3), rel=1e-9)
    rule = Participation(gap=2, most=2)
    limited = federated.preview(model(), federation(), **options, participation=rule)
    assert limited.guarantee.mu == pytest.approx(2 / 10, rel=1e-12)


@pytest.mark.parametrize("rule", [None, Participation(gap=2, most=2)], ids=str)
def test_a_share_of_the_account_is_what_is_taken(book: Any, rule: Any) -> None:
    for relation in Relation:
        pays = account(book, relation)
        options = run(noise=None, share=0.25, budget=pays, participation=rule)
        federated.train(model(), federation(), **options)
        assert 0.24 <= float(pays.spent) <= 0.2500001


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cohort": 41}, "cohort"),
        ({"cohort": 0}, "cohort"),
        ({"cohort": None}, "cohort"),
        ({"rounds": None}, "rounds"),
        ({"rounds": 0}, "rounds"),
        ({"units": None}, "units"),
        ({"rows": None}, "rows"),
        ({"loss": None}, "loss"),
        ({"example": None}, "example"),
        ({"example": 3}, "example"),
        ({"noise": None}, "exactly one"),
        ({"epsilon": 1.0}, "exactly one"),
        ({"noise": -1.0}, "noise"),
        ({"noise": None, "share": 0.5}, "budget"),
        ({"local_steps": 0}, "local_steps"),
        ({"local_lr": float("nan")}, "local_lr"),
        ({"clip": 0.0}, "clip"),
        ({"server": "fedavg"}, "FedAvg"),
        ({"weight": 5}, "Weighted"),
        ({"delta": 0.5}, "delta"),
        ({"client": 3}, "client"),
        ({"callbacks": [1]}, "callbacks"),
        ({"owner": "row", "example": None}, "inputs"),
    ],
)
def test_a_bad_question_costs_nothing(
    book: Any, options: dict[str, Any], words: str
) -> None:
    pays = account(book)
    more = {} if "delta" in options or options.get("share") else {"budget": pays}
    with pytest.raises(ArgumentError, match=words):
        federated.train(model(), federation(), **run(**more, **options))
    assert float(pays.spent) == 0


def test_weights_that_cannot_be_are_refused() -> None:
    for most, mean in ((0, 1), (1, 0), (1, 2), (float("inf"), 1)):
        with pytest.raises(ArgumentError):
            federated.Weighted(most, mean)


def test_rows_are_another_unit_than_clients(book: Any) -> None:
    pays = book.account("rows", epsilon=3.0, delta=1e-6, unit=ROW)
    with pytest.raises(dither.errors.DitherError):
        federated.train(model(), federation(), **run(budget=pays))
    assert float(pays.spent) == 0
