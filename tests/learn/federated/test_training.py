"""Federated runs as people ask for them: kinds of clients, odd ones, and one account."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import dither
from dither.learn import Adaptive, federated
from dither.learn.federated import FedAdam, FedAvg, Participation, Weighted
from tests.chance import chance
from tests.learn.federated.data import INF, NAN, federation, model, number, run, told

pd = pytest.importorskip("pandas")


def accuracy(found: Any) -> float:
    inputs = torch.cat([one for one, _ in federation(30, seed=9).values()])
    right = found.value(inputs).argmax(1) == (inputs[:, 0] > inputs[:, 1])
    return float(right.float().mean())


LEARNING: dict[str, Any] = {"rounds": 30, "local_steps": 5, "local_lr": 0.5}
MANY = 400


WAYS: dict[str, dict[str, Any]] = {
    "fedavg": {"server": FedAvg(lr=1.0, momentum=0.5)},
    "fedadam": {"server": FedAdam(lr=0.05)},
    "weighted": {"weight": Weighted(most=6, mean=6)},
    "adaptive": {"clip": Adaptive(0.5, count_noise=20.0), "local_batch": 3},
    "limited": {"participation": Participation(gap=10, most=3)},
}


@chance(1e-9)
@pytest.mark.parametrize(
    "more",
    [
        pytest.param(more, id=name, marks=() if name == "limited" else pytest.mark.full)
        for name, more in WAYS.items()
    ],
)
def test_models_learn(more: dict[str, Any]) -> None:
    options = run(**LEARNING, units=MANY, cohort=100, noise=0.8, block=32) | more
    found = federated.train(model(), federation(MANY), **options)
    assert accuracy(found) > 0.85


@chance(1e-9)
def test_odd_clients_neither_stop_a_run_nor_poison_it() -> None:
    clients: dict[str, Any] = dict(federation(300))
    inputs, labels = clients["c0"]
    clients |= {
        "nan": (inputs * NAN, labels),
        "infinite": (inputs * INF, labels),
        "huge": (inputs * 1e38, labels),
        "zero": (inputs * 0, labels),
        "gone": None,
        "shapes": (inputs.T, labels),
        "texts": (["a"], ["b"]),
        "labels": (inputs, labels - 7),
        "short": (inputs, labels[:1]),
        "whole": (inputs.long(), labels),
        "empty": (inputs[:0], labels[:0]),
    }
    options = run(**LEARNING, units=310, cohort=310, noise=0.5)
    found = federated.train(model(), clients, **options)
    assert accuracy(found) > 0.85


def test_the_model_that_was_passed_stays_as_it_was() -> None:
    own = model()
    before = [one.detach().clone() for one in own.parameters()]
    found = federated.train(own, federation(), **run())
    assert all(map(torch.equal, before, own.parameters()))
    assert found.value is not own
    assert all(one.grad is None for one in found.value.parameters())


def test_clients_come_in_several_forms() -> None:
    pairs = federation()
    inputs = torch.cat([one for one, _ in pairs.values()])
    labels = torch.cat([one for _, one in pairs.values()])
    owner = np.repeat(np.arange(40), 6)
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(inputs.numpy(), columns=names)
    frame["owner"], frame["label"] = owner, labels.numpy()
    table = {"inputs": names, "target": "label", "owner": "owner", "classes": [0, 1]}
    bare = run()
    bare.pop("example")
    forms: list[tuple[Any, dict[str, Any]]] = [
        (pairs, run()),
        (list(pairs.values()), run()),
        ((inputs, labels), bare | {"owner": owner}),
        (frame, bare | table),
    ]
    costs = set()
    for clients, options in forms:
        shown = federated.preview(model(), clients, **options)
        costs.add(shown.epsilon)
        assert "at a time" in str(shown)
        found = federated.train(model(), clients, **options)
        assert found.digest
    assert len(costs) == 1


def test_nobody_comes_and_the_answer_is_noise() -> None:
    for clients in ([], {}, [None] * 5):
        found = federated.train(model(), clients, **run())
        assert bool(torch.isfinite(next(found.value.parameters())).all())


def test_callbacks_and_history_see_public_numbers() -> None:
    seen: list[Any] = []
    public = federation(5, seed=4)["c0"]
    options = run(rounds=40, public=public, callbacks=[seen.append])
    found = federated.train(model(), federation(), **options)
    assert [one.step for one in seen] == list(range(1, 41))
    assert len(found.history) == 20
    assert found.history[-1].accuracy is not None
    assert "clients" in str(found)
    stopped = federated.train(
        model(), federation(), **run(callbacks=[lambda now: now.step == 2])
    )
    assert stopped.history[-1].step == 2
    (note,) = (one for one in stopped.notes if "stopped" in one)
    assert note.startswith("stopped after 2 of ")
    assert note.endswith(" were charged")
    assert (
        stopped.guarantee == federated.train(model(), federation(), **run()).guarantee
    )


def test_a_preview_asks_nobody() -> None:
    class Untouched:
        def __len__(self) -> int:
            raise AssertionError

        def __getitem__(self, place: int) -> Any:
            raise AssertionError

    assert federated.preview(model(), Untouched(), **run()).rounds == 3
    with pytest.raises(dither.errors.ArgumentError):
        federated.train(model(), Untouched(), **run(noise=0.0))


def test_a_model_that_mixes_rows_is_refused() -> None:
    class Deciding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(4, 2)

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            scale = 2.0 if bool(inputs.sum() > 0) else 1.0
            found: torch.Tensor = self.inner(inputs) * scale
            return found

    with pytest.raises(dither.errors.ArgumentError, match="mixes"):
        federated.preview(Deciding(), federation(), **run())


def test_one_account_pays_for_questions_and_rounds() -> None:
    count = 300
    made = np.random.default_rng(5)  # allowed: made-up data
    age, days = made.uniform(20, 95, count), made.uniform(1, 30, count)
    ward = np.where(age > 65, "old", "young")
    columns = {"patient": np.arange(count) // 3, "age": age, "days": days, "ward": ward}
    visits = dither.open(
        {"visits": pd.DataFrame(columns)},
        unit="patient",
        bounds={"visits": {"age": (0, 110), "days": (0, 60)}},
        keys={"visits": {"ward": ["old", "young"]}},
        rows={"visits": 3},
        population=100,
        budget=(8.0, 1e-6),
    )
    visits.sql("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=0.5)
    asked = float(visits.account.spent)
    options: dict[str, Any] = {
        "loss": functional.cross_entropy,
        "inputs": ["age", "days"],
        "target": "ward",
        "rounds": 5,
        "cohort": 20,
        "noise": 2.0,
    }
    found = federated.train(nn.Linear(2, 2), visits, **options)
    terms = visits.account.terms
    cost = terms.cost(found.guarantee).loss / terms.loss_cap
    assert float(visits.account.spent) == pytest.approx(asked + cost, rel=1e-6)
    assert found.receipt is not None
    assert found.predict([{"age": 80, "days": 3}])[0] in ("old", "young")
    rule = Participation(gap=2, most=2)
    limited = federated.train(nn.Linear(2, 2), visits, **options, participation=rule)
    assert limited.guarantee == dither.GaussianDP(0.5, unit=visits.account.unit)


def test_a_refused_charge_asks_nobody() -> None:
    asked = []

    def client(_: Any, held: Any) -> Any:
        asked.append(held)

    budget = dither.Budget(epsilon=0.1, delta=1e-6)
    options = told(client=client, budget=budget, noise=0.5, delta=None, units=900)
    with pytest.raises(dither.errors.DitherError):
        federated.train(number(), [1.0] * 4, **options)
    assert asked == []


@chance(1e-9)
def test_single_numbers_are_parameters_and_targets_too() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(0.0))

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return inputs[:, 0] * self.scale

    clients = [(one, 2 * one[:, 0]) for one, _ in federation(200).values()]
    clients[3] = (clients[3][0], clients[3][1] * NAN)
    options = run(
        loss=functional.mse_loss,
        example=(torch.zeros(4), 0.0),
        units=200,
        cohort=100,
        rounds=20,
        noise=0.5,
    )
    found = federated.train(Scaled(), clients, **options)
    assert float(found.value.scale.detach()) == pytest.approx(2.0, abs=0.3)
