"""The test of tests."""

from __future__ import annotations

import itertools
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError, Budget, Unit
from dither.science import trials
from dither.science.trials import blocks
from dither.science.trials.blocks import MOST_GROUPS
from tests.chance import at_most, chance
from tests.science.trials.laws import quiet

REPLACE = Unit("person", "replace")  # type: ignore[arg-type]
COMES = Unit("person")
PAID: Any = None


def known_blocks(below: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that are known: those of a fixed list, one for each record."""
    fixed = np.arange(100) % below

    def drawn(count: int, size: int) -> Any:
        assert count == below
        return fixed[:size]

    monkeypatch.setattr(blocks, "uniform_integers", drawn)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_one_person_moves_the_count_by_one(
    groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All columns of three people, for the block that each of them is in: whatever the
    others' records are, a changed record changes one block.
    """
    known_blocks(groups, monkeypatch)
    values = (0.0, 1.0, np.nan, np.inf)

    def test(block: Any) -> float:
        return 0.0 if block.sum() >= 1 else 1.0

    def count(column: Any) -> int:
        people = blocks._people((np.array(column),), None, None, None)
        return people.rejections(test, groups, 0.5, PAID)

    moved = 0
    for column in itertools.product(values, repeat=3):
        for place, other in itertools.product(range(3), values):
            changed = [*column[:place], other, *column[place + 1 :]]
            moved = max(moved, abs(count(column) - count(changed)))
    assert moved == 1


def test_all_records_of_a_person_are_in_one_block() -> None:
    ids = np.repeat(np.arange(40), 3)
    seen: list[set[float]] = []

    def test(block: Any) -> float:
        seen.append(set(block.tolist()))
        return 1.0

    trials.test_of_tests(test, ids.astype(float), ids=ids, groups=7, epsilon=1.0)
    assert len(seen) == 7
    assert sum(len(one) for one in seen) == 40
    assert set().union(*seen) == set(range(40))


def test_whose_id_is_missing_is_nobody() -> None:
    seen: list[int] = []
    column = np.arange(4.0)
    trials.test_of_tests(
        lambda block: seen.append(block.size) or 1.0,
        column,
        ids=["a", None, float("nan"), "a"],
        groups=1,
        epsilon=1.0,
    )
    assert seen == [2]


@chance(1e-20)
def test_blocks_are_drawn_anew_and_by_chance() -> None:
    sizes = []
    for _ in range(40):
        found: list[int] = []
        trials.test_of_tests(
            lambda block, found=found: found.append(block.size) or 1.0,
            np.arange(30.0),
            groups=3,
            epsilon=1.0,
        )
        sizes.append(tuple(found))
    assert all(sum(one) == 30 for one in sizes)
    assert len(set(sizes)) > 5


def fails(*parts: Any) -> Any:
    raise ValueError(f"secret {parts[0]}")


def stops(*parts: Any) -> Any:
    sys.exit(f"secret {parts[0]}")


def warns(*parts: Any) -> Any:
    warnings.warn(f"secret {parts[0]}", stacklevel=1)
    return 1.0


@pytest.mark.parametrize(
    "test",
    [
        fails,
        stops,
        warns,
        lambda *parts: None,
        lambda *parts: "no",
        lambda *parts: float("nan"),
        lambda *parts: -0.1,
        lambda *parts: 1.1,
        lambda *parts: 1 / 0,
        lambda *parts: np.zeros(2),
        "ttest_ind",
        "f_oneway",
    ],
)
def test_a_test_that_fails_does_not_reject(
    test: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(monkeypatch)
    column = [1.0, np.inf, np.nan, 1e308]
    more = {"arm": list("abab"), "arms": ["a", "b"]} if test == "ttest_ind" else {}
    columns = [column] * (2 if test == "f_oneway" else 1)
    found = trials.test_of_tests(test, *columns, groups=3, epsilon=1.0, **more)
    assert found.statistic == 0
    assert "secret" not in str(found)


def test_a_test_cannot_change_what_others_see() -> None:
    def test(block: Any) -> float:
        block[:] = np.nan
        return 1.0

    column = np.arange(6.0)
    trials.test_of_tests(test, column, groups=2, epsilon=1.0)
    assert column.tolist() == list(range(6))


@chance(1e-11)
@pytest.mark.parametrize("unit", [REPLACE, COMES])
def test_an_effect_is_found(unit: Unit) -> None:
    source = np.random.default_rng(2)  # allowed: test inputs, not noise
    arm = np.repeat(["a", "b"], 1000)
    values = source.normal(0, 1, 2000) + 3 * (arm == "a")
    budget = Budget(epsilon=100.0, unit=unit)
    found = trials.test_of_tests(
        "ttest_ind", values, arm=arm, arms=("a", "b"), epsilon=30.0, groups=20, alpha0=0.1,
        budget=budget,
    )  # fmt: skip
    assert found.pvalue < 1e-4
    assert found.statistic > 10
    low, high = found.interval()
    assert low <= 20 <= high
    assert budget.spent == pytest.approx(0.3)
    assert (found.groups, found.alpha0) == (20, 0.1)


@chance(1e-8)
def test_under_the_null_it_seldom_rejects() -> None:
    source = np.random.default_rng(3)  # allowed: test inputs, not noise
    rejected = 0
    for _ in range(60):
        x, y = source.normal(size=(2, 100))
        found = trials.test_of_tests("pearsonr", x, y, epsilon=1.0)
        rejected += found.pvalue <= 0.05
    assert rejected <= at_most(60, 0.05, 1e-8)


@pytest.mark.parametrize("name", sorted(blocks.NAMED))
def test_tests_by_name_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    source = np.random.default_rng(4)  # allowed: test inputs, not noise
    x = source.normal(3, 1, 400)
    y = -x + source.normal(0, 0.1, 400)
    paired = name in ("ttest_rel", "pearsonr", "spearmanr", "wilcoxon")
    if paired:
        found = trials.test_of_tests(name, x, y, groups=4, alpha0=0.01, epsilon=1.0)
    elif name == "ttest_1samp":
        found = trials.test_of_tests(name, x, groups=4, alpha0=0.01, epsilon=1.0)
    else:
        both = np.concatenate([x, 4 * y])
        arm = np.repeat([0, 1], 400)
        found = trials.test_of_tests(
            name, both, arm=arm, arms=(0, 1), groups=4, alpha0=0.01, epsilon=1.0
        )
    assert found.statistic == 4


@pytest.mark.parametrize(
    ("more", "argument"),
    [
        ({"test": "t"}, "test"),
        ({"test": None}, "test"),
        ({"groups": 0}, "groups"),
        ({"groups": MOST_GROUPS + 1}, "groups"),
        ({"alpha0": 0}, "alpha0"),
        ({"alpha0": 1.0}, "alpha0"),
        ({"arm": [1]}, "arms"),
        ({"arms": (1, 2)}, "arms"),
        ({"n": 0}, "n"),
        ({"ids": [1, 2]}, "columns"),
    ],
)
def test_questions_that_are_refused_cost_nothing(more: Any, argument: str) -> None:
    budget = Budget(epsilon=1.0, unit=REPLACE)
    asked = {"test": "ttest_1samp", "epsilon": 0.5, "budget": budget} | more
    test = asked.pop("test")
    with pytest.raises(ArgumentError) as problem:
        trials.test_of_tests(test, [1.0], **asked)
    assert problem.value.argument == argument
    assert budget.spent == 0


def test_columns_are_needed() -> None:
    with pytest.raises(ArgumentError, match="one column with arm"):
        trials.test_of_tests("ttest_ind", epsilon=1.0)
    with pytest.raises(ArgumentError, match="one column with arm"):
        trials.test_of_tests("f_oneway", [1], [2], arm=[1], arms=(1, 2), epsilon=1.0)


def test_groups_are_chosen_from_public_numbers() -> None:
    found = trials.test_of_tests("ttest_1samp", np.ones(3), epsilon=1.0)
    assert (found.groups, found.alpha0) == (10, 0.15)
    few = trials.test_of_tests("ttest_1samp", np.ones(3), epsilon=1.0, n=30)
    assert few.groups == 1
