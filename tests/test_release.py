import math
import pickle

import numpy as np
import pytest

import dither
from dither.privacy import Composed


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


def test_ratios_cover_the_truth():
    hits = 0
    for _ in range(400):
        low, high = (
            dither.count(range(30), epsilon=1) / dither.count(range(60), epsilon=1)
        ).interval(0.9)
        hits += low <= 0.5 <= high
    assert hits / 400 > 0.87


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
    assert "count 0:" in str(histogram.map(lambda value: value[:1]))
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
