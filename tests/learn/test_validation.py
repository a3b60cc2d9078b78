"""How well a model does on private held-out records: noisy, charged, and bounded for each
unit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dither
from dither import ArgumentError, Budget, Unit
from dither.learn import ModelRelease, Validation, preview, train
from dither.learn.history import Epoch, History
from dither.learn.holding import Records, split
from dither.learn.preparing import differentiating, prepared
from dither.learn.ready import Ready
from dither.learn.rows import Batch, Units, units_of
from dither.learn.settings import Settings
from dither.learn.state import Held
from dither.learn.validation import LEAST, MOST, STEPS, HeldOut, _ratios, _summed
from dither.ledger.export import export
from dither.ledger.recheck import recheck
from dither.privacy import Composed, GaussianDP
from tests.chance import chance
from tests.learn.data import EXAMPLE, UNITS, Pairs, model, owned, records, run
from tests.learn.test_training import same


def guarantee(**more: Any) -> Composed:
    found = preview(model(), records(), **owned(delta=1e-6, **more)).guarantee
    assert isinstance(found, Composed)
    return found


def test_measurements_are_part_of_the_cost() -> None:
    checked = Validation(records(seed=2), noise=5.0, every=2)
    *steps, beside = guarantee(validation=checked, epochs=7).parts
    assert isinstance(beside, GaussianDP)
    assert beside.mu >= 2 / 5.0  # after epochs 2, 4, 6 and 7
    assert beside.mu == pytest.approx(2 / 5.0, rel=1e-12)
    plain = preview(model(), records(), **owned(delta=1e-6, epochs=7))
    assert steps == [plain.guarantee]


def test_a_stated_epsilon_covers_them() -> None:
    asked = owned(noise=None, epsilon=3.0, delta=1e-6)
    plain = preview(model(), records(), **asked)
    seen = preview(model(), records(), **asked, validation=Validation(0.2, noise=3.0))
    assert seen.epsilon <= 3.0
    assert seen.epsilon == pytest.approx(3.0, rel=2e-3)
    assert seen.noise[0] > plain.noise[0]
    assert "0.2 of the units, each epoch, noise of 3 units, part of the cost" in str(
        seen
    )


def test_a_unit_that_is_replaced_moves_twice_as_far() -> None:
    unit = Unit("row", "replace")
    checked = Validation(0.2, noise=5.0)
    asked = owned(budget=Budget(80.0, 1e-6, unit=unit), validation=checked)
    promised = prepared(model(), records(), Settings(**asked)).plan.promised
    assert isinstance(promised, Composed)
    beside = promised.parts[-1]
    assert isinstance(beside, GaussianDP)
    assert beside.unit == unit
    assert beside.mu == pytest.approx(2 * math.sqrt(2) / 5.0)
    mechanism = checked.mechanism(unit)
    assert mechanism.scale == pytest.approx(5.0 * STEPS)


@pytest.mark.parametrize("every", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("epochs", [1, 2, 6, 7])
def test_due_epochs_are_counted(every: int, epochs: int) -> None:
    checked = Validation(0.5, noise=1.0, every=every)
    due = [checked.due(epoch, epochs) for epoch in range(1, epochs + 1)]
    assert due[-1]
    for epoch in range(1, epochs + 1):
        assert checked.times(epoch, epochs) == sum(due[:epoch])


def test_a_run_is_measured_as_often_as_it_paid_for() -> None:
    checked = Validation(records(seed=2), noise=2.0, every=2)
    found = train(model(), records(), **owned(validation=checked, epochs=5, delta=1e-6))
    have = [one.epoch for one in found.history if one.validation_accuracy is not None]
    assert have == [2, 4, 5]
    curve = found.curve()
    assert [one[0] for one in curve] == [found.history.epsilons[i] for i in (1, 3, 4)]
    assert curve[-1][0] == pytest.approx(found.guarantee.epsilon_at(1e-6))
    assert all(0 <= low <= value <= high <= 1 for _, value, low, high in curve)
    assert "accuracy on held-out units" in str(found)
    assert "accuracy on held-out units" in found.plot().svg()


def test_the_curve_is_that_of_shorter_runs() -> None:
    """Each ε is what a run of so many epochs would have declared."""
    checked = Validation(0.25, noise=4.0)
    asked = owned(validation=checked, delta=1e-6)
    found = train(model(), records(), **asked | {"epochs": 3})
    for epochs in (1, 2, 3):
        shorter = preview(model(), records(), **asked | {"epochs": epochs})
        declared = shorter.guarantee.epsilon_at(1e-6)
        assert found.history.epsilons[epochs - 1] == pytest.approx(declared)


def test_tables_of_the_history() -> None:
    asked = owned(public=records(seed=2), validation=Validation(0.3, noise=2.0))
    found = train(model(), records(), **asked, delta=1e-6)
    frame = found.history.to_pandas()
    assert frame["epsilon"].tolist() == list(found.history.epsilons)
    assert frame["validation_accuracy"].notna().all()
    curve = found.curve()  # public figures are exact, so they are shown
    assert [one[1] for one in curve] == frame["accuracy"].tolist()
    assert all(value == low == high for _, value, low, high in curve)
    with pytest.raises(ArgumentError, match="Validation"):
        train(model(), records(), **owned()).curve()


def test_a_history_prints_as_a_small_table() -> None:
    epochs = tuple(
        Epoch(
            n, 5 * n, 0.1, 1.0, 1 / n, 0.5, validation_accuracy=0.4, low=0.3, high=0.5
        )
        for n in range(1, 24)
    )
    asked: list[int] = []

    def cost(step: int) -> float:
        asked.append(step)
        return step / 100

    head, *lines = str(History(epochs, cost)).splitlines()
    assert head.split() == ["epoch", "ε", "loss", "accuracy", "held-out", "accuracy"]
    assert [line.split()[0] for line in lines] == [
        "2",
        "5",
        "8",
        "11",
        "14",
        "17",
        "20",
        "23",
    ]
    assert lines[-1].split()[1:4] == ["1.15", "0.04348", "0.5"]
    assert lines[-1].endswith("0.4 (0.3 to 0.5)")
    assert len(asked) == 8  # each ε takes a while, so only those that are shown
    told = History.told(epochs[:2], [0.5, 0.7])
    assert len(told.epsilons) == 2
    assert [line.split()[:2] for line in str(told).splitlines()[1:]] == [
        ["1", "0.5"],
        ["2", "0.7"],
    ]
    assert str(History((), cost)).split() == ["epoch", "ε"]


def test_figures_are_saved(tmp_path: Path) -> None:
    asked = owned(validation=Validation(0.3, noise=2.0), budget=Budget(20.0, 1e-6))
    found = train(model(), records(), **asked)
    found.save(tmp_path / "model.pt")
    again = ModelRelease.load(tmp_path / "model.pt", model())
    assert again.curve() == found.curve()
    assert again.guarantee == found.guarantee
    assert again.rows() == found.rows()


# One unit moves what is measured by at most 1.


class Odd(nn.Module):
    """Fails where a row has a large number, and gives odd numbers for others."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        size = (inputs[:, :1].clamp(min=0) // 10).long()
        ones = torch.ones(9, device=inputs.device)[size]
        return self.line(inputs) / torch.where(inputs[:, :1] < -90, 0.0, ones)


