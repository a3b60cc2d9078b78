"""Attacks on releases of the science room, before and after: membership in a study of
genomes, and blocks of a census.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.attack import Attack
from dither.audit.attacks.blocks import reconstruction
from dither.audit.attacks.drawn import Curve, curves
from dither.audit.attacks.genotypes import Membership, membership
from dither.audit.attacks.made_up import (
    ATTRIBUTES,
    LEVELS,
    PRIOR,
    TABLES,
    Cohort,
    cohort,
    town,
)
from dither.audit.attacks.people import tables
from dither.audit.attacks.rates import Rate, coin, rate
from dither.audit.attacks.rebuilt import Reconstruction, percent
from dither.audit.attacks.roc import Allowed, Roc
from dither.picture import Picture
from dither.privacy.numbers import whole
from dither.science import census, genomes

__all__ = ["Blocks", "Frequencies", "census_blocks", "frequencies"]

SHOWN = 60


@dataclass(frozen=True)
class Frequencies(Attack):
    """How well published frequencies tell who is in a study: exact ones, and a
    release.
    """

    _name: ClassVar[str] = "membership"
    _not_stopped: ClassVar[str] = (
        "what the study finds. If a variant is associated with an illness, this holds for "
        "all carriers, in the study or not."
    )
    exact: Membership
    ours: Membership
    epsilon: float

    @property
    def rates(self) -> tuple[Rate, ...]:
        """A person is called a member if their score is above half of what a member
        has on average: variants over members.
        """
        line = self.exact.variants / (2 * self.exact.roc.members.size)
        promise = self.ours.roc.guarantee
        bound = None if promise is None else coin(promise)
        label = f"frequencies with ε = {self.epsilon:g}"
        return (
            rate("exact frequencies", _told(self.exact.roc, line), 0.5),
            rate(label, _told(self.ours.roc, line), 0.5, bound),
        )

    @property
    def title(self) -> str:
        return f"Membership from {self.exact.variants:,} frequencies"

    @property
    def sentences(self) -> tuple[str, str]:
        exact, ours = self.rates
        return (
            "The attacker knows the genotypes of a person and the frequencies of the "
            "population, and looks how much nearer the published ones are to the person.",
            f"With exact frequencies the attacker is right about {percent(exact.share, 1)} "
            f"of {exact.tries:,} people; with a release of ε = {self.epsilon:g}, about "
            f"{percent(ours.share, 1)}. Guessing is right about 50 %, "
            f"and the guarantee allows at most {percent(ours.bound or 1, 1)}.",
        )

    def plot(self) -> Picture:
        """Members found by how many outsiders are accused."""
        xs = np.linspace(0, 1, SHOWN + 1)
        lines = [
            _curve("exact frequencies", self.exact.roc),
            _curve(f"release with ε = {self.epsilon:g}", self.ours.roc),
        ]
        promise = self.ours.roc.guarantee
        if promise is not None:
            most = [Allowed(promise).power(float(x)) for x in xs]
            lines.append(Curve("the guarantee allows", list(xs), most, dots=False))
        lines.append(Curve("guessing", (0, 1), (0, 1), dots=False))
        return curves(self.title, "outsiders accused", "members found", lines)

    def _more(self) -> dict[str, Any]:
        areas = {
            "exact": self.exact.area,
            "release": self.ours.area,
            "bound": self.ours.bound,
        }
        return {"areas": areas, "variants": self.exact.variants}


def _told(roc: Roc, line: float) -> NDArray[np.bool_]:
    return np.concatenate([roc.members > line, roc.outsiders <= line])


def _curve(name: str, roc: Roc) -> Curve:
    false, true = roc.curve()
    places = np.unique(np.linspace(0, false.size - 1, SHOWN).astype(int))
    return Curve(name, list(false[places]), list(true[places]), dots=False)


def frequencies(
    *, epsilon: float = 1.0, people: int = 300, variants: int = 3000
) -> Frequencies:
    """The membership attack (Homer et al. 2008) on made-up genotypes, of whom a coin
    put half into the study: on exact frequencies and on a release of the science room.

    `membership` runs it on your own.
    """
    size = whole("people", people, "pass how many, such as 300")
    made = cohort(max(size, 4), whole("variants", variants, "pass how many"))
    released = genomes.frequencies(
        # People outside are on the roster with all genotypes missing.
        np.where(made.inside[:, None], made.table, np.int8(-1)),
        panel=[f"rs{number}" for number in range(made.background.size)],
        samples=len(made.table),
        coarse=True,
        epsilon=epsilon,
    )
    exact = made.members.mean(axis=0) / 2
    return Frequencies(_attacked(exact, made), _attacked(released, made), epsilon)


def _attacked(published: Any, made: Cohort) -> Membership:
    return membership(
        published, made.members, made.outsiders, reference=made.background
    )


@dataclass(frozen=True)
class Blocks(Attack):
    """How many blocks of a census are rebuilt with every record: from exact tables, and
    from a release, also by whoever knows all people of a block but one.
    """

    _name: ClassVar[str] = "blocks"
    _not_stopped: ClassVar[str] = (
        "what the size of a block and the population show. In a block of one person the "
        "most common record is often the true one, without a look at any table."
    )
    exact: Reconstruction
    ours: Reconstruction
    informed: Reconstruction
    rho: float

    @property
    def rates(self) -> tuple[Rate, ...]:
        label = f"release with ρ = {self.rho:g}"
        return (
            rate("exact tables", self.exact.exact, self.exact.guessed),
            rate(label, self.ours.exact, self.ours.guessed, self.ours.bound),
            rate(
                f"{label}, others known",
                self.informed.exact,
                self.informed.guessed,
                self.informed.bound,
            ),
        )

    @property
    def title(self) -> str:
        return "Blocks of a census, rebuilt from their tables"

    @property
    def sentences(self) -> tuple[str, str]:
        exact, ours, informed = self.rates
        return (
            "The attacker looks for the lists of records that agree with all published "
            "tables of a block, and takes the most likely list.",
            f"Three exact tables give {percent(exact.share)} of {exact.tries:,} blocks "
            f"with every record; a release gives {percent(ours.share, 1)}, or "
            f"{percent(informed.share, 1)} to an attacker who knows all people but one; the "
            f"guarantee allows at most {percent(informed.bound or 1, 1)}.",
        )

    def _more(self) -> dict[str, Any]:
        return {"rho": self.rho, "verified": self.exact.verified}


def census_blocks(*, rho: float = 0.5, blocks: int = 300) -> Blocks:
    """The reconstruction attack (Dinur & Nissim 2003; Garfinkel, Abowd & Martindale
    2018) on the blocks of a made-up town: on three exact tables, and on a census of the
    science room.

    `reconstruction` runs it on your own.
    """
    size = whole("blocks", blocks, "pass how many, such as 300")
    listed, truth, people = town(size)
    shown = tables(truth, TABLES, attributes=ATTRIBUTES)
    released = census.release(
        people, levels=LEVELS, keys=listed, attributes=ATTRIBUTES, rho=rho
    )
    return Blocks(
        reconstruction(shown, truth, attributes=ATTRIBUTES, prior=PRIOR),
        reconstruction(released, truth, prior=PRIOR),
        reconstruction(released, truth, prior=PRIOR, others=True),
        rho,
    )
