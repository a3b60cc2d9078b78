"""Collectors to test on, a clock that tests set, and parcels to send."""

from __future__ import annotations

import itertools
from datetime import date

import pytest

from dither import local
from dither.local.collector import Collector, clock
from dither.local.parcels import parcel
from tests.ledger.server import tested

KEY = local.SigningKey(b"k" * 32)
MONDAY = date(2027, 3, 1)


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server of this session."""
    with tested() as found:
        yield found


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request, tmp_path):
    """An empty place for a collector."""
    if request.param == "sqlite":
        return str(tmp_path / "collector.db")
    return request.getfixturevalue("server").database()


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "collector.db")


class Clock:
    """What the collector believes the day to be."""

    def __init__(self) -> None:
        self.day = MONDAY

    def __call__(self) -> date:
        return self.day


@pytest.fixture
def today(monkeypatch):
    hands = Clock()
    monkeypatch.setattr(clock, "today", hands)
    return hands


@pytest.fixture
def make():
    """A signed task on four values, asked every day."""

    def made(name="emoji", *, key=KEY, **changes):
        settings = {
            "domain": ["a", "b", "c", "d"],
            "none": False,
            "epsilon": 1,
            "for_ever": 2,
            "distinct": 2,
            "every": "day",
            "n": 10_000,
            "minimum": 2,
            "starts": MONDAY,
        }
        if changes.get("every", "day") is None:
            settings |= {"for_ever": None, "distinct": 1}
        return local.task(name, key=key, **(settings | changes))

    return made


@pytest.fixture
def task(make):
    return make()


@pytest.fixture
def key():
    return KEY


@pytest.fixture
def opened(today):  # noqa: ARG001 - the clock is set before anything is opened
    """Opens collectors, and closes them."""
    made = []

    def opens(place, **settings):
        collector = Collector(place, **({"trust": KEY.public} | settings))
        made.append(collector)
        return collector

    yield opens
    for collector in made:
        collector.close()


@pytest.fixture
def collector(opened, place, task):
    found = opened(place)
    found.publish(task)
    return found


@pytest.fixture
def here(opened, file, task):
    """A collector in a file, for what does not depend on the store."""
    found = opened(file)
    found.publish(task)
    return found


@pytest.fixture
def singles():
    """Parcels of single messages, each with an id of its own."""
    numbers = itertools.count(1)

    def made(task, values, **where):
        messages = task.randomize(values, **where)
        return [parcel(one, next(numbers).to_bytes(16, "big")) for one in messages]

    return made
