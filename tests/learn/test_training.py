"""A model trained on private records is one more release."""

from __future__ import annotations

import copy
import pickle
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.lr_scheduler import CosineAnnealingLR

import dither
from dither import ArgumentError, Budget, Unit
from dither.learn import (
    Adaptive,
    Automatic,
    Flat,
    Linear,
    ModelRelease,
    PerLayer,
    preview,
    train,
)
from dither.learn.gradients.oracle import Traced
from dither.learn.preparing import prepared
from dither.learn.settings import Settings
from dither.privacy import Composed, GaussianDP, PoissonSampled
from tests.chance import chance
from tests.learn.data import EXAMPLE, Pairs, model, owned, records


def same(one: nn.Module, two: nn.Module) -> bool:
    pairs = zip(one.parameters(), two.parameters(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_a_run_trains_a_copy_and_is_charged() -> None:
    mine, before, budget = model(), model(), Budget(20.0, 1e-6)
    found = train(mine, records(), **owned(budget=budget, public=records(seed=2)))
    assert same(mine, before)
    assert all(one.grad is None for one in mine.parameters())
    assert not same(found.value, before)
    assert found.receipt is not None
    assert budget.holds(found.receipt)
    assert budget.stored(f"training {found.receipt.number}, weights") == (
        f"sha256 {found.digest}"
    )
    assert [one.step for one in found.history] == [4, 8]
    assert found.history[0].accuracy is not None
    assert "floating-point arithmetic" in str(found)


def test_preview_takes_the_same_arguments_and_reads_nothing() -> None:
    data, budget = Pairs(), Budget(3.0, 1e-5)
    seen = preview(model(), data, **owned(example=EXAMPLE, budget=budget, noise=3.0))
    assert data.read == 0
    assert seen.steps == 8
    assert seen.probability == PoissonSampled(0.25, GaussianDP(1), 1).rate
    assert seen.share is not None
    assert 0 < seen.share < 1
    assert "q = 1073741824/2^32" in str(seen)
    assert budget.affords(dither.PureDP(2.9))  # nothing was spent


@pytest.mark.parametrize("clip", [2.0, Adaptive(2.0, count_noise=1e9)])
def test_preview_says_how_noisy_a_mean_gradient_is(clip: Any) -> None:
    """Noise times radius over the batch: 3 · 2 / 50 in each of 67 numbers."""
    seen = preview(model(), records(), **owned(noise=3.0, clip=clip, delta=1e-6))
    assert seen.mean_noise == (pytest.approx(0.12), pytest.approx(0.12))
    assert seen.numbers == 67
    assert "mean gradient: 0.12 in each of 67 numbers, 0.9822 in norm" in str(seen)


def test_what_is_charged_is_what_ran() -> None:
    factors = Linear(1.0, 0.5)
    found = train(model(), records(), **owned(noise_schedule=factors, delta=1e-6))
    parts = found.guarantee
    assert isinstance(parts, Composed)
    levels = sorted(1 / part.of.mu for part in parts.parts)  # type: ignore[attr-defined]
    assert levels == pytest.approx([1 - step / 14 for step in range(7, -1, -1)])


def test_accounting_equals_dp_accounting() -> None:
    import dp_accounting
    from dp_accounting.pld import privacy_loss_distribution as losses

    seen = preview(model(), records(), **owned(epochs=10, noise=1.1, delta=1e-5))
    one = losses.from_gaussian_mechanism(
        1.1, sampling_prob=float(seen.probability), value_discretization_interval=1e-4
    )
    theirs = one.self_compose(seen.steps).get_epsilon_for_delta(1e-5)
    assert dp_accounting
    assert theirs * (1 - 1e-4) <= seen.epsilon <= theirs * (1 + 1e-3)


def test_calibrated_noise_spends_what_was_stated() -> None:
    seen = preview(model(), records(), **owned(noise=None, epsilon=2.0, delta=1e-5))
    assert 1.98 < seen.epsilon <= 2.0


@pytest.mark.full
def test_calibrated_noise_takes_a_share_of_the_account() -> None:
    budget = Budget(3.0, 1e-5)
    asked = owned(noise=None, share=0.5, budget=budget)
    seen = preview(model(), records(), **asked)
    assert seen.share is not None
    assert 0.49 < seen.share <= 0.5
    assert train(model(), records(), **asked).guarantee == seen.guarantee


def test_an_account_about_replaced_units_gains_nothing_from_sampling() -> None:
    budget = Budget(50.0, 1e-6, unit=Unit("row", "replace"))
    found = train(model(), records(), **owned(budget=budget, noise=2.0))
    plain = GaussianDP(2 / 2.0 * 8**0.5).epsilon_at(1e-6)
    assert found.guarantee.epsilon_at(1e-6) == pytest.approx(plain, rel=1e-3)
    assert found.guarantee.unit.relation == "replace"


def test_callbacks_see_public_numbers_and_may_stop() -> None:
    seen: list[Any] = []

    def stop(now: Any) -> bool:
        seen.append(now)
        return now.step == 3

    found = train(model(), records(), **owned(callbacks=[stop], delta=1e-6))
    assert [one.step for one in seen] == [1, 2, 3]
    assert set(vars(seen[0])) == {"step", "steps", "epoch", "lr", "noise"}
    assert found.guarantee == train(model(), records(), **owned()).guarantee


@pytest.mark.parametrize(
    "clip",
    [
        Flat(0.5),
        Automatic(),
        Adaptive(0.1),
        PerLayer({name: 0.5 for name, _ in model().named_parameters()}),
    ],
)
def test_clippings(clip: Any) -> None:
    assert train(model(), records(), **owned(clip=clip)).value is not None


def test_optimizers_and_schedulers() -> None:
    found = train(
        model(),
        records(),
        **owned(
            optimizer=partial(torch.optim.AdamW, weight_decay=0.1),
            scheduler=partial(CosineAnnealingLR, T_max=8),
            lr=0.1,
        ),
    )
    assert found.history[1].lr < found.history[0].lr < 0.1


def test_weights_come_out_once() -> None:
    budget = Budget(20.0, 1e-6)
    found = train(model(), records(), **owned(budget=budget))
    assert found.receipt is not None
    key = f"training {found.receipt.number}, weights"
    assert budget.stored(key, by=found.receipt.by) == f"sha256 {found.digest}"
    with pytest.raises(dither.LedgerError, match="already"):
        budget.store(found.receipt, key, "other weights")


class Power(Exception):
    """The machine stops."""


def test_runs_that_stop_freeze_the_account() -> None:
    def stop(now: Any) -> None:
        if now.step == 2:
            raise Power

    budget = Budget(2000.0, 1e-6)
    asked = owned(budget=budget, callbacks=[stop])
    for _ in range(budget.policy.failures):
        with pytest.raises(Power):
            train(model(), records(), **asked)
    with pytest.raises(dither.LedgerError, match="frozen"):
        train(model(), records(), **asked)


def test_a_run_is_due_when_the_account_says(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Any] = []

    def seconds(within: float | None, default: float) -> float:
        held.append((within, default))
        return default

    monkeypatch.setattr("dither.ledger.account._seconds", seconds)
    train(model(), records(), **owned(budget=Budget(20.0, 1e-6)))
    assert held == [(None, 3600.0)]


def test_save_and_load(tmp_path: Path) -> None:
    found = train(model(), records(), **owned(budget=Budget(20.0, 1e-6)))
    found.save(tmp_path / "model.pt")
    again = ModelRelease.load(tmp_path / "model.pt", model())
    assert same(again.value, found.value)
    assert (again.receipt, again.guarantee) == (found.receipt, found.guarantee)
    assert again.history.epsilons == found.history.epsilons
    assert again.history.epochs == found.history.epochs
    with pytest.raises(ArgumentError, match="layers"):
        ModelRelease.load(tmp_path / "model.pt", nn.Linear(4, 3))


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_releases_are_copied_without_their_account(copied: Any) -> None:
    found = train(model(), records(), **owned(budget=Budget(20.0, 1e-6)))
    again = copied(found)
    assert again.history.epsilons == found.history.epsilons
    assert again.receipt == found.receipt
    assert same(again.value, found.value)


def test_plot_of_public_accuracy() -> None:
    found = train(model(), records(), **owned(public=records(seed=2), delta=1e-6))
    assert "accuracy on public data" in found.plot().svg()
    with pytest.raises(ArgumentError, match="public"):
        train(model(), records(), **owned()).plot()


def test_one_account_for_sql_and_training(tmp_path: Path) -> None:
    inputs, targets = records(300)
    frame = pd.DataFrame(
        {
            "id": [f"p{one}" for one in range(300)],
            "age": 50 + 20 * inputs[:, 0].numpy(),
            "days": 10 + 5 * inputs[:, 1].numpy(),
            "ward": np.array(["A", "B", "C"])[targets.numpy()],
        }
    )
    visits = dither.open(
        {"visits": frame},
        unit="id",
        bounds={"visits": {"age": (0, 110), "days": (0, 30)}},
        keys={"visits": {"ward": ["A", "B", "C"]}},
        rows={"visits": 1},
        population=300,
        budget=(8.0, 1e-6),
        ledger=tmp_path / "book",
    )
    question = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    visits.sql(question, epsilon=0.5)
    asked: dict[str, Any] = {
        "loss": functional.cross_entropy,
        "epochs": 2,
        "batch": 60,
        "inputs": ["age", "days"],
        "target": "ward",
        "noise": 1.0,
        "lr": 0.5,
    }
    small = nn.Linear(2, 3)
    assert preview(small, visits, **asked).units == 300
    cost = {name: asked[name] for name in ("loss", "epochs", "batch", "noise")}
    assert "300 declared units" in str(preview(small, visits, **cost))
    found = train(small, visits, **asked)
    assert found.receipt is not None
    assert found.receipt.account == visits.account.name
    with pytest.raises(dither.BudgetExceeded):
        train(small, visits, **asked | {"noise": 0.2})


class Plain(nn.Module):
    """A parameter that is computed with before data meet it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 3))

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.einsum("bi,io->bo", inputs, self.weight.exp())


def test_computed_parameters_are_traced() -> None:
    ready = prepared(Plain(), records(), Settings(**owned()))
    assert isinstance(ready.probed.oracle, Traced)
    assert train(Plain(), records(), **owned()).value is not None


class Talking(nn.Module):
    """Says something of large rows."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        if bool((inputs > 1e7).any()):
            warnings.warn("a large row", stacklevel=1)
        found: Tensor = self.line(inputs)
        return found


def test_no_record_makes_a_run_warn() -> None:
    inputs, targets = records()
    inputs[3] = 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(Talking(), (inputs, targets), **owned(batch=200, epochs=1))


@chance(1e-9)
def test_bfloat16_trains_by_one_backward_pass_and_says_so() -> None:
    inputs, targets = records()
    words = owned(precision="bf16", epochs=10, noise=0.5)
    assert "one backward pass" in str(preview(model(), (inputs, targets), **words))
    found = train(model(), (inputs, targets), **words)
    assert any("bfloat16" in note for note in found.notes)
    assert all(one.dtype == torch.float32 for one in found.value.parameters())
    guessed = found.value(inputs).argmax(1)
    assert float((guessed == targets).float().mean()) > 0.7
