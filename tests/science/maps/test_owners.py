"""What an owner's points move, brute-forced over all small sets of points."""

from __future__ import annotations

import itertools
import uuid

import numpy as np
import pytest

from dither.science.maps import owners
from dither.science.maps.owners import canonical, chosen, codes_of

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


def test_fresh_keys_choose_differently():
    rows = [(0, place) for place in range(4)]
    seen = {tuple(counts(rows, 1)) for _ in range(200)}
    assert len(seen) == 4  # all but 4 · 0.75^200 = 1e-24 of the time


def test_points_without_an_owner_do_not_count():
    assert counts([(-1, 0), (0, 1), (-1, 2)], 1).tolist() == [0, 1, 0, 0]
    assert counts([], 1).tolist() == [0, 0, 0, 0]


def test_ids_have_one_form():
    same = ["7", 7, np.int32(7), np.str_("7"), 7.0, np.float32(7)]
    assert {canonical(one) for one in same} == {"7"}
    # as a reader of numbers would merge them, an odd id beside them or not
    assert codes_of(["007", "7", "x"]).tolist() == [0, 0, 1]
    assert canonical(uuid.UUID(int=1)) == str(uuid.UUID(int=1))
    assert canonical(10**5000) == canonical(10**5000) != canonical(10**5000 + 1)
    assert codes_of([b"a", 61, "61", b"a", "a"]).tolist() == [0, 1, 1, 0, 2]
    none = [None, 7.5, np.nan, np.inf, 2.0**53, True, (7,)]
    assert [canonical(one) for one in none] == [None] * len(none)
    assert codes_of(np.array(["a", None, 7, "7", 7.5], object)).tolist() == [
        0,
        -1,
        1,
        1,
        -1,
    ]


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
