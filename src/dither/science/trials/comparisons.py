"""What two arms of a noisy table say, by odds ratio, risk difference or risk ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from dither.errors import ArgumentError
from dither.release import Ends, Source
from dither.science.trials.arms import Share
from dither.science.trials.checks import TWO_SIDED
from dither.science.trials.checks import alternative as checked
from dither.science.trials.compared import Compared, Inverted, evidence_of
from dither.science.trials.contrasts import DIFFERENCE, ODDS, RATIO, Contrast
from dither.science.trials.proportions import Population
from dither.science.trials.result import TrialRelease
from dither.science.trials.tables import Counted
from dither.table import TableRelease

__all__ = ["Comparison", "TableTest", "comparison"]


@dataclass(frozen=True, eq=False, repr=False)
class TableTest(TrialRelease):
    """A test of a noisy table. The counts themselves are in `table`; from two rows and
    two columns follow `odds_ratio()`, `risk_difference()` and `risk_ratio()`, and from
    two columns the `proportion` of the first one in a row. None of it costs more.
    """

    counted: Counted | None = field(default=None)
    named: tuple[str, str] = ("row", "column")

    @property
    def _counted(self) -> Counted:
        assert self.counted is not None
        return self.counted

    @property
    def table(self) -> TableRelease:
        """The noisy counts with their intervals."""
        return self._counted.release(self.sources[0], self.named, self.notes)

    def to_pandas(self) -> Any:
        """The noisy counts with their intervals, as a pandas frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """The noisy counts with their intervals, as a Polars frame."""
        return self.table.to_polars()

    def odds_ratio(self, alternative: str = TWO_SIDED) -> Comparison:
        """The odds of the first column in the first row, over those in the second."""
        return self._compared(ODDS, alternative)

    def risk_difference(self, alternative: str = TWO_SIDED) -> Comparison:
        """The first column's share in the first row, less that in the second."""
        return self._compared(DIFFERENCE, alternative)

    def risk_ratio(self, alternative: str = TWO_SIDED) -> Comparison:
        """The first column's share in the first row, over that in the second."""
        return self._compared(RATIO, alternative)

    def _compared(self, contrast: Contrast, alternative: str) -> Comparison:
        counted = self._counted
        if counted.design.shape != (2, 2):
            raise ArgumentError(
                "table",
                f"must have two rows and two columns for the {contrast.name}; pass two "
                "labels for each",
            )
        return comparison(
            counted, contrast, alternative, self.sources[0], self.named, self.notes
        )

    def proportion(self, row: Any) -> TrialRelease:
        """The share of the first of two columns in one row."""
        counted = self._counted
        if row not in counted.design.rows or len(counted.design.columns) != 2:
            raise ArgumentError(
                "row", "must be the label of a row, in a table of two columns"
            )
        arm = counted.arm(counted.design.rows.index(row))
        return TrialRelease(
            what=f"proportion {row}",
            value=arm.share,
            sources=self.sources,
            spread=Share(arm, counted.mechanism),
            notes=self.notes,
            population=Population(evidence_of(arm)),
            estimand="proportion",
            limits=(0, 1),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(TableTest):
    """Two arms compared by one number, with a test of its null."""


def comparison(
    counted: Counted,
    contrast: Contrast,
    alternative: str,
    source: Source,
    named: tuple[str, str],
    notes: tuple[str, ...],
) -> Comparison:
    """A contrast of the two rows of a noisy table."""
    side = checked(alternative)
    first, second = counted.arm(0), counted.arm(1)
    compared = Compared((first, second))
    return Comparison(
        what=contrast.name,
        value=contrast.of(first.share, second.share),
        sources=(source,),
        spread=_Contrasted(
            contrast, Share(first, counted.mechanism), Share(second, counted.mechanism)
        ),
        notes=notes,
        pvalue=compared.pvalue(contrast, contrast.null, side),
        alternative=side,
        population=Inverted(compared, contrast, side),
        estimand=contrast.name,
        counted=counted,
        named=named,
    )


@dataclass(frozen=True)
class _Contrasted:
    """Where the contrast of these people lies: both shares hold together."""

    contrast: Contrast
    first: Share
    second: Share

    def ends(self, confidence: float) -> Ends:
        each = (1 + confidence) / 2
        (low, high), (least, most) = self.first.ends(each), self.second.ends(each)
        bottom = self.contrast.of(low, most)
        top = self.contrast.of(high, least)
        return (
            self.contrast.at(0.0) if math.isnan(bottom) else bottom,
            self.contrast.at(1.0) if math.isnan(top) else top,
        )
