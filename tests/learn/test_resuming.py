"""Runs that stop and go on: each step runs once, what is lost stays lost, and a run that
stops is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.optim.lr_scheduler import StepLR

import dither
from dither import ArgumentError, Budget
from dither.errors import LedgerError
from dither.learn import Adaptive, Linear, Validation, Words, preview, train
from dither.learn.checkpoints import read, write
from dither.learn.holding import Records
from dither.learn.loop import Loop
from dither.learn.pinning import pinned
from dither.learn.preparing import prepared
from dither.learn.settings import Settings
from dither.learn.validation import HeldOut
from dither.ledger import Account, Ledger, Policy, verify
from dither.ledger.attempts import charged
from dither.ledger.export import export, recheck
from dither.privacy import ApproxDP, GaussianDP, PoissonSampled, PureDP, Unit
from tests.learn.data import EXAMPLE, Pairs, model, owned, records

STEPS = 8


class Power(Exception):
    """The machine stops."""


def at(step: int, what: Any = Power) -> dict[str, Any]:
    """A callback that ends a run after a step: in good order, or by an error."""

    def call(now: Any) -> bool:
        if now.step == step and what is not True:
            raise what
        return bool(now.step == step)

    return {"callbacks": [call]}


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    with Ledger.open("book.db") as book:
        yield book.account("clinic", epsilon=500, delta=1e-6)


def asked(account: Account, **more: Any) -> dict[str, Any]:
    return owned(budget=account) | more


def lines(account: Account, *kinds: str) -> list[tuple[str, dict[str, Any]]]:
    found = account._ledger.entries()
    return [(one.kind, dict(one.body)) for one in found if one.kind in kinds]


def claimed(account: Account) -> list[int]:
    """All steps that were claimed, in order."""
    return [
        step
        for _, body in lines(account, "claim")
        for step in range(body["first"], body["last"] + 1)
    ]


def failures(account: Account) -> int:
    return account._there().accounts[account.name].failures


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The noise of each step that ran."""
    found: list[float] = []
    step = Loop.step

    def counted(self: Loop, noise: float) -> None:
        found.append(noise)
        step(self, noise)

    monkeypatch.setattr(Loop, "step", counted)
    return found


def test_a_run_with_checkpoints_costs_what_it_does_without(account: Account) -> None:
    kept = train(model(), records(), **asked(account, checkpoint="run.pt"))
    plain = train(model(), records(), **asked(account))
    assert kept.guarantee == plain.guarantee
    costs = [body["cost"] for _, body in lines(account, "charge")]
    assert costs[0] == costs[1]
    assert claimed(account) == list(range(1, STEPS + 1))
    assert [one.step for one in kept.history] == [4, 8]
    assert failures(account) == 0
    assert read("run.pt").done == STEPS


