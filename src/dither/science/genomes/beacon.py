"""A beacon: does anyone in the study carry this allele? So many answers, paid for when
it is opened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from dither.by_name import by_name
from dither.errors import ArgumentError, BudgetExceeded
from dither.mechanisms import Additive, Gaussian
from dither.mechanisms.interactive import Interactive
from dither.privacy.numbers import whole
from dither.question import Asking, Question
from dither.release import Around, Release, Source
from dither.science.declared import note
from dither.science.genomes.clusters import Roster
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
from dither.science.genomes.releases import plainly
from dither.text import clean

__all__ = ["Answer", "Beacon", "beacon"]

RARELY = 0.05
"""How often the default threshold says yes where nobody carries the allele."""


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Release):
    """How many people carry an allele, with noise, and whether that is `yes`: at least
    the public threshold.
    """

    mechanism: Additive | None = None
    threshold: int = 1
    yes: bool = False

    def __bool__(self) -> bool:
        return self.yes

    def chance(self, carriers: int) -> float:
        """How likely a beacon says yes where so many people carry the allele."""
        assert self.mechanism is not None
        return above(self.mechanism, self.threshold - carriers)

    def _derived(self, **changes: Any) -> Release:
        return plainly(self, **changes)

    def _lines(self) -> list[str]:
        low, high = self.interval()
        said = "yes" if self.yes else "no"
        return [
            f"{self.what} {said}",
            f"  noisy count: {self.value:,} people (95 % interval {low:,.0f} to "
            f"{high:,.0f}); the answer is yes from {self.threshold:,} on",
            f"  probability of yes if nobody carries it: {self.chance(0):.1%}; if "
            f"{2 * self.threshold:,} people do: {100 * self.chance(2 * self.threshold):.1f} %",
        ]


class Beacon(Interactive):
    """An open beacon. `ask` answers as often as was paid for; asked again about the same
    variant, it gives the same answer and that counts for nothing.
    """

    def __init__(
        self,
        panel: Panel,
        carriers: NDArray[np.int64],
        mechanism: Additive,
        source: Source,
        *,
        questions: int,
        threshold: int,
        people: int,
        notes: tuple[str, ...],
    ) -> None:
        super().__init__(source.guarantee, source.receipt)
        self.questions, self.threshold, self.people = questions, threshold, people
        self.notes = notes
        self._panel, self._carriers = panel, carriers
        self._mechanism, self._source = mechanism, source
        self._answers: dict[str, Answer] = {}

    def __repr__(self) -> str:
        return (
            f"<Beacon on {variants_of(self._panel)}: {self.left:,} of "
            f"{self.questions:,} questions left, {self.guarantee}>"
        )

    @property
    def left(self) -> int:
        """How many more variants can be asked about."""
        return self.questions - len(self._answers)

    def ask(self, variant: Any) -> Answer:
        """Whether anyone carries the variant's allele."""
        name = ":".join(map(str, variant)) if isinstance(variant, tuple) else variant
        if name not in self._panel.by_name:
            raise ArgumentError(
                "variant",
                f"{clean(str(name))!r:.60} is not in the declared panel; ask about one "
                "of its variants",
            )
        with self._step():
            if name not in self._answers:
                self._answers[name] = self._answer(name)
            return self._answers[name]

    def _answer(self, name: str) -> Answer:
        if self.left < 1:
            raise BudgetExceeded(
                f"this beacon was opened for {self.questions:,} questions and has "
                "answered all of them; open another beacon, which has its own cost. "
                "Nothing was spent."
            )
        mechanism = self._mechanism
        exact = int(self._carriers[self._panel.by_name[name]])
        noisy = mechanism.release(exact)
        return Answer(
            what=f"does anyone carry {clean(name)}?",
            value=noisy,
            sources=(self._source,),
            spread=Around(noisy, mechanism, integer=True),
            notes=self.notes,
            limits=(0, self.people),
            mechanism=mechanism,
            threshold=self.threshold,
            # by the noisy count itself: a threshold may lie above the number of people
            yes=bool(noisy >= self.threshold),
        )


@by_name("beacon(X, panel=ids, samples=ids, questions=20, epsilon=1)", Asking)
def beacon(
    X: Any,
    *,
    panel: Any,
    questions: int,
    samples: Any,
    variants: Any = None,
    absent: str = MISSING,
    threshold: int | None = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Beacon:
    """Open a beacon that says of `questions` variants of the panel whether anyone in
    the study carries the allele.

    It says yes where a noisy count of carriers reaches `threshold`, by default one
    that is reached in 5 % of the cases where nobody carries it. Each answer tells how
    often it says yes for so many carriers. `X`, `panel`, `samples` and `variants` are
    as for `frequencies`.

    Guarantee: the stated cost, for one person's genotypes at all variants and for all
    answers together, however each variant is chosen after the answers before.
    Why: one person moves each count of carriers by at most 1; the counts of q answers
    together by q in L1 and √q in L2, also where they are chosen one by one (basic and
    Gaussian composition are adaptive; docs/proofs/science.md). Other charges may come
    between its answers, which share no hidden noise (docs/proofs/filter.md).
    Assumes: as for `frequencies`.
    """
    wanted, roster = Panel.of(panel), Roster.of(None, samples, "samples")
    most = whole("questions", questions, "pass how many variants may be asked about")
    most = min(most, len(wanted))  # repeats are free
    data, reference = genotypes(X, wanted, variants), absent_of(absent)
    data.check(roster)
    declared = note(f"{variants_of(wanted)} and roster", provenance)
    question = Question.of("beacon", cost, unit=PERSON, dataset=dataset_of(data))
    mechanism = question.vector(most, root_up(most))
    from_on = _threshold(threshold, mechanism)
    with question.paying(mechanism.guarantee) as paid, np.errstate(all="ignore"):
        carriers = read(data, wanted, roster, paid, reference).carriers[0]
    return Beacon(
        wanted,
        carriers,
        mechanism,
        paid.source,
        questions=most,
        threshold=from_on,
        people=int(roster.sizes[0]),
        notes=(declared,),
    )


def _threshold(stated: int | None, mechanism: Additive) -> int:
    if stated is not None:
        return whole(
            "threshold",
            stated,
            "pass the noisy count from which the answer is yes, such as 5",
        )
    return int(mechanism.error(1 - 2 * RARELY, integer=True)) + 1


def above(mechanism: Additive, least: int) -> float:
    """P(noise ≥ least) of integer noise."""
    if isinstance(mechanism, Gaussian):
        return NormalDist().cdf((0.5 - least) / mechanism.scale)
    if least <= 0:
        return 1 - above(mechanism, 1 - least)
    ratio = math.exp(-1 / mechanism.scale)
    return float(ratio**least / (1 + ratio))
