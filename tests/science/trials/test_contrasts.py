"""What two proportions are compared by."""

from __future__ import annotations

import math

import pytest

from dither.science.trials.contrasts import DIFFERENCE, ODDS, RATIO, Contrast

ALL = [ODDS, DIFFERENCE, RATIO]


@pytest.mark.parametrize("contrast", ALL)
@pytest.mark.parametrize(("first", "second"), [(0.2, 0.6), (0.5, 0.5), (0.9, 0.05)])
def test_each_proportion_follows_from_the_other(
    contrast: Contrast, first: float, second: float
) -> None:
    value = contrast.of(first, second)
    assert contrast.first(value, second) == pytest.approx(first)
    assert contrast.second(value, first) == pytest.approx(second)
    assert contrast.of(0.3, 0.3) == contrast.null


@pytest.mark.parametrize("contrast", ALL)
def test_an_error_in_the_second_proportion_does_not_matter(contrast: Contrast) -> None:
    """The weighted deviations' difference has slope 0 in the nuisance."""
    n, truth, step = (80, 50), 0.35, 1e-5
    value = contrast.of(0.55, truth)

    def expected(p: float) -> float:
        pair = contrast.first(value, p), p
        a, b = contrast.weights(value, (0.55, truth), n)
        return a * n[0] * (0.55 - pair[0]) - b * n[1] * (truth - pair[1])

    slope = (expected(truth + step) - expected(truth - step)) / (2 * step)
    assert slope == pytest.approx(0, abs=1e-4)


def test_odds_at_the_ends() -> None:
    assert ODDS.of(0.0, 0.5) == 0
    assert ODDS.of(0.5, 0.0) == math.inf
    assert math.isnan(ODDS.of(0.0, 0.0))
    assert ODDS.first(math.inf, 0.3) == 1
    assert ODDS.first(0.0, 1.0) == 0
    assert ODDS.second(0.0, 0.0) == 0
    assert ODDS.second(math.inf, 0.9) == 0
    assert ODDS.weights(1.0, (0.0, 0.0), (9, 9)) == (1, 1)


@pytest.mark.parametrize(
    ("contrast", "ends"),
    [(ODDS, (0, math.inf)), (RATIO, (0, math.inf)), (DIFFERENCE, (-1, 1))],
)
def test_values_go_from_end_to_end(
    contrast: Contrast, ends: tuple[float, float]
) -> None:
    assert (contrast.at(0.0), contrast.at(1.0)) == ends
    assert contrast.at(0.5) == contrast.null