@pytest.mark.parametrize("step", [1, 3, 4, 6, 8])
def test_a_run_goes_on_after_a_crash(
    account: Account, ran: list[float], step: int
) -> None:
    """Every step is claimed once, whenever the crash comes, and there is one charge."""
    run = asked(account, noise_schedule=Linear(1.0, 0.5), every=3)
    with pytest.raises(Power):
        train(model(), records(), **run, checkpoint="run.pt", **at(step))
    kept = 3 * ((step - 1) // 3)
    taken = min(kept + 3, STEPS)
    assert (read("run.pt").done, claimed(account)[-1]) == (kept, taken)
    seen = preview(model(), records(), **run, resume="run.pt")
    assert (seen.left, seen.lost) == (STEPS - taken, taken - kept)
    assert f"{taken - kept} were lost" in str(seen)
    found = train(model(), records(), **run, resume="run.pt")
    levels = [1 - one / 14 for one in range(STEPS)]
    assert ran == pytest.approx(levels[:step] + levels[taken:])
    assert claimed(account) == list(range(1, STEPS + 1))
    assert len(lines(account, "charge")) == 1
    assert f"{taken - kept} of 8 steps were lost" in str(found)
    assert failures(account) == 1
    assert len(lines(account, "settle")) == 1
    assert verify(account._ledger, whole=True)


def test_lost_steps_add_up(account: Account) -> None:
    run = asked(account, every=2)
    for step, place in ((2, {"checkpoint": "run.pt"}), (5, {"resume": "run.pt"})):
        with pytest.raises(Power):
            train(model(), records(), **run, **place, **at(step))
    found = train(model(), records(), **run, resume="run.pt")
    assert "4 of 8 steps were lost" in str(found)
    assert failures(account) == 2


def test_a_run_that_was_lost_in_its_last_block_gives_what_it_has(
    account: Account, ran: list[float]
) -> None:
    data = Pairs()
    run = asked(account, example=EXAMPLE, every=6)
    with pytest.raises(Power):
        train(model(), data, **run, checkpoint="run.pt", **at(7))
    weights, reads, steps = read("run.pt").weights, data.read, len(ran)
    found = train(model(), data, **run, resume="run.pt")
    assert (data.read, len(ran)) == (reads, steps)  # nothing was left to run
    assert all(
        torch.equal(one, weights[name]) for name, one in found.value.named_parameters()
    )
    with pytest.raises(ArgumentError, match="finished"):
        train(model(), data, **run, resume="run.pt")


def test_a_run_that_was_ended_in_good_order_can_go_on(account: Account) -> None:
    run = asked(account, public=records(seed=2))
    first = train(model(), records(), **run, checkpoint="run.pt", **at(4, True))
    assert [one.step for one in first.history] == [4]
    again = train(model(), records(), **run, resume="run.pt")
    assert [one.step for one in again.history] == [4, 8]
    assert again.receipt == first.receipt
    assert again.digest != first.digest
    assert "lost" not in str(again)
    assert failures(account) == 0
    assert len(lines(account, "settle")) == 2
    assert verify(account._ledger, whole=True)
    recheck(export(account._ledger))


def test_weights_optimizer_and_radius_go_on(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With steps that do nothing, what goes on is what was written."""
    run = asked(
        account,
        clip=Adaptive(0.1),
        optimizer=torch.optim.Adam,
        scheduler=partial(StepLR, step_size=2, gamma=0.5),
        lr=0.1,
    )
    rates: list[float] = []

    def note(now: Any) -> None:
        rates.append(now.lr)

    train(model(), records(), **run, checkpoint="run.pt", **at(4, True))
    held = read("run.pt")
    assert held.radius != 0.1
    seen: list[Any] = []
    step = Loop.step

    def look(self: Loop, noise: float) -> None:
        if not seen:
            state = self.ready.optimizer.state_dict()["state"]
            weights = {n: one.clone() for n, one in self.ready.model.named_parameters()}
            seen.append((weights, state[0]["exp_avg"].clone(), int(state[0]["step"])))
            seen.append(self.ready.radius.clipping.radius)
        step(self, noise)

    monkeypatch.setattr(Loop, "step", look)
    train(model(), records(), **run, resume="run.pt", callbacks=[note])
    weights, moved, count = seen[0]
    assert all(torch.equal(one, held.weights[name]) for name, one in weights.items())
    assert torch.equal(moved, held.state[0]["exp_avg"])
    assert (count, seen[1]) == (4, held.radius)
    assert rates == [0.025, 0.025, 0.0125, 0.0125]


def test_two_copies_of_a_checkpoint_go_on_once(
    account: Account, ran: list[float]
) -> None:
    data = Pairs()
    run = asked(account, example=EXAMPLE, every=2)

    def other(_: Any) -> None:
        """The copy is tried while the first one is at work."""
        with pytest.raises(LedgerError, match="another process is running this run"):
            train(model(), data, **run, resume="copy.pt")

    with pytest.raises(Power):
        train(model(), data, **run, checkpoint="new.pt", **at(3))
    shutil.copy("new.pt", "copy.pt")
    before, steps = data.read, len(ran)
    train(model(), data, **run, resume="new.pt", callbacks=[other])
    assert len(ran) == steps + 4
    reads = data.read
    assert reads > before
    with pytest.raises(ArgumentError, match="finished"):
        train(model(), data, **run, resume="copy.pt")
    assert data.read == reads
    assert claimed(account) == list(range(1, STEPS + 1))


def test_whoever_is_overtaken_stops_before_its_next_block(
    account: Account, ran: list[float]
) -> None:
    """The first process is thought to be dead, and is not."""
    run = asked(account, every=2)

    def overtake(now: Any) -> None:
        if now.step == 3:
            train(model(), records(), **run, resume="run.pt", **at(6, True))

    with pytest.raises(LedgerError, match="another process has resumed this run"):
        train(model(), records(), **run, checkpoint="run.pt", callbacks=[overtake])
    assert claimed(account) == [1, 2, 3, 4, 5, 6]
    assert len(ran) == 6
    assert failures(account) == 1
    assert verify(account._ledger, whole=True)


def test_nothing_is_read_before_its_steps_are_claimed(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise LedgerError("refused")

    def early(*_: Any) -> None:
        raise AssertionError("it was read")

    data, run = Pairs(), asked(account, example=EXAMPLE)
    with monkeypatch.context() as now:
        now.setattr("dither.learn.holding.units_of", early)
        now.setattr("dither.ledger.Attempt.claim", refused)
        for place in ({"checkpoint": "run.pt"}, {"resume": "run.pt"}):
            with pytest.raises(LedgerError, match="refused"):
                train(model(), data, **run, **place)
            assert data.read == 0
    train(model(), data, **run, resume="run.pt")
    assert data.read > 0
    assert claimed(account) == list(range(1, STEPS + 1))


def test_runs_that_stop_and_go_on_freeze_the_account(account: Account) -> None:
    run, place = asked(account, every=1), {"checkpoint": "run.pt"}
    for step in range(1, account.policy.failures + 1):
        with pytest.raises(Power):
            train(model(), records(), **run, **place, **at(step))
        place = {"resume": "run.pt"}
    assert account.frozen
    with pytest.raises(LedgerError, match="frozen"):
        train(model(), records(), **run, resume="run.pt")
    assert claimed(account) == [1, 2, 3]
    account.thaw("the machine was repaired")
    train(model(), records(), **run, resume="run.pt")
    assert claimed(account) == list(range(1, STEPS + 1))


KILLED = """
import os, signal, sys
sys.path[:0] = {path!r}
from tests.learn.data import model, owned, records
from dither.learn import train
from dither.ledger import Ledger

def kill(now):
    if now.step == 3:
        os.kill(os.getpid(), signal.SIGKILL)

account = Ledger.open("book.db").account("clinic")
train(model(), records(), **owned(budget=account), checkpoint="run.pt", every=2,
      callbacks=[kill])
"""


def test_a_process_that_was_killed_counts_as_a_failure(account: Account) -> None:
    """Its charge still waits; going on does not settle it as if it had answered."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(path=sys.path)],
        capture_output=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == -9, done.stderr
    assert (failures(account), claimed(account)) == (0, [1, 2, 3, 4])
    found = train(model(), records(), **asked(account), resume="run.pt", every=2)
    assert failures(account) == 1
    assert "2 of 8 steps were lost" in str(found)
    assert claimed(account) == list(range(1, STEPS + 1))
    assert verify(account._ledger, whole=True)


def begun(account: Account, **more: Any) -> dict[str, Any]:
    """The arguments of a run that stopped half-way."""
    run = asked(account, **more)
    train(model(), records(), **run, checkpoint="run.pt", **at(4, True))
    return run


OTHER: dict[str, dict[str, Any]] = {
    "epochs": {"epochs": 3},
    "batch": {"batch": 40},
    "epsilon": {"noise": 0.9},
    "clip": {"clip": 2.0},
    "units": {"units": 210},
    "noise_schedule": {"noise_schedule": Linear(1.0, 0.5)},
    "optimizer": {"optimizer": torch.optim.Adam},
    "by": {"by": "ana"},
}


@pytest.mark.parametrize("argument", OTHER)
def test_another_run_is_refused(account: Account, argument: str) -> None:
    run, data = begun(account), Pairs()
    before = account._ledger.head
    for ask in (preview, train):
        with pytest.raises(ArgumentError, match=f"^{argument} "):
            ask(model(), records(), **run | OTHER[argument], resume="run.pt")
    assert account._ledger.head == before
    assert data.read == 0


def test_another_model_is_refused(account: Account) -> None:
    run = begun(account)
    wide = nn.Sequential(nn.Linear(4, 9), nn.ReLU(), nn.Linear(9, 3))
    bent = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    still = model()
    still[0].weight.requires_grad = False
    for other in (wide, bent, still):
        with pytest.raises(ArgumentError, match=r"^model must be the same"):
            train(other, records(), **run, resume="run.pt")


def test_what_is_not_trained_is_part_of_the_model(account: Account) -> None:
    mine = model()
    mine[0].weight.requires_grad = False
    run = asked(account, every=1)
    train(mine, records(), **run, checkpoint="run.pt", **at(4, True))
    with torch.no_grad():
        mine[2].weight.add_(1)  # trained: comes from the checkpoint
    train(mine, records(), **run, resume="run.pt", **at(5, True))
    with torch.no_grad():
        mine[0].weight.add_(1)
    with pytest.raises(ArgumentError, match=r"^model must be the same"):
        train(mine, records(), **run, resume="run.pt")


def test_other_data_is_refused(account: Account) -> None:
    run = begun(account)
    inputs, targets = records()
    frame = pd.DataFrame(inputs.numpy(), columns=list("abcd"))
    columns = {"inputs": list("abcd"), "target": "class", "classes": range(3)}
    with pytest.raises(ArgumentError, match=r"^data must be the same"):
        train(
            model(),
            frame.assign(**{"class": targets.numpy()}),
            **run,
            **columns,
            resume="run.pt",
        )
    with pytest.raises(ArgumentError):
        train(model(), (inputs.double()[:, :3], targets), **run, resume="run.pt")


def test_another_account_or_book_is_refused(account: Account) -> None:
    run = begun(account)
    other = account._ledger.account("survey", epsilon=500, delta=1e-6)
    for payer in (other, Budget(500.0, 1e-6)):
        with pytest.raises(ArgumentError, match=r"has not paid for the run"):
            train(model(), records(), **run | {"budget": payer}, resume="run.pt")
    with pytest.raises(ArgumentError, match=r"^resume needs an account"):
        train(model(), records(), **run | {"budget": None}, resume="run.pt")
    assert other.charges == 0


def test_a_forged_schedule_is_refused(account: Account) -> None:
    run = begun(account)
    held = read("run.pt")
    write(Path("run.pt"), replace(held, pinned=held.pinned | {"noises": [[0.1, 8]]}))
    with pytest.raises(ArgumentError, match="another run than was paid"):
        train(model(), records(), **run | {"noise": 0.1}, resume="run.pt")
    write(Path("run.pt"), replace(held, done=5))
    with pytest.raises(ArgumentError, match="ahead of the ledger"):
        train(model(), records(), **run, resume="run.pt")


def by_hand(
    account: Account, run: dict[str, Any], guarantee: Any, noise: float
) -> dict[str, Any]:
    """A checkpoint of another noise, whose hash stands beside a charge made by hand."""
    held = read("run.pt")
    changed = {"noises": [[noise, STEPS]], "cost": f"noise = {noise!r}"}
    texts = held.pinned | changed
    receipt = account.charge(guarantee, run=pinned(texts))
    began: dict[str, Any] = {"attempt": receipt.number, "done": 0, "epochs": ()}
    paid = {"number": receipt.number, "head": receipt.head}
    write(Path("other.pt"), replace(held, pinned=texts, **paid, **began))
    return run | {"noise": noise, "resume": "other.pt"}


@pytest.mark.parametrize("kind", ["pure", "gaussian", "approx", "sampled", "cut"])
def test_a_small_charge_pays_for_no_run_of_little_noise(
    account: Account, ran: list[float], kind: str
) -> None:
    run = begun(account)
    honest = read("run.pt")
    paid = charged(account, honest.number, honest.head)
    assert paid is not None
    small = {
        "pure": PureDP(0.001),
        "gaussian": GaussianDP(0.001),
        "approx": ApproxDP(0.001, 1e-9),
        "sampled": PoissonSampled(0.25, GaussianDP(1.0), STEPS),
        "cut": paid.guarantee,
    }
    asked = by_hand(account, run, small[kind], 0.3)
    before = account._ledger.head, len(ran)
    for ask in (preview, train):
        with pytest.raises(ArgumentError, match="costs more than was charged"):
            ask(model(), records(), **asked)
    assert (account._ledger.head, len(ran)) == before


@pytest.mark.parametrize(
    "more",
    [
        {"accounting": "gdp"},
        {"accounting": "renyi"},
        {"unit": Unit("row", "replace")},
    ],
    ids=["gdp", "renyi", "replace"],
)
def test_what_was_charged_pays_in_every_accounting(
    account: Account, more: dict[str, Any]
) -> None:
    other = account._ledger.account("other", epsilon=500, delta=1e-6, **more)
    run = begun(other, validation=held())
    found = train(model(), records(), **run, resume="run.pt")
    assert found.history[-1].step == STEPS


def test_what_cannot_be_kept_is_refused_before_the_charge(account: Account) -> None:
    Path("there.pt").touch()
    bad: list[tuple[str, dict[str, Any]]] = [
        ("checkpoint", {"checkpoint": "there.pt"}),
        ("checkpoint", {"checkpoint": "no/run.pt"}),
        ("checkpoint", {"checkpoint": 7}),
        ("checkpoint", {"checkpoint": "run.pt", "budget": None}),
        ("every", {"every": 2}),
        ("every", {"every": 0, "checkpoint": "run.pt"}),
        ("resume", {"resume": "there.pt"}),
        ("resume", {"resume": "none.pt"}),
    ]
    for argument, more in bad:
        for ask in (preview, train):
            with pytest.raises(ArgumentError, match=f"^{argument} "):
                ask(model(), records(), **asked(account) | more)
    assert account.charges == 0
    assert not Path("run.pt").exists()


def test_an_older_copy_of_the_book_runs_nothing(account: Account) -> None:
    run, data = asked(account, example=EXAMPLE), Pairs()
    book = account._ledger
    with pytest.raises(Power):
        train(model(), data, **run, checkpoint="run.pt", every=2, **at(3))
    book.backup("copy.db")
    shutil.copy("run.pt", "kept.pt")
    train(model(), data, **run, resume="run.pt")
    before = data.read
    with Ledger.restore("copy.db", "restored.db") as old:
        run["budget"] = old.account("clinic")
        with pytest.raises(LedgerError, match="frozen"):
            train(model(), data, **run, resume="kept.pt")
        run["budget"].thaw("the curator has looked")
        # What it has is paid for; what is left may have run since.
        found = train(model(), data, **run, resume="kept.pt")
        assert "6 of 8 steps were lost" in str(found)
    assert data.read == before


def test_runs_of_an_opened_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs, targets = records()
    frame = pd.DataFrame(
        {"a": inputs[:, 0].numpy(), "b": inputs[:, 1].numpy(), "class": targets.numpy()}
    )
    frame["id"] = [f"p{one}" for one in range(len(frame))]

    def opened() -> Any:
        return dither.open(
            {"people": frame},
            unit="id",
            bounds={"people": {"a": (-3, 3), "b": (-3, 3)}},
            keys={"people": {"class": [0, 1, 2]}},
            rows={"people": 1},
            population=200,
            budget=(50.0, 1e-6),
            ledger="book",
        )

    run: dict[str, Any] = {
        "loss": functional.cross_entropy,
        "epochs": 2,
        "batch": 50,
        "inputs": ["a", "b"],
        "target": "class",
        "share": 0.5,
        "lr": 0.5,
    }
    small = nn.Linear(2, 3)
    with opened() as people:
        cost = {name: run[name] for name in ("loss", "epochs", "batch", "share")}
        seen = preview(small, people, **cost, checkpoint="run.pt")
        with pytest.raises(Power):
            train(small, people, **run, checkpoint="run.pt", **at(6))
    with opened() as people:
        found = train(small, people, **run, resume="run.pt")
        assert found.guarantee == seen.guarantee
        assert people.account.charges == 1
        with pytest.raises(ArgumentError, match="finished"):
            train(small, people, **run, resume="run.pt")


def test_an_account_with_a_policy_of_its_own(tmp_path: Path) -> None:
    """The deadline of an attempt is the account's."""
    with Ledger.open(tmp_path / "book.db") as book:
        account = book.account(
            "clinic", epsilon=500, delta=1e-6, policy=Policy(deadline=7200)
        )
        place = tmp_path / "run.pt"
        run = asked(account)
        train(model(), records(), **run, checkpoint=place, **at(4, True))
        train(model(), records(), **run, resume=place)
        ((_, body),) = lines(account, "resume")
        (began,) = [one for one in book.entries() if one.kind == "resume"]
        assert body["deadline"] > dither.ledger.clock.after(began.time, 7000)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The measurements on held-out records that were taken."""
    found: list[Any] = []
    measure = HeldOut.measure

    def counted(self: HeldOut) -> Any:
        found.append(measure(self))
        return found[-1]

    monkeypatch.setattr(HeldOut, "measure", counted)
    return found


def held(**more: Any) -> Validation:
    return Validation(records(seed=2), **{"noise": 20.0} | more)


def test_held_out_records_are_measured_once_for_each_epoch(
    account: Account, measured: list[Any]
) -> None:
    run = asked(account, epochs=3, every=1, validation=held())
    for step, place in ((2, {"checkpoint": "run.pt"}), (7, {"resume": "run.pt"})):
        found = train(model(), records(), **run, **place, **at(step, True))
    assert len(measured) == 1  # neither of both stopped at the end of an epoch
    seen = [one.validation_accuracy is not None for one in found.history]
    assert seen == [False, True, False]
    found = train(model(), records(), **run, resume="run.pt")
    assert len(measured) == 3
    assert [one.step for one in found.history] == [2, 4, 7, 8, 12]
    assert claimed(account) == list(range(1, 13))


def test_a_lost_measurement_is_lost(account: Account, measured: list[Any]) -> None:
    run = asked(account, validation=held())
    with pytest.raises(Power):  # after the step, before the measurement
        train(model(), records(), **run, checkpoint="run.pt", **at(4))
    assert not measured
    train(model(), records(), **run, resume="run.pt")
    assert len(measured) == 1


@pytest.mark.parametrize(
    ("began", "now"),
    [
        (None, held()),
        (held(), None),
        (held(), held(noise=19.0)),
        (held(), held(bound=2.0)),
        (held(every=2), held()),
    ],
    ids=["brought in", "left out", "less noise", "another", "more often"],
)
def test_a_measurement_that_was_not_charged_is_refused(
    account: Account, measured: list[Any], began: Any, now: Any
) -> None:
    run = begun(account, validation=began)
    before = account._ledger.head, len(measured)
    with pytest.raises(ArgumentError, match=r"^validation must be the same"):
        train(model(), records(), **run | {"validation": now}, resume="run.pt")
    assert (account._ledger.head, len(measured)) == before


def test_no_part_of_the_units_is_held_out_of_a_run_that_goes_on(
    account: Account,
) -> None:
    for ask in (preview, train):
        with pytest.raises(ArgumentError, match=r"^validation cannot be a part"):
            ask(
                model(),
                records(),
                **asked(account, validation=Validation(0.2, noise=20.0)),
                checkpoint="run.pt",
            )
    assert account.charges == 0


WORDS = ["pain", "fever"]


@pytest.mark.parametrize("used", ["before", "between"])
def test_words_that_were_used_go_on(account: Account, used: str) -> None:
    """What an object holds beside what was declared tells no two runs apart."""
    frame = pd.DataFrame({"note": ["pain", "fever"] * 20, "class": [0, 1] * 20})
    first, again = Words(WORDS, 2), Words(WORDS, 2)
    (first if used == "before" else again)(["pain"])
    reader = nn.Sequential(nn.Embedding(4, 2), nn.Flatten(), nn.Linear(4, 2))
    run = asked(account, units=40, batch=10, target="class", classes=[0, 1])
    begin = {"inputs": {"note": first}, "checkpoint": "run.pt"}
    train(reader, frame, **run, **begin, **at(4, True))
    train(reader, frame, **run, inputs={"note": again}, resume="run.pt")
    assert claimed(account) == list(range(1, STEPS + 1))


class Forks:
    """Forks once, in a callback; the copy goes on with what it was doing."""

    def __init__(self, step: int) -> None:
        self.step, self.mine, self.code = step, os.getpid(), None

    def __call__(self, now: Any = None) -> None:
        if os.getpid() != self.mine or (now is not None and now.step != self.step):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads, which nothing here uses
            child = os.fork()
        if child:
            self.code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class ForkingPairs(Pairs):
    """Forks when its rows are read."""

    def __init__(self, forks: Forks) -> None:
        super().__init__()
        self.forks = forks

    def __getitem__(self, place: int) -> Any:
        if self.forks.code is None:
            self.forks()
        return super().__getitem__(place)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.parametrize(
    "where", ["callback", "end of a block", "last step", "dataset", "no checkpoint"]
)
def test_a_forked_process_runs_nothing(
    account: Account, ran: list[float], where: str
) -> None:
    step = {"end of a block": 4, "last step": STEPS}.get(where, 2)
    forks, data = Forks(step), records()
    run = asked(account, callbacks=[forks], example=None)
    if where == "dataset":
        data = ForkingPairs(forks)
        run = asked(account, example=EXAMPLE)
    if where != "no checkpoint":
        run["checkpoint"] = "run.pt"
    try:
        found = train(model(), data, **run)
    except BaseException as error:
        if os.getpid() != forks.mine:
            os._exit(7 if "was forked from that one" in str(error) else 8)
        raise
    if os.getpid() != forks.mine:
        os._exit(9)
    assert forks.code == 7
    assert len(ran) == STEPS
    assert found.history[-1].step == STEPS
    assert claimed(account) == ([] if where == "no checkpoint" else [*range(1, 9)])
    assert verify(account._ledger, whole=True)


def test_a_forked_process_measures_nothing() -> None:
    checked = owned(validation=held())
    made = prepared(model(), records(), Settings(**checked))
    one = Records.read(made, None).units(replace(made, process=-1))[1]
    assert one is not None
    with pytest.raises(LedgerError, match="was forked from that one"):
        one.measure()


def test_a_run_that_was_ended_is_not_called_finished(account: Account) -> None:
    run = begun(account)
    account._ledger.backup("copy.db")
    with Ledger.restore("copy.db", "restored.db") as old:
        run["budget"] = old.account("clinic")
        run["budget"].thaw("the curator has looked")
        with pytest.raises(ArgumentError, match="was ended by a renewal"):
            train(model(), records(), **run, resume="run.pt")
