"""Allele frequencies over a declared panel, by declared clusters."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from dither.by_name import by_name
from dither.privacy import Unit
from dither.question import AskingError, Paid, Question
from dither.release import Source, clamped
from dither.science.declared import note
from dither.science.genomes.clusters import ALL, Roster
from dither.science.genomes.counts import Counts
from dither.science.genomes.panel import Panel, variants_of
from dither.science.genomes.plan import COMPLETE, COUNTED, Plan, calls_of
from dither.science.genomes.ratios import Ratio, shrunk
from dither.science.genomes.reading import (
    MISSING,
    absent_of,
    dataset_of,
    genotypes,
    read,
)
from dither.science.genomes.releases import Frequencies
from dither.science.genomes.spreads import Bounded, Counted

__all__ = ["PERSON", "frequencies"]

Reals = NDArray[np.float64]

PERSON = Unit("person")


@by_name("frequencies(X, panel=ids, clusters=c, rho=0.02)", AskingError)
def frequencies(
    X: Any,
    *,
    panel: Any,
    clusters: Any = None,
    samples: Any = None,
    variants: Any = None,
    absent: str = MISSING,
    calls: Any = COUNTED,
    coarse: bool = False,
    provenance: str | None = None,
    **cost: Unpack[AskingError],
) -> Frequencies:
    """How frequent the allele of each of the panel's variants is in each cluster.

    `X` is a matrix of people by variants with 0, 1 or 2 copies (`variants` names its
    columns and `samples` its rows), a .bed, .vcf or .bcf file, or VCF-Zarr. `panel` and
    `clusters` are declared: who is in the study, and in which cluster, is public, and
    so are clusters by region or hospital. Clusters that were fitted on these genotypes
    are not.

    Missing calls are `calls="counted"` (the default; people called at each variant are
    charged too), "complete" (there are none: a frequency is pulled towards 1/2 where
    that is wrong), or the declared least share of people called at any variant. A
    variant that has no record in the file is missing for all; with
    `absent="reference"` nobody carries it, as in files that list only what somebody
    does.

    Guarantee: the stated cost, for one person's genotypes at all variants.
    Why: copies less 1 lie in {-1, 0, 1} and a missing call is 0, so one person moves
    the sums over m variants by at most m in L1 and √m in L2, in one cluster; calls are
    a second vector of at most m ones (docs/proofs/science.md). Twice as far in a
    dataset whose neighbours replace a person.
    Assumes: one person has one sample; relatives are a group
    (`guarantee.for_group(k)`). Neighbours have the same roster and clusters, with one
    person's genotypes there or missing; the file has the same records either way, and
    counts the same allele (docs/genomes.md says how files break that).
    """
    wanted, roster = Panel.of(panel), Roster.of(clusters, samples)
    how = calls_of(calls)
    data, reference = genotypes(X, wanted, variants), absent_of(absent)
    data.check(roster)
    declared = note(f"{variants_of(wanted)}{_and(roster)}", provenance)
    question = Question.of(
        "allele frequencies", cost, unit=PERSON, dataset=dataset_of(data)
    )
    plan = Plan.of(question, len(wanted), roster, how)
    plan.check(coarse)
    with (
        plan.question.paying(plan.mechanism.guarantee) as paid,
        np.errstate(all="ignore"),
    ):
        found = noised(read(data, wanted, roster, paid, reference), plan)
    return _release(found, plan, wanted, paid, (declared, f"copies of {data.allele}"))


def _and(roster: Roster) -> str:
    return " and roster" if roster.names == (ALL,) else " and clusters"


def vector(counts: Counts, plan: Plan) -> NDArray[np.int64]:
    """The whole numbers that are noised: weighted sums of (copies - 1), and weighted
    counts of people called where these are charged.
    """
    first, second = plan.weights
    parts = [counts.centred * first]
    if second:
        parts.append(counts.called * second)
    return np.stack(parts)


def noised(counts: Counts, plan: Plan) -> tuple[Reals, Reals]:
    """Noisy sums of (copies - 1) and noisy counts of people called, one row for each
    cluster; zeros where calls are not charged.
    """
    first, second = plan.weights
    noisy = plan.mechanism.release(vector(counts, plan))
    sums = noisy[0] / first
    return sums, noisy[1] / second if second else np.zeros_like(sums)


def _release(
    found: tuple[Reals, Reals],
    plan: Plan,
    panel: Panel,
    paid: Paid,
    declared: tuple[str, ...],
) -> Frequencies:
    sums, called = found
    sizes = np.repeat(plan.roster.sizes[:, None], len(panel), axis=1).astype(float)
    spread: Counted | Bounded
    if plan.counted:
        people = _people(called, plan)
        ratio = Ratio(sums.ravel(), called.ravel(), plan.mechanism, plan.weights)
        spread = Counted(ratio)
    else:
        least = Fraction(1) if plan.calls == COMPLETE else Fraction(plan.calls)
        people = sizes * float((1 + least) / 2)
        spread = Bounded(sums.ravel(), sizes.ravel(), float(least), plan.mechanism)
    # an estimate from shrunk counts stays where its own count makes it likely
    value = np.clip((1 + sums.ravel() / people.ravel()) / 2, *spread.ends(0.8))
    return Frequencies(
        what="allele frequency",
        value=value,
        sources=(_stated(paid.source, plan),),
        spread=spread,
        keys=_keys(plan.roster, panel),
        notes=(
            *declared,
            _missing_calls(plan),
            *_unknown(called, plan),
        ),
        panel=panel.names,
        clusters=plan.roster.names,
        people=np.round(people).astype(np.int64),
        called=clamped(np.round(called).astype(np.int64), (0, sizes))
        if plan.counted
        else None,
    )


def _people(called: Reals, plan: Plan) -> Reals:
    """How many people were called, about, for the frequency itself."""
    variance = plan.variance / plan.weights[1] ** 2
    sizes = plan.roster.sizes
    rows = [
        shrunk(row, variance, size) for row, size in zip(called, sizes, strict=True)
    ]
    return np.stack(rows)


def _stated(source: Source, plan: Plan) -> Source:
    """The source of a release that also states its ε, which most readers know."""
    return replace(source, delta=plan.question.delta or 1e-6)


def _unknown(called: Reals, plan: Plan) -> tuple[str, ...]:
    """How many entries have calls that may be none, by the noisy count itself."""
    if not plan.counted:
        return ()
    width = plan.mechanism.error(0.95, integer=True) / plan.weights[1]
    count = int((called <= width).sum())
    if not count:
        return ()
    return (
        f"{count:,} of {called.size:,} frequencies may have no calls, or too few for this "
        "noise; check that ids and variants are spelled as in the data",
    )


def _keys(roster: Roster, panel: Panel) -> tuple[Any, ...]:
    if roster.names == (ALL,):
        return panel.names
    return tuple((cluster, name) for cluster in roster.names for name in panel.names)


def _missing_calls(plan: Plan) -> str:
    if plan.counted:
        return "frequencies are among people called at the variant"
    if plan.calls == COMPLETE:
        return (
            "declared: no calls are missing; if some are, the frequency is biased "
            "towards 1/2 and its interval may miss the true frequency"
        )
    share = float(plan.calls)
    return (
        f"declared: at least {100 * share:g} % of each cluster called at each variant"
    )
