"""What is not a task, and what is not a message of a task, is refused or counted."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.task import Task
from dither.local.wire import HEADER, Header, Messages

DAY = date(2027, 1, 4)
USUAL: dict[str, Any] = {"domain": ["a", "b"], "epsilon": 1, "n": 1000, "starts": DAY}
TASK = local.task("x", **USUAL, strata=("1.0", "2.0"))
AGAIN = local.task(
    "y", **USUAL, for_ever=2, every="day", expires=date(2027, 1, 8), distinct=2
)


def changed(**lines: Any) -> bytes:
    read = json.loads(TASK.document) | lines
    text = json.dumps(read, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def test_a_document_is_read_as_it_was_written() -> None:
    for task in (TASK, AGAIN, local.task("z", epsilon=2, n=10)):
        again = Task.from_document(task.document)
        assert again == task
        assert again.tag == task.tag
        signed = task.sign(local.SigningKey.new())
        assert Task.from_json(signed.to_json()).signature == signed.signature


def oracle(**lines: Any) -> dict[str, Any]:
    return TASK.oracle.parameters | lines


@pytest.mark.parametrize(
    "lines",
    [
        {"format": "dither local task, 2"},
        {"more": 1},
        {"oracle": oracle(truth=TASK.oracle.parameters["truth"] + 100)},
        {"oracle": oracle(truth=2**32)},
        {"oracle": oracle(truth=0)},
        {"oracle": oracle(truth=1.5)},
        {"oracle": oracle(truth=True)},
        {"oracle": oracle(items=4)},
        {"oracle": oracle(kind="magic")},
        {"oracle": oracle(more=1)},
        {"oracle": []},
        {"epsilon": 0.5},
        {"epsilon": "1"},
        {"epsilon": float("nan")},
        {"domain": {"values": ["a", "a"], "none": True}},
        {"domain": {"values": ["a"], "none": True}},
        {"domain": 7},
        {"expires": "2026-01-01"},
        {"expires": 5},
        {"strata": ["1.0", "1.0"]},
        {"strata": 3},
        {"stopped": 1},
        {"version": 0},
        {"version": 1.0},
        {"minimum": -1},
    ],
    ids=str,
)
def test_a_document_that_is_no_task(lines: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        Task.from_document(changed(**lines))


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b"[" * 100_000,
        TASK.document + b" ",
        TASK.document.replace(b'"epsilon":1.0', b'"epsilon":1'),
    ],
    ids=["empty", "list", "cut", "no text", "deep", "a space more", "another number"],
)
def test_bytes_that_are_no_task(document: bytes) -> None:
    with pytest.raises(ArgumentError):
        Task.from_document(document)
    with pytest.raises(ArgumentError):
        Task.from_json(document)


def head(**changes: Any) -> Header:
    usual = {"tag": TASK.tag, "version": 1, "period": 0, "stratum": 0}
    return Header(**(usual | changes))


RECORD = bytes(TASK.oracle.record)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (head(tag=b"12345678").to_bytes() + RECORD, "task"),
        (head(version=2).to_bytes() + RECORD, "version"),
        (head(period=1).to_bytes() + RECORD, "period"),
        (head(stratum=2).to_bytes() + RECORD, "stratum"),
        (head().to_bytes() + RECORD + b"\0", "length"),
        (head().to_bytes(), "format"),
        (head().to_bytes() + b"\3", "value"),
        (b"\xd1\x02" + head().to_bytes()[2:] + RECORD, "format"),
        (b"", "format"),
        (b"\xd2", "format"),
        ("text", "format"),
        (None, "format"),
        (Messages(head(), np.zeros((1, 5), np.uint8)), "length"),
        (Messages(head(tag=b"12345678"), np.zeros((1, 1), np.uint8)), "task"),
    ],
)
def test_a_message_that_is_not_of_this_task(message: Any, reason: str) -> None:
    good = TASK.randomize(["a"] * 5, stratum="1.0")
    tally = TASK.tally([*good, message])
    assert tally.messages == 5
    assert tally.rejected == {reason: 1}
    assert f"1 rejected ({reason} 1)" in str(tally)


def test_periods() -> None:
    messages = [AGAIN.randomize(["a"] * 10, period=day) for day in range(4)]
    late = [Header(AGAIN.tag, 1, day) for day in (4, 5)]
    messages += [Messages(head, messages[0].records) for head in late]
    tally = AGAIN.tally(messages)
    assert tally.periods == {0: 10, 1: 10, 2: 10, 3: 10}
    assert tally.rejected == {"period": 20}
    only = AGAIN.tally(messages, period=2)
    assert only.periods == {2: 10}
    assert AGAIN.period(date(2027, 1, 5)) == 1
    assert AGAIN.first_day(1) == date(2027, 1, 5)
    for day in (date(2027, 1, 3), date(2027, 1, 8)):
        with pytest.raises(ArgumentError, match="runs from"):
            AGAIN.period(day)


def test_strata() -> None:
    old, new = (
        TASK.randomize(["a"] * n, stratum=s) for s, n in (("1.0", 30), ("2.0", 70))
    )
    tally = TASK.tally([old, new])
    assert (tally.of("1.0").messages, tally.of("2.0").messages) == (30, 70)
    assert tally.of("2.0").counts.sum() == 70
    assert tally.messages == 100
    for wrong in ("3.0", None):
        with pytest.raises(ArgumentError, match="stratum"):
            TASK.randomize(["a"], stratum=wrong)
    with pytest.raises(ArgumentError, match="declares no strata"):
        AGAIN.tally([]).of("1.0")


def test_tallies_of_other_tasks_do_not_add() -> None:
    with pytest.raises(ArgumentError, match="another task"):
        TASK.tally([]) + TASK.changed(minimum=50).tally([])
    assert sum([TASK.tally([]), TASK.tally([])]).messages == 0  # type: ignore[union-attr]


@pytest.mark.parametrize("messages", ["text", 7, None])
def test_what_is_no_list_of_messages(messages: Any) -> None:
    with pytest.raises(ArgumentError, match="messages"):
        TASK.tally(messages)


def test_a_newer_version_and_the_kill_switch() -> None:
    newer = TASK.changed(minimum=50)
    stopped = newer.stop()
    assert (newer.version, stopped.version) == (2, 3)
    assert stopped.stopped
    assert newer.signature == b""
    assert newer.tally(TASK.randomize(["a"] * 3, stratum="1.0")).rejected == {
        "version": 3
    }
    assert HEADER == 16


@pytest.mark.parametrize("period", [-1, 1, 1.5, True, DAY, "0"])
def test_what_is_no_period(period: Any) -> None:
    once = local.task("o", **USUAL)
    with pytest.raises(ArgumentError, match="period"):
        once.randomize(["a"], period=period)
    with pytest.raises(ArgumentError, match="period"):
        once.tally([], period=period)


@pytest.mark.parametrize("line", ["epsilon", "domain", "name", "n", "for_ever"])
def test_what_no_version_can_change(line: str) -> None:
    with pytest.raises(ArgumentError, match="another name") as caught:
        TASK.changed(**{line: 1})
    assert caught.value.argument == line


def test_a_task_says_what_it_is() -> None:
    said = str(TASK)
    assert "2 values; each device answers once, from " in said
    assert "until before" not in said
    last = TASK.expires - timedelta(days=1)
    assert f" to {last}; " in said
    assert "every day" in str(AGAIN)
    assert "not signed" in str(TASK)
