import math
import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import dither
from dither.privacy import Composed
from dither.release import Release, Source, clamped
from tests.chance import at_least, chance


@pytest.fixture
def total():
    return dither.count(range(1000), epsilon=0.5)


def test_arithmetic_with_constants_carries_intervals(total):
    low, high = total.interval()
    for result, expected in (
        (total * 2, (2 * low, 2 * high)),
        (2 * total, (2 * low, 2 * high)),
        (total + 5, (low + 5, high + 5)),
        (5 - total, (5 - high, 5 - low)),
        (-total, (-high, -low)),
        (total / 4, (low / 4, high / 4)),
        (np.float64(2) * total, (2 * low, 2 * high)),
    ):
        assert result.interval() == pytest.approx(expected)
        assert result.guarantee == total.guarantee


def test_two_releases_hold_together(total):
    other = dither.count(range(500), epsilon=0.5)
    share = other / total
    low, high = share.interval()
    assert low < share.value < high
    assert isinstance(share.guarantee, Composed)
    assert len(share.sources) == 2
    assert (total + total - other + other).sources == (
        total.sources[0],
        other.sources[0],
    )


def test_two_uses_with_equal_promises_are_two():
    first, second = (dither.count([1], epsilon=0.5) for _ in range(2))
    assert dither.compose(list((first + second).guarantee.parts)).epsilon == 1


@chance(1e-9)
def test_ratios_cover_the_truth():
    hits = 0
    for _ in range(400):
        low, high = (
            dither.count(range(30), epsilon=1) / dither.count(range(60), epsilon=1)
        ).interval(0.9)
        hits += low <= 0.5 <= high
    assert hits >= at_least(400, 0.9, 1e-9)


@chance(2e-8)
def test_division_by_what_may_be_zero():
    ratio = dither.count(range(10), epsilon=1e3) / dither.count([], epsilon=1e3)
    assert ratio.value == math.inf
    low, high = (
        dither.count(range(10), epsilon=1) / dither.count([], epsilon=1)
    ).interval(1 - 1e-8)
    assert (low, high) == (-math.inf, math.inf)


def test_an_array_of_releases_and_constants():
    histogram = dither.histogram(["a", "b", "b"], keys=["a", "b"], epsilon=5)
    share = histogram / 3
    assert share.keys == ("a", "b")
    assert np.asarray(share.interval()).shape == (2, 2)
    assert (np.array([1, 2]) * histogram).value.tolist() == (
        histogram.value * [1, 2]
    ).tolist()


def test_map_and_round(total):
    root = total.map(math.sqrt, monotone=True)
    assert root.value == math.sqrt(total.value)
    assert root.interval() == pytest.approx(
        tuple(math.sqrt(end) for end in total.interval())
    )
    with pytest.raises(dither.ArgumentError, match="monotone"):
        total.map(lambda n: n % 7).interval()
    assert total.round(-1).value % 10 == 0
    assert total.round(-1).interval() == total.interval()
    assert (total / 3).round(2).value == pytest.approx(total.value / 3, abs=0.005)


def test_what_it_shows(total):
    text = str(total)
    assert "95 %" in text
    assert "ε = 0.5" in text
    assert "not charged to any account" in text
    assert "<table>" in total._repr_html_()
    assert float(total) == int(total) == total.value


def test_html_is_escaped():
    release = dither.histogram(["<b>"], keys=["<b>"], epsilon=1)
    assert "<b>" not in release._repr_html_()


@pytest.mark.parametrize("confidence", [0, 1, -1, math.nan, 2])
def test_bad_confidence(total, confidence):
    with pytest.raises(dither.ArgumentError, match="confidence"):
        total.interval(confidence)


def test_it_survives_pickling(total):
    copy = pickle.loads(pickle.dumps(total / 2))
    assert copy.interval() == (total / 2).interval()


