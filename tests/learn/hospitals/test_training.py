"""Rounds over several hospitals: who pays, who answers, and what comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dither import ArgumentError
from dither.errors import AccountFrozen, BudgetExceeded
from dither.learn import hospitals
from dither.learn.hospitals.member import Member
from tests.chance import chance
from tests.learn.hospitals.data import (
    Silent,
    account,
    asked,
    hospital,
    lines,
    model,
    records,
)

NAMES = ("north", "south", "east")


def several(**more: Any) -> list[hospitals.Hospital]:
    return [
        hospital(name, records(seed=number), **more)
        for number, name in enumerate(NAMES)
    ]


def test_each_hospital_pays_once_from_its_own_account() -> None:
    members = several()
    seen = hospitals.preview(model(), members, **asked())
    found = hospitals.train(model(), members, run="risk", **asked())
    for one in members:
        paid, part = one.budget, found.members[one.name]
        assert paid is not None
        assert paid.charges == 1  # type: ignore[attr-defined]
        assert paid.spent == pytest.approx(seen.members[one.name].share)  # type: ignore[attr-defined]
        assert part.receipt.account == one.name
        assert (part.answered, part.missed) == ((1, 2, 3, 4), ())
        assert part.epsilon == seen.members[one.name].epsilon
    assert found.guarantee == seen.guarantee
    assert f"guarantee: ε = {seen.epsilon:.4g} at δ = " in str(found)
    assert all(f"{name}: ε" in str(found) for name in NAMES)


@chance(1e-8)
def test_a_run_learns_and_its_history_is_public() -> None:
    members = several()
    public = records(400, seed=9)
    found = hospitals.train(
        model(), members, public=public, **asked(rounds=8, steps=4, lr=2.0)
    )
    assert found.history[-1].accuracy > 0.85
    assert [one.epoch for one in found.history] == list(range(1, 9))
    assert list(found.history.epsilons) == sorted(found.history.epsilons)
    last = found.history.epsilons[-1]
    assert last == pytest.approx(found.guarantee.epsilon_at(found.delta))


def test_the_average_is_that_of_the_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Public weights: those that are stated, or the declared units."""
    answer = Member._answer

    def fixed(self: Member, given: Any, end: int) -> Any:
        change = {"north": 1.0, "south": 3.0}[self.name]
        found = answer(self, given, end)
        return {name: np.full_like(one, change) for name, one in found.items()}

    monkeypatch.setattr(Member, "_answer", fixed)
    for weights, mean in (((None, None), 2.0), ((3.0, 1.0), 1.5)):
        pairs = zip(NAMES, weights, strict=False)
        members = [hospital(name, weight=one) for name, one in pairs]
        found = hospitals.train(model(), members, **asked(rounds=2))
        apart = found.value.bias - model().bias
        assert apart.detach().numpy() == pytest.approx([2 * mean] * 2, rel=1e-5)


def test_the_model_that_was_passed_is_as_it_was() -> None:
    start = model()
    found = hospitals.train(start, several(), **asked())
    assert torch.equal(start.weight, model().weight)  # type: ignore[union-attr]
    assert found.value is not start
    assert not torch.equal(found.value.weight, start.weight)  # type: ignore[arg-type]


def test_one_that_vanishes_contributes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = Member._answer

    def gone(self: Member, given: Any, end: int) -> Any:
        if self.name == "south" and end == 4:
            raise OSError("no power")
        return answer(self, given, end)

    monkeypatch.setattr(Member, "_answer", gone)
    members = several()
    found = hospitals.train(model(), members, **asked())
    part = found.members["south"]
    assert (part.answered, part.missed) == ((1, 3, 4), (2,))
    assert "south: ε = " in str(found)
    assert "answered 3 of 4 rounds" in str(found)
    assert np.isfinite(found.value.weight.detach().numpy()).all()


def test_one_that_sends_another_shape_contributes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Member, "_answer", lambda *_: {"weight": np.zeros(7)})
    found = hospitals.train(model(), several(), **asked())
    assert torch.equal(found.value.weight, model().weight)  # type: ignore[arg-type]


