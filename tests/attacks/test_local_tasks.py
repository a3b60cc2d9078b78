"""Tasks, messages and tallies that were made to deceive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError, BudgetExceeded
from dither.ledger import Ledger
from dither.local.estimates import Score
from dither.local.oracles import HadamardResponse, Loloha, LongitudinalUnary
from dither.local.rappor.oracle import Rappor
from dither.local.task import DEVICE, Task
from dither.local.words import FRESH, ONE
from tests.chance import at_least, chance

TASK = local.task("x", domain=["a", "b", "c"], epsilon=1, n=1000)


def document(**lines: Any) -> bytes:
    read = json.loads(TASK.document) | lines
    return json.dumps(
        read, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ).encode()


@pytest.mark.parametrize("none", [-1, 0, 1, 2, 1.0, None])
def test_none_is_an_item_or_not(none: Any) -> None:
    """With −1 items, the last value would lie outside of the oracle, without noise."""
    values = {"values": ["a", "b", "c"], "none": none}
    oracle = {"kind": "k-ary response", "items": 2, "truth": 3 << 30}
    with pytest.raises(ArgumentError):
        Task.from_document(document(domain=values, oracle=oracle, epsilon=2.0))


@pytest.mark.parametrize(
    "oracle",
    [
        {
            "kind": "subset selection",
            "items": 10**7,
            "size": 5 * 10**6,
            "truth": 3 << 30,
        },
        {"kind": "k-ary response", "items": 1 << 33, "truth": 3 << 30},
        {"kind": "loloha", "items": 4, "values": 2**61 - 1, "functions": 256}
        | {"kept": 3 << 30, "sent": 3 << 30},
        {"kind": "local hashing", "items": 4, "prime": 2**31 - 1, "digits": 99}
        | {"truth": 3 << 30},
        {"kind": "rappor", "items": 10**11, "bits": 10**11, "cohorts": 1, "hashes": 1}
        | {"family": "identity", "flip": 1, "sent_one": ONE, "sent_zero": 0},
    ],
    ids=lambda oracle: oracle["kind"],
)
def test_a_document_of_a_few_bytes_costs_no_time_or_memory(oracle: Any) -> None:
    domain = {"from": 0, "below": oracle["items"], "none": False}
    with pytest.raises(ArgumentError):
        Task.from_document(document(oracle=oracle, domain=domain, every=1))


@pytest.mark.parametrize(
    "oracle",
    [
        Rappor.of(f=0.5, p=1e-9, q=1 - 1e-9),
        LongitudinalUnary(64, 3 << 30, 1 << 30, ONE - 1, 1),
        Loloha(300, 300, 1, 1 << 30, ONE - 1),
        Loloha(300, 3, 256, 3 << 30, ONE - 1),
    ],
    ids=lambda oracle: oracle.kind,
)
def test_what_is_kept_is_never_as_good_as_seen(oracle: Any) -> None:
    domain = oracle.items or None
    usual: dict[str, Any] = {"epsilon": 49, "for_ever": 49.0, "every": 1, "n": 9}
    with pytest.raises(ArgumentError, match="would identify the device"):
        local.task("x", domain=domain, none=False, oracle=oracle, **usual)


def test_nobody_sends_a_batch_in_place_of_a_message() -> None:
    batch = TASK.randomize(["a"] * 1000).to_bytes()
    appended = b"".join(TASK.randomize(["a"] * 10))
    honest = list(TASK.randomize(["b"] * 5))
    tally = TASK.tally([*honest, batch, appended])
    assert tally.messages == 5
    assert tally.rejected == {"format": 1, "length": 1}
    assert TASK.tally([batch, batch], batches=True).messages == 2000
    assert TASK.tally(batch).messages == 1000


def test_a_batch_that_lies_about_its_size_is_one_rejection() -> None:
    batch = bytearray(TASK.randomize(["a"]).to_bytes())
    batch[16:20] = b"\xff\xff\xff\xff"
    assert TASK.tally(bytes(batch)).rejected == {"format": 1}
    assert TASK.tally(bytes(batch[:20])).rejected == {"format": 1}


def test_spare_bytes_of_the_header_hide_nothing() -> None:
    message = bytearray(next(iter(TASK.randomize(["a"]))))
    message[15] = 7
    assert TASK.tally([bytes(message)]).rejected == {"format": 1}
    assert TASK.tally([memoryview(np.zeros((2, 3), np.uint8))]).rejected == {
        "format": 1
    }


def test_several_messages_a_period_are_not_several_devices() -> None:
    usual: dict[str, Any] = {"domain": 9, "epsilon": 1, "for_ever": 2, "every": "day"}
    once, often = (local.task("x", **usual, n=100, messages=n) for n in (1, 24))
    held = [0] * 2400
    alone = once.tally(once.randomize(held)).estimate()
    several = often.tally(often.randomize(held)).estimate()
    assert several.standard_errors.mean() > 1.5 * alone.standard_errors.mean()
    assert several.guarantee.epsilon == often.lifetime.epsilon


@chance(1e-9)
@pytest.mark.parametrize(
    ("items", "n", "epsilon"), [(2, 5, 1), (3, 30, 1), (1000, 100, 4)]
)
def test_hadamard_intervals_of_few_messages_hold(
    items: int, n: int, epsilon: int
) -> None:
    """All hold item 0. Intervals of so few messages are wider than they need be: they
    hold in 98.9 % or more.
    """
    oracle, hold = HadamardResponse.at(items, epsilon), 0
    for _ in range(300):
        tally = oracle.tally(oracle.randomize(np.zeros(n, np.int64), FRESH))
        score = Score(oracle.evidence(tally, n, 1, np.arange(min(items, 20))))
        low, high = score.ends(0.95)
        assert ((low <= score.value) & (score.value <= high)).all()
        hold += bool(low[0] <= 1 <= high[0])
    assert hold >= at_least(300, 0.95, 1e-9)


@chance(1e-7)
def test_a_text_that_is_not_listed_makes_no_discoveries() -> None:
    """Everybody holds it, and it shares places with the candidates."""
    task = local.task("x", epsilon=4, n=10**6, oracle="Hadamard sketch")
    tally = task.tally(task.randomize(np.full(10**6, "heavy").tolist()))
    names = [f"w{number}" for number in range(500)]
    found = tally.estimate(names)
    low, high = found.interval()
    assert ((low <= 0) & (high >= 0)).sum() >= at_least(500, 0.94, 1e-9)
    # Seven of 500 p-values below 7 · 0.05 / 500: 9e-8, if none were too large
    assert found.found.sum() <= 6
    listed = tally.estimate(["heavy", *names])
    assert listed.found[0]
    assert listed.found[1:].sum() <= 8


def test_a_comparison_is_charged_for_both_sides_before_a_value_is_read(
    tmp_path: Path,
) -> None:
    read = []

    def values() -> Iterator[str]:
        read.append(1)
        yield from ["a"] * 50

    with Ledger.open(tmp_path / "book.db") as book:
        account = book.account("people", epsilon=3.0, unit=DEVICE)
        found = local.compare(values(), domain=["a", "b"], epsilon=1.0, budget=account)
        assert found.local.receipt is not None
        assert found.local.receipt == found.central.receipt
        assert found.central.guarantee.epsilon == 2
        read.clear()
        with pytest.raises(BudgetExceeded):
            local.compare(values(), domain=["a", "b"], epsilon=1.0, budget=account)
        assert read == []


@pytest.mark.parametrize(
    "question", [{"epsilon": 1e-12}, {"epsilon": 99}, {"values": []}]
)
def test_a_bad_comparison_is_not_charged(tmp_path: Path, question: Any) -> None:
    usual: dict[str, Any] = {"values": ["a"] * 9, "domain": ["a"], "epsilon": 1.0}
    with Ledger.open(tmp_path / "book.db") as book:
        account = book.account("people", epsilon=300.0, unit=DEVICE)
        with pytest.raises(ArgumentError):
            local.compare(**(usual | question), budget=account)
        assert not [entry for entry in book.entries() if entry.kind == "charge"]


@chance(1e-12)
def test_nothing_is_marked_where_one_text_is_missing() -> None:
    """Three quarters hold a text that is not on the list."""
    task = local.task("t", epsilon=2, for_ever=4, every="week", n=20_000)
    held = ["missing"] * 15_000 + [f"w{number % 50}" for number in range(5_000)]
    found = task.tally(task.randomize(held)).estimate([f"w{n}" for n in range(100)])
    assert not found.found.any()
