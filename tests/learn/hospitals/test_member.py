"""A hospital pays before it reads, claims a round before it answers, and answers once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dither
from dither import ArgumentError
from dither.errors import AccountFrozen, BudgetExceeded, LedgerError
from dither.learn import Adaptive, hospitals
from dither.learn.hospitals.member import Member
from dither.learn.loop import Loop
from dither.ledger import Account, Ledger, Policy, verify
from tests.learn.data import EXAMPLE, Pairs
from tests.learn.hospitals.data import UNITS, account, asked, hospital, lines, model


class Power(Exception):
    """The machine stops."""


def test_joining_charges_all_rounds_and_reads_nothing() -> None:
    paid, data = account(), Pairs(UNITS)
    north = hospital(data=data, example=EXAMPLE, budget=paid)
    member = north.join(torch.nn.Linear(4, 3), **asked())
    assert data.read == 0
    (charge,) = lines(paid, "charge")
    assert charge["run"]["steps"] == 8
    assert member.guarantee.steps == 8  # type: ignore[attr-defined]
    assert [one["charge"] for one in lines(paid, "settle")] == [member.receipt.number]
    assert lines(paid, "claim") == []


def test_a_round_is_claimed_before_anything_is_read() -> None:
    paid, seen = account(), []

    class Watched(Pairs):
        def __getitem__(self, place: int) -> Any:
            seen.append(lines(paid, "claim")[-1]["last"])
            return super().__getitem__(place)

    north = hospital(data=Watched(UNITS), example=EXAMPLE, budget=paid)
    member = north.join(torch.nn.Linear(4, 3), **asked(batch=UNITS))
    member.update(torch.nn.Linear(4, 3))
    assert set(seen) == {2}
    member.update(torch.nn.Linear(4, 3))
    assert set(seen) == {2, 4}


def test_rounds_are_answered_once_each() -> None:
    paid = account()
    member = hospital(budget=paid).join(model(), **asked())
    first = member.update(model(), 1)
    assert member.update(model(), 1) is first  # somebody lost the answer
    other = {name: one + 1 for name, one in first.arrays.items()}
    with pytest.raises(ArgumentError, match="a second look"):
        member.update(other, 1)
    assert [member.update(model()).round for _ in range(3)] == [2, 3, 4]
    with pytest.raises(ArgumentError, match="answered round 4"):
        member.update(model())
    with pytest.raises(ArgumentError, match="a second look"):
        member.update(model(), 1)
    taken = [(one["first"], one["last"]) for one in lines(paid, "claim")]
    assert taken == [(1, 2), (3, 4), (5, 6), (7, 8)]
    assert paid.charges == 1
    assert verify(paid._ledger, whole=True)
    stored = {one["key"] for one in lines(paid, "store")}
    number = member.receipt.number
    assert stored == {f"training {number}, round {one}" for one in range(1, 5)}


def test_rounds_that_are_passed_over_are_lost() -> None:
    member = hospital().join(model(), **asked())
    assert member.update(model(), 3).round == 3
    for number in (1, 2, 3):
        with pytest.raises(ArgumentError, match="a second look"):
            member.update(other_model(), number)
    assert member.next() == 4


def other_model() -> torch.nn.Module:
    return torch.nn.Linear(3, 2)


def test_one_that_joins_later_pays_for_what_is_left() -> None:
    late = hospital(since=3).join(model(), **asked())
    assert late.guarantee.steps == 4  # type: ignore[attr-defined]
    assert (late.next(), late.last) == (3, 4)
    with pytest.raises(ArgumentError, match="rounds 3 to 4"):
        late.update(model(), 2)
    assert late.update(model(), 3).round == 3
    with pytest.raises(ArgumentError, match="round 9"):
        hospital(since=9).join(model(), **asked())


def test_a_restart_goes_on_and_pays_nothing(tmp_path: Path) -> None:
    place = tmp_path / "book.db"
    with Ledger.open(place) as book:
        north = hospital(budget=account(book=book))
        north.join(model(), run="risk", **asked()).update(model())
    with Ledger.open(place) as book:
        paid = account(book=book)
        member = hospital(budget=paid).join(model(), run="risk", **asked())
        assert paid.charges == 1
        with pytest.raises(ArgumentError, match="a second look"):
            member.update(model(), 1)
        assert member.update(model()).round == 2


def test_another_run_needs_another_name() -> None:
    north = hospital()
    north.join(model(), run="risk", **asked())
    for other in ({"noise": 0.5}, {"steps": 1}, {"clip": 2.0}, {"batch": 30}):
        with pytest.raises(ArgumentError, match="another run"):
            north.join(model(), run="risk", **asked(**other))
    assert north.budget.charges == 1  # type: ignore[union-attr]
    north.join(model(), run="risk-2", **asked())
    north.join(model(), **asked())
    assert north.budget.charges == 3  # type: ignore[union-attr]


def test_a_crash_loses_its_round(monkeypatch: pytest.MonkeyPatch) -> None:
    paid = account()
    north = hospital(budget=paid)
    member = north.join(model(), run="risk", **asked())

    def stop(self: Loop, noise: float) -> None:  # noqa: ARG001
        raise Power

    with monkeypatch.context() as patched:
        patched.setattr(Loop, "step", stop)
        with pytest.raises(Power):
            member.update(model())
    for one in (member, north.join(model(), run="risk", **asked())):
        with pytest.raises(ArgumentError, match="a second look"):
            one.update(model(), 1)
    assert member.update(model()).round == 2
    assert len(lines(paid, "fail")) == 1


KILLED = """
import sys, os
from tests.learn.hospitals.data import *
from dither.learn.loop import Loop
from dither.ledger import Ledger
Loop.step = lambda self, noise: os._exit(9)
paid = account(book=Ledger.open(sys.argv[1]))
hospital(budget=paid).join(model(), run="risk", **asked()).update(model())
"""


@pytest.mark.full
def test_a_process_that_dies_leaves_its_claim(tmp_path: Path) -> None:
    place = tmp_path / "book.db"
    done = subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    assert done.returncode == 9
    with Ledger.open(place) as book:
        paid = account(book=book)
        member = hospital(budget=paid).join(model(), run="risk", **asked())
        assert paid.charges == 1
        with pytest.raises(ArgumentError, match="a second look"):
            member.update(model(), 1)
        assert member.update(model()).round == 2


def test_two_processes_of_one_hospital_share_its_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While one computes a round, another one takes the next: the first keeps its
    answer to itself.
    """
    north = hospital()
    one, two = (north.join(model(), run="risk", **asked()) for _ in range(2))
    answer = Member._answer

    def slow(self: Member, given: Any, end: int) -> Any:
        if self is one:
            assert two.update(model(), 2).round == 2
        return answer(self, given, end)

    monkeypatch.setattr(Member, "_answer", slow)
    with pytest.raises(LedgerError, match="another process"):
        one.update(model(), 1)
    assert two.next() == 3


