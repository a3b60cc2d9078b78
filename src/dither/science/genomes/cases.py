"""Cases and controls: two public groups of declared people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import Counts

__all__ = ["Cases"]

CASE, CONTROL = {"1", "1.0", "true", "case"}, {"0", "0.0", "false", "control"}
WAY_OUT = 'pass 1, True or "case" for cases, and 0, False or "control" for controls'


@dataclass(frozen=True)
class Cases:
    """A roster of two groups, and how many people each has."""

    roster: Roster
    case: int
    control: int

    @classmethod
    def of(cls, case: Any, samples: Any) -> Cases:
        roster = Roster.of(case, samples, "case")
        kinds = [name.casefold() for name in roster.names]
        known = [kind in CASE or kind in CONTROL for kind in kinds]
        if case is None or not all(known):
            raise ArgumentError(
                "case",
                "must have a label for each person that says case or control; "
                f"{WAY_OUT} (subtract 1 from the codes 2 and 1 of PLINK)",
            )
        cases = [at for at, kind in enumerate(kinds) if kind in CASE]
        controls = [at for at, kind in enumerate(kinds) if kind in CONTROL]
        if len(cases) != 1 or len(controls) != 1:
            raise ArgumentError(
                "case",
                "must have people in both groups, with one spelling for each group; "
                f"{WAY_OUT}",
            )
        return cls(roster, cases[0], controls[0])

    @property
    def sizes(self) -> tuple[int, int]:
        """How many cases and controls there are."""
        sizes = self.roster.sizes
        return int(sizes[self.case]), int(sizes[self.control])

    @property
    def weights(self) -> tuple[int, int]:
        """Whole numbers that make the sums of two groups comparable: each is treated as
        if it had the size of the other.
        """
        cases, controls = self.sizes
        shared = math.gcd(cases, controls)
        return controls // shared, cases // shared

    @property
    def step(self) -> float:
        """The difference of allele frequencies that one step of `difference` is."""
        return 1 / (2 * self.sizes[0] * self.weights[0])

    def sums(self, counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sums of (copies - 1) among cases and among controls."""
        centred = counts.centred
        return centred[self.case], centred[self.control]

    def difference(self, counts: Counts) -> NDArray[np.int64]:
        """The weighted difference of the groups' sums, which is that of their allele
        frequencies in whole steps, if no calls are missing.
        """
        first, second = self.weights
        cases, controls = self.sums(counts)
        return first * cases - second * controls
