"""The oracle of the smallest variance, within limits; and tasks made from few words."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.choose import ONCE, make
from dither.local.oracles import KAryResponse, Loloha, SubsetSelection
from dither.local.rappor.oracle import Rappor

DAY = date(2027, 1, 4)


def peers(items: int, epsilon: float) -> float:
    """The smallest closed-form variance of pure-ldp's and multi-freq-ldpy's oracles: GRR,
    OUE, OLH with its best whole number of values, and subset selection with its
    rounded size.
    """
    grown = math.exp(epsilon)
    found = [(items - 2 + grown) / (grown - 1) ** 2, 4 * grown / (grown - 1) ** 2]
    values = round(grown + 1)
    found.append((grown - 1 + values) ** 2 / ((grown - 1) ** 2 * (values - 1)))
    size = max(1, round(items / (grown + 1)))
    p = grown * size / (grown * size + items - size)
    q = p * (size - 1) / (items - 1) + (1 - p) * size / (items - 1)
    if p > q:
        found.append(q * (1 - q) / (p - q) ** 2)
    return min(found)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1, 2, 3, 4, 6])
@pytest.mark.parametrize("items", [2, 3, 5, 10, 50, 100, 500, 1000, 10_000, 100_000])
def test_never_above_the_best_peer(items: int, epsilon: float) -> None:
    found = local.choose(items, epsilon=epsilon, n=10**5, none=False, payload=None)
    assert found.oracle.spread <= peers(items, epsilon) * (1 + 1e-6)
    assert found.oracle.epsilon <= epsilon


def test_limits_are_kept_and_shown() -> None:
    free = local.choose(1000, epsilon=1, n=10**5)
    assert isinstance(free.oracle, SubsetSelection)
    small = local.choose(1000, epsilon=1, n=10**5, payload=4)
    assert small.chosen.payload <= 4
    light = local.choose(1000, epsilon=1, n=10**5, payload=4, cells=2000)
    assert light.chosen.cells <= 2000
    assert "too large" in str(small)
    with pytest.raises(ArgumentError, match="no oracle is small enough"):
        local.choose(10**6, epsilon=1, n=10, payload=1)


@pytest.mark.parametrize("items", [2, 20, 200])
def test_loloha_for_answers_that_are_given_again(items: int) -> None:
    found = local.choose(items, epsilon=1, for_ever=2, n=10**5).oracle
    assert isinstance(found, Loloha)
    assert found.collisions == 0
    assert found.functions <= 256


def test_open_vocabularies() -> None:
    once = local.choose(None, epsilon=4, n=10**5)
    assert once.chosen.name == "count-mean sketch"
    tiny = local.choose(None, epsilon=0.5, n=10**5, payload=4)
    assert tiny.chosen.name == "Hadamard sketch"
    again = local.choose(None, epsilon=2, for_ever=4, n=10**5)
    assert isinstance(again.oracle, Rappor)


def test_more_messages_show_smaller_shares() -> None:
    limits = [local.choose(100, epsilon=1, n=n).detection_limit for n in (10**4, 10**6)]
    assert limits[0] == pytest.approx(10 * limits[1], rel=0.1)


@pytest.mark.parametrize("name", ONCE)
def test_every_name_makes_its_oracle(name: str) -> None:
    task = local.task("x", domain=9, epsilon=1, n=1000, oracle=name)
    assert task.oracle == make(name, 10, 1.0, 1.0)


def test_a_task_from_few_words() -> None:
    task = local.task("emoji", domain=["a", "b"], epsilon=1, n=500, starts=DAY)
    assert (task.minimum, task.every, task.version) == (50, 0, 1)
    assert task.expires == DAY + timedelta(days=365)
    assert task.attribute == "emoji"
    assert isinstance(task.oracle, KAryResponse)
    again = local.task(
        "e",
        domain=3,
        epsilon=1,
        for_ever=2,
        distinct=2,
        every="week",
        n=500,
        starts=DAY,
    )
    assert again.period(DAY + timedelta(days=13)) == 1
    assert again.lifetime.epsilon == pytest.approx(6, rel=1e-6)
    assert again.lifetime.epsilon <= 6


BAD: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 0}, "epsilon"),
    ({"epsilon": -1}, "epsilon"),
    ({"epsilon": math.nan}, "epsilon"),
    ({"epsilon": math.inf}, "epsilon"),
    ({"epsilon": 1e-12}, "epsilon"),
    ({"epsilon": 1000}, "epsilon"),
    ({"epsilon": True}, "epsilon"),
    ({"n": 0}, "n"),
    ({"domain": "abc"}, "domain"),
    ({"domain": []}, "domain"),
    ({"domain": ["a", "a"]}, "domain"),
    ({"domain": 0}, "domain"),
    ({"for_ever": 2}, "for_ever"),
    ({"every": "day"}, "for_ever"),
    ({"every": "day", "for_ever": 1}, "for_ever"),
    ({"every": "day", "for_ever": 0.5}, "for_ever"),
    ({"every": "hour", "for_ever": 2}, "every"),
    ({"every": 0, "for_ever": 2}, "every"),
    ({"distinct": 2}, "every"),
    ({"messages": 2}, "every"),
    ({"minimum": 1}, "minimum"),
    ({"expires": DAY}, "expires"),
    ({"expires": "2027-01-01"}, "expires"),
    ({"starts": "2027-01-01"}, "starts"),
    ({"domain": {"a"}}, "domain"),
    ({"key": "signing.key"}, "key"),
    ({"oracle": "magic"}, "oracle"),
    ({"oracle": "Hadamard sketch"}, "oracle"),
    ({"oracle": KAryResponse.at(7, 1.0)}, "oracle"),
    ({"oracle": KAryResponse.at(4, 2.0)}, "epsilon"),
    ({"strata": ("a", "a")}, "strata"),
    ({"strata": ("",)}, "strata"),
]


@pytest.mark.parametrize(("change", "argument"), BAD, ids=[str(one[0]) for one in BAD])
def test_what_is_no_task(change: dict[str, Any], argument: str) -> None:
    usual: dict[str, Any] = {"domain": 3, "epsilon": 1, "n": 1000, "starts": DAY}
    with pytest.raises(ArgumentError) as caught:
        local.task("x", **(usual | change))
    assert caught.value.argument == argument


@pytest.mark.parametrize("name", ["", "e\u0301", "\ud800", "x" * 101, 7])
def test_what_is_no_name(name: Any) -> None:
    with pytest.raises(ArgumentError, match="name"):
        local.task(name, domain=3, epsilon=1, n=1000)


def test_a_kept_message_must_not_tell_devices_apart() -> None:
    """256 different messages are allowed, 257 are not."""
    usual: dict[str, Any] = {"epsilon": 1, "n": 1000, "every": "day", "for_ever": 1.0}
    small = KAryResponse.at(256, 1.0)
    local.task("x", domain=255, oracle=small, **usual)
    with pytest.raises(ArgumentError, match="would identify the device"):
        local.task("x", domain=256, oracle=KAryResponse.at(257, 1.0), **usual)


def test_needed_is_what_the_variance_says() -> None:
    needed = local.needed(2, epsilon=1, error=0.01, none=False)
    spread = KAryResponse.at(2, 1.0).spread
    assert needed.devices == pytest.approx(1.96**2 * spread / 0.01**2, rel=1e-3)
    assert needed.curator < needed.devices / 50
    assert np.isfinite(needed.curator)
