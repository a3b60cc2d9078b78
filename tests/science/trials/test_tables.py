"""Tables of private labels: how far one person moves them, whatever the labels are."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError, Budget, Dataset, Unit
from dither.mechanisms import Additive, Gaussian, Laplace
from dither.question import Question
from dither.science.trials.tables import Counted, Design
from tests.chance import chance

REPLACE = Unit("person", "replace")  # type: ignore[arg-type]
COMES = Unit("person")


def question(unit: Unit, **cost: float) -> Question:
    return Question.of("test", cost or {"epsilon": 1.0}, unit=unit)


def counts(design: Design, people: Any) -> Any:
    codes = np.array(people, np.int64).reshape(-1, 2)
    return design.counts(codes[:, 0], codes[:, 1])


def farthest(
    design: Design, size: int, *, comes: bool, moves: bool = False
) -> tuple[int, float]:
    """The most that one person moves the counts, over all tables of so many people:
    labels of either side may be missing. With public sizes, people stay in their row
    unless one `moves`.
    """
    everybody = list(itertools.product(range(-1, 2), range(-1, len(design.columns))))
    most, root = 0, 0.0
    for people in itertools.combinations_with_replacement(everybody, size):
        before = counts(design, people)
        others = [people[1:]] if comes else []
        for one in () if comes else everybody:
            if design.sizes is None or moves or one[0] == people[0][0]:
                others.append((one, *people[1:]))
        for other in others:
            moved = counts(design, other) - before
            most = max(most, int(abs(moved).sum()))
            root = max(root, math.sqrt((moved**2).sum()))
    return most, root


def sensitivities(design: Design, unit: Unit) -> tuple[float, float]:
    pure = design.mechanism(question(unit, epsilon=1.0))
    smooth = design.mechanism(question(unit, rho=1.0))
    assert isinstance(pure, Laplace)
    assert isinstance(smooth, Gaussian)
    return pure.sensitivity, smooth.sensitivity


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("unit", [REPLACE, COMES])
def test_no_person_moves_a_table_farther_than_the_noise_hides(
    columns: int, size: int, unit: Unit
) -> None:
    design = Design.of(("a", "b"), tuple(range(columns)), None)
    assert farthest(design, size, comes=unit is COMES) == pytest.approx(
        sensitivities(design, unit)
    )


@pytest.mark.parametrize("columns", [2, 3])
def test_with_public_sizes_people_stay_in_their_row(columns: int) -> None:
    """Arms that have as many people as were declared, or fewer."""
    design = Design.of(("a", "b"), tuple(range(columns)), (3, 3))
    found = farthest(design, 3, comes=False)
    assert found == pytest.approx(sensitivities(design, REPLACE))


@pytest.mark.parametrize("columns", [2, 3])
def test_in_a_dataset_people_may_change_their_row(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which part of too many is kept is drawn; here it is the first, for all."""
    monkeypatch.setattr(
        "dither.science.trials.sizes.subset", lambda _, size: np.arange(size)
    )
    design = Design.of(("a", "b"), tuple(range(columns)), (1, 1))
    data = Dataset.of(
        {"arm": [0]}, unit=REPLACE, account=Budget(epsilon=9, unit=REPLACE)
    )
    asked = Question.of("test", {"epsilon": 1.0}, dataset=data)
    most, root = farthest(design, 3, comes=False, moves=True)
    assert design.mechanism(asked).sensitivity == most
    smooth = Question.of("test", {"rho": 1.0}, dataset=data)
    assert design.mechanism(smooth).sensitivity == pytest.approx(root)


def test_of_too_many_people_a_random_part_is_counted() -> None:
    design = Design.of(("a", "b"), (1, 0), (2, 5))
    people = [(0, 0)] * 2 + [(0, 1)] * 2 + [(1, 0)] * 3
    seen = {tuple(counts(design, people).tolist()) for _ in range(200)}
    assert seen == {(0, 3), (1, 3), (2, 3)}


def test_missing_and_undeclared_labels() -> None:
    people = [(0, 0), (0, -1), (-1, 0), (1, 1), (-1, -1)]
    free = Design.of(("a", "b"), (1, 0), None)
    assert counts(free, people).tolist() == [1, 0, 0, 1]
    sized = Design.of(("a", "b"), ("x", "y", "z"), (4, 1))
    assert counts(sized, people).tolist() == [1, 0, 3, 0, 1, 0]


def counted(noisy: Any, sizes: tuple[int, ...] | None, mechanism: Additive) -> Counted:
    table = np.array(noisy)
    rows, columns = (tuple(range(length)) for length in table.shape)
    return Counted(Design(rows, columns, sizes), table, mechanism)


def test_counts_are_brought_to_the_sizes_of_rows() -> None:
    mechanism = Laplace(sensitivity=2, epsilon=1)
    found = counted([[5, 1, 3], [0, 0, 0]], (12, 3), mechanism)
    assert found.fitted.tolist() == [[6, 2, 4], [1, 1, 1]]
    assert counted([[5, 1], [2, 2]], None, mechanism).fitted.tolist() == [
        [5, 1],
        [2, 2],
    ]


def test_one_count_tells_a_row_of_two() -> None:
    design = Design.of(("a", "b"), (1, 0), (10, 20))
    assert design.table(np.array([12, 5])).tolist() == [[12, -2], [5, 15]]
    mechanism = Laplace(sensitivity=1, epsilon=1)
    found = Counted(design, design.table(np.array([12, 5])), mechanism)
    assert found.variance == pytest.approx(2 * found.law.variance)
    low, high = found.ends(0.95)
    width = mechanism.error(0.95, integer=True)
    assert low.tolist() == [[12 - width, 0], [5 - width, 15 - width]]
    assert high.tolist() == [[10, max(0, -2 + width)], [5 + width, 15 + width]]


@chance(1e-15)
def test_intervals_hold_the_true_counts() -> None:
    mechanism = Laplace(sensitivity=2, epsilon=0.5)
    truth = np.zeros((40, 50), np.int64)
    found = counted(mechanism.release(truth), None, mechanism)
    low, high = found.ends(0.95)
    assert low.min() == 0
    assert ((low <= truth) & (truth <= high)).mean() > 0.9


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (("a",), (1, 0), "two or more"),
        (("a", "a"), (1, 0), "name each label once"),
        ("ab", (1, 0), "list of labels"),
        (range(60), range(2), "at most 20 for the rows"),
        (range(2), range(60), "at most 20 for the rows"),
        (("a", None), (1, 0), "list of labels"),
    ],
)
def test_levels_are_declared(rows: Any, columns: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Design.of(rows, columns, None)
