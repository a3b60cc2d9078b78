"""Linkage: how many people columns single out, against closed forms."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dither import ArgumentError
from dither.audit import attacks
from tests.audit.attacks.support import near, shown_well
from tests.chance import chance

linkage_module: Any = sys.modules["dither.audit.attacks.linkage"]


def test_the_bundled_clinic() -> None:
    found = attacks.linkage()
    shown_well(found)
    assert found.rates[0].share > 0.98
    assert [one.count for one in found.uniqueness] == [1, 2, 3, 4, 5]
    most = [one.most for one in found.uniqueness]
    assert most == sorted(most)
    assert all(one.mean <= one.most for one in found.uniqueness)


@chance(2e-9)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_a_count_tells_as_much_as_epsilon_allows(epsilon: float) -> None:
    """Exactly e^ε/(1 + e^ε), the bound."""
    ours = attacks.linkage(epsilon=epsilon).rates[-1]
    expected = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert ours.bound == pytest.approx(expected)
    assert near(ours, expected)


@chance(1e-12)
def test_half_of_the_noise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken copy: noise for 2ε under the name of ε. The bound is that of ε."""
    kept = linkage_module.Geometric

    class Half(kept):  # type: ignore[misc, valid-type]
        def release(self, value: Any) -> Any:
            return kept(sensitivity=1, epsilon=2 * self.epsilon).release(value)

    monkeypatch.setattr(linkage_module, "Geometric", Half)
    assert not attacks.linkage().kept


def test_uniqueness_of_independent_columns() -> None:
    """Of n people with an even choice of m combinations a share (1 - 1/m)^(n - 1) is
    alone.
    """
    source = np.random.default_rng(5)
    people, sizes = 20_000, (20, 30, 50)
    table = {str(size): source.integers(0, size, people) for size in sizes}
    found = attacks.linkage(table, list(table)).uniqueness[-1]
    expected = (1 - 1 / math.prod(sizes)) ** (people - 1)
    # Whether two people are alone depends on each other a little: their sum varies less
    # than that of independent ones.
    assert abs(found.mean - expected) < 6 * math.sqrt(
        expected * (1 - expected) / people
    )


def test_by_hand() -> None:
    table = pd.DataFrame({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "x"]})
    found = attacks.linkage(table, ["a", "b"])
    assert found.uniqueness[0].most == 0.25
    assert found.uniqueness[0].best == ("b",)
    assert found.uniqueness[1].mean == 0.5
    assert found.rates[0].share == 0.5


def test_a_named_list() -> None:
    """Two lines of the table are alike, one person of the list is not in it, and one
    only looks like somebody there.
    """
    table = {"who": [1, 2, 3, 4], "age": [30, 40, 40, 50], "sex": list("ffmm")}
    known = {"who": [1, 3, 9, 8], "age": [30, 40, 50, 60], "sex": list("fmmm")}
    found = attacks.linkage(table, ["age", "sex"], known=known, identity="who")
    assert found.rates[1].share == 0.5
    assert (
        attacks.linkage(table, ["age"], known=known, identity="who").rates[1].share
        == 0.25
    )


def test_odd_values_are_found_and_do_not_crash() -> None:
    table = {"a": [math.nan, math.nan, math.inf, None], "b": [1, 1, 1, "1"]}
    found = attacks.linkage(table, ["a", "b"])
    assert found.rates[0].share == 0.5
    assert attacks.linkage({"a": [1]}, "a").rates[0].share == 1


def test_many_columns_are_taken_in_their_order() -> None:
    table = {f"c{n}": [0, 1] for n in range(12)}
    found = attacks.linkage(table, list(table)).uniqueness
    assert found[5].best == tuple(f"c{n}" for n in range(6))
    assert all(one.most == 1 for one in found)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"columns": ["postcode"]}, "'postcode' is not a column"),
        ({"table": {"a": []}, "columns": ["a"]}, "has no rows"),
        ({"table": {"a": [1]}}, "must name 1 to 64 columns"),
        ({"identity": "patient_id"}, "passed together with known="),
        ({"known": {"sex": ["F"]}, "identity": "patient_id"}, "is not a column"),
        ({"epsilon": -1}, "epsilon"),
    ],
)
def test_refusals(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        attacks.linkage(**given)