def test_one_that_joins_late() -> None:
    members = [hospital("north"), hospital("south", since=3)]
    found = hospitals.train(model(), members, **asked())
    assert found.members["south"].answered == (3, 4)
    assert found.members["south"].epsilon < found.members["north"].epsilon


def test_a_frozen_account_is_named() -> None:
    frozen = hospital("south", budget=account("south"))
    assert frozen.budget is not None
    frozen.budget.freeze("a reason")  # type: ignore[union-attr]
    with pytest.raises(AccountFrozen, match="its account is frozen"):
        hospitals.train(model(), [hospital("north"), frozen], **asked())
    shown = str(hospitals.preview(model(), [frozen], **asked()))
    assert "refused by south: the account is frozen (a reason); nothing" in shown


def test_nobody_pays_where_one_cannot() -> None:
    poor = hospital("south", budget=account("south", epsilon=0.1))
    members = [hospital("north"), poor]
    with pytest.raises(BudgetExceeded, match="No hospital was charged"):
        hospitals.train(model(), members, **asked())
    assert members[0].budget.charges == 0  # type: ignore[union-attr]
    assert (
        not hospitals.preview(model(), members, **asked()).members["south"].affordable
    )


def test_a_server_that_stops_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    members = several()
    update = Member.update

    def stopped(self: Member, weights: Any, number: int | None = None) -> Any:
        if number == 3:
            raise KeyboardInterrupt
        return update(self, weights, number)

    with monkeypatch.context() as patched:
        patched.setattr(Member, "update", stopped)
        with pytest.raises(KeyboardInterrupt):
            hospitals.train(model(), members, run="risk", **asked())
    found = hospitals.train(model(), members, run="risk", **asked())
    assert [one.epoch for one in found.history] == [3, 4]
    assert [one.budget.charges for one in members] == [1, 1, 1]  # type: ignore[union-attr]
    with pytest.raises(ArgumentError, match="a finished run"):
        hospitals.train(model(), members, run="risk", **asked())


def test_a_release_is_saved_and_loaded(tmp_path: Path) -> None:
    found = hospitals.train(model(), several(), patients="in one hospital", **asked())
    found.save(tmp_path / "model.pt")
    again = hospitals.JointRelease.load(tmp_path / "model.pt", model())
    assert again.guarantee == found.guarantee
    assert again.notes == found.notes
    assert torch.equal(again.value.weight, found.value.weight)


@pytest.mark.parametrize(
    ("members", "more", "words"),
    [
        ([], {}, "must be a list"),
        (["north"], {}, "must be a list"),
        (None, {}, "must be a list"),
        ("twice", {}, "different names"),
        ("fine", {"patients": "both"}, "in several hospitals"),
        ("fine", {"run": "a run"}, "plain letters"),
        ("fine", {"public": 3}, "cannot be used as test data"),
        ("fine", {"epochs": 3}, "no argument 'epochs'"),
    ],
)
def test_bad_questions_charge_nobody(
    members: Any, more: dict[str, Any], words: str
) -> None:
    paid = account()
    if members == "twice":
        members = [hospital(budget=paid), hospital(budget=paid)]
    if members == "fine":
        members = [hospital(budget=paid)]
    with pytest.raises(ArgumentError, match=words):
        hospitals.train(model(), members, **asked(**more))
    assert lines(paid, "charge") == []


def test_noise_of_hospitals_adds_up() -> None:
    """The averaged noise is what the preview says, and 1/√3 of one hospital's."""
    members = several(batch=1)
    seen = hospitals.preview(model(), members, **asked(rounds=1, steps=1))
    each = seen.members["north"].mean_noise
    assert each is not None
    assert seen.mean_noise == pytest.approx(each[1] / 3**0.5)


def test_steps_without_noise_are_those_of_federated_averaging() -> None:
    """One hospital whose noise is taken out steps along its mean gradient."""
    member = hospital().join(model(), **asked(batch=60, steps=1, clip=100.0, lr=0.5))
    object.__setattr__(member.ready, "noise", Silent())
    found = member.update(model())
    plain = model()
    inputs, targets = records()
    torch.nn.functional.cross_entropy(plain(inputs), targets).backward()
    expected = -0.5 * plain.weight.grad.numpy()  # type: ignore[union-attr, operator]
    assert found.arrays["weight"] == pytest.approx(expected, abs=1e-6)
