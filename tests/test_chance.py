"""The limits of tests of chance are what they say, against exact tails."""

from __future__ import annotations

import pytest
from scipy import stats

from tests.chance import LIMIT, at_least, at_most, chance, deviations, runs
from tools.chance import LISTED, ROOT, found, listing


@pytest.mark.parametrize("rate", [0, 1e-6, 1])
def test_a_rate_is_stated_and_small(rate: float) -> None:
    with pytest.raises(ValueError, match=r"draw more, or widen"):
        chance(rate)


def test_a_mark_carries_its_rate() -> None:
    assert chance(LIMIT).mark.kwargs == {"rate": LIMIT}


@pytest.mark.parametrize(("of", "sides"), [(1, 1), (1, 2), (40, 2)])
def test_deviations_are_the_normal_tail(of: int, sides: int) -> None:
    found = deviations(1e-9, of=of, sides=sides)
    assert of * sides * stats.norm.sf(found) == pytest.approx(1e-9)


@pytest.mark.parametrize("trials", [1, 10, 1500])
@pytest.mark.parametrize("share", [0.0, 0.003, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("rate", [1e-3, 1e-9])
def test_successes_are_the_exact_tail(trials: int, share: float, rate: float) -> None:
    most, least = at_most(trials, share, rate), at_least(trials, share, rate)
    assert stats.binom.sf(most, trials, share) <= rate * (1 + 1e-9)
    assert most == 0 or stats.binom.sf(most - 1, trials, share) > rate * (1 - 1e-9)
    assert stats.binom.cdf(least - 1, trials, share) <= rate * (1 + 1e-9)
    assert least == trials or stats.binom.cdf(least, trials, share) > rate * (1 - 1e-9)


def test_enough_draws_tell_two_means_apart() -> None:
    draws = runs(0.1, 2.0, 1e-8)
    assert 2 * stats.norm.sf(0.05 / (2.0 / draws**0.5)) <= 1e-8
    assert 2 * stats.norm.sf(0.05 / (2.0 / (draws - 1) ** 0.5)) > 1e-8


def test_the_list_is_up_to_date() -> None:
    assert LISTED.read_text(encoding="utf-8") == listing(), (
        "run: python tools/chance.py"
    )


def test_marks_of_parameters_are_listed_one_by_one() -> None:
    rates = dict(found(ROOT / "tests" / "test_docs.py"))
    assert rates["tests/test_docs.py[docs/noise.md]"] <= 1e-9
    assert len(rates) > 20
