"""One account pays for a SQL question, a trained model, two estimators and a search; what
it holds is what dp-accounting adds up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import dither
from dither import learn
from dither.learn.estimators.verbs import source_of

torch = pytest.importorskip("torch")
pd = pytest.importorskip("pandas")

COUNT = 600
DELTA = 1e-6
COLUMNS: dict[str, Any] = {"inputs": ["age", "days"], "target": "ward"}
WARDS = ["general", "surgery", "geriatrics"]
ORDERS = [*range(2, 65), 128, 256, 512]


def opened() -> dither.Dataset:
    made = np.random.default_rng(5)  # allowed: made-up data
    age, days = made.uniform(20, 95, COUNT), made.uniform(1, 30, COUNT)
    ward = np.where(age > 65, WARDS[2], np.where(days > 12, WARDS[1], WARDS[0]))
    columns = {"patient": np.arange(COUNT), "age": age, "days": days, "ward": ward}
    return dither.open(
        {"visits": pd.DataFrame(columns)},
        unit="patient",
        bounds={"visits": {"age": (0, 110), "days": (0, 60)}},
        keys={"visits": {"ward": WARDS}},
        rows={"visits": 1},
        population=COUNT,
        budget=(8.0, DELTA),
    )


def trained(visits: dither.Dataset) -> Any:
    return learn.train(
        torch.nn.Linear(2, 3),
        visits,
        **COLUMNS,
        loss=torch.nn.functional.cross_entropy,
        epochs=2,
        batch=60,
        lr=0.1,
        noise=2.0,
    )


def searching() -> learn.GridSearch:
    grid = {"max_iter": [2, 5, 10, 20, 30, 40]}
    return learn.GridSearch(learn.LogisticRegression(), grid, epsilon=1)


def losses(event: Any, *, replacing: bool = False) -> dict[float, float]:
    """Rényi losses of an event, as dp-accounting computes them."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    relation = NeighboringRelation.ADD_OR_REMOVE_ONE
    if replacing:  # it has randomized response for replaced units only
        relation = NeighboringRelation.REPLACE_ONE
    found = RdpAccountant(ORDERS, relation).compose(event)
    return dict(zip(ORDERS, found._rdp, strict=True))


def pure(epsilon: float) -> dict[float, float]:
    """Randomized response is the worst of all that promise ε."""
    from dp_accounting import dp_event

    chance = 2 / (1 + math.exp(epsilon))
    event = dp_event.RandomizedResponseDpEvent(chance, num_buckets=2)
    return losses(event, replacing=True)


def test_one_account_pays_for_all_of_it() -> None:
    from dp_accounting import dp_event

    visits = opened()
    counts = visits.sql("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=0.5)
    model = trained(visits)
    wards = visits.fit(learn.LogisticRegression(epsilon=1), **COLUMNS)
    bayes = visits.fit(learn.GaussianNB(epsilon=0.3), **COLUMNS)
    search = visits.fit(searching(), **COLUMNS)

    terms = visits.account.terms
    order = terms.order
    assert counts.guarantee == dither.PureDP(0.5, unit=visits.account.unit)
    run = model.guarantee
    sampled = dp_event.PoissonSampledDpEvent(run.rate, dp_event.GaussianDpEvent(2.0))
    known = [
        pure(0.5)[order],
        losses(dp_event.SelfComposedDpEvent(sampled, run.steps))[order],
        *(one_fit(each)[order] for each in (wards, bayes)),
    ]
    charged = [terms.cost(one.guarantee).loss for one in (counts, model)]
    charged += [terms.cost(one.release_.guarantee).loss for one in (wards, bayes)]
    whole = terms.loss_cap / budget_loss(terms)
    assert [one / whole for one in charged] == pytest.approx(known, rel=1e-6)

    way = search._asked(
        source_of(visits, **COLUMNS, table=None, kind="classes")
    ).plan.way
    repeated = dp_event.RepeatAndSelectDpEvent(
        dp_event.GaussianDpEvent(1 / way.run.mu),
        way.repetitions.mean,
        way.repetitions.eta,
    )
    total = visits.account.spent * terms.loss_cap / whole
    own = total - sum(known)
    assert worst(way, order) <= own <= losses(repeated)[order]
    assert search.release_.guarantee.epsilon_at(DELTA) == pytest.approx(1, rel=1e-6)


def one_fit(fitted: Any) -> dict[float, float]:
    from dp_accounting import dp_event

    promised = fitted.release_.guarantee
    if isinstance(promised, dither.PureDP):
        return pure(promised.epsilon)
    return losses(dp_event.GaussianDpEvent(1 / promised.mu))


def budget_loss(terms: Any) -> float:
    """What the account may lose at its order, in nats: the tight conversion of (ε, δ),
    with half of δ kept for answers that carry one.
    """
    order, half = terms.order, DELTA / 2
    gained = math.log((order - 1) / order) - math.log(half * order) / (order - 1)
    return float(terms.total.epsilon - gained)


def worst(way: Any, order: int) -> float:
    """The Rényi loss of the best of a geometric number of Gaussian runs whose score is
    what they release: a search cannot promise less.
    """
    mu, gamma = way.run.mu, way.repetitions.gamma

    def density(x: float, middle: float) -> float:
        below = norm.cdf(x - middle)
        return float(gamma / (1 - (1 - gamma) * below) ** 2 * norm.pdf(x - middle))

    def ratio(x: float) -> float:
        return density(x, mu) ** order * density(x, 0.0) ** (1 - order)

    return math.log(quad(ratio, -12, 12, limit=200)[0]) / (order - 1)
