"""Losses tell who was in the data of an overfitted model, and little of a released
one.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as Xml
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.privacy import GaussianDP
from tests.chance import chance

SOURCE = np.random.default_rng(8)
PEOPLE, COLUMNS = 400, 190
X = SOURCE.uniform(-1, 1, (PEOPLE, COLUMNS))
Y = np.clip(X[:, 0] * 0.5 + SOURCE.normal(0, 0.3, PEOPLE), -1, 1)
INSIDE = SOURCE.random(PEOPLE) < 0.5


def told(weights: Any, offset: float, guarantee: Any = None) -> attacks.Losses:
    found = (Y - X @ weights - offset) ** 2
    return attacks.losses(found[INSIDE], found[~INSIDE], guarantee=guarantee)


def test_an_overfitted_model_remembers() -> None:
    weights = np.linalg.lstsq(X[INSIDE], Y[INSIDE], rcond=None)[0]
    found = told(weights, 0.0)
    assert found.area > 0.9
    assert found.bound is None
    assert "Not stopped by differential privacy" in str(found)
    Xml.fromstring(found.plot().svg())


@chance(1e-9)
def test_a_released_model_keeps_to_its_bound() -> None:
    """The area lies six standard errors above the bound with a chance of 1e-9."""
    learn = pytest.importorskip("dither.learn")
    pytest.importorskip("sklearn")
    model = learn.LinearRegression(epsilon=1.0, bounds=(-1, 1), y_bounds=(-1, 1))
    model.fit(X[INSIDE], Y[INSIDE])
    found = told(model.coef_, float(model.intercept_), model.release_.guarantee)
    assert found.bound is not None
    assert found.bound < 0.8
    assert found.area < found.bound + 6 * found.roc.standard_error
    assert "The guarantee allows" in str(found)


def test_gaussian_scores_reach_their_bound() -> None:
    """Losses that differ as μ-GDP allows: the area is Φ(μ/√2), the bound."""
    noise = np.random.default_rng(9).normal(size=(2, 20_000))
    found = attacks.losses(noise[0] - 1, noise[1], guarantee=GaussianDP(1.0))
    expected = NormalDist().cdf(1 / math.sqrt(2))
    assert found.bound == pytest.approx(expected)
    assert abs(found.area - expected) < 6 * found.roc.standard_error


@pytest.mark.parametrize("values", [[], [math.nan], "x", [[1.0]], None, [10**400]])
def test_refusals(values: Any) -> None:
    with pytest.raises(ArgumentError, match="members must be a list of losses"):
        attacks.losses(values, [1.0])
    with pytest.raises(ArgumentError, match="guarantee"):
        attacks.losses([1.0], [1.0], guarantee=1.0)  # type: ignore[arg-type]
