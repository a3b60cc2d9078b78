"""The JavaScript client in a real browser: bytes, tabs that race, storage that is cleared,
a browser that is killed, and the page with the emoji.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from dither import local
from dither.local.task import Task
from tests.clients.browser import Served, browsing, serving
from tests.clients.node import CLIENT
from tools import vectors

KEY = local.SigningKey(b"b" * 32)
VALUES = ["v0", "v1", "v2", "v3"]
EMOJI = ["🎉", "👍", "❤️", "😂"]
PAGE = "/test/browser.html"


def asked(name: str, **other: Any) -> Task:
    """ε = 3 for ever: three kept answers at ε = 1."""
    usual: dict[str, Any] = {"domain": VALUES, "epsilon": 0.5, "for_ever": 1}
    often = usual | {"distinct": 2, "every": "week", "n": 10_000}
    return local.task(name, key=KEY, **(often | other))


@pytest.fixture
def server() -> Any:
    with serving() as running:
        yield running


def plan(server: Served, scenes: list[str], **other: Any) -> None:
    racing = [asked(f"race {number}", attribute=f"a{number}") for number in range(4)]
    told = {
        "scenes": scenes,
        "trust": KEY.public,
        "task": asked("one").to_json(),
        "value": "v0",
        "race": {
            "tasks": [task.to_json() for task in racing],
            "budget": 7,
            "frames": 3,
        },
    }
    server.made["/plan.json"] = json.dumps(told | other).encode()
    server.made["/vectors.json"] = vectors.FILE.read_bytes()
    emoji = asked("emoji", domain=EMOJI)
    server.made["/v1/tasks/emoji"] = emoji.to_json().encode()
    page = (CLIENT / "demo" / "index.html").read_text(encoding="utf-8")
    trusted = page.replace('trust" content=""', f'trust" content="{KEY.public}"')
    server.made["/demo/index.html"] = trusted.encode()


def test_a_browser_is_a_device(server: Served, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    plan(server, ["vectors", "race", "cleared", "demo", "life"])
    with browsing(profile, server.address + PAGE):
        replayed = server.result("vectors")
        assert replayed["found"] == []
        assert replayed["checks"] > 5000
        check_race(server.result("race"))
        check_cleared(server.result("cleared"))
        check_demo(server.result("demo"), server.posted)
        first = server.result("life")
    # killed as soon as the app had its message; what it got is what it gets again
    assert first["left"] == pytest.approx(6)
    plan(server, ["life"], value="v1")
    with browsing(profile, server.address + PAGE):
        assert server.result("life") == first


def test_a_browser_that_is_killed_goes_on(server: Served, tmp_path: Path) -> None:
    """Killed while it answers, again and again: what an app was given stays so, and
    nothing is paid for twice.
    """
    profile, dice = tmp_path / "profile", random.Random(3)
    asking = [asked(f"step {number}", attribute=f"s{number}") for number in range(6)]
    steps = [task.to_json() for task in asking]
    known: dict[str, str] = {}
    rounds = [*(dice.randint(1, 4) for _ in range(2)), len(steps)]
    for number, count in enumerate(rounds):
        # another value each time
        plan(server, ["steps"], steps=steps, value=VALUES[number], round=number)
        with browsing(profile, server.address + PAGE):
            for _ in range(count):
                step = next_of(server, number)
                task, parcel = step["task"], step["parcel"]
                assert known.setdefault(task, parcel) == parcel
    assert len(known) == len(steps)
    assert step["left"] == pytest.approx(99 - 3 * len(steps))


def next_of(server: Served, number: int) -> Any:
    """The next step of a round; a browser that was killed may have sent one more."""
    while (step := server.result("step"))["round"] < number:
        pass
    return step


def check_race(found: Any) -> None:
    """Two of four tasks fit into the budget, whoever joins them."""
    joined = [run["joined"] for run in found["done"]]
    assert len(joined) == 4
    for each in zip(*joined, strict=True):  # all tabs agree on each task
        assert len(set(each)) == 1, each
    assert sorted(joined[0]) == ["done"] * 2 + ["refused: budget"] * 2
    for said in zip(*(run["said"] for run in found["done"]), strict=True):
        assert len(set(said)) == 1, said
    assert found["left"] == pytest.approx(1)
    assert found["sent"] == 2


def check_cleared(found: Any) -> None:
    """A new device, whose budget begins anew."""
    assert found.pop("before") == pytest.approx(6)
    assert found == {"refused": "device", "after": 9, "sent": 0}


def check_demo(found: Any, posted: list[tuple[str, bytes]]) -> None:
    assert found["choices"] == EMOJI
    assert found["unlabelled"] == 0
    assert "at most 63 times in 100" in found["promise"]
    assert any(emoji in found["after"] for emoji in EMOJI)
    assert "your answer was turned into" in found["sent"]
    assert found["sentence"].startswith("You chose 👍.")
    ((path, parcel),) = posted
    assert path == "/v1/messages"
    assert parcel[:2] == b"\xd4\x01"
    tally = asked("emoji", domain=EMOJI).tally([parcel[18:]])
    assert (tally.messages, tally.rejected) == (1, {})
