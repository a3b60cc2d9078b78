"""Numbers of runs: their laws are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dither.errors import ArgumentError
from dither.noise import counts, poisson_count, stream, truncated_negative_binomial
from tests.chance import chance
from tests.noise.support import LEVEL, Replay, p_value, random_words

DRAWS = 2000


def masses(eta: float, gamma: float, most: int = 400) -> Any:
    found = [1.0]
    for count in range(1, most):
        found.append(found[-1] * (1 - gamma) * (count + eta) / (count + 1))
    return np.array(found) / sum(found)


@chance(1e-8)
@pytest.mark.parametrize("eta", [1.0, 0.0, -0.5, 2.5])
@pytest.mark.parametrize("gamma", [0.5, 0.1])
def test_runs(eta: float, gamma: float) -> None:
    wanted = masses(eta, gamma)
    drawn = [truncated_negative_binomial(eta, gamma) for _ in range(DRAWS)]
    assert min(drawn) >= 1
    seen = np.bincount(np.minimum(drawn, 400), minlength=401)[1:]
    assert p_value(seen, wanted) > LEVEL


@chance(1e-8)
def test_poisson() -> None:
    drawn = [poisson_count(3.5) for _ in range(DRAWS)]
    seen = np.bincount(np.minimum(drawn, 50), minlength=51)
    assert p_value(seen, stats.poisson.pmf(np.arange(51), 3.5)) > LEVEL


@pytest.mark.parametrize("bits", [64, 4, 1])
def test_bits_that_come_late_decide_as_those_that_come_first(bits: int) -> None:
    """A number of which few bits are known is settled by more of them; all 128 bits
    together say what it must be.
    """
    ends = np.cumsum(masses(1.0, 0.25, 200))
    for first, second in random_words(200).reshape(-1, 2):
        words = [int(first), int(second), *random_words(4).tolist()]
        head, known = words[0] >> (64 - bits), bits
        for word in words[1:]:
            head, known = head << 64 | word, known + 64
        wanted = 1 + int(np.searchsorted(ends, head / 2**known, side="right"))
        law = counts.Binomial(counts.Fraction(1), counts.Fraction(1, 4))
        assert counts.draw_count(law, 1, Replay(extra=words), bits) == wanted


def test_all_ones_wait_for_more() -> None:
    """A uniform number that is nearly 1 ends too."""
    words = [(1 << 64) - 1, (1 << 64) - 1, 5, 5]
    law = counts.Binomial(counts.Fraction(1), counts.Fraction(1, 4))
    assert counts.draw_count(law, 1, Replay(extra=words)) > 100
    assert stream.current() is not None


@pytest.mark.parametrize(
    ("eta", "gamma"), [(-1, 0.5), (1, 0), (1, 1), (1, 0.9999), (1e-4, 0.5)]
)
def test_what_is_no_law_is_refused(eta: float, gamma: float) -> None:
    with pytest.raises(ArgumentError):
        truncated_negative_binomial(eta, gamma)


def test_a_mean_of_nothing_is_refused() -> None:
    with pytest.raises(ArgumentError):
        poisson_count(0)
