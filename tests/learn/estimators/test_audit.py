"""The audit accepts estimators at their claims, and refutes copies whose bounds are read
off the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dither import audit
from dither.learn import LinearRegression, LogisticRegression, Ridge, StandardScaler
from dither.learn.estimators import fallback
from dither.privacy import GaussianDP, PureDP
from tests.chance import chance
from tests.learn.estimators.data import GENERATOR

INPUTS = GENERATOR.uniform(0.4, 0.6, size=(6, 2))
LABELS, TARGETS = np.arange(6) % 2, INPUTS.sum(axis=1)
FAR = np.array([[1.0, 1.0]])
Data = tuple[Any, Any, Any]
WITHOUT: Data = (INPUTS, LABELS, TARGETS)
WITH: Data = (
    np.vstack([INPUTS, FAR]),
    np.append(LABELS, 1),
    np.append(TARGETS, 0.0),
)
FARTHER: Data = (np.vstack([INPUTS, 100 * FAR]), WITH[1], WITH[2])
DRAWS = 500


def cost(delta: float) -> dict[str, Any]:
    return {"epsilon": 1.0, "delta": delta}


def scaled(data: Data, bounds: Any, delta: float) -> Any:
    found = StandardScaler(**cost(delta), bounds=bounds).fit(data[0])
    return [*found.mean_, *found.scale_]


def lined(data: Data, bounds: Any, delta: float) -> Any:
    model = LinearRegression(**cost(delta), bounds=bounds, y_bounds=(0, 2))
    return model.fit(data[0], data[2]).release_.value


def ridged(data: Data, bounds: Any, delta: float) -> Any:
    model = Ridge(0.5, **cost(delta), bounds=bounds, y_bounds=(0, 2))
    return model.fit(data[0], data[2]).release_.value


def classed(data: Data, bounds: Any, delta: float) -> Any:
    model = LogisticRegression(
        **cost(delta), bounds=bounds, classes=(0, 1), max_iter=3
    ).fit(data[0], data[1])
    return [*model.coef_[0], *model.intercept_]


EVERY = [pytest.param(one, id=one.__name__) for one in (scaled, lined, ridged, classed)]
Fit = Callable[[Data, Any, float], Any]


@chance(1e-8)
@pytest.mark.parametrize("fit", EVERY)
@pytest.mark.parametrize("delta", [1e-5, 0.0], ids=["gaussian", "pure"])
def test_a_claim_is_not_refuted(fit: Fit, delta: float) -> None:
    claim = GaussianDP(0.2681) if delta and fit is classed else PureDP(1.0)

    def one(data: Data) -> Any:
        return fit(data, (0, 1), delta)

    found = audit.mechanism(
        one, WITH, WITHOUT, claimed=claim, draws=DRAWS, confidence=1 - 1e-8
    )
    assert not found.refuted, found


@chance(1e-8)
@pytest.mark.parametrize("fit", EVERY)
def test_bounds_read_off_the_data_are_refuted(
    fit: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is far away widens the bounds, and with them the noise and the scale."""
    monkeypatch.setattr(fallback, "DOUBT", 1e12)  # else slopes are often 0

    def one(data: Data) -> Any:
        ends = np.stack([data[0].min(axis=0), data[0].max(axis=0) + 1e-9], axis=1)
        return fit(data, ends, 0.0)

    found = audit.mechanism(
        one, FARTHER, WITHOUT, claimed=PureDP(1.0), draws=DRAWS, confidence=1 - 1e-8
    )
    assert found.refuted, found
