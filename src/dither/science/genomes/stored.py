"""Genotypes in a table of a dataset: a row for each person, a column for each variant."""

from __future__ import annotations

from dataclasses import dataclass

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

__all__ = ["Stored"]


@dataclass(frozen=True)
class Stored:
    """The only private table of a dataset, whose columns are named like the variants.
    Rows are known by their unit's id; of several rows of one unit the first counts.
    """

    dataset: Dataset
    receipt: Receipt | None = None

    def check(self, roster: Roster) -> None:
        """Whether the dataset says whose rows there are, in one table."""
        if self.dataset.single or len(self.dataset.catalogue.private) != 1:
            raise ArgumentError(
                "X",
                "must be a dataset of one private table with a unit column, whose "
                "values are the ids of the roster",
            )
        if roster.ids is None:
            raise ArgumentError(
                "clusters",
                "must go by the unit's ids: rows of a table have no order; pass a "
                "mapping from id to cluster, or samples= with the ids",
            )

    def count(self, panel: Panel, roster: Roster) -> Counts:
        known = [name for name in panel.names if name in self.dataset.facts]
        rows = self.dataset.fetch(known, receipt=self.receipt)
        owners = [] if rows.owners is None else list(rows.owners)
        places = roster.places(len(owners), owners)
        people = groups(places, roster)
        tally = Tally.of(len(panel), places, roster)
        for name in known:
            column = np.ma.filled(rows.columns[name].astype(object), MISSING)
            found = counted(plain(column)[:, None], people)
            tally.add([panel.by_name[name]], found)
        return tally.done()
