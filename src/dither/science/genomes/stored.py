"""Genotypes in a table of a dataset: a row for each person, a column for each variant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.ledger import Receipt
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import (
    MISSING,
    Counts,
    Tally,
    counted,
    groups,
    plain,
)
from dither.science.genomes.panel import Panel
from dither.text import clean

__all__ = ["Stored"]


@dataclass(frozen=True)
class Stored:
    """The only private table of a dataset, whose columns are named like the variants.
    Rows are known by their unit's id; of several rows of one unit the first counts.
    """

    allele: ClassVar[str] = "the allele that the data counts"
    dataset: Dataset
    receipt: Receipt | None = None

    def check(self, roster: Roster) -> None:
        """Whether the dataset says whose rows there are, in one table."""
        if self.dataset.single or len(self.dataset.catalogue.private) != 1:
            raise ArgumentError(
                "X",
                "must be a dataset with one private table, whose unit column holds the "
                "ids of the roster",
            )
        if roster.ids is None:
            raise ArgumentError(
                "clusters",
                "must be given by id, because the rows of a table are not ordered; pass "
                "a mapping from id to cluster, or samples= with the ids",
            )

    def check_bounds(self, panel: Panel) -> None:
        """Values of a table are brought within their bounds, so bounds of (0, 2) would
        make genotypes of the codes for a missing call.
        """
        for name in panel.names:
            facts = self.dataset.facts.get(name)
            bounds = None if facts is None else facts.bounds
            if bounds is not None and not (bounds[0] < 0 and bounds[1] > 2):
                raise ArgumentError(
                    "bounds",
                    f"the bounds of {clean(name)!r} would clamp codes of missing calls "
                    "to genotypes; declare bounds of (-1, 3) for columns of genotypes",
                )

    def count(self, panel: Panel, roster: Roster) -> Counts:
        known = [name for name in panel.names if name in self.dataset.facts]
        rows = self.dataset.fetch(known, receipt=self.receipt)
        owners = [] if rows.owners is None else list(rows.owners)
        places = roster.units(owners)
        people = groups(places, roster)
        tally = Tally.of(len(panel), places, roster)
        for name in known:
            column = np.ma.filled(rows.columns[name].astype(object), MISSING)
            found = counted(plain(column)[:, None], people)
            tally.add([panel.by_name[name]], found)
        return tally.done()
