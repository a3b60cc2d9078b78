"""Five hospitals train one model, and one of them answers a question in SQL from the same
account; what all accounts hold is what dp-accounting adds up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither
from dither.learn import hospitals
from dither.ledger import Account
from dither.privacy import PoissonSampled

torch = pytest.importorskip("torch")
pd = pytest.importorskip("pandas")
torch.set_num_threads(1)

DELTA, GRID = 1e-6, 5e-4
SIZES = {"north": 900, "south": 600, "east": 400, "west": 300, "coast": 200}
MIDDLES = {"north": 0.6, "south": 0.4, "east": 0.8, "west": 0.2, "coast": 0.5}
RUN: dict[str, Any] = {
    "loss": torch.nn.functional.cross_entropy,
    "rounds": 10,
    "steps": 4,
    "lr": 4.0,
    "clip": 0.5,
}


def visits(name: str, count: int, seed: int) -> Any:
    """Patients with one or two visits; hospitals differ in who comes to them."""
    made = np.random.default_rng([seed, count])  # allowed: made-up data
    owner = np.repeat(np.arange(count), made.integers(1, 3, count))
    risk = made.normal(MIDDLES[name], 0.25, len(owner))
    marker = made.normal(0.5, 0.2, len(owner))
    back = 6 * (risk - 0.5) + 4 * (marker - 0.5) + made.logistic(size=len(owner)) > 0
    columns = {"patient": owner, "risk": risk, "marker": marker}
    return pd.DataFrame({**columns, "back": np.where(back, "yes", "no")})


def opened(name: str) -> dither.Dataset:
    return dither.open(
        visits(name, SIZES[name], 3),
        name=name,
        unit="patient",
        bounds={"risk": (0, 1), "marker": (0, 1)},
        keys={"back": ["no", "yes"]},
        rows=2,
        population=SIZES[name],
        budget=(8.0, DELTA),
        ledger=":memory:",
    )


def hospital(name: str, data: dither.Dataset) -> hospitals.Hospital:
    columns = {"inputs": ["risk", "marker"], "target": "back"}
    return hospitals.Hospital(name, data, batch=SIZES[name] // 8, **columns)


def start() -> Any:
    torch.manual_seed(1)  # allowed: starting weights are public
    return torch.nn.Linear(2, 2)


def right(model: Any) -> float:
    """On patients of all hospitals."""
    frame = pd.concat([visits(name, 300, 9) for name in SIZES])
    inputs = frame[["risk", "marker"]].clip(0, 1).to_numpy(np.float32)
    with torch.no_grad():
        found = model(torch.tensor(inputs)).argmax(1).numpy()
    return float(((frame.back == "yes").to_numpy() == found).mean())


def without_privacy() -> Any:
    frame = pd.concat([visits(name, size, 3) for name, size in SIZES.items()])
    inputs = torch.tensor(frame[["risk", "marker"]].clip(0, 1).to_numpy(np.float32))
    labels = torch.tensor((frame.back == "yes").to_numpy().astype(int))
    model = start()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=100)

    def loss() -> Any:
        optimizer.zero_grad()
        found = RUN["loss"](model(inputs), labels)
        found.backward()
        return found

    optimizer.step(loss)
    return model


def event(run: PoissonSampled) -> Any:
    from dp_accounting import dp_event

    step = dp_event.GaussianDpEvent(1 / run.of.mu)
    sampled = dp_event.PoissonSampledDpEvent(run.rate, step)
    return dp_event.SelfComposedDpEvent(sampled, run.steps)


def independent(*runs: Any) -> float:
    """The ε of runs together, as dp-accounting adds it up."""
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=GRID)
    for one in runs:
        accountant.compose(event(one))
    return float(accountant.get_epsilon(DELTA))


def loss_of(terms: Any, event: Any, *, replacing: bool = False) -> float:
    """The Rényi loss of an event at an account's order, by dp-accounting."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    relation = NeighboringRelation.ADD_OR_REMOVE_ONE
    if replacing:  # it has randomized response for replaced units only
        relation = NeighboringRelation.REPLACE_ONE
    return float(RdpAccountant([terms.order], relation).compose(event)._rdp[0])


def test_five_hospitals_one_model_and_a_question_in_sql() -> None:
    from dp_accounting import dp_event

    data = {name: opened(name) for name in SIZES}
    members = [hospital(name, one) for name, one in data.items()]
    asked = {"patients": "in one hospital", "epsilon": 3.0, **RUN}
    found = hospitals.train(start(), members, **asked)
    north = data["north"]
    counts = north.sql("SELECT COUNT(*) FROM north", epsilon=0.5)

    assert all(one.missed == () for one in found.members.values())
    runs = {name: one.guarantee for name, one in found.members.items()}
    known = max(independent(one) for one in runs.values())
    steps = RUN["rounds"] * RUN["steps"]
    joint = found.guarantee.epsilon_at(DELTA)
    assert known - steps * GRID <= joint <= min(3.0, 1.01 * known)
    both = hospitals.joint(runs, delta=DELTA).epsilon_at(DELTA)
    known = independent(*runs.values())
    assert known - 5 * steps * GRID <= both <= 1.01 * known

    for name, one in data.items():
        assert isinstance(one.account, Account)
        assert one.account.charges == (2 if name == "north" else 1)
    account = north.account
    assert isinstance(account, Account)
    terms = account.terms
    price = [terms.cost(one.guarantee).loss for one in (counts, found.members["north"])]
    response = dp_event.RandomizedResponseDpEvent(2 / (1 + math.exp(0.5)), 2)
    whole = (
        loss_of(terms, response, replacing=True),
        loss_of(terms, event(runs["north"])),
    )
    # The book holds nano-units of the loss, rounded up
    assert [one / 1e9 for one in price] == pytest.approx(whole, rel=1e-6)
    assert all(
        one / 1e9 >= two * (1 - 1e-9) for one, two in zip(price, whole, strict=True)
    )
    charged = [one.guarantee for one in account.history()]
    total = sum(terms.cost(one).loss for one in charged)
    assert account.spent == pytest.approx(total / terms.loss_cap, rel=1e-6)


@pytest.mark.full
def test_together_is_near_what_is_learned_without_privacy() -> None:
    """And no worse, on patients of all hospitals, than the mean hospital alone."""
    data = {name: opened(name) for name in SIZES}
    members = [hospital(name, one) for name, one in data.items()]
    together = hospitals.train(start(), members, epsilon=3.0, **RUN)
    alone = [
        right(hospitals.train(start(), [one], epsilon=3.0, **RUN).value)
        for one in [hospital(name, opened(name)) for name in SIZES]
    ]
    assert right(together.value) > right(without_privacy()) - 0.05
    assert right(together.value) > np.mean(alone) - 0.01
