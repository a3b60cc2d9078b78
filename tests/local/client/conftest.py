"""A device in a folder, tasks for it, and a clock that tests set."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from dither import local
from dither.local.client import clock
from dither.local.client.store import Store

KEY = local.SigningKey(b"k" * 32)
EMOJI = ["🎉", "👍", "❤️", "😂"]
MONDAY = date(2027, 3, 1)


class Clock:
    """What the device believes the time to be."""

    def __init__(self) -> None:
        self.moment = datetime(2027, 3, 1, 12, 30, tzinfo=UTC)

    def set(self, day: date, hour: int = 12) -> None:
        self.moment = datetime(day.year, day.month, day.day, hour, tzinfo=UTC)


@pytest.fixture
def today(monkeypatch):
    hands = Clock()
    monkeypatch.setattr(clock, "now", lambda: hands.moment)
    return hands


@pytest.fixture(autouse=True)
def unsynced(request, monkeypatch):
    """Tests need not wait for the disk."""
    if "synced" in request.fixturenames:
        return
    connect = Store._connect

    def opened(self):
        file = connect(self)
        file.execute("PRAGMA synchronous = OFF")
        return file

    monkeypatch.setattr(Store, "_connect", opened)


@pytest.fixture
def synced():
    """This test sees how the file is really written."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "device.db"


@pytest.fixture
def client(path, today):  # noqa: ARG001 - the clock is set before anything is asked
    return local.Client(path, budget=20, trust=KEY.public)


@pytest.fixture
def make():
    """A signed task on emoji, asked every day for a year."""

    def made(name="emoji", *, key=KEY, **changes):
        settings = {
            "domain": EMOJI,
            "epsilon": 1,
            "for_ever": 2,
            "distinct": 2,
            "every": "day",
            "n": 10_000,
            "starts": MONDAY,
        }
        return local.task(name, key=key, **(settings | changes))

    return made


@pytest.fixture
def key():
    return KEY