def odd_records() -> tuple[Tensor, Tensor, list[Any]]:
    inputs, targets = records(24)
    inputs[1], inputs[7], inputs[8] = float("nan"), 100.0, -100.0
    targets[2], targets[13] = 5, -100
    owners = [None if one == 20 else one % 7 for one in range(24)]
    return inputs, targets, owners


def measuring(bound: float | None, rows: int, without: Any = "none") -> HeldOut:
    """Held-out units, but for one of them."""
    inputs, targets, owners = odd_records()
    there = [place for place, one in enumerate(owners) if one != without]
    checked = Validation(
        (inputs[there], targets[there]),
        noise=3.0,
        bound=bound,
        owner=[owners[place] for place in there],
    )
    torch.manual_seed(3)  # allowed: starting weights are public
    asked = run(owner=owners, units=8, batch=2, rows=rows, validation=checked, micro=3)
    made = prepared(Odd(), (inputs, targets), Settings(**asked))
    held = Records.read(made, None).units(made)[1]
    assert held is not None
    return held


def exact(held: HeldOut) -> Any:
    total = np.zeros(2, np.int64)
    kept = Held.of(held.model)
    with differentiating(held.model), torch.no_grad():
        for number in range(len(held.units)):
            part = held.units.take(np.array([number]), 1)
            total += held._counted(held.probed.fitting(part), kept)
    return total


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("bound", [None, 0.4])
def test_one_unit_moves_the_sums_by_one(
    bound: float | None, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dither.learn.rows.secret_bytes", bytes)
    whole = measuring(bound, rows)
    sums = exact(whole)
    assert sums.sum() <= 7 * STEPS
    moved = []
    for unit in range(7):
        change = sums - exact(measuring(bound, rows, unit))
        assert (change >= 0).all()
        moved.append(math.sqrt(float((change.astype(float) ** 2).sum())) / STEPS)
    assert max(moved) <= 1.0
    assert max(moved) > 0.7  # it is not far below
    # Parts of several units add up to the same.
    kept = Held.of(whole.model)
    with torch.no_grad():
        part = whole.units.take(np.arange(len(whole.units)), len(whole.units) + 2)
        together = whole._counted(whole.probed.fitting(part), kept)
    assert together.tolist() == sums.tolist()


ODD = [math.nan, math.inf, -math.inf, -1.0, 1e300, -1e300, 0.3, 1.0, 1 + 1e-9]


@pytest.mark.parametrize("rows", [1, 2])
def test_whatever_a_unit_counts_for_its_norm_is_one(rows: int) -> None:
    for values in product(ODD, repeat=rows):
        made = torch.tensor(values, dtype=torch.float64)
        there = torch.ones(rows, dtype=torch.bool)
        batch = Batch(torch.zeros(rows, 1), torch.zeros(rows), there)
        one, other = _summed(made, batch, rows).tolist()
        assert 0 <= one <= STEPS
        assert one + other == STEPS


@pytest.mark.parametrize("noise", [LEAST, MOST])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_the_widest_and_the_least_noise_can_be_drawn(
    noise: float, relation: str
) -> None:
    mechanism = Validation(HELD, noise).mechanism(Unit("row", relation))
    mechanism.release(np.zeros(2, np.int64))
    assert mechanism.error(0.975, integer=True) >= 0


@chance(1e-9)
def test_noise_has_its_deviation() -> None:
    held = measuring(None, 1)
    sums = exact(held)
    mechanism = held.validation.mechanism(held.unit)
    drawn = np.array([mechanism.release(sums) for _ in range(2000)], float) / STEPS
    spread = (drawn - sums / STEPS) / 3.0
    assert abs(spread.mean()) <= 6.5 / math.sqrt(spread.size)
    assert abs(spread.var() - 1) <= 6.5 * math.sqrt(2 / spread.size)
    near = (spread[:, 0] * spread[:, 1]).mean()
    assert abs(near) <= 6.5 / math.sqrt(len(spread))


@chance(1e-7)
def test_intervals_hold_the_true_figure() -> None:
    held = measuring(None, 1)
    sums = np.array([60, 40]) * STEPS
    found = [held._figure(sums) for _ in range(400)]
    right = sum(one.low <= 0.6 <= one.high for one in found)
    assert right >= 380 - 6.5 * math.sqrt(400 * 0.05 * 0.95)
    values = np.array([one.value for one in found])
    spread = 3.0 * math.hypot(0.4, 0.6) / 100  # of a ratio of 60 and 100, about
    assert abs(values.mean() - 0.6) < 6.5 * spread / 20
    assert abs(values.std() / spread - 1) < 6.5 / math.sqrt(800) + 0.02


def test_odd_sums_have_figures() -> None:
    assert _ratios(-3.0, -1.0, 2.0) == (0.5, 0.0, 1.0)
    assert _ratios(5.0, -1.0, 2.0) == (1.0, 0.75, 1.0)


@chance(1e-9)
def test_losses_are_clipped_to_the_bound() -> None:
    found = train(
        model(),
        records(),
        **owned(validation=Validation(records(seed=2), noise=1e-3, bound=0.01)),
    )
    assert found.history[-1].validation_loss == pytest.approx(0.01, rel=1e-2)
    checked = Validation(records(seed=2), noise=1e-3, bound=50.0)
    found = train(model(), records(), **owned(validation=checked))
    public = train(model(), records(), **owned(public=records(seed=2)))
    assert 0.3 < found.history[-1].validation_loss / public.history[-1].loss < 3  # type: ignore[operator]


@chance(1e-20)
def test_accuracy_is_that_of_the_released_model() -> None:
    checked = Validation(records(seed=2), noise=1e-3)
    found = train(model(), records(), **owned(validation=checked))
    inputs, targets = records(seed=2)
    right = (found.value(inputs).argmax(1) == targets).float().mean()
    assert found.history[-1].validation_accuracy == pytest.approx(
        float(right), abs=1e-4
    )


def test_the_book_can_be_checked_again(tmp_path: Path) -> None:
    with dither.Ledger.open(tmp_path / "book") as book:
        account = book.account("clinic", epsilon=20.0, delta=1e-6)
        asked = owned(budget=account, validation=Validation(0.3, noise=5.0))
        train(model(), records(), **asked)
        (again,) = recheck(export(book))
    assert again.fits


# Which units are held out


def units(owners: list[Any]) -> tuple[Units, Any]:
    inputs = torch.arange(len(owners), dtype=torch.float32)[:, None]
    asked = run(owner=owners, units=2, rows=2, batch=1, loss=nn.MSELoss())
    made = prepared(nn.Linear(1, 1), (inputs, inputs), Settings(**asked))
    rows, ids = made.source.read(None)
    return units_of(rows, ids, 2), ids


def names(owners: list[Any], found: Units) -> set[Any]:
    return {owners[place] for place in found.order.tolist()}


def test_units_are_held_out_whole_and_by_their_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dither.learn.holding.secret_bytes", bytes)
    owners = [f"p{one % 40}" for one in range(100)]
    mine, held = split(*units(owners), Fraction(1, 4))
    assert names(owners, mine) | names(owners, held) == set(owners)
    assert not names(owners, mine) & names(owners, held)
    assert len(mine) + len(held) == 40
    others = [f"q{one}" for one in range(30)] + owners[::-1]
    again = split(*units(others), Fraction(1, 4))[1]
    assert names(others, again) & set(owners) == names(owners, held)


@chance(1e-9)
def test_about_the_stated_part_is_held_out() -> None:
    for owners in (list(range(20_000)), "row"):
        inputs = torch.zeros(20_000, 1)
        asked = run(owner=owners, units=2, batch=1, loss=nn.MSELoss())
        asked |= {"rows": 1} if isinstance(owners, list) else {}
        made = prepared(nn.Linear(1, 1), (inputs, inputs), Settings(**asked))
        rows, ids = made.source.read(None)
        mine, held = split(units_of(rows, ids, 1), ids, Fraction(1, 4))
        assert abs(len(held) - 5000) < 6.5 * math.sqrt(20_000 * 3 / 16)
        assert len(mine) + len(held) == 20_000


def test_held_out_units_are_not_trained_on() -> None:
    asked = Settings(**owned(validation=Validation(0.5, noise=1.0), batch=20))
    made: Ready = prepared(model(), records(), asked)
    assert float(made.plan.run.probability) == pytest.approx(20 / (UNITS // 2))
    mine, held = Records.read(made, None).units(made)
    assert held is not None
    assert not set(mine.order.tolist()) & set(held.units.order.tolist())


class Final(nn.Module):
    """Mixes rows in its final form alone."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        if not self.training:
            inputs = inputs - inputs.mean(0)
        return self.line(inputs)


class Noted(Final):
    """Keeps what it reads in its final form."""

    def forward(self, inputs: Tensor) -> Tensor:
        if not self.training:
            self.seen = inputs.detach()
        return self.line(inputs)


HELD = (torch.zeros(5, 4), torch.zeros(5, dtype=torch.int64))
REFUSED: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("Validation", model(), lambda: HELD, {}),
    ("Validation", model(), lambda: 0.2, {}),
    ("noise", model(), lambda: Validation(HELD, noise=0.0), {}),
    ("bound", model(), lambda: Validation(HELD, noise=1.0, bound=-1), {}),
    ("every", model(), lambda: Validation(HELD, noise=1.0, every=0), {}),
    ("part", model(), lambda: Validation(1.0, noise=1.0), {}),
    ("part", model(), lambda: Validation(0, noise=1.0), {}),
    ("part", model(), lambda: Validation(float("nan"), noise=1.0), {}),
    ("part", model(), lambda: Validation(float("inf"), noise=1.0), {}),
    ("noise must", model(), lambda: Validation(HELD, noise=1e11), {}),
    ("noise must", model(), lambda: Validation(HELD, noise=5e-324), {}),
    ("bound must", model(), lambda: Validation(HELD, noise=1.0, bound=1e-46), {}),
    ("bound must", model(), lambda: Validation(HELD, noise=1.0, bound=1e39), {}),
    ("rows of", model(), lambda: Validation((HELD[0][:, :3], HELD[1]), 1.0), {}),
    ("owner", model(), lambda: Validation(HELD, noise=1.0, owner=[1] * 5), {}),
    ("data", model(), lambda: Validation("file", noise=1.0), {}),
    ("mixes", Final(), lambda: Validation(HELD, noise=1.0), {}),
    ("keeps", Noted(), lambda: Validation(HELD, noise=1.0), {}),
    (
        "alone costs",
        model(),
        lambda: Validation(HELD, 0.1),
        {"noise": None, "epsilon": 2},
    ),
]


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_bad_questions_are_refused(place: int) -> None:
    words, made, asked, more = REFUSED[place]
    budget = Budget(20.0, 1e-6)
    with pytest.raises(ArgumentError, match=words):
        train(made, records(), **owned(budget=budget, **more), validation=asked())
    assert budget.affords(dither.PureDP(19.9))


def test_numbers_need_a_bound() -> None:
    data = (records()[0], torch.zeros(UNITS, 1))
    asked = owned(loss=nn.MSELoss())
    with pytest.raises(ArgumentError, match="bound"):
        preview(nn.Linear(4, 1), data, **asked, validation=Validation(0.2, noise=5.0))
    checked = Validation(0.2, noise=5.0, bound=2.0)
    found = train(nn.Linear(4, 1), data, **asked, validation=checked)
    assert found.history[-1].validation_loss is not None


def test_held_out_records_are_read_after_the_charge() -> None:
    mine, held = Pairs(), Pairs(20)
    asked = owned(example=EXAMPLE, validation=Validation(held, noise=0.1))
    preview(model(), mine, **asked)
    with pytest.raises(dither.BudgetExceeded):
        train(model(), mine, **asked, budget=Budget(1.0, 1e-6))
    assert (mine.read, held.read) == (0, 0)
    train(model(), mine, **asked, budget=Budget(2000.0, 1e-6))
    assert held.read == 2 * 20


def test_measuring_changes_nothing() -> None:
    """The model trains on as if it had not been measured."""
    still = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5))
    before = {name: one.clone() for name, one in still.state_dict().items()}
    checked = Validation(records(seed=2), noise=1.0)
    made = prepared(still, records(), Settings(**owned(validation=checked)))
    held = Records.read(made, None).units(made)[1]
    assert held is not None
    held.measure()
    assert made.model.training
    assert made.model[1].training  # type: ignore[index]
    after = made.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert same(still, made.fresh)


def test_an_opened_dataset_holds_out_a_part_of_its_units() -> None:
    from tests.learn.test_words import opened

    small = nn.Linear(1, 2)
    asked = run(inputs=["age"], target="ward", batch=20)
    with opened() as visits:
        others = Validation({"age": [1.0], "ward": ["A"]}, noise=2.0)
        with pytest.raises(ArgumentError, match="a part of the units"):
            train(small, visits, **asked, validation=others)
        checked = Validation(0.3, noise=2.0)
        bare = {name: asked[name] for name in ("loss", "epochs", "batch", "noise")}
        short = preview(small, visits, **bare, validation=checked)
        seen = preview(small, visits, **asked, validation=checked)
        assert short.guarantee == seen.guarantee
        found = train(small, visits, **asked, validation=checked)
        assert found.guarantee == seen.guarantee
        assert found.history[-1].validation_accuracy is not None
