"""Which variants differ between cases and controls, and how much."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.cost import Cost
from dither.errors import ArgumentError, UnitMismatch
from dither.mechanisms import TopK
from dither.privacy import Relation, Unit, epsilon_for_error
from dither.privacy.numbers import float_up, whole
from dither.question import Asking, AskingError, Question
from dither.science.declared import note
from dither.science.genomes.cases import Cases
from dither.science.genomes.counts import Counts
from dither.science.genomes.frequencies import PERSON
from dither.science.genomes.panel import Panel, variants_of
from dither.science.genomes.plan import root_up
from dither.science.genomes.reading import (
    MISSING,
    absent_of,
    dataset_of,
    genotypes,
    read,
)
from dither.science.genomes.statistics import ChiSquares, Chosen, Measured

__all__ = ["chi2", "top_snps"]

MOST = 1_000_000_000
"""Draws of noise that one question may take: each choice looks at every variant."""


@by_name("top_snps(X, case, 10, panel=ids, epsilon=3)", Asking)
def top_snps(
    X: Any,
    case: Any,
    k: int,
    *,
    panel: Any,
    samples: Any = None,
    variants: Any = None,
    absent: str = MISSING,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Chosen:
    """The k variants whose allele frequencies differ most between cases and controls,
    best first.

    `case` says who is a case: 1 or 0 for each person in the roster's order, or a
    mapping from sample id. Who is in the study, and who is a case, is public. `X`,
    `panel`, `samples` and `variants` are as for `frequencies`.

    Guarantee: the stated cost, for one person's genotypes at all variants.
    Why: the score |Σ over cases of (copies - 1) - Σ over controls| moves by at most 1
    with one person (with weights for groups of other sizes: by the larger weight;
    twice that in a dataset whose neighbours replace a person), up at some variants and
    down at others; k exponential mechanisms share the cost (`TopK`,
    docs/proofs/science.md).
    Assumes: as for `frequencies`; case labels are public and do not change.
    """
    wanted, groups = Panel.of(panel), Cases.of(case, samples)
    count = _wanted(k, len(wanted))
    data, reference = genotypes(X, wanted, variants), absent_of(absent)
    data.check(groups.roster)
    declared = note(f"{variants_of(wanted)} and cases", provenance)
    question = Question.of("top variants", cost, unit=PERSON, dataset=dataset_of(data))
    moved = max(groups.weights) * (2 if question.replacing else 1)
    choice = _choice(question, count, moved)
    with question.paying(choice.guarantee) as paid, np.errstate(all="ignore"):
        scores = abs(
            groups.difference(read(data, wanted, groups.roster, paid, reference))
        )
        chosen = choice.release(scores)
    names = tuple(wanted.names[at] for at in chosen)
    return Chosen(
        what="top variants",
        value=np.array(names),
        sources=(paid.source,),
        keys=tuple(range(1, count + 1)),
        notes=(
            declared,
            _shortfall(choice, groups, len(wanted)),
        ),
        promise=question.guarantee,
    )


def _wanted(k: int, variants: int) -> int:
    count = whole("k", k, "pass how many variants are wanted")
    if count > variants:
        raise ArgumentError(
            "k",
            f"must be at most {variants:,}, the size of the panel; pass a smaller k or a "
            "larger panel",
        )
    if count * variants > MOST:
        raise ArgumentError(
            "k",
            f"must be at most {max(1, MOST // variants):,} for {variants:,} variants, "
            "because more choices would take too long",
        )
    return count


def _choice(question: Question, k: int, sensitivity: int) -> TopK:
    """k choices for what was stated."""
    rho = question.rho
    epsilon = question.epsilon if rho is None else None
    return TopK(
        k=k, sensitivity=sensitivity, epsilon=epsilon, rho=rho, unit=question.unit
    )


def _shortfall(choice: TopK, groups: Cases, candidates: int) -> str:
    """How good the choice is, from public facts."""
    short = choice.error(0.95, candidates=candidates) * groups.step
    return (
        "with 95 % probability, no other variant has a difference of allele frequencies "
        f"that is more than {min(short, 1):.2g} larger than those chosen (if no calls are "
        "missing)"
    )


@by_name("chi2(X, case, panel=chosen.variants, epsilon=3)", AskingError)
def chi2(
    X: Any,
    case: Any,
    *,
    panel: Any,
    samples: Any = None,
    variants: Any = None,
    absent: str = MISSING,
    relation: str = Relation.REPLACE,
    provenance: str | None = None,
    **cost: Unpack[AskingError],
) -> ChiSquares:
    """The allelic χ² statistic of each of the panel's variants between cases and
    controls, 0 where all people have the same allele. Missing calls count as one copy.

    With `relation="replace"` neighbours replace one person's genotypes, which is a
    promise of its own kind: it needs an account of Unit("person", "replace"). With
    "add/remove" they are there or missing, as for `frequencies`, so it is charged to
    the same account, and the noise is half as large.

    Guarantee: the stated cost, for one person's genotypes at all of the panel.
    Why: with R cases and S controls (public, N together), s changed alleles of one
    person move the statistic by at most 2N²s / (S(2R + s)), or the same with R and S
    swapped; s is 2 where a person is replaced, and 1 where a missing call is one copy
    (docs/proofs/science.md has the proof for all R, S).
    Assumes: as for `frequencies`; case labels are public and do not change.
    """
    wanted, groups = Panel.of(panel), Cases.of(case, samples)
    unit = replace(PERSON, relation=_relation(relation))
    data, reference = genotypes(X, wanted, variants), absent_of(absent)
    data.check(groups.roster)
    declared = note(f"{variants_of(wanted)} and cases", provenance)
    question = Question.of("allelic χ²", cost, unit=unit, dataset=dataset_of(data))
    _check_account(question, unit.relation)
    moved = sensitivity(*groups.sizes, 2 if question.replacing else 1)
    question = _for_error(question, moved, len(wanted))
    mechanism = question.vector(
        float_up(moved * len(wanted)),
        float_up(moved * Fraction(root_up(len(wanted)))),
    )
    with question.paying(mechanism.guarantee) as paid, np.errstate(all="ignore"):
        noisy = mechanism.release(
            _statistics(read(data, wanted, groups.roster, paid, reference), groups)
        )
    people = sum(groups.sizes)
    return ChiSquares(
        what="allelic χ²",
        value=noisy,
        sources=(paid.source,),
        spread=Measured(noisy, mechanism, len(wanted)),
        keys=wanted.names,
        limits=(0.0, 2.0 * people),
        notes=(
            declared,
            "missing calls are set to one copy, which brings the statistic closer to 0",
        ),
    )


def _relation(relation: Any) -> Relation:
    try:
        return Relation(relation)
    except ValueError:
        words = f'{relation!r:.40} is not a relation; pass "replace" or "add/remove"'
        raise ArgumentError("relation", words) from None


def _check_account(question: Question, relation: Relation) -> None:
    """Say where an account of the other relation would refuse (rule R7)."""
    terms = getattr(question.account, "terms", None)
    wanted = Unit(question.unit.name, relation)
    if terms is None:
        return
    if terms.unit.relation is relation and terms.unit.follows_from(wanted):
        return
    ways = (
        'open an account with unit=Unit("person", "replace"), or pass '
        'relation="add/remove" to charge this account'
        if relation is Relation.REPLACE
        else 'open an account with unit=Unit("person"), or leave relation out'
    )
    words = f"is for {terms.unit}, but this release protects {wanted}; {ways}"
    raise UnitMismatch("budget", words)


def sensitivity(cases: int, controls: int, alleles: int) -> Fraction:
    """How far so many changed alleles of one person can move an allelic χ²."""
    square = 2 * (cases + controls) ** 2 * alleles
    return max(
        Fraction(square, controls * (2 * cases + alleles)),
        Fraction(square, cases * (2 * controls + alleles)),
    )


def _for_error(question: Question, moved: Fraction, size: int) -> Question:
    """A wanted error turned into the ε that reaches it with Laplace noise."""
    wanted = question.cost.wanted
    if wanted is None:
        return question
    whole = float_up(moved * size)
    epsilon = epsilon_for_error(wanted.width, wanted.confidence, whole)
    return replace(question, cost=Cost(epsilon=epsilon))


def _statistics(counts: Counts, groups: Cases) -> list[Fraction]:
    """Exact statistics: 2N(Sx - Ry)² / (RS·t(2N - t)) with x and y copies of the
    allele among R cases and S controls, t together.
    """
    cases, controls = groups.sizes
    both = 2 * (cases + controls)
    found = []
    for x, y in zip(*(one.tolist() for one in groups.sums(counts)), strict=True):
        total = x + cases + y + controls
        apart = controls * x - cases * y  # (copies - 1) leaves the difference as it is
        below = cases * controls * total * (both - total)
        found.append(Fraction(both * apart**2, below) if below else Fraction(0))
    return found
