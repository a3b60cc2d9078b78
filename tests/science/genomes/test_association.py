"""Choices and χ² statistics: scores move no more than the noise is made for."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.science import genomes
from dither.science.genomes.association import _statistics, sensitivity
from dither.science.genomes.cases import Cases
from dither.science.genomes.counts import Counts
from dither.science.genomes.matrix import Matrix
from dither.science.genomes.panel import Panel
from dither.science.genomes.statistics import logs
from tests.chance import at_most, chance
from tests.science.genomes.cohort import GENOTYPES, all_columns, cohort, names, without

PERSON = Unit("person")


def scores(table: Any, groups: Cases) -> Any:
    panel = Panel.of(names(table.shape[1]))
    return abs(groups.difference(Matrix(table).count(panel, groups.roster)))


@pytest.mark.parametrize("case", [[1, 0], [1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1]])
def test_one_person_moves_a_score_by_the_larger_weight_at_most(case: list[int]) -> None:
    """All columns of a table, all people gone: the bound is met, and by no more."""
    groups = Cases.of(case, None)
    table = all_columns(len(case))
    farthest = 0
    for person in range(len(case)):
        moved = scores(table, groups) - scores(without(table, person), groups)
        farthest = max(farthest, int(abs(moved).max()))
    assert farthest == max(groups.weights)


def test_the_score_is_the_difference_of_frequencies() -> None:
    table, case = cohort(90, 40), [1] * 60 + [0] * 30
    groups = Cases.of(case, None)
    apart = abs(table[:60].mean(axis=0) - table[60:].mean(axis=0)) / 2
    assert scores(table, groups) * groups.step == pytest.approx(apart)
    assert groups.weights == (1, 2)


def chi(x: int, y: int, cases: int, controls: int) -> Fraction:
    """The textbook's Σ (observed - expected)² / expected of the allele table."""
    total, both = x + y, 2 * (cases + controls)
    if total in (0, both):
        return Fraction(0)
    found = Fraction(0)
    for size, copies in ((2 * cases, x), (2 * controls, y)):
        for seen, all_of in ((copies, total), (size - copies, both - total)):
            expected = Fraction(size * all_of, both)
            found += (seen - expected) ** 2 / expected
    return found


@pytest.mark.parametrize("alleles", [1, 2])
@pytest.mark.parametrize(
    ("cases", "controls"), [*product(range(1, 8), repeat=2), (12, 3), (2, 15), (11, 10)]
)
def test_no_table_moves_chi2_by_more_than_was_proved(
    cases: int, controls: int, alleles: int
) -> None:
    """All pairs of allele counts, and all changes by so many alleles of one person."""
    farthest = Fraction(0)
    for x, y in product(range(2 * cases + 1), range(2 * controls + 1)):
        here = chi(x, y, cases, controls)
        for more in range(1, alleles + 1):
            if x + more <= 2 * cases:
                there = chi(x + more, y, cases, controls)
                farthest = max(farthest, abs(here - there))
            if y + more <= 2 * controls:
                there = chi(x, y + more, cases, controls)
                farthest = max(farthest, abs(here - there))
    assert farthest == sensitivity(cases, controls, alleles)


def test_the_sensitivity_is_that_of_the_notes() -> None:
    assert float(sensitivity(25, 25, 2)) == pytest.approx(7.6923, abs=1e-4)
    assert float(sensitivity(10, 40, 2)) == pytest.approx(12.1951, abs=1e-4)


@pytest.mark.parametrize("case", [[1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0, 0, 0]])
@pytest.mark.parametrize("replacing", [True, False])
def test_one_person_moves_the_released_statistics_by_no_more(
    case: list[int], replacing: bool
) -> None:
    """All genotype tables of one variant and all neighbours, missing calls included."""
    groups = Cases.of(case, None)
    table = all_columns(len(case))
    panel = Panel.of(names(table.shape[1]))
    most = sensitivity(*groups.sizes, 2 if replacing else 1)

    def statistics(data: Any) -> Any:
        counts = Matrix(data).count(panel, groups.roster)
        return np.array(_statistics(counts, groups), object)

    for person in range(len(case)):
        for copies in GENOTYPES if replacing else (-1,):
            other = table.copy()
            other[person] = copies
            assert abs(statistics(table) - statistics(other)).max() <= most


def test_statistics_are_those_of_the_allele_table() -> None:
    table, case = cohort(60, 50), [1] * 25 + [0] * 35
    groups = Cases.of(case, None)
    counts = Matrix(table).count(Panel.of(names(50)), groups.roster)
    x, y = table[:25].sum(axis=0).tolist(), table[25:].sum(axis=0).tolist()
    expected = [chi(a, b, 25, 35) for a, b in zip(x, y, strict=True)]
    assert _statistics(counts, groups) == expected


def test_a_variant_that_all_share_has_a_statistic_of_0() -> None:
    groups = Cases.of([1, 0], None)
    for copies in range(3):
        planes = np.zeros((3, 2, 1), np.int64)
        planes[copies] = 1
        assert _statistics(Counts(*planes), groups) == [0]


def associated(people: int = 400, variants: int = 60) -> Any:
    """Three variants that differ between cases and controls, and others."""
    table = cohort(2 * people, variants)
    table[:people, :3] = 2
    table[people:, :3] = 0
    return table, [1] * people + [0] * people


