"""What left the device, in words."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import date

import pytest

from dither import local
from dither.local.oracles import KAryResponse, Unary


def test_the_owner_sees_what_the_server_can_read(path, key, make, today):
    client = local.Client(path, budget=1000, trust=key.public)
    task = make(oracle=KAryResponse(5, 2**32 - 1), epsilon=30, for_ever=30, messages=2)
    client.join(task)
    first = client.answer(task, "👍")
    second = client.answer(task, "unknown", slot=1)
    one, two = client.sent()
    assert (one.task, one.version, one.slot, one.said) == ("emoji", 1, 0, "👍")
    assert (two.slot, two.said) == (1, "none")
    assert (one.message, two.message) == (first, second)
    assert one.epsilon == task.once.epsilon
    assert one.at == today.moment
    assert (one.first, one.until) == (date(2027, 3, 1), date(2027, 3, 2))
    assert str(one) == (
        "2027-03-01 12:30 UTC  emoji (version 1), period from 2027-03-01: your answer "
        f"was turned into “👍”, ε = {task.once.epsilon:.4g}, 17 bytes"
    )
    assert "message 2" in str(two)
    with pytest.raises(FrozenInstanceError):
        one.said = "other"


def test_values_with_braces_are_named_as_they_are(client, make):
    task = make(
        domain=["{1}", "{0} {x}"],
        none=False,
        every=None,
        for_ever=None,
        distinct=1,
        oracle=Unary(2, 2**32 - 1, 2**32 - 2),
        epsilon=2,
    )
    client.join(task)
    client.answer(task, "{1}")
    (sent,) = client.sent()
    assert sent.said == "{1}, {0} {x}"


def test_the_moment_and_the_day_are_not_in_the_message(client, make, today):
    """Two devices that answer at different hours send headers that are equal."""
    task = make()
    client.join(task)
    message = client.answer(task, "🎉")
    assert message[:16] == b"\xd1\x01\x01\x00" + task.tag + bytes(4)
    assert client.sent()[0].at == today.moment
