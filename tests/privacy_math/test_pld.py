from __future__ import annotations

import sys

import pytest
from mpmath import mpf

from dither.errors import MissingExtra
from dither.privacy import pld
from dither.privacy.gaussian import gaussian_epsilon
from dither.privacy.optimal import repeated_epsilon

from .support import hockey_stick, randomized_response, together


@pytest.mark.parametrize("mu", [1e-5, 1e-3, 0.1, 1.0, 5.0, 30.0])
def test_a_gaussian_comes_out_as_in_closed_form(mu: float) -> None:
    """The two weak spots of a fixed grid: an ε far below its cell, and so little noise that the grid explodes."""
    exact = gaussian_epsilon(mu, 1e-6)
    found = pld.pld_epsilon(pld.dominated(mu, {}, {}), 1e-6, exact)
    assert found is not None
    assert exact * (1 - 1e-7) <= found <= exact * 1.01


@pytest.mark.parametrize(("epsilon", "times"), [(0.01, 1000), (0.5, 30), (1e-4, 5000)])
def test_repeated_responses_come_out_as_in_closed_form(epsilon: float, times: int) -> None:
    exact = repeated_epsilon(epsilon, times, 1e-6)
    found = pld.pld_epsilon(pld.dominated(0.0, {}, {epsilon: times}), 1e-6, exact)
    assert found is not None
    assert exact * (1 - 1e-9) <= found <= exact * 1.005


def test_different_responses_are_covered() -> None:
    parts = {0.31: 2, 0.17: 3, 0.05: 3}
    pair = together(*(randomized_response(epsilon) for epsilon, count in parts.items() for _ in range(count)))
    for delta in (1e-2, 1e-3, 1e-4):
        found = pld.pld_epsilon(pld.dominated(0.0, {}, parts), delta, 1.0)
        assert found is not None
        assert hockey_stick(pair, found) <= delta
        assert hockey_stick(pair, found - 5e-3) > delta * mpf("0.99")


def test_very_many_different_parts_are_merged_upwards() -> None:
    many = {0.001 + 1e-6 * i: 1 for i in range(1000)}
    merged = pld.dominated(0.0, {}, many).pure
    assert len(merged) <= 2 * pld._DIFFERENT
    assert sum(count for _, count in merged) == 1000
    total = sum(epsilon * count for epsilon, count in merged)
    assert sum(many) <= total <= sum(many) * 1.02


def test_hopeless_grids_are_not_tried() -> None:
    everything = pld.dominated(1.0, {(1.0, 0.1): 5}, {0.1: 2})
    assert pld.pld_epsilon(everything, 1e-12, 1.0) is None
    assert pld.pld_epsilon(pld.dominated(1e3, {}, {}), 1e-6, 1e-3) is None
    assert pld.pld_epsilon(pld.dominated(0.0, {}, {1e-9: 10, 1.0: 3}), 1e-6, 3.0) is None
    assert pld.pld_delta(pld.dominated(1e3, {}, {}), 1e-3, 1e-3) is None


def test_without_dp_accounting_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("dp_accounting")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MissingExtra, match=r"dither\[accounting\]"):
        pld._library()
