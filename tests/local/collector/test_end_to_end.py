"""Thousands of devices, in Python and in a browser, over HTTP, to estimates.

A Python device is a whole `Client` with a file of its own for some, and the client's
memo without the file for most: a file for each would take longer than all the rest.
Every tenth message is sent twice, as after a time-out.
"""

from __future__ import annotations

import csv
import http.client
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dither import local
from dither.local.client import clock
from dither.local.client.memo import Memo, message_id
from dither.local.client.store import Store
from dither.local.collector import Collector
from dither.local.wire import Header, Messages
from dither.noise import secret_bytes
from tests.chance import chance
from tests.cli.served import HEADERS, Served, serving
from tests.cli.support import run
from tests.clients import browser

KEY = local.SigningKey(b"e" * 32)
EMOJI = ["🎉", "👍", "❤️", "😂"]
HELD = [*EMOJI[:3], None]
SHARES = (0.5, 0.25, 0.15, 0.1)
STORE = "collector.db"
SURE = 1 - 1.000001e-9
"""How sure intervals are: fifteen of them."""
TWICE = 10
CONNECTIONS = 8


@dataclass(frozen=True)
class Crowd:
    """How many devices there are of each kind."""

    files: int
    alone: int
    relayed: int
    browser: int


FEW, MANY = Crowd(100, 900, 1_000, 200), Crowd(400, 4_600, 4_000, 1_000)


@pytest.fixture
def task() -> local.Task:
    return local.task(
        "emoji",
        domain=EMOJI,
        epsilon=2,
        for_ever=3,
        every="week",
        n=10_000,
        strata=["python", "browser"],
        key=KEY,
    )


@pytest.fixture(autouse=True)
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices need not wait for the disk; the collector does."""
    connect = Store._connect

    def opened(self: Store) -> object:
        file = connect(self)
        file.execute("PRAGMA synchronous = OFF")
        return file

    monkeypatch.setattr(Store, "_connect", opened)


def held(count: int) -> list[str | None]:
    """What devices hold, with known shares."""
    parts = [round(count * share) for share in SHARES]
    assert sum(parts) == count
    return [value for value, part in zip(HELD, parts, strict=True) for _ in range(part)]


def with_files(task: local.Task, folder: Path, count: int) -> Iterator[bytes]:
    """Parcels of whole devices."""
    for number, value in enumerate(held(count)):
        device = local.Client(folder / f"{number}.db", budget=8, trust=KEY.public)
        device.join(task)
        yield device.parcel(task, value, stratum="python")


def with_memos(
    task: local.Task, values: Sequence[str | None]
) -> Iterator[tuple[bytes, np.ndarray]]:
    """The id and record of devices that are never written down."""
    period = task.period(clock.now().date())
    first = task.first_day(period)
    for value in values:
        secret = secret_bytes(32)
        memo = Memo.of(task, secret, secret_bytes(16))
        record = memo.record(task, memo.answer(task, value), period, 0)
        yield message_id(secret, task.name, first, 0), record


def header(task: local.Task) -> Header:
    period = task.period(clock.now().date())
    return Header(task.tag, task.version, period, task.stratum("python"))


def singles(task: local.Task, count: int) -> Iterator[bytes]:
    head = header(task).to_bytes()
    for known, record in with_memos(task, held(count)):
        yield local.parcel(head + record.tobytes(), known)


def batches(task: local.Task, count: int) -> Iterator[bytes]:
    """What a relay hands on: 500 messages together."""
    records = [record for _, record in with_memos(task, held(count))]
    for start in range(0, count, 500):
        together = np.concatenate(records[start : start + 500])
        yield local.parcel(Messages(header(task), together))


def send(served: Served, parcels: Sequence[bytes]) -> Counter[str]:
    """Send each on one of a few connections; every tenth twice."""
    shares = [parcels[start::CONNECTIONS] for start in range(CONNECTIONS)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return sum(pool.map(lambda some: _sent(served, some), shares), Counter[str]())


def _sent(served: Served, parcels: Sequence[bytes]) -> Counter[str]:
    found = Counter[str]()
    connection = http.client.HTTPConnection(served.address.removeprefix("http://"))
    for number, body in enumerate(parcels):
        for _ in range(1 if number % TWICE else 2):
            connection.request("POST", "/v1/messages", body, HEADERS)
            said = json.loads(connection.getresponse().read())
            found[said.get("status") or said["code"]] += 1
    connection.close()
    return found


def browse(
    served: Served, page: browser.Served, profile: Path, count: int
) -> Counter[str]:
    """Devices in Chromium: what the collector has said to them."""
    plan = {
        "collector": served.address,
        "trust": KEY.public,
        "task": "emoji",
        "stratum": "browser",
        "values": held(count),
        "durable": 20,
        "twice": TWICE,
    }
    page.made["/plan.json"] = json.dumps(plan).encode()
    with browser.browsing(profile, f"{page.address}/test/many.html"):
        return Counter(page.result("many"))


@chance(1e-7)
@pytest.mark.parametrize(
    "crowd", [FEW, pytest.param(MANY, marks=pytest.mark.full)], ids=["few", "many"]
)
def test_devices_of_every_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: local.Task, crowd: Crowd
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.json").write_text(task.to_json(), encoding="utf-8")
    (tmp_path / "devices").mkdir()
    words = (STORE, "--trust", KEY.public, "--task", "task.json")
    with browser.serving() as page:
        origin = ("--origin", page.address)
        with serving(tmp_path, *words, *origin) as served:
            files = with_files(task, tmp_path / "devices", crowd.files)
            found = send(served, [*files, *singles(task, crowd.alone)])
            assert found["accepted"] == crowd.files + crowd.alone
            assert set(found) == {"accepted", "duplicate"}
            found = browse(served, page, tmp_path / "profile", crowd.browser)
            again = crowd.browser // TWICE
            assert found == {"accepted": crowd.browser, "duplicate": again}
            assert served.end() == 0
    relayed(tmp_path, words, task, crowd.relayed)
    check_estimates(task, crowd)


def relayed(folder: Path, words: tuple[str, ...], task: local.Task, count: int) -> None:
    """A collector that was started again takes what a relay brings."""
    token = run("local", "relay", STORE, "edge", "--quota", str(count)).stdout.strip()
    with serving(folder, *words) as served:
        for body in batches(task, count):
            said = {"status": "accepted", "messages": 500}
            assert served.post(body, token) == (200, said)
            assert served.post(body, token) == (200, {"status": "duplicate"})
        assert served.end() == 0


def check_estimates(task: local.Task, crowd: Crowd) -> None:
    """All devices together, and those of each kind; as the command prints them."""
    with Collector.look(STORE) as collector:
        tally = collector.tally(task)
    python = crowd.files + crowd.alone + crowd.relayed
    assert tally.strata.tolist() == [python, crowd.browser]
    truth = dict(zip(HELD, SHARES, strict=True)) | {EMOJI[3]: 0.0}
    for part in (tally, tally.of("python"), tally.of("browser")):
        estimate = part.estimate()
        low, high = estimate.interval(SURE)
        for key, least, most in zip(estimate.keys, low, high, strict=True):
            assert least <= truth[key] <= most, key
    printed = run("local", "estimate", STORE, "emoji", "--csv").stdout
    shown = [float(row["emoji"]) for row in csv.DictReader(printed.splitlines())]
    assert shown == pytest.approx(list(tally.estimate().value))
