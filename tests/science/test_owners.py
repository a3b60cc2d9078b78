"""What an owner's points move, brute-forced over all small sets of points."""

from __future__ import annotations

import itertools
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dither.science import owners
from dither.science.owners import canonical, chosen, codes_of
from tests.chance import chance

PLACES = [(x << 30, y << 30) for x in (0, 3) for y in (1, 2)]
KEYS = (3, 0x9E3779B97F4A7C15)


def fixed_key(monkeypatch, key):
    words = np.array([key, key ^ 0xABCDEF, key >> 3], np.uint64).view(np.uint32)
    monkeypatch.setattr(owners, "random_words", lambda count: words[:count])


def sets(most):
    """All multisets of at most so many of the places."""
    for size in range(most + 1):
        yield from itertools.combinations_with_replacement(range(len(PLACES)), size)


def counts(rows, most):
    """Counts by place, of (owner, place) rows."""
    ids = np.array([owner for owner, _ in rows], np.int64)
    x, y = np.array([PLACES[place] for _, place in rows]).reshape(-1, 2).T
    keep = chosen(ids, x.astype(np.int64), y.astype(np.int64), most)
    places = np.array([place for _, place in rows], np.int64)
    return np.bincount(places[keep], minlength=len(PLACES))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_an_owner_moves_all_counts_by_k(monkeypatch, most):
    """L1 and L2 are at most k for every pair of neighbours, and k is reached in both:
    all k points may lie in one place.
    """
    farthest = 0.0
    for key in KEYS:
        fixed_key(monkeypatch, key)
        for mine, others in itertools.product(sets(3), repeat=2):
            without = [(0, place) for place in others]
            moved = counts(without + [(1, place) for place in mine], most)
            moved = moved - counts(without, most)
            assert (moved >= 0).all()
            assert moved.sum() <= most
            assert np.sqrt((moved**2).sum()) <= most
            assert moved.sum() == min(len(mine), most)
            farthest = max(farthest, np.sqrt((moved**2).sum()))
    assert farthest == most


def test_the_choice_does_not_depend_on_the_order_or_on_others(monkeypatch):
    fixed_key(monkeypatch, KEYS[1])
    mine = [(5, place) for place in (0, 1, 1, 3)]
    alone = counts(mine, 2)
    for order in itertools.permutations(mine):
        assert (counts(list(order), 2) == alone).all()
    with_others = [(2, 0), *mine[:2], (7, 1), *mine[2:], (0, 3)]
    expected = alone + np.bincount([0, 1, 3], minlength=4)
    assert (counts(with_others, 2) == expected).all()


@chance(1e-20)
def test_fresh_keys_choose_differently():
    rows = [(0, place) for place in range(4)]
    seen = {tuple(counts(rows, 1)) for _ in range(200)}
    assert len(seen) == 4


def test_points_without_an_owner_do_not_count():
    assert counts([(-1, 0), (0, 1), (-1, 2)], 1).tolist() == [0, 1, 0, 0]
    assert counts([], 1).tolist() == [0, 0, 0, 0]


def test_ids_have_one_form():
    same = ["7", 7, np.int32(7), np.str_("7"), 7.0, np.float32(7)]
    same += [b"7", np.bytes_("7"), Decimal(7), Decimal("7.00"), Fraction(7)]
    assert {canonical(one) for one in same} == {"7"}
    # as a reader of numbers would merge them, an odd id beside them or not
    assert codes_of(["007", "7", "x"]).tolist() == [0, 0, 1]
    assert canonical(uuid.UUID(int=1)) == str(uuid.UUID(int=1))
    assert canonical(10**5000) == canonical(10**5000) != canonical(10**5000 + 1)
    assert codes_of([b"a", 61, "61", b"a", "a"]).tolist() == [0, 1, 1, 0, 0]
    none = [None, 7.5, np.nan, np.inf, 2.0**53, True, (7,)]
    none += [Decimal("7.5"), Decimal("sNaN"), Decimal("Infinity"), Fraction(1, 3)]
    assert [canonical(one) for one in none] == [None] * len(none)
    assert codes_of(np.array(["a", None, 7, "7", 7.5], object)).tolist() == [
        0,
        -1,
        1,
        1,
        -1,
    ]


def test_bytes_that_are_no_text_are_not_merged():
    ids = [uuid.UUID(int=254 << 120 | last).bytes for last in (253, 254, 255, 254)]
    assert codes_of(ids).tolist() == [0, 1, 2, 1]
    assert codes_of(np.array(ids)).tolist() == [0, 1, 2, 1]
    assert canonical(b"\xff") != canonical(b"\xff".decode("utf-8", "replace"))
    assert canonical("é".encode()) == canonical("é")


class Bytes(bytes):
    def __bytes__(self):
        return b"another"

    decode = __hash__ = __eq__ = __bytes__


class Hidden:
    @property
    def __class__(self):
        raise RuntimeError("a value of the data")


def test_ids_of_odd_classes():
    assert canonical(Bytes(b"7")) == "7"
    assert canonical(Hidden()) is None
    assert codes_of([7, Hidden(), Bytes(b"7")]).tolist() == [0, -1, 0]


class Raising(str):
    def __str__(self):
        raise RuntimeError("a value of the data")

    __hash__ = strip = __eq__ = __str__


def test_ids_of_a_class_that_raises_are_the_texts_they_hold():
    assert codes_of(["a", Raising("b"), "a", Raising("a")]).tolist() == [0, 1, 0, 0]


def test_columns_of_integers_and_masked_ones():
    assert codes_of(np.array([9, 4, 9])).tolist() == [1, 0, 1]
    masked = np.ma.MaskedArray([9, 4, 9], [False, True, False])
    assert codes_of(masked).tolist() == [0, -1, 0]
    assert codes_of(["x", "y", "x"]).tolist() == [0, 1, 0]
    assert codes_of([9.0, np.nan, 4, 9]).tolist() == [0, -1, 1, 0]