@pytest.mark.parametrize(
    "weights",
    [
        None,
        "weights",
        [np.zeros((2, 3))],
        [np.zeros((3, 2)), np.zeros(2)],
        {"weight": np.zeros((2, 3))},
        {"weight": np.zeros((2, 3)), "bias": np.array([0, np.nan])},
        {"weight": np.full((2, 3), 1e300), "bias": np.zeros(2)},
        {"weight": np.zeros((2, 3), object), "bias": np.zeros(2)},
        torch.nn.Linear(4, 2),
    ],
)
def test_odd_weights_are_refused_and_claim_nothing(weights: Any) -> None:
    paid = account()
    member = hospital(budget=paid).join(model(), **asked())
    with pytest.raises(ArgumentError, match="weights"):
        member.update(weights)
    assert lines(paid, "claim", "resume") == []


@pytest.mark.parametrize("number", [0, 5, -1, True, 1.0, "1"])
def test_odd_rounds_are_refused(number: Any) -> None:
    with pytest.raises(ArgumentError, match="rounds 1 to 4"):
        hospital().join(model(), **asked()).update(model(), number)


def odd_records() -> list[Any]:
    rows = torch.zeros(UNITS, 3), torch.zeros(UNITS, dtype=torch.int64)
    huge = torch.full((UNITS, 3), 1e38), rows[1]
    missing = torch.full((UNITS, 3), torch.nan), rows[1]
    foreign = rows[0], torch.full((UNITS,), 77)
    return [rows, huge, missing, foreign, (rows[0][:0], rows[1][:0])]


