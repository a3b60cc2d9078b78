"""A model trained on private records is one more release."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.lr_scheduler import CosineAnnealingLR, ReduceLROnPlateau
from torch.utils.data import DataLoader, Dataset, TensorDataset

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
from dither.learn.gradients.single import Single
from dither.learn.preparing import prepared
from dither.learn.settings import Settings
from dither.privacy import Composed, GaussianDP, PoissonSampled
from tests.learn.data import UNITS, model, owned, records, run


class Pairs(Dataset[tuple[Tensor, Tensor]]):
    """A map-style dataset that counts how often it is read."""

    def __init__(self, count: int = UNITS, odd: bool = False) -> None:
        self.inputs, self.targets = records(count)
        self.odd, self.read = odd, 0

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        self.read += 1
        if self.odd and place == 7:
            raise OSError("a broken file")
        return self.inputs[place], self.targets[place]


EXAMPLE = (torch.zeros(4), torch.tensor(0))


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
    assert "float arithmetic" in str(found)


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


FRAME = dict(zip("abcd", records()[0].numpy().T, strict=True))


@pytest.mark.parametrize("made", [dict, pd.DataFrame, pl.DataFrame])
def test_frames(made: Any) -> None:
    labels = np.array(["x", "y", "z"])[records()[1].numpy()]
    frame = made(FRAME | {"label": labels, "who": np.arange(UNITS) // 2})
    found = train(
        model(),
        frame,
        **run(inputs=list("abcd"), target="label", classes=["x", "y", "z"]),
        owner="who",
        units=UNITS // 2,
        rows=2,
    )
    assert found.guarantee.unit == Unit("who")


@pytest.mark.parametrize("data", [Pairs(), Pairs(odd=True), Pairs(1), Pairs(0)])
def test_datasets_of_pytorch(data: Any) -> None:
    assert len(train(model(), data, **owned(example=EXAMPLE)).history) == 2
    assert len(train(model(), TensorDataset(*records()), **owned()).history) == 2


class Listed(Dataset[Any]):
    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Any:
        return self.rows[place]


@pytest.mark.parametrize("first", [(torch.zeros(3), 0), (torch.zeros(4), 0.5), None])
def test_an_odd_first_row_changes_no_other(first: Any) -> None:
    pairs = zip(records()[0], records()[1].tolist(), strict=True)
    data = Listed([first, *pairs])
    ready = prepared(model(), data, Settings(**owned(example=(torch.zeros(4), 0))))
    rows = ready.source.read(None)[0]
    there = rows.take(np.arange(len(data), dtype=np.intp)).there
    assert there.tolist() == [False, *[True] * UNITS]


@pytest.mark.parametrize("example", [None, 3, (torch.zeros(4),), "row"])
def test_a_dataset_needs_an_example_and_is_not_read(example: Any) -> None:
    data = Pairs()
    with pytest.raises(ArgumentError, match="example"):
        preview(model(), data, **owned(example=example))
    preview(model(), data, **owned(example=EXAMPLE))
    assert data.read == 0


def odd(kind: str) -> tuple[Tensor, Tensor]:
    inputs, targets = records()
    if kind == "labels":
        targets[:50], targets[50:60] = 7, -3
    if kind == "numbers":
        inputs[:50], inputs[50:60] = float("nan"), float("inf")
    if kind == "huge":
        inputs[:50] = 1e38
    if kind == "short":
        targets = targets[:10]
    if kind == "empty":
        inputs, targets = inputs[:0], targets[:0]
    return inputs, targets


@pytest.mark.parametrize("kind", ["labels", "numbers", "huge", "short", "empty"])
def test_odd_records_are_data(kind: str) -> None:
    budget = Budget(20.0, 1e-6)
    found = train(model(), odd(kind), **owned(budget=budget))
    assert all(bool(torch.isfinite(one).all()) for one in found.value.parameters())
    assert found.receipt is not None


class Broken(nn.Module):
    """Fails where a row has a large number: a model of somebody's own."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)
        self.lookup = nn.Parameter(torch.ones(3))

    def forward(self, inputs: Tensor) -> Tensor:
        place = (inputs[:, 0].abs() // 10).long()
        return self.line(inputs) * self.lookup[place][:, None]


def test_a_record_that_breaks_the_model_counts_for_nothing() -> None:
    inputs, targets = records()
    inputs[3] = 1000.0
    found = train(Broken(), (inputs, targets), **owned(batch=200, units=200))
    assert len(found.history) == 2


def test_words_beyond_the_vocabulary_are_data() -> None:
    words = torch.arange(UNITS * 5).view(UNITS, 5) % 40 - 5
    reader = nn.Sequential(nn.Embedding(20, 6), nn.Flatten(), nn.Linear(30, 3))
    found = train(reader, (words, records()[1]), **owned())
    assert len(found.history) == 2


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


class Unclipped(Flat):
    def __call__(self, squares: Any) -> Any:
        return {name: torch.ones_like(one) for name, one in squares.items()}


CLIPPED = Unclipped(1e-6)

REFUSED: list[tuple[str, Any, dict[str, Any]]] = [
    (
        "BatchNorm1d",
        nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)),
        {},
    ),
    ("nothing to train", nn.ReLU(), {}),
    ("sparse", nn.Sequential(nn.Linear(4, 3), nn.Embedding(3, 2, sparse=True)), {}),
    ("must be a torch.nn.Module", "model", {}),
    ("owner", model(), {"owner": None}),
    ("units", model(), {"units": None}),
    ("1/units", model(), {"delta": 0.01}),
    ("smallest", model(), {"noise": None, "epsilon": 1e-4, "delta": 1e-6}),
    ("one way", model(), {"epsilon": 1.0}),
    ("rho", model(), {"rho": 1.0}),
    ("GPU", model(), {"device": "cuda"}),
    ("device", model(), {"device": "toaster"}),
    ("ReduceLROnPlateau", model(), {"scheduler": ReduceLROnPlateau}),
    (
        "ReduceLROnPlateau",
        model(),
        {"scheduler": lambda one: ReduceLROnPlateau(one, "max")},
    ),
    ("optimizer", model(), {"optimizer": torch.optim.LBFGS}),
    ("optimizer", model(), {"optimizer": torch.optim.SGD([torch.ones(1)])}),
    ("batch", model(), {"batch": 201}),
    ("rows", model(), {"rows": 3}),
    ("clip", model(), {"clip": PerLayer({"a": 1.0})}),
    ("resume", model(), {"resume": "somewhere"}),
    ("clip", model(), {"clip": CLIPPED}),
    ("loss", model(), {"loss": None}),
    (
        "reduction",
        model(),
        {"loss": partial(functional.cross_entropy, reduction="none")},
    ),
    ("epoch", model(), {"epoch": 3}),
    ("share", model(), {"noise": None, "share": 0.1}),
]


