"""Classifiers find what no single number tells, and nothing where nothing is."""

import numpy as np
import pytest

from dither import audit
from dither.audit.classifiers import curve, line
from dither.audit.outcomes import Encoder
from dither.privacy import PureDP
from tests.chance import chance

SOURCE = np.random.default_rng(3)  # allowed: made-up outputs
COLUMNS = np.arange(2)


def by_product(x, size):
    """Two fair numbers whose product has a sign that is the secret."""
    found = np.abs(SOURCE.normal(size=(size, 2)))
    signs = np.where(SOURCE.random(size) < 0.5, 1.0, -1.0)
    return found * np.column_stack([signs, signs if x else -signs])


def sides(*values):
    encoder = Encoder()
    return [encoder.encode(one) for one in values]


def test_a_curve_tells_what_a_line_does_not():
    parts = sides(by_product(0, 2000), by_product(1, 2000))
    fresh = sides(by_product(0, 2000), by_product(1, 2000))
    apart = {}
    for way in (line, curve):
        first, second = (way(COLUMNS, parts)(one) for one in fresh)
        apart[way] = abs((first > 0).mean() - (second > 0).mean())
    assert apart[line] < 0.1
    assert apart[curve] > 0.9


@chance(1e-12)
def test_the_audit_uses_it():
    found = audit.mechanism(by_product, 0, 1, claimed=PureDP(1.0), draws=3000)
    assert found.refuted
    assert "a weighted sum of products of the output" in found.event


@pytest.mark.parametrize("way", [line, curve])
def test_odd_numbers_do_not_stop_it(way):
    odd = np.array([[np.nan, np.inf], [1e308, -np.inf], [0.0, 1.0], [0.0, 2.0]])
    parts = sides(odd, odd[::-1].copy())
    assert np.isfinite(way(COLUMNS, parts)(parts[0])).all()


@chance(1e-12)
def test_correlated_noise_is_found_by_a_line():
    """One noise for two numbers: their difference is exact."""

    def shared(x, size):
        return np.array([x, 0]) + np.rint(SOURCE.laplace(0, 20, size))[:, None]

    assert audit.mechanism(shared, 0, 1, claimed=PureDP(0.1), draws=2000).refuted