@chance(1e-20)
def test_the_right_variants_are_chosen() -> None:
    """Each is chosen wrongly with probability e^-100 or less."""
    table, case = associated()
    for cost in ({"epsilon": 3.0}, {"rho": 1.0}):
        found = genomes.top_snps(table, case, 3, panel=names(60), **cost)
        assert set(found.variants) == {"rs0", "rs1", "rs2"}
        assert found.to_pandas()["rank"].tolist() == [1, 2, 3]
        assert "1. rs" in str(found)
        assert "<svg" in found.plot().svg()


def test_choices_cost_what_was_stated() -> None:
    table, case = associated(50)
    budget = Budget(epsilon=3, unit=PERSON)
    genomes.top_snps(table, case, 10, panel=names(60), epsilon=3.0, budget=budget)
    assert budget.spent == 1


def test_a_choice_has_no_interval() -> None:
    table, case = associated(50)
    found = genomes.top_snps(table, case, 1, panel=names(60), epsilon=3.0)
    with pytest.raises(ArgumentError, match="chi2"):
        found.interval()


def test_chi2_is_charged_to_an_account_of_its_own_relation() -> None:
    table, case = associated(50)
    words: dict[str, Any] = {"panel": ["rs0", "rs1"], "epsilon": 1.0}
    with pytest.raises(UnitMismatch):
        genomes.chi2(table, case, budget=Budget(epsilon=3, unit=PERSON), **words)
    own = Budget(epsilon=3, unit=PERSON.replacing())
    genomes.chi2(table, case, budget=own, **words)
    shared = Budget(epsilon=3, unit=PERSON)
    genomes.chi2(table, case, budget=shared, relation="add/remove", **words)
    assert own.spent == shared.spent == pytest.approx(1 / 3)
    told = Budget(epsilon=3, unit=PERSON.replacing().with_facts(["people"]))
    found = genomes.chi2(table, case, budget=told, **words)
    assert found.guarantee.given == ("people",)
    with pytest.raises(UnitMismatch, match="given the exact people"):
        genomes.chi2(table, case, budget=told, relation="add/remove", **words)
    assert told.spent == pytest.approx(1 / 3)


@chance(5e-9)
@pytest.mark.parametrize("cost", [{"epsilon": 5e4}, {"rho": 1e4}])
@pytest.mark.parametrize("relation", ["replace", "add/remove"])
def test_intervals_hold_the_statistic(cost: dict[str, float], relation: str) -> None:
    """80 % intervals of 3,000 independent variants."""
    table, case = cohort(80, 3000), [1] * 30 + [0] * 50
    found = genomes.chi2(table, case, panel=names(3000), relation=relation, **cost)
    low, high = found.interval(0.8)
    x, y = table[:30].sum(axis=0).tolist(), table[30:].sum(axis=0).tolist()
    truth = np.array([float(chi(a, b, 30, 50)) for a, b in zip(x, y, strict=True)])
    assert ((truth < low) | (truth > high)).sum() <= at_most(3000, 0.2, 5e-9)


@chance(5e-9)
def test_pvalues_count_the_noise() -> None:
    """Without association, at most a tenth are below 0.1."""
    source = np.random.default_rng(5)
    table = source.binomial(2, 0.3, (200, 3000)).astype(np.int8)
    found = genomes.chi2(table, [1, 0] * 100, panel=names(3000), rho=2e4)
    assert (found.pvalues < 0.1).sum() <= at_most(3000, 0.1, 5e-9)
    assert found.pvalues.max() <= 1.2


def test_a_wanted_error_is_reached() -> None:
    table, case = associated(50)
    found = genomes.chi2(table, case, panel=["rs0"], error=12.0)
    low, high = found.interval()
    assert high - low <= 24.01


def test_p_values_are_those_of_the_distribution() -> None:
    from scipy.special import log_ndtr

    statistic = np.array([0.0, 0.5, 3.84, 40.0, 500.0, 799.0, 801.0, 1400.0])
    expected = -(math.log(2) + log_ndtr(-np.sqrt(statistic))) / math.log(10)
    assert logs(statistic) == pytest.approx(expected, rel=1e-3)


def test_the_table_and_the_picture() -> None:
    table, case = associated(50)
    found = genomes.chi2(table, case, panel=names(4), epsilon=50.0)
    columns = ["variant", "chi2", "low", "high", "pvalue", "p_low", "p_high"]
    assert list(found.to_pandas().columns) == columns
    assert "genome-wide" in found.plot().svg()
    assert "rs3: " in str(found)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (None, "the people of the study are declared"),
        ([1, 1], "both groups"),
        ([1, 0, "x"], "says case or control"),
        ([1, 0, True], "one spelling"),
        ("10", "a mapping or a list, not str"),
    ],
)
def test_bad_groups(case: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        genomes.top_snps([[1]], case, 1, panel=["rs0"], epsilon=1)


def test_bad_questions() -> None:
    plain: dict[str, Any] = {"panel": ["rs0"], "epsilon": 1}
    with pytest.raises(ArgumentError, match="at most 1, the size of the panel"):
        genomes.top_snps([[1]], [1, 0], 2, **plain)
    with pytest.raises(ArgumentError, match="take too long"):
        genomes.top_snps([[1]], [1, 0], 40_000, panel=names(40_000), epsilon=1)
    with pytest.raises(ArgumentError, match="relation"):
        genomes.chi2([[1]], [1, 0], relation="swap", **plain)