@pytest.mark.parametrize("data", odd_records())
def test_odd_records_get_a_usual_answer(data: Any) -> None:
    member = hospital(data=data).join(model(), **asked())
    found = member.update(model())
    assert {name: one.shape for name, one in found.arrays.items()} == {
        "weight": (2, 3),
        "bias": (2,),
    }
    assert all(np.isfinite(one).all() and one.any() for one in found.arrays.values())


class Double(torch.nn.Module):
    """Computes in float64."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 2).double()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.inner(inputs.double())
        return found


def test_updates_travel_in_float32() -> None:
    found = hospital().join(Double(), **asked()).update(Double())
    assert {one.dtype for one in found.arrays.values()} == {np.dtype(np.float32)}


def test_huge_weights_of_a_server_get_an_answer() -> None:
    """Gradients that are no numbers count for nothing, and noise comes out."""
    member = hospital().join(model(), **asked(lr=1.0))
    sent = {"weight": np.full((2, 3), 3e38), "bias": np.zeros(2)}
    assert np.isfinite(member.update(sent).arrays["bias"]).all()


def test_too_little_is_left() -> None:
    paid = account(epsilon=0.5)
    with pytest.raises(BudgetExceeded):
        hospital(budget=paid).join(model(), **asked(noise=0.5))
    assert paid.charges == 0


def test_an_account_is_needed() -> None:
    with pytest.raises(ArgumentError, match="an account of its"):
        hospital(budget=None).join(model(), **asked())
    with pytest.raises(ArgumentError, match="has no δ"):
        hospital(budget=account(delta=0.0)).join(model(), **asked())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"rounds": 0}, "rounds"),
        ({"rounds": 10**9}, "rounds"),
        ({"steps": 0}, "steps"),
        ({"noise": None}, "epsilon"),
        ({"loss": None}, "loss"),
        ({"batch": None}, "batch"),
        ({"run": "a run"}, "plain letters"),
    ],
)
def test_bad_questions_charge_nothing(more: dict[str, Any], words: str) -> None:
    paid = account()
    with pytest.raises(ArgumentError, match=words):
        hospital(budget=paid).join(model(), **asked(**more))
    assert lines(paid, "charge") == []


@pytest.mark.parametrize(
    "more", [{"name": "a b"}, {"since": 0}, {"weight": -1.0}, {"weight": np.nan}]
)
def test_bad_hospitals_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        hospital(**{"name": "north", **more})


def test_a_round_that_failed_counts_nobody_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The noise of an adaptive radius' count covers each patient once."""
    options = asked(clip=Adaptive(1e9, count_noise=5.0), batch=UNITS, steps=1)
    member = hospital().join(model(), **options)
    radius, counts = member.ready.radius, []

    def broken() -> None:
        raise Power

    with monkeypatch.context() as patch:
        patch.setattr(member.ready.optimizer, "step", broken)
        with pytest.raises(Power):
            member.update(model())
    monkeypatch.setattr(radius, "step", lambda: counts.append(radius.below))
    member.update(model())
    assert counts == [UNITS / 2]


def test_failures_freeze_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    paid = account(policy=Policy(failures=2, failures_in_all=2))
    member = hospital(budget=paid).join(model(), **asked())

    def stop(self: Loop, noise: float) -> None:  # noqa: ARG001
        raise Power

    monkeypatch.setattr(Loop, "step", stop)
    for _ in range(2):
        with pytest.raises(Power):
            member.update(model())
    with pytest.raises(AccountFrozen):
        member.update(model())


def test_an_opened_dataset_pays_for_itself() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"patient": range(50), "age": range(50), "ill": ["no"] * 50})
    opened = dither.open(
        frame,
        name="north",
        unit="patient",
        bounds={"age": (0, 110)},
        keys={"ill": ["no", "yes"]},
        rows=1,
        population=50,
        budget=(20.0, 1e-6),
        ledger=":memory:",
    )
    north = hospitals.Hospital("north", opened, inputs=["age"], target="ill")
    member = north.join(torch.nn.Linear(1, 2), **asked())
    member.update(torch.nn.Linear(1, 2))
    assert isinstance(opened.account, Account)
    assert opened.account.charges == 1
