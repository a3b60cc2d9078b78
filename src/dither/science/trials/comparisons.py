"""What two arms of a noisy table say, by odds ratio, risk difference or risk ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from dither.errors import ArgumentError
from dither.release import Ends, Source
from dither.science.trials.arms import Arm, Known, Private
from dither.science.trials.checks import TWO_SIDED, alternative as checked
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
                "table", f"has no {contrast.name}: that needs two rows and two columns"
            )
        return comparison(
            counted, contrast, alternative, self.sources[0], self.named, self.notes
        )

    def proportion(self, row: Any) -> TrialRelease:
        """The share of the first of two columns in one row."""
        counted = self._counted
        if row not in counted.design.rows or len(counted.design.columns) != 2:
            raise ArgumentError(
                "row", "must be one of the rows of a table of two columns"
            )
        arm = counted.arm(counted.design.rows.index(row))
        return TrialRelease(
            what=f"proportion {row}",
            value=_share(arm),
            sources=self.sources,
            spread=_Share(arm, counted),
            notes=self.notes,
            population=Population(evidence_of(arm)),
            estimand="proportion",
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
        value=contrast.of(_share(first), _share(second)),
        sources=(source,),
        spread=_Contrasted(contrast, _Share(first, counted), _Share(second, counted)),
        notes=notes,
        pvalue=compared.pvalue(contrast, contrast.null, side),
        alternative=side,
        population=Inverted(compared, contrast, side),
        estimand=contrast.name,
        counted=counted,
        named=named,
    )


def _parts(arm: Arm) -> tuple[int, int]:
    if isinstance(arm, Known):
        return arm.noisy, arm.size - arm.noisy
    assert isinstance(arm, Private)
    return arm.yes, arm.no


def _share(arm: Arm) -> float:
    yes, no = (max(0, one) for one in _parts(arm))
    return yes / (yes + no) if yes + no else 0.0


@dataclass(frozen=True)
class _Share:
    """Where the share of yes among the people of an arm lies. Where their number is
    private, both counts hold together (union bound).
    """

    arm: Arm
    counted: Counted

    def ends(self, confidence: float) -> Ends:
        known = isinstance(self.arm, Known)
        each = confidence if known else (1 + confidence) / 2
        width = self.counted.mechanism.error(each, integer=True)
        yes, no = _parts(self.arm)
        return _least(yes, no, width, known), 1 - _least(no, yes, width, known)


def _least(yes: int, no: int, width: float, known: bool) -> float:
    """The least share: where the size is known, what yes loses no gains."""
    low, high = max(0.0, yes - width), max(0.0, no + width)
    if known:
        size = yes + no
        return min(low, size) / size
    return low / (low + high) if low > 0 else 0.0


@dataclass(frozen=True)
class _Contrasted:
    """Where the contrast of these people lies: both shares hold together."""

    contrast: Contrast
    first: _Share
    second: _Share

    def ends(self, confidence: float) -> Ends:
        each = (1 + confidence) / 2
        (low, high), (least, most) = self.first.ends(each), self.second.ends(each)
        bottom = self.contrast.of(low, most)
        top = self.contrast.of(high, least)
        return (
            self.contrast.at(0.0) if math.isnan(bottom) else bottom,
            self.contrast.at(1.0) if math.isnan(top) else top,
        )
