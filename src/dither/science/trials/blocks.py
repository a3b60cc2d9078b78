"""The test of tests (Kazan, Shi, Groce & Bray 2023): any test, run on random blocks of
the people, and a private count of the blocks that reject.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError, MissingExtra
from dither.noise import uniform_integers
from dither.question import Asking, Paid
from dither.release import Around
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import question_of
from dither.science.trials.columns import (
    Codes,
    Given,
    Integers,
    Reals,
    given,
    label,
    labels,
    names,
    together,
)
from dither.science.trials.groups import best
from dither.science.trials.null import Law
from dither.science.trials.proportions import Fixed
from dither.science.trials.result import TrialRelease
from dither.science.trials.tulap import Tulap, uniform

__all__ = ["Blocks", "test_of_tests"]

Test = Callable[..., Any]

MOST_GROUPS = 100_000
NAMED: dict[str, dict[str, Any]] = {
    "ttest_ind": {"equal_var": False},
    "ttest_rel": {},
    "ttest_1samp": {"popmean": 0.0},
    "f_oneway": {},
    "kruskal": {},
    "levene": {},
    "mannwhitneyu": {},
    "pearsonr": {},
    "spearmanr": {},
    "wilcoxon": {},
}
"""Tests of scipy.stats that are known by name, with what they are called with."""
LEVEL = "p is valid if the test keeps its level in each block, as rank tests do"
FAILED = 1.0
"""The p-value of a block whose test fails. It never rejects, so the level holds."""


@dataclass(frozen=True, eq=False, repr=False)
class Blocks(TrialRelease):
    """A test of tests. `statistic` is the noisy number of blocks, of `groups`, whose
    own p-value is at most `alpha0`.
    """

    groups: int = 0
    alpha0: float = 0.0


@by_name(
    "test_of_tests('ttest_ind', pain, arm=arm, arms=('a', 'b'), epsilon=1)", Asking
)
def test_of_tests(
    test: str | Test,
    *columns: Any,
    arm: Any = None,
    arms: Sequence[Any] | None = None,
    ids: Any = None,
    groups: int | None = None,
    alpha0: float | None = None,
    n: int | None = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Blocks:
    """Any test at all, made private: people are put into `groups` blocks at random, the
    test runs on each block by itself, and the number of blocks whose p-value is at most
    `alpha0` is released with noise and tested against chance.

    `test` is a name of scipy.stats ("ttest_ind" as Welch's, "f_oneway", "pearsonr", …)
    or a function that returns a p-value, or something that has one in `pvalue`. It gets
    the columns of a block as arrays of floats; with `arm`, one array for each of `arms`
    of the one column. People with a missing number are left out. `ids` says whose
    record is whose, where people have several. Where the test raises, warns or returns
    no p-value, its block does not reject.

    `groups` and `alpha0` are chosen from epsilon if they are not stated, and from `n`,
    about how many people there are, if that is public: a block should have a few in
    every arm.

    Guarantee: the stated cost, for all records of one person; under add/remove and
    under replace.
    Why: a person is in one block, drawn without regard to the data, so the count of
    rejecting blocks moves by at most 1; where a person is replaced, the new one is as
    likely to be in that block (docs/proofs/trials.md).
    Assumes: the test is a function of its block alone; what it prints or stores is the
    caller's own doing, and is not private. One record for each person, or `ids`. The
    p-value holds where the test keeps its level in blocks of that size: t tests of
    skewed outcomes do not in small ones, rank tests do.
    """
    run = _test(test)
    people = _people(columns, arm, arms, ids)
    question = question_of("test of tests", cost, *people.columns)
    mechanism = question.additive(1, 1)
    law = Law.of(mechanism)
    count, level = _plan(groups, alpha0, n, law)
    notes = (
        note("test and blocks", provenance),
        f"{count:,} blocks, each tested at {level:g}; a test that raises does not reject",
        LEVEL,
    )
    with question.paying(mechanism.guarantee) as paid:
        rejected = people.rejections(run, count, level, paid)
        noisy = int(mechanism.release(rejected))
    evidence = Fixed(noisy + uniform(), count, Tulap(law))
    return Blocks(
        what="rejecting blocks",
        value=noisy,
        sources=(paid.source,),
        spread=Around(noisy, mechanism, True),
        limits=(0, count),
        notes=notes,
        pvalue=evidence.pvalue(level, checks.GREATER),
        alternative="any that the test finds",
        groups=count,
        alpha0=level,
    )


test_of_tests.__test__ = False  # type: ignore[attr-defined]  # not one of pytest's


def _test(test: Any) -> Test:
    """A function from the columns of a block to a p-value."""
    if callable(test):
        return test  # type: ignore[no-any-return]
    name = checks.chosen("test", test, tuple(NAMED))
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtra("scipy", "science") from None
    found, how = getattr(stats, name), NAMED[name]
    return lambda *parts: found(*parts, **how)


def _plan(groups: Any, alpha0: Any, n: Any, law: Law) -> tuple[int, float]:
    count = None if groups is None else checks.size(groups, "groups")
    if count is not None and count > MOST_GROUPS:
        raise ArgumentError("groups", f"must be at most {MOST_GROUPS:,}; pass fewer")
    level = None if alpha0 is None else checks.level(alpha0, "alpha0")
    people = None if n is None else checks.size(n, "n")
    return best(law, count, level, people)


@dataclass(frozen=True)
class People:
    """The columns of the people who are to be put into blocks."""

    values: tuple[Given, ...]
    arm: Codes | None = None
    arms: int = 0
    ids: Given | None = None

    @property
    def columns(self) -> tuple[Given | Codes, ...]:
        more = (self.arm, self.ids)
        return (*self.values, *(one for one in more if one is not None))

    def rejections(self, test: Test, count: int, level: float, paid: Paid) -> int:
        """How many blocks reject."""
        values = [one.read(paid) for one in self.values]
        block = self._blocks(values[0].size, count, paid)
        kept = (block >= 0) & ~np.isnan(values).any(axis=0)
        codes = None if self.arm is None else self.arm.read(paid)
        block[~kept] = count  # after all others
        order = np.argsort(block, kind="stable")
        ends = np.searchsorted(block[order], np.arange(count + 1))
        found = 0
        for first, last in itertools.pairwise(ends.tolist()):
            parts = self._parts(values, codes, order[first:last])
            found += _pvalue(test, parts) <= level
        return found

    def _blocks(self, size: int, count: int, paid: Paid) -> Integers:
        """The block of each record; -1 for those of nobody."""
        if self.ids is None:
            return uniform_integers(count, size)
        owners = [label(one) for one in self.ids.items(paid)]
        known = {one for one in owners if one is not None}
        drawn = uniform_integers(count, len(known)).tolist()
        places: dict[str | None, int] = dict(zip(known, drawn, strict=True))
        return np.array([places.get(one, -1) for one in owners], np.int64)

    def _parts(
        self, values: Sequence[Reals], codes: Integers | None, inside: Any
    ) -> list[Reals]:
        """What the test gets of one block: copies, so that it cannot change others."""
        there = [one[inside] for one in values]
        if codes is None:
            return there
        arms = codes[inside]
        return [there[0][arms == arm] for arm in range(self.arms)]


def _people(columns: tuple[Any, ...], arm: Any, arms: Any, ids: Any) -> People:
    if not columns or (arm is not None and len(columns) != 1):
        raise ArgumentError(
            "columns", "must be one column with arm=, or one or more without arm="
        )
    if (arm is None) != (arms is None):
        raise ArgumentError(
            "arms",
            "arm and arms belong together: pass both, the column and its labels, or leave "
            "both out",
        )
    values = tuple(given("columns", one) for one in columns)
    codes = None if arm is None else labels("arm", arm, arms)
    owners = None if ids is None else given("ids", ids)
    found = People(
        values, codes, 0 if arm is None else len(names("arms", arms)), owners
    )
    together(*found.columns)
    return found


def _pvalue(test: Test, parts: Sequence[Reals]) -> float:
    """The p-value of one block; whatever goes wrong, it does not reject."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found: Any = test(*parts)
            value = float(found.pvalue if hasattr(found, "pvalue") else found)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return FAILED
    return value if 0 <= value <= 1 else FAILED
