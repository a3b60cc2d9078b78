"""What is measured about attacks, and what the page says of it."""

from __future__ import annotations

import json

import pytest

from bench.attacks import RUNS, SUCCESS, excess, pooled
from bench.harness import RESULTS
from dither.audit import attacks
from dither.audit.attacks.listed import ATTACKS
from tools.attack_pictures import DESCRIBED

CONTENT = json.loads((RESULTS / "attacks.json").read_text(encoding="utf-8"))


def test_every_attack_is_measured() -> None:
    assert set(RUNS) == set(SUCCESS) == set(ATTACKS)
    assert {row["system"] for row in CONTENT["rows"]} == set(ATTACKS)
    assert all(goal["met"] for goal in CONTENT["goals"])
    assert set(DESCRIBED) <= set(ATTACKS)


def test_tries_are_pooled() -> None:
    first, second = (attacks.differencing(tries=tries) for tries in (100, 300))
    found = pooled([first, second])
    assert [one.release for one in found] == [one.release for one in first.rates]
    assert found[-1].tries == 400
    # All are right about exact counts in both runs.
    assert found[0].tries == 100
    assert found[-1].right == first.rates[-1].right + second.rates[-1].right
    assert found[-1].bound == pytest.approx(first.rates[-1].bound)


def test_the_worst_release_counts() -> None:
    rates = [
        attacks.Rate("a", 100, 100, 0.5),
        attacks.Rate("b", 60, 100, 0.5, 0.5),
        attacks.Rate("c", 40, 100, 0.5, 0.5),
        attacks.Rate("d", 0, 100, 0.0, 0.0),
    ]
    assert excess(rates) == pytest.approx(2.0)
    assert excess(rates[:1]) is None