def test_shapes_that_do_not_fit_still_print():
    histogram = dither.histogram(["a", "b"], keys=["a", "b"], epsilon=5)
    assert "  0: " in str(histogram.map(lambda value: value[:1]))
    counted = (dither.count([], epsilon=1) for _ in range(100))
    nothing = next(one for one in counted if one.interval()[0] == 0)
    ratio = dither.count(range(10), epsilon=1) / nothing
    assert (ratio * 0).interval() == (-math.inf, math.inf)
    assert bool(dither.count(range(1000), epsilon=1))


def test_one_entry_of_many():
    histogram = dither.histogram(["a", "b", "b"], keys=["a", "b"], epsilon=5)
    assert histogram["b"].value == histogram[1].value == histogram.value[1]
    assert histogram["b"].interval() == tuple(ends[1] for ends in histogram.interval())
    assert f"{histogram['b'] / 2:.1f}" == f"{histogram.value[1] / 2:.1f}"
    assert "ε = 1 (2 pure" in str(
        (dither.count([1], epsilon=0.5) + dither.count([1], epsilon=0.5)).guarantee
    )


def test_entries_of_a_matrix_have_the_numbers_of_row_and_column(total):
    matrix = replace(total, value=np.arange(6.0).reshape(2, 3), spread=None)
    keys = [key for key, *_ in matrix.rows()]
    assert keys == ["0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2"]
    named = replace(matrix, keys=("a", "b"))
    assert named.rows()[3][:2] == ("b, 0", 3.0)
    assert named["b"].value.tolist() == [3.0, 4.0, 5.0]


@dataclass(frozen=True)
class Fixed:
    """The same ends at every confidence."""

    low: Any
    high: Any

    def ends(self, _confidence):
        return self.low, self.high


def made(value, low, high, limits=None):
    source = Source(dither.privacy.PureDP(1.0))
    return Release("n", value, (source,), Fixed(low, high), limits=limits)


def test_a_value_lies_within_its_limits_and_its_interval():
    found = made(-4, -9, -1, (0, math.inf))
    assert found.value == 0
    assert isinstance(found.value, int)
    assert found.interval() == (0, 0)
    assert found.rows() == [("", 0, 0, 0)]
    assert made(-2.5, 0, 0.5).interval() == (-2.5, 0.5)
    assert made(7.0, 1.0, 3.0, (0, 5)).interval() == (1.0, 5.0)
    many = made(np.array([-2, 3, 9]), np.zeros(3), np.full(3, 4.0), (0, [8, 8, 8]))
    assert many.value.tolist() == [0, 3, 8]
    assert many.value.dtype.kind == "i"
    assert [end.tolist() for end in many.interval()] == [[0, 0, 0], [4, 4, 8]]


def test_an_unknown_value_moves_no_end():
    found = made(np.array([math.nan, 2.0]), np.zeros(2), np.ones(2))
    assert [end.tolist() for end in found.interval()] == [[0, 0], [1, 2]]
    assert made(math.nan, 0.0, 1.0).interval() == (0.0, 1.0)


def test_what_is_computed_from_a_value_lies_in_its_interval():
    found = made(7.0, 1.0, 3.0, (0, 5))
    assert (found * -2).interval() == (-10.0, -2.0)
    assert (found * -2).value == -10.0
    assert found.map(math.exp, monotone=True).interval()[1] == math.exp(5)
    assert found.round(-1).interval() == (0.0, 5.0)
    assert found.round(-1).value == 0.0
    assert (found - found).interval() == (-4.0, 4.0)
    both = made(np.array([4.0, -1.0]), np.zeros(2), np.ones(2))
    assert both[0].interval() == (0.0, 4.0)
    assert both[1].interval() == (-1.0, 1.0)


def test_the_interval_of_the_noise_alone_stays_as_it_is():
    found = replace(made(-4, -9, -1, (0, math.inf)), noise=Fixed(-6, -2))
    assert found.interval(of="noise") == (-6, -2)


def test_integers_keep_entries_without_a_limit() -> None:
    limits = (np.array([0.0, -np.inf]), np.array([np.inf, 5.0]))
    assert clamped(np.array([-3, -3]), limits).tolist() == [0, -3]
    assert clamped(np.array([2**62, 7]), limits).tolist() == [2**62, 5]
