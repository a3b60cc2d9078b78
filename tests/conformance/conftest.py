"""Every engine in turn, and answers without noise."""

from __future__ import annotations

import numpy as np
import pytest

from dither.ledger import Budget
from dither.mechanisms.additive import Gaussian, Laplace
from tests.conformance.asking import Worlds, in_turn
from tests.conformance.world import CATALOGUES


@pytest.fixture(scope="session", params=in_turn())
def worlds(request):
    opened = Worlds(request.param)
    yield opened
    opened.close()


def no_noise(_self, _scale, size):
    return 0 if size is None else np.zeros(size, np.int64)


@pytest.fixture
def exact(monkeypatch):
    """Noise switched off, in this test only."""
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(mechanism, "_draw", no_noise)


@pytest.fixture
def pure(worlds):
    """The clinic under ε = 10."""
    return worlds.under("clinic", Budget(10.0, unit=CATALOGUES["clinic"].unit))


@pytest.fixture
def approximate(worlds):
    """The clinic under ε = 10 and δ = 1e-6."""
    return worlds.under("clinic", Budget(10.0, 1e-6, unit=CATALOGUES["clinic"].unit))
