"""Made-up devices over several periods keep what real ones keep."""

from __future__ import annotations

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.oracles import KAryResponse
from tests.chance import chance

DAILY = local.task(
    "x", domain=40, epsilon=1, for_ever=2, every="day", n=500, none=False
)


@chance(1e-20)
def test_a_value_that_returns_has_its_old_noise() -> None:
    """Without fresh noise, messages show what is kept."""
    oracle = KAryResponse.at(41, 3.0)
    task = local.task(
        "k", domain=40, epsilon=3, for_ever=3.0, every="day", n=9, oracle=oracle
    )
    first, other = np.arange(40).repeat(50), (np.arange(40).repeat(50) + 1) % 40
    one, two, three = (sent.records for sent in task.rehearse([first, other, first]))
    assert (one == three).all()
    assert (one != two).mean() > 0.5


@chance(1e-7)
def test_kept_noise_does_not_average_out() -> None:
    held = np.arange(40).repeat(50)
    sent = DAILY.rehearse([held] * 20)
    tally = DAILY.tally(sent)
    assert tally.periods == dict.fromkeys(range(20), 2000)
    found = tally.estimate()
    low, high = found.interval(1 - 1.000001e-9)
    assert ((low <= 1 / 40) & (high >= 1 / 40)).all()
    fresh = DAILY.tally(DAILY.randomize(held)).estimate()
    assert found.standard_errors.mean() > fresh.standard_errors.mean() / 4


def test_texts_are_kept_too() -> None:
    task = local.task("t", epsilon=2, for_ever=4, every="week", n=500)
    values = ["a.org"] * 100 + ["b.org"] * 100
    sent = task.rehearse([values, values])
    assert [len(one) for one in sent] == [200, 200]
    assert sent[1].header.period == 1


def test_every_device_in_every_period() -> None:
    with pytest.raises(ArgumentError, match="every device"):
        DAILY.rehearse([[1, 2], [1]])
    assert DAILY.rehearse([]) == []


def test_a_tally_travels() -> None:
    task = local.task("s", domain=3, epsilon=1, n=50, strata=("a", "b"))
    messages = task.randomize([0, 1] * 50, stratum="b")
    tally = task.tally([messages, b"junk"])
    again = task.read_tally(tally.to_bytes())
    assert again.counts.tolist() == tally.counts.tolist()
    assert (again.periods, again.rejected) == (tally.periods, tally.rejected)
    assert again.strata.tolist() == [0, 100]
    assert (again + tally).messages == 200
    data = tally.to_bytes()
    for wrong in (b"", data[:-1], data[:20], b"x" + data[1:], data + bytes(8)):
        with pytest.raises(ArgumentError, match="data"):
            task.read_tally(wrong)
    with pytest.raises(ArgumentError, match="another task"):
        task.changed(minimum=9).read_tally(data)


def test_messages_in_one_file() -> None:
    task = local.task("f", domain=3, epsilon=1, n=50)
    messages = task.randomize([0, 1, 2])
    tally = task.tally(b"".join(messages))
    assert tally.counts.tolist() == task.tally(messages).counts.tolist()
    spoilt = b"".join(messages)[:17] + b"\0" * 17 + b"".join(messages)[34:]
    assert task.tally(spoilt).rejected == {"format": 1}


def test_batches_in_one_file() -> None:
    task = local.task("f", domain=300, epsilon=1, n=50)
    batch = task.randomize([0, 1, 2]).to_bytes()
    assert task.tally(batch * 3).messages == 9
    assert task.tally([batch * 2, batch], batches=True).messages == 9
    cut = task.tally(batch * 2 + batch[:-1])
    assert (cut.messages, cut.rejected) == (6, {"format": 1})
    stray = task.tally(batch + b"x")
    assert (stray.messages, stray.rejected) == (3, {"format": 1})
