"""One of several questions: exact distributions, and what a tally keeps apart."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.local.oracles import BinaryMean, KAryResponse, Loloha, Sampled, Unary
from dither.local.words import FRESH
from tests.local.oracles.test_laws import worst
from tests.local.paths import Law, law

PARTS = (KAryResponse.at(3, 1.0), Unary.optimized(3, 0.8), BinaryMean.at(4, 0.9))
ORACLE = Sampled(3, PARTS)
ROWS = [(0, 0, 0), (1, 2, 3), (2, 1, 1), (0, 2, 3)]


def laws(monkeypatch: pytest.MonkeyPatch) -> list[Law]:
    return [law(monkeypatch, lambda row=row: send(row).tobytes()) for row in ROWS]


def send(row: tuple[int, ...]) -> np.ndarray:
    return ORACLE.randomize(np.array([row]), FRESH)


def test_the_largest_ratio_is_that_of_the_parts(monkeypatch) -> None:
    found = laws(monkeypatch)
    assert all(sum(one.values()) == 1 for one in found)
    assert worst(found) <= ORACLE.epsilon <= 1.0
    assert worst(found) == pytest.approx(ORACLE.epsilon, rel=1e-9)


def test_each_part_is_as_likely(monkeypatch) -> None:
    for found in laws(monkeypatch):
        for part in range(3):
            share = sum(chance for said, chance in found.items() if said[0] == part)
            assert share == Fraction(1, 3)


def test_distance_and_what_is_common(monkeypatch) -> None:
    found = laws(monkeypatch)
    apart = [
        float(sum(max(one[y] - other.get(y, Fraction(0)), Fraction(0)) for y in one))
        for one in found
        for other in found
    ]
    assert max(apart) <= ORACLE.distance
    least = {y: min(one[y] for one in found) for y in found[0]}
    assert ORACLE.common is not None
    assert ORACLE.common <= sum(least.values())
    most = max(float(one[y] / least[y]) for one in found for y in one)
    assert math.log(most) <= ORACLE.epsilon


def test_a_tally_is_that_of_each_part() -> None:
    rows = np.array(ROWS * 500)
    records = ORACLE.randomize(rows, FRESH)
    assert ORACLE.valid(records).all()
    counts = ORACLE.tally(records)
    assert len(counts) == ORACLE.cells
    halves = ORACLE.tally(records[:700]) + ORACLE.tally(records[700:])
    assert (counts == halves).all()
    for number, part in enumerate(PARTS):
        mine = records[records[:, 0] == number]
        messages, cells = ORACLE.counts(counts, number)
        assert messages == len(mine)
        assert (cells == part.tally(mine[:, 1 : 1 + part.record])).all()


@pytest.mark.parametrize(
    ("place", "value"), [(0, 3), (0, 255), (1, 3), (1, 200)], ids=str
)
def test_what_no_device_sends_is_not_valid(place: int, value: int) -> None:
    record = np.zeros((1, ORACLE.record), np.uint8)
    record[0, place] = value
    assert not ORACLE.valid(record).any()


def test_filling_must_be_zero() -> None:
    oracle = Sampled(2, (KAryResponse.at(3, 1.0), Unary.optimized(20, 1.0)))
    record = np.zeros((1, oracle.record), np.uint8)
    assert oracle.valid(record).all()
    record[0, -1] = 1
    assert not oracle.valid(record).any()


@pytest.mark.parametrize(
    "parts",
    [
        (KAryResponse.at(3, 1.0),),
        (KAryResponse.at(3, 1.0), Loloha.at(3, 1.0, 2.0)),
        (KAryResponse.at(3, 1.0), ORACLE),
        (KAryResponse.at(3, 1.0),) * 257,
    ],
    ids=["one", "kept and not", "nested", "too many"],
)
def test_what_cannot_be_sampled_is_refused(parts) -> None:
    with pytest.raises(ArgumentError, match="parts"):
        Sampled(len(parts), parts)
