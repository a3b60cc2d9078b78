"""People are counted as plain numpy counts them, whatever the block's type and order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither.science.genomes.counts import Tally, counted, dosages, groups, plain
from dither.science.genomes.panel import ABSENT, ANY
from tests.science.genomes.cohort import cohort

PLACES = np.array([0, 1, 0, -1, 1, 0] * 50)
ROWS = [np.flatnonzero(PLACES == 0), np.flatnonzero(PLACES == 1)]


def expected(table: Any, rows: Any) -> Any:
    return np.array(
        [[(table[one] == copies).sum(axis=0) for one in rows] for copies in range(3)]
    )


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_counts_are_those_of_numpy(kind: Any, order: Any) -> None:
    table = cohort(300, 70, missing=0.3)
    found = counted(np.array(table, kind, order=order), ROWS)
    assert (found == expected(table, ROWS)).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_one_cluster_of_all_and_of_neighbours_is_counted_without_a_copy(
    order: Any,
) -> None:
    table = np.array(cohort(700, 9, missing=0.1), order=order)
    rows = [np.arange(700), np.arange(20, 400), np.array([], np.intp)]
    assert (counted(table, rows) == expected(table, rows)).all()


def test_what_is_not_0_1_or_2_is_missing() -> None:
    odd = np.array([[0.0, 1.5, np.nan, np.inf, -2.0, 3.0, 2.0, 1.0]])
    assert counted(odd, [np.array([0])])[:, 0].tolist() == [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 1, 0],
    ]


def test_objects_never_fail() -> None:
    odd = np.array(
        [[0, "2", None, b"1", object(), 2.0, True, 1e300, np.timedelta64(1)]], object
    )
    found = counted(plain(odd), [np.array([0])])[:, 0]
    assert found.sum(axis=1).tolist() == [1, 2, 2]


def test_calls_with_a_missing_half_are_missing_and_phase_does_not_matter() -> None:
    calls = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [-1, 1], [0, -2], [-1, -1]])
    assert dosages(calls).tolist() == [0, 1, 1, 2, 3, 3, 3]
    assert dosages(calls[:, :1]).tolist() == [3] * 7
    wide = np.hstack([calls, np.full((7, 1), -2)])
    assert dosages(wide).tolist() == [0, 1, 1, 2, 3, 3, 3]


def test_the_declared_allele_of_several_is_counted() -> None:
    calls = np.array([[0, 2], [2, 2], [1, 2], [0, 1], [2, 3]])
    assert dosages(calls, 2, most=2).tolist() == [1, 2, 1, 0, 3]
    assert dosages(calls, ANY, most=2).tolist() == [1, 2, 2, 1, 3]
    assert dosages(calls, ABSENT, most=2).tolist() == [0, 0, 0, 0, 3]


def test_an_entry_counts_once() -> None:
    tally = Tally(3, np.array([9]))
    tally.add([1, 1], np.array([[[1, 2]], [[3, 4]], [[5, 6]]]))
    tally.add([1, 0], np.array([[[7, 8]], [[7, 8]], [[7, 8]]]))
    assert tally.done().none.tolist() == [[8, 1, 0]]
    assert tally.done().two.tolist() == [[8, 5, 0]]
    assert tally.done().with_reference().none.tolist() == [[8, 1, 9]]


def test_a_record_that_names_the_allele_goes_before_one_that_does_not() -> None:
    tally = Tally(1, np.array([9]))
    planes = np.array([[[1, 2, 3]], [[0, 0, 0]], [[0, 0, 0]]])
    tally.add([0], planes[:, :, :1], False)
    assert tally.done().none.tolist() == [[1]]
    tally.add([0, 0], planes[:, :, 1:], np.array([False, True]))
    assert tally.done().none.tolist() == [[3]]


def test_groups_leave_out_who_is_in_no_cluster() -> None:
    class Two:
        names = ("a", "b")

    found = groups(np.array([1, -1, 0, 1]), Two())  # type: ignore[arg-type]
    assert [one.tolist() for one in found] == [[2], [0, 3]]


def test_dosages_count_within_a_tenth() -> None:
    """PLINK's hard calls, whatever type the numbers came in."""
    told = [0.0, 0.09, 0.1, 0.3, 0.9, 0.97, 1.1, 1.94, 2.1, 2.3, -0.05, -0.2]
    wanted = [0, 0, 0, 3, 1, 1, 1, 2, 2, 3, 0, 3]
    for kind in (np.float64, np.float32, np.float16, np.complex128, object, str):
        array = np.array(told).astype(kind)
        assert plain(array).tolist() == wanted