@pytest.mark.parametrize(("words", "made", "more"), REFUSED)
def test_bad_questions_are_refused(words: str, made: Any, more: dict[str, Any]) -> None:
    data = Pairs()
    with pytest.raises(ArgumentError, match=words):
        train(made, data, **owned(example=EXAMPLE, **more))
    assert data.read == 0


class Centred(nn.Module):
    def forward(self, inputs: Tensor) -> Tensor:
        return inputs - inputs.mean(0)


class Shuffled(nn.Module):
    """Mixes words of different rows."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 3)

    def forward(self, words: Tensor) -> Tensor:
        found: Tensor = self.words(words).mean(1)
        return found + found.roll(1, 0)


def test_rows_of_words_that_mix_are_refused() -> None:
    words = torch.arange(UNITS * 4).view(UNITS, 4) % 20
    with pytest.raises(ArgumentError, match="Shuffled"):
        preview(Shuffled(), (words, records()[1]), **owned())


class Remembering(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, inputs: Tensor) -> Tensor:
        self.seen += inputs.detach().mean(0)
        return inputs


MIXING: dict[str, Callable[[Tensor], Tensor]] = {
    "by the largest": lambda x: x / torch.nan_to_num(x).abs().max().clamp(min=10),
    "where one is large": lambda x: torch.where((x > 5).any(), 0 * x, x),
    "if one is large": lambda x: x * 0 if bool((x > 5).any()) else x,
    "if one is very large": lambda x: x / 255 if bool((x > 9e4).any()) else x,
    "in large batches": lambda x: x + x.roll(1, 0) if len(x) > 3 else x,
    "a little": lambda x: x + 1e-9 * x.mean(0),
}


class Mixed(nn.Module):
    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    def forward(self, inputs: Tensor) -> Tensor:
        return MIXING[self.way](inputs)


@pytest.mark.parametrize("way", MIXING)
def test_rows_that_mix_only_at_some_size_are_refused(way: str) -> None:
    with pytest.raises(ArgumentError, match="mixes the rows"):
        preview(nn.Sequential(Mixed(way), nn.Linear(4, 3)), records(), **owned())


def contrastive(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs - outputs.mean(0), targets)


@pytest.mark.parametrize(
    ("words", "made", "loss"),
    [
        (
            "Centred",
            nn.Sequential(Centred(), nn.Linear(4, 3)),
            functional.cross_entropy,
        ),
        (
            "buffer",
            nn.Sequential(Remembering(), nn.Linear(4, 3)),
            functional.cross_entropy,
        ),
        ("loss", nn.Linear(4, 3), contrastive),
        (
            "reduction",
            nn.Linear(4, 3),
            partial(functional.cross_entropy, weight=torch.tensor([1.0, 2.0, 3.0])),
        ),
        ("shape", nn.Linear(5, 3), functional.cross_entropy),
    ],
)
def test_what_mixes_rows_is_refused_by_name(words: str, made: Any, loss: Any) -> None:
    budget = Budget(20.0, 1e-6)
    with pytest.raises(ArgumentError, match=words):
        train(made, records(), **owned(loss=loss, budget=budget))
    assert budget.affords(dither.PureDP(19.9))


def test_world_size_above_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ArgumentError, match="world size"):
        preview(model(), records(), **owned())


def test_loaders_are_refused() -> None:
    with pytest.raises(ArgumentError, match="DataLoader"):
        preview(model(), DataLoader(Pairs()), **owned())


def test_an_account_without_delta_is_refused() -> None:
    with pytest.raises(ArgumentError, match="δ"):
        train(model(), records(), **owned(budget=Budget(3.0)))


class Plain(nn.Module):
    """A parameter that the tape cannot follow."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 3))

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.einsum("bi,io->bo", inputs, self.weight.exp())


def test_models_that_the_tape_cannot_follow_go_row_by_row() -> None:
    ready = prepared(Plain(), records(), Settings(**owned()))
    assert isinstance(ready.probed.oracle, Single)
    assert train(Plain(), records(), **owned()).value is not None
