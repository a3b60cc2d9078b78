"""RAPPOR as the oracle of a task, from the device to the tally."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local import checks
from dither.local.client import clock
from dither.local.rappor.decode import decode
from dither.local.rappor.oracle import Rappor
from dither.local.task import Task
from dither.local.wire import HEADER
from tests.chance import chance

ORACLE = Rappor.at(epsilon=2, for_ever=4, bits=32, cohorts=4)


def asked(oracle: Rappor = ORACLE, domain: Any = None, **more: Any) -> Task:
    stated = {"epsilon": 2, "for_ever": 4, "every": "week", "distinct": 2, "n": 1000}
    return local.task("home page", domain=domain, oracle=oracle, **(stated | more))


def test_a_task_is_read_again_as_it_was_written() -> None:
    task = asked()
    assert Task.from_document(task.document) == task
    assert task.lifetime.epsilon == pytest.approx(12)


def test_a_task_promises_what_its_thresholds_lose() -> None:
    with pytest.raises(ArgumentError, match="the oracle has a privacy loss of"):
        asked(epsilon=1.9)


@chance(1e-9)
def test_messages_are_decoded() -> None:
    pages = ["https://a.example", "https://b.example", None]
    task = asked()
    tally = task.tally(task.randomize(np.repeat(pages, [600, 300, 100]).tolist()))
    found = decode(task.oracle, tally.counts.sum(axis=0), pages)
    assert (abs(found.estimate - [0.6, 0.3, 0.1]) < 7 * found.standard_error).all()


def test_messages_of_another_cohort_or_size_are_rejected() -> None:
    task = asked()
    (message,) = task.randomize(["https://a.example"])
    changed = bytearray(message)
    changed[HEADER] = 4
    tally = task.tally([message, bytes(changed), message[:-1], message + b"\0"])
    assert tally.messages == 1
    assert tally.rejected == {"length": 2, "value": 1}


@chance(1e-9)
def test_a_device_keeps_its_cohort_and_its_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With next to no fresh noise, messages about a page are equal. Another page has
    other noise, and "none" has its own.
    """
    oracle = Rappor.of(f=0.5, p=1e-12, q=1 - 1e-12, bits=64, cohorts=256)
    monkeypatch.setattr(checks, "FRESH_AT", 0.0)
    limits = {"epsilon": 5, "for_ever": 5, "every": 1, "starts": date(2027, 1, 1)}
    key = local.SigningKey.new()
    task = asked(oracle, key=key, **limits)
    first = datetime(2027, 1, 1, 12, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: first)
    client = local.Client(tmp_path / "device.db", budget=20, trust=key.public)
    client.join(task)
    said = []
    for day, page in enumerate(["a", "a", "b", "a", None]):
        moment = datetime(2027, 1, 1 + day, 12, tzinfo=UTC)
        monkeypatch.setattr(clock, "now", lambda moment=moment: moment)
        said.append(client.answer(task, page)[HEADER:])
    assert said[0] == said[1] == said[3]
    assert len({one[0] for one in said}) == 1
    assert len(set(said)) == 3
