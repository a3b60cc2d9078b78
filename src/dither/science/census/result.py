"""What a census releases: tables of every level, any union of places, the measurements
themselves, and exact totals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.picture import Picture
from dither.release import Release, Source, Spread
from dither.science.census import unions
from dither.science.census.attributes import Attributes
from dither.science.census.chosen import blocks_of, nodes_of
from dither.science.census.fitting import Fit
from dither.science.census.geography import Geography
from dither.science.census.intervals import Even, Noises, settled
from dither.science.census.pictures import error_by_level
from dither.science.census.planning import Plan
from dither.science.census.tables import Measurements, counts_table
from dither.science.census.whole import whole
from dither.table import TableRelease
from dither.wording import in_html

__all__ = ["Census", "Known"]

Reals = NDArray[np.float64]

BIASED = (
    "non-negative integer counts are biased: small ones are too high and large ones too "
    "low; the intervals are those of the unbiased counts, cut at 0"
)


CUT = (
    "an estimate can lie below 0, so that sums stay right; its interval then reaches down "
    "to it, and otherwise no lower than 0"
)


class Known(NamedTuple):
    """Exact totals of the places of one level."""

    level: int
    totals: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Census(Release):
    """Counts of every place and category: `value` holds the unbiased totals of all
    blocks, and `table` gives any level.

    The counts of all levels add up. They are unbiased, so some lie below zero; whole
    counts that do not are another table, and are biased.
    """

    geography: Geography = field(kw_only=True)
    attributes: Attributes = field(kw_only=True)
    plan: Plan = field(kw_only=True)
    fit: Fit = field(kw_only=True)
    measurements: Measurements = field(kw_only=True)
    known: tuple[Known, ...] = field(default=(), kw_only=True)

    @classmethod
    def of(
        cls,
        places: Geography,
        cross: Attributes,
        plan: Plan,
        fitted: Fit,
        noisy: tuple[Any, ...],
        known: tuple[Known, ...],
        sources: tuple[Source, ...],
        notes: tuple[str, ...],
    ) -> Census:
        last = len(places.levels) - 1
        variance = fitted.variance(last, ())
        totals = settled(fitted.marginal(last, ()).ravel(), variance)
        spread = Noises.of(plan).around(totals, variance)
        return cls(
            what="census",
            value=totals,
            sources=sources,
            spread=spread,
            notes=notes,
            geography=places,
            attributes=cross,
            plan=plan,
            fit=fitted,
            measurements=Measurements(
                places, cross, plan.measures, noisy, sources, notes
            ),
            known=known,
        )

    def _derived(self, **changes: Any) -> Release:
        """Numbers that were changed are not a census any more."""
        kept = {name: getattr(self, name) for name in Release.__dataclass_fields__}
        return Release(**(kept | {"limits": None} | changes))

    @property
    def levels(self) -> tuple[str, ...]:
        return self.geography.levels

    @property
    def shares(self) -> dict[tuple[str, tuple[str, ...]], float]:
        """The share of the cost of each level and marginal."""
        return {
            (self.levels[one.level], self._names(one.marginal)): float(one.share)
            for one in self.plan.measures
        }

    def _names(self, marginal: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.attributes.names[a] for a in marginal)

    @property
    def invariants(self) -> dict[str, dict[tuple[Any, ...], int]]:
        """The exact totals, by level and by the labels of a place from the top."""
        return {
            self.levels[one.level]: dict(
                zip(
                    zip(*self.geography.columns(one.level), strict=True),
                    one.totals.tolist(),
                    strict=True,
                )
            )
            for one in self.known
        }

    # Tables

    def table(
        self,
        level: str | None = None,
        *,
        by: Sequence[str] | None = None,
        nonnegative: bool = False,
    ) -> TableRelease:
        """The counts of all places of a level (the lowest, if left out), for each cell
        of all attributes or of those named in `by`; `by=[]` gives totals.

        They are unbiased and may lie below zero. With `nonnegative` they are whole
        numbers from zero on that add up too, and biased: what noise has put below zero
        is pushed up, and all else down for it. Free post-processing, both.
        """
        place = self.geography.place(self.levels[-1] if level is None else level)
        marginal = self._marginal(by)
        variance = self.fit.variance(place, marginal)[:, None]
        self._check_known(variance, f"a table of {self.levels[place]}", marginal)
        fitted = settled(self.fit.marginal(place, marginal), variance)
        around = self._noises.around(fitted, np.broadcast_to(variance, fitted.shape))
        values, notes = fitted, (*self.notes, CUT)
        alone: Spread | None = Even(around)
        if nonnegative:
            values = self.fit.effects.marginal(marginal, self._whole[place])
            notes, alone = (*self.notes, BIASED), None
        return counts_table(
            self.geography,
            self.attributes,
            place,
            marginal,
            values,
            around,
            self.sources,
            notes,
            alone,
        )

    def _check_known(self, variance: Any, what: str, marginal: Iterable[int]) -> None:
        """Refuse figures about which the measurements say nothing."""
        if not np.isinf(variance).any():
            return
        asked = "×".join(self._names(marginal)) or "totals"
        listed = ", ".join(
            f"{level}: {'×'.join(names) or 'total'}" for level, names in self.shares
        )
        raise ArgumentError(
            "by",
            f"{what} by {asked} cannot be computed from what was measured ({listed:.300}); "
            "ask for one of these, or make a release whose workload and shares contain it",
        )

    def _marginal(self, by: Sequence[str] | None) -> tuple[int, ...]:
        if by is None:
            return tuple(range(len(self.attributes.names)))
        if isinstance(by, str) or not isinstance(by, Iterable):
            raise ArgumentError("by", 'must be a list of attributes, such as ["sex"]')
        found = [self.attributes.place(name, "by") for name in by]
        if len(set(found)) < len(found):
            raise ArgumentError("by", "must name each attribute once; drop duplicates")
        return tuple(found)

    @cached_property
    def _noises(self) -> Noises:
        return Noises.of(self.plan)

    @cached_property
    def _whole(self) -> tuple[Any, ...]:
        exact: list[Any] = [None] * len(self.levels)
        for one in self.known:
            exact[one.level] = one.totals
        return whole(self.fit, exact)

    # Unions

    def union(
        self,
        blocks: Any,
        *,
        level: str | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> Release:
        """How many people live in a set of places together, with an interval; `where`
        names categories: `union(blocks, where={"sex": "f"})`.

        A place is a tuple of labels from the top, at any level, or one label that names
        one place (of `level`, if that is given). Places must not overlap.
        """
        nodes = nodes_of(blocks, self.geography, level)
        leaves = blocks_of(nodes, self.geography)
        cells = self.attributes.weights(where)
        variance = unions.variance(self.fit.spreads, leaves, cells)
        self._check_known(
            variance, "a union", map(self.attributes.names.index, where or ())
        )
        value = float(settled(unions.total(self.fit, leaves, cells), variance))
        return Release(
            what="union",
            value=value,
            sources=self.sources,
            spread=self._noises.around(value, variance),
            notes=(
                f"{len(nodes):,} place{'s' * (len(nodes) > 1)} together",
                *self.notes,
            ),
        )

    # Shown

    def to_pandas(self) -> Any:
        """A pandas frame of all blocks: their labels, totals and intervals."""
        return self.table(by=[]).to_pandas()

    def to_polars(self) -> Any:
        """A Polars frame of all blocks: their labels, totals and intervals."""
        return self.table(by=[]).to_polars()

    def to_arrow(self) -> Any:
        """An Arrow table of all blocks: their labels, totals and intervals."""
        return self.table(by=[]).to_arrow()

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """CSV text, or a file of it, of all blocks: their labels, totals, intervals."""
        return self.table(by=[]).to_csv(path)

    def errors(self, confidence: float = 0.95) -> dict[str, float]:
        """The median ± of a place's total, by level; infinite where it is unknown."""
        return {
            name: self._median(self.fit.variance(level, ()), confidence)
            for level, name in enumerate(self.levels)
        }

    def _median(self, variances: Any, confidence: float) -> float:
        middle = np.median(np.asarray(variances, np.float64))
        return float(self._noises.margin(middle, confidence))

    def plot(self, confidence: float = 0.95) -> Picture:  # type: ignore[override]
        """The ± of a place's total by level, as measured alone and as fitted."""
        alone = {
            one.level: self._median(one.variance, confidence)
            for one in self.plan.measures
            if not one.marginal
        }
        return error_by_level(self.levels, alone, self.errors(confidence), confidence)

    def _lines(self) -> list[str]:
        lines = [f"census, {self.geography}"]
        for name, error in self.errors().items():
            lines.append(f"  {name}: totals within ±{error:.4g} (95 %, median)")
        return lines

    def __repr__(self) -> str:
        return f"<Census: {self.geography}, {self.attributes.cells:,} cells>"

    def _repr_html_(self) -> str:
        return f"<p>{in_html(str(self).splitlines())}</p>"
