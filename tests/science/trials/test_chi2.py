"""χ² tests as one calls them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.science import trials
from tests.chance import chance

REPLACE = Unit("person", "replace")  # type: ignore[arg-type]
COMES = Unit("person")
LEVELS = (("a", "b", "c"), ("low", "high"))
SURE = 1e4
"""So much that there is no noise."""


def people(cells: Any) -> tuple[list[Any], list[Any]]:
    """One record for each person of a table, in an order of no meaning."""
    pairs = [
        (LEVELS[0][i], LEVELS[1][j])
        for (i, j), count in np.ndenumerate(np.array(cells))
        for _ in range(count)
    ]
    order = np.random.default_rng(1).permutation(len(pairs))  # allowed: test inputs
    return [pairs[at][0] for at in order], [pairs[at][1] for at in order]


CELLS = [[30, 12], [18, 25], [22, 9]]


@chance(1e-9)
@pytest.mark.parametrize("sizes", [None, (42, 43, 31)])
def test_without_noise_it_is_scipys(sizes: Any) -> None:
    rows, columns = people(CELLS)
    found = trials.chi2_contingency(
        rows, columns, levels=LEVELS, sizes=sizes, epsilon=SURE
    )
    wanted = stats.chi2_contingency(CELLS, correction=False)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-12)
    assert found.dof == wanted.dof
    # of simulated tables
    assert found.pvalue == pytest.approx(wanted.pvalue, abs=0.02)
    counts = [count for _, _, count in found.table.rows]
    assert counts == np.ravel(CELLS).tolist()


@chance(1e-20)
def test_without_noise_goodness_of_fit_is_scipys() -> None:
    labels = ["a"] * 30 + ["b"] * 45 + ["c"] * 25 + [None, "z"]
    levels = ("a", "b", "c")
    even = trials.chisquare(labels, levels=levels, epsilon=SURE)
    wanted = stats.chisquare([30, 45, 25])
    assert even.statistic == pytest.approx(wanted.statistic, rel=1e-12)
    assert even.pvalue == pytest.approx(wanted.pvalue, abs=0.03)
    assert even.dof == 2
    shares = trials.chisquare(labels, levels=levels, expected=(1, 2, 1), epsilon=SURE)
    wanted = stats.chisquare([30, 45, 25], [25, 50, 25])
    assert shares.statistic == pytest.approx(wanted.statistic, rel=1e-12)


def test_the_table_comes_with_it() -> None:
    rows, columns = people(CELLS)
    budget = Budget(epsilon=3.0, unit=REPLACE)
    found = trials.chi2_contingency(
        rows, columns, levels=LEVELS, epsilon=1.0, budget=budget
    )
    frame = found.to_pandas()
    assert list(frame) == ["row", "column", "count", "count_low", "count_high"]
    assert frame["row"].tolist() == ["a", "a", "b", "b", "c", "c"]
    assert (frame["count_low"] <= frame["count_high"]).all()
    assert found.table.guarantee == found.guarantee
    assert "levels" in str(found.table)
    assert budget.spent == pytest.approx(1 / 3)
    share = found.proportion("b")
    low, high = share.confidence_interval()
    assert 0 <= low <= share.value <= high <= 1
    assert budget.spent == pytest.approx(1 / 3)


def test_two_by_two_has_contrasts() -> None:
    rows, columns = people([[30, 12], [18, 25]])
    levels = (("a", "b"), ("low", "high"))
    found = trials.chi2_contingency(
        rows, columns, levels=levels, sizes=(42, 43), epsilon=SURE
    )
    wanted = stats.contingency.odds_ratio([[30, 12], [18, 25]], kind="sample")
    assert found.odds_ratio().statistic == pytest.approx(wanted.statistic, rel=1e-12)
    assert found.risk_difference().value == pytest.approx(30 / 42 - 18 / 43)
    assert found.risk_ratio("greater").pvalue < 0.05
    assert found.odds_ratio().table.rows == found.table.rows


def test_other_tables_have_none() -> None:
    rows, columns = people(CELLS)
    found = trials.chi2_contingency(rows, columns, levels=LEVELS, epsilon=1.0)
    with pytest.raises(ArgumentError, match="two rows and two columns"):
        found.odds_ratio()
    with pytest.raises(ArgumentError, match="must be the label of a row"):
        found.proportion("z")
    with pytest.raises(ArgumentError, match=r"from \.table"):
        found.interval()
    with pytest.raises(ArgumentError, match="read its statistic and pvalue"):
        found.confidence_interval()
    assert str(found)


@pytest.mark.parametrize("unit", [REPLACE, COMES])
def test_odd_records_change_nobody_else(unit: Unit) -> None:
    """A record of any kind moves no count by more than 1."""
    rows, columns = people(CELLS)
    odd = [None, float("nan"), object(), "z", 10**400, b"a", ["a"], 1 + 2j]
    budget = Budget(epsilon=9e5, unit=unit)
    for one in odd:
        found = trials.chi2_contingency(
            [*rows, one, "a"],
            [*columns, "low", one],
            levels=LEVELS,
            epsilon=SURE,
            budget=budget,
        )
        counts = np.array([count for _, _, count in found.table.rows])
        assert abs(counts - np.ravel(CELLS)).sum() <= 1


@pytest.mark.parametrize("sizes", [None, (1, 5)])
def test_nobody_and_constant_columns(sizes: Any) -> None:
    levels = (("a", "b"), (1, 0))
    for rows, columns in ([[], []], [["a"] * 9, [1] * 9], [["x"], [None]]):
        found = trials.chi2_contingency(
            rows, columns, levels=levels, sizes=sizes, epsilon=0.5
        )
        assert 0 < found.pvalue <= 1
        assert found.statistic >= 0
        assert found.odds_ratio().confidence_interval()[0] >= 0


@pytest.mark.parametrize(
    ("more", "argument"),
    [
        ({"levels": ("a", "b")}, "levels"),
        ({"levels": (("a", "b"),)}, "levels"),
        ({"levels": (("a",), ("low", "high"))}, "levels"),
        ({"levels": 3}, "levels"),
        ({"levels": (3, 4)}, "levels"),
        ({"sizes": (1, 2)}, "sizes"),
        ({"sizes": (1, 2, 0)}, "sizes"),
        ({"sizes": (1, 2, 2.5)}, "sizes"),
        ({"epsilon": -1}, "epsilon"),
    ],
)
def test_questions_that_are_refused_cost_nothing(more: Any, argument: str) -> None:
    budget = Budget(epsilon=1.0, unit=REPLACE)
    asked = {"levels": LEVELS, "epsilon": 0.5, "budget": budget} | more
    with pytest.raises(ArgumentError) as problem:
        trials.chi2_contingency(["a"], ["low"], **asked)
    assert problem.value.argument == argument
    assert budget.spent == 0


@pytest.mark.parametrize(
    "expected", [(1, 2), (1, 0), (1, -1, 1), "abc", 3, (1, 1, float("nan"))]
)
def test_expected_shares_are_positive(expected: Any) -> None:
    with pytest.raises(ArgumentError) as problem:
        trials.chisquare(["a"], levels=("a", "b", "c"), expected=expected, epsilon=1.0)
    assert problem.value.argument == "expected"


@pytest.mark.parametrize("levels", [("a",), range(1001)])
def test_levels_of_one_label_are_declared(levels: Any) -> None:
    with pytest.raises(ArgumentError, match="2 to 500"):
        trials.chisquare(["a"], levels=levels, epsilon=1.0)


@pytest.mark.full
def test_as_many_levels_as_may_be() -> None:
    many = range(20)
    found = trials.chi2_contingency([1], [2], levels=(many, many), epsilon=1.0)
    assert 0 < found.pvalue <= 1
    assert trials.chisquare([1], levels=range(500), epsilon=1.0).pvalue > 0


def test_columns_go_together() -> None:
    with pytest.raises(ArgumentError, match="same order"):
        trials.chi2_contingency(["a"], ["low", "high"], levels=LEVELS, epsilon=1.0)


def test_public_sizes_need_replacement() -> None:
    budget = Budget(epsilon=1.0, unit=COMES)
    with pytest.raises(UnitMismatch, match="leave sizes out"):
        trials.chi2_contingency(
            ["a"], ["low"], levels=LEVELS, sizes=(1, 1, 1), epsilon=0.5, budget=budget
        )
