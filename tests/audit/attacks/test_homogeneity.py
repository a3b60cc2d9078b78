"""Homogeneity: k-anonymous tables state secrets outright, noisy counts do not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks import tabulated
from tests.audit.attacks.support import held, shown_well
from tests.chance import chance


@chance(1e-8)
def test_the_bundled_study() -> None:
    """The k-anonymous rates are exact for these people; ours keep to their bound, and
    lie far below it.
    """
    found = attacks.homogeneity()
    shown_well(found)
    certain, anonymous, ours = found.rates
    assert 0.07 < certain.share == found.certain < 0.12
    assert 0.55 < anonymous.share < 0.62
    # Without their own line people are named much less often: the table told of them.
    assert anonymous.share - anonymous.guessing > 0.15
    assert held(ours)
    assert abs(ours.share - ours.guessing) < 0.15
    assert ours.bound is not None
    assert ours.share < ours.bound


def test_all_are_certain_where_people_alike_share_a_secret() -> None:
    table = {
        "age": np.repeat(np.arange(10) * 10, 5),
        "ill": np.repeat(list("abcde" * 2), 5),
    }
    found = attacks.homogeneity(
        table, ["age"], secret="ill", k=5, edges={"age": range(0, 101, 10)}
    )
    assert found.certain == 1
    assert [one.share for one in found.rates[:2]] == [1, 1]


@chance(1e-9)
def test_secrets_without_a_pattern() -> None:
    """Coins: classes of two or three are alike by chance, in 1/2 or 1/4 of the cases,
    and noisy counts tell little; the bound is that of a coin's rate.
    """
    source = np.random.default_rng(3)
    size = 6000
    table = {"age": source.permutation(size), "ill": source.integers(0, 2, size)}
    found = attacks.homogeneity(
        table, ["age"], secret="ill", k=2, edges={"age": range(0, size + 1, 500)}
    )
    sizes = found.table.sizes[found.table.classes]
    expected = float((0.5 ** (sizes - 1.0)).mean())
    people = found.table.people
    # A class decides for all in it: the error is that of classes.
    wide = 6 * np.sqrt(expected * (1 - expected) / (people / sizes.mean()))
    assert abs(found.certain - expected) < wide
    assert held(found.rates[2])
    assert found.rates[2].share < 0.6


def test_counts_without_noise_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken copy: exact counts that claim ε = 0.1, for cells of a single person."""

    monkeypatch.setattr(
        tabulated.Tabulated, "_noisy", lambda _, counts: counts.astype(float)
    )
    table = {"age": np.arange(4000), "ill": np.arange(4000) % 2}
    edges = {"age": range(4001)}
    found = attacks.homogeneity(
        table, ["age"], secret="ill", k=2, edges=edges, epsilon=0.1
    )
    assert found.rates[2].share == 1
    assert not found.kept


def test_columns_and_costs_can_be_chosen() -> None:
    found = attacks.homogeneity(columns=["born", "sex"], k=10, epsilon=0.5)
    assert found.table.k == 10
    assert found.rates[2].release == "counts with ε = 0.5"
    assert dataclasses.is_dataclass(found)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"k": 5000}, "k must be at most 2,060, the number of people"),
        ({"columns": ["postcode"]}, "'postcode' is not a column"),
        ({"epsilon": 0}, "epsilon"),
        ({"table": {"a": [1, 2]}}, "must name 1 to 64 columns"),
        ({"table": {"a": [1, 2]}, "columns": ["a"]}, "'' is not a column"),
    ],
)
def test_refusals(given: dict[str, object], problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        attacks.homogeneity(**given)  # type: ignore[arg-type]
