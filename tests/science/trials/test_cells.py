"""The cells of survival: where each record counts, and how far one person moves them."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.science.trials.cells import counted, edges_of, placed

NAN, INF = float("nan"), float("inf")
EDGES = (0.0, 1.0, 2.0)
TIMES = (NAN, -1.0, 0.0, 1.0, 1.5, 2.0, 2.5, INF, -INF)
EVENTS = (0.0, 1.0, 2.0, NAN)
RECORDS = tuple(product(TIMES, EVENTS, (-1, 0, 1)))
DISTINCT = ((0.5, 1.0, 0), (1.5, 0.0, 1), (1.0, 0.0, 0), (3.0, 1.0, 1), (NAN, 1.0, 0))


def vector(records, sizes=None):
    time, event, arm = (np.array(one) for one in zip(*records, strict=True))
    cells = placed(time.astype(float), event.astype(float), EDGES)
    return counted(cells, arm.astype(int), 2, 2, sizes)


def cell(time, event):
    return placed(np.array([time], float), np.array([event], float), EDGES)[0]


def test_a_bin_holds_its_end_and_the_first_its_start():
    assert [cell(time, 1) for time in (0, 0.5, 1, 1.5, 2)] == [0, 0, 0, 1, 1]
    assert [cell(time, 0) for time in (0, 0.5, 1, 1.5)] == [2, 2, 2, 3]


def test_what_happens_after_the_last_edge_is_not_seen():
    assert [cell(time, event) for time in (2.1, INF) for event in (0, 1)] == [4] * 4
    assert cell(2, 0) == 4


@pytest.mark.parametrize(
    ("time", "event"),
    [(NAN, 1), (-0.1, 1), (-INF, 0), (1, NAN), (1, 2), (1, 0.5), (INF, 2), (INF, NAN)],
)
def test_odd_records_count_for_nobody(time, event):
    assert np.isnan(cell(time, event))


def test_coming_or_going_moves_one_cell_by_one():
    moved = []
    for size in (1, 2):
        for people in combinations_with_replacement(DISTINCT, size):
            base = vector(people)
            for record in RECORDS:
                moved.append(np.abs(vector((*people, record)) - base).sum())
    assert max(moved) == 1


@pytest.mark.parametrize("sizes", [None, (2, 1), (1, 1), (3, 3)])
def test_being_replaced_moves_two_cells_by_one(monkeypatch, sizes):
    """With sizes a person stays in their arm; the random part kept of too many is the
    same for both neighbours, because it does not depend on the records.
    """
    monkeypatch.setattr("dither.science.trials.sizes.random_words", np.arange)
    steps = []
    for people in combinations_with_replacement(DISTINCT, 3):
        base = vector(people, sizes)
        for place, record in product(range(3), RECORDS):
            if sizes is not None and record[2] != people[place][2]:
                continue
            other = (*people[:place], record, *people[place + 1 :])
            steps.append(vector(other, sizes) - base)
    assert max(np.abs(one).sum() for one in steps) == 2
    assert max((one**2).sum() for one in steps) == 2


def test_public_sizes_are_kept_whatever_the_data_has():
    for people in (DISTINCT, DISTINCT * 3, DISTINCT[:1]):
        found = vector(people, (4, 2))
        assert found.shape == (2, 6)
        assert found.sum(axis=1).tolist() == [4, 2]


def test_a_huge_size_needs_no_room():
    found = vector(DISTINCT, (2**31, 2))
    assert found.sum(axis=1).tolist() == [2**31, 2]


def test_empty_data_has_empty_cells():
    nothing = np.zeros(0)
    cells = placed(nothing, nothing, EDGES)
    assert not counted(cells, np.zeros(0, int), 2, 2, None).any()
    assert counted(cells, np.zeros(0, int), 2, 2, (3, 1))[:, -1].tolist() == [3, 1]


@pytest.mark.parametrize(
    "edges",
    [
        (),
        (0,),
        (0, 0),
        (1, 0),
        (0, NAN),
        (0, INF),
        ("0", "1"),
        "0123",
        5,
        None,
        (0, True),
        (0, 10**400),
        ((0, 1), (2, 3)),
        range(600),
        {0: 1, 1: 2},
    ],
)
def test_edges_that_are_none_are_refused(edges):
    with pytest.raises(ArgumentError, match="edges"):
        edges_of(edges)


def test_edges_of_many_kinds():
    for edges in ((0, 1, 2), [0, 1, 2.0], np.arange(3), range(3)):
        assert edges_of(edges) == EDGES
