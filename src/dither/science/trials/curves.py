"""Released survival curves: at a time, their medians, as a table, as a picture."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither import frames
from dither.errors import ArgumentError
from dither.picture import Picture
from dither.release import Spread
from dither.science.trials import survival_pictures
from dither.science.trials.bands import Bands, Pointwise
from dither.science.trials.columns import label
from dither.science.trials.points import (
    At,
    HazardRatio,
    Less,
    MeanTime,
    MedianRelease,
    MedianTime,
    log_hazard,
)
from dither.science.trials.result import TrialRelease
from dither.text import aligned, clean

__all__ = ["SurvivalRelease"]

Reals = NDArray[np.float64]
SHOWN = 40


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalRelease(TrialRelease):
    """Survival curves: an entry for each arm and end of a bin, arm by arm.

    `interval()` is about these people: where their own curves lie, noise only.
    `confidence_interval()` is about the population. Both are pointwise. Where a curve is
    cut, its value is NaN and it lies anywhere below where it was.
    """

    edges: tuple[float, ...] = ()
    arms: tuple[Any, ...] = ()
    bands: Bands = field(kw_only=True)

    @property
    def times(self) -> tuple[float, ...]:
        """The ends of the bins."""
        return self.edges[1:]

    @property
    def curves(self) -> Reals:
        """Survival: a row for each arm, a column for each end of a bin."""
        return self.bands.table.survival

    @property
    def at_risk(self) -> Reals:
        """The noisy number at risk in each bin; a row for each arm. It never rises, and
        is at most the public size of the arm.
        """
        return self.bands.table.possible[0]

    @property
    def deaths(self) -> Reals:
        """The noisy number of deaths in each bin, at most the number at risk; a row for
        each arm.
        """
        return self.bands.table.possible[1]

    def curve(self, arm: Any) -> SurvivalRelease:
        """The curve of one arm."""
        at = self._arm(arm)
        table = self.bands.table.arms(slice(at, at + 1))
        bands = replace(self.bands, table=table)
        return replace(
            self,
            what=f"{self.what} {clean(str(self.arms[at]))}",
            value=bands.table.survival.ravel(),
            spread=Pointwise(bands),
            population=Pointwise(bands, population=True),
            keys=self.times,
            arms=(self.arms[at],),
            bands=bands,
        )

    def at(self, time: float) -> TrialRelease:
        """Survival at one of the edges, for each arm; a number where there is one."""
        place = self._place(time)
        arm = 0 if len(self.arms) == 1 else None
        values = self.curves[:, place]
        return self._point(
            f"survival at {self.times[place]:g}",
            values if arm is None else float(values[0]),
            lambda bands: At(bands, place, arm),
            keys=self.arms if arm is None else None,
        )

    def difference(self, time: float, *arms: Any) -> TrialRelease:
        """Survival in the first arm less that in the second, at one of the edges."""
        place = self._place(time)
        first, second = (self._arm(arm) for arm in self._two(arms))
        return self._point(
            f"difference in survival at {self.times[place]:g}",
            float(self.curves[first, place] - self.curves[second, place]),
            lambda bands: Less(bands, first, second, place),
        )

    def hazard_ratio(self, time: float, *arms: Any) -> TrialRelease:
        """The hazard of the first arm over that of the second, summed up to one of the
        edges: log S / log S there. Where hazards are proportional, it is their ratio.
        """
        place = self._place(time)
        first, second = (self._arm(arm) for arm in self._two(arms))
        logs = log_hazard(self.curves[[first, second], place])
        known = bool(np.isfinite(logs).all())
        return self._point(
            f"hazard ratio until {self.times[place]:g}",
            float(np.exp(logs[0] - logs[1])) if known else float("nan"),
            lambda bands: HazardRatio(bands, first, second, place),
        )

    def median(self, arm: Any = None) -> TrialRelease:
        """The first edge at which half of an arm or fewer survive; infinite where that
        is not within what is shown.
        """
        at = self._arm(arm)
        reached = np.flatnonzero(np.nan_to_num(self.curves[at], nan=1.0) <= 0.5)
        value = self.times[reached[0]] if reached.size else np.inf
        return self._point(
            f"median survival {clean(str(self.arms[at]))}",
            float(value),
            lambda bands: MedianTime(bands, at, self.times),
            kind=MedianRelease,
        )

    def restricted_mean(self, time: float, arm: Any = None) -> TrialRelease:
        """How long people of an arm lived on average until one of the edges. The value
        puts deaths into the middle of their bins; the intervals hold wherever they
        fell.
        """
        at, bins = self._arm(arm), self._place(time) + 1
        widths = tuple(np.diff(self.edges[: bins + 1]).tolist())
        curve = np.concatenate([[1.0], self.curves[at, :bins]])
        return self._point(
            f"mean time until {time:g} {clean(str(self.arms[at]))}",
            float((curve[1:] + curve[:-1]) / 2 @ widths),
            lambda bands: MeanTime(bands, at, widths),
        )

    def _point(
        self,
        what: str,
        value: Any,
        spread: Callable[[Pointwise], Spread],
        kind: type[TrialRelease] = TrialRelease,
        keys: tuple[Any, ...] | None = None,
    ) -> TrialRelease:
        """One figure: where it lies by the bands about these people, and by those
        about the population.
        """
        return kind(
            what=what,
            value=value,
            sources=self.sources,
            spread=spread(Pointwise(self.bands)),
            keys=keys,
            notes=self.notes,
            population=spread(Pointwise(self.bands, population=True)),
            estimand=what,
        )

    def logrank(self, *arms: Any) -> TrialRelease:
        """The log-rank test of one hazard in all arms, or in those named. Free: it uses
        the same noisy counts.
        """
        from dither.science.trials.logrank_test import tested

        chosen = [self._arm(arm) for arm in (arms or self.arms)]
        if len(set(chosen)) < 2:
            raise ArgumentError(
                "arms",
                "must be two or more for a log-rank test; call kaplan_meier(…, groups=…) "
                "for curves of several arms",
            )
        return tested(self, tuple(chosen))

    def table(self, confidence: float = 0.95) -> dict[str, Any]:
        """Columns by name: `low` and `high` are about these people, `population_low`
        and `population_high` about the population.
        """
        low, high = self.interval(confidence)
        lower, upper = self.confidence_interval(confidence)
        return {
            "arm": [str(arm) for arm in self.arms for _ in self.times],
            "time": np.tile(self.times, len(self.arms)),
            "at_risk": self.at_risk.ravel(),
            "deaths": self.deaths.ravel(),
            "survival": self.value,
            "low": low,
            "high": high,
            "population_low": lower,
            "population_high": upper,
        }

    def to_pandas(self) -> Any:
        """A pandas frame, a row for each arm and end of a bin; see `table`."""
        return frames.package("pandas").DataFrame(self.table())

    def to_polars(self) -> Any:
        """A Polars frame, a row for each arm and end of a bin; see `table`."""
        return frames.package("polars").DataFrame(self.table())

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """CSV text, or a file of it; see `table`."""
        columns = self.table()
        held = io.StringIO(newline="")
        writer = csv.writer(held, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        if path is None:
            return held.getvalue()
        Path(path).write_text(held.getvalue(), encoding="utf-8")
        return None

    def plot(self, confidence: float = 0.95) -> Picture:  # type: ignore[override]
        """The curves as steps with the bands of their confidence intervals, and the
        noisy numbers at risk below.
        """
        low, high = self.confidence_interval(confidence)
        shape = self.curves.shape
        return survival_pictures.curves(
            self.edges,
            [clean(str(arm)) for arm in self.arms],
            self.curves,
            (np.reshape(low, shape), np.reshape(high, shape)),
            self.at_risk,
            confidence,
        )

    def _two(self, arms: tuple[Any, ...]) -> tuple[Any, ...]:
        named = arms or self.arms
        if len(named) != 2:
            words = 'must be two arms; name them, such as difference(12, "a", "b")'
            raise ArgumentError("arms", words)
        return named

    def _arm(self, arm: Any) -> int:
        """The place of an arm; the only one needs no name."""
        if arm is None and len(self.arms) == 1:
            return 0
        known = [label(one) for one in self.arms]
        if label(arm) not in known:
            shown = clean(", ".join(map(str, self.arms[:8])))
            name = "is missing" if arm is None else f"{arm!r:.40} is not an arm"
            raise ArgumentError("arm", f"{name}; pass one of {shown}")
        return known.index(label(arm))

    def _index(self, key: Any) -> Any:
        """An entry by its arm and time, or its time alone, or its number."""
        if isinstance(key, tuple) and len(key) == 2:
            return self._arm(key[0]) * len(self.times) + self._place(key[1])
        return super()._index(key)

    def _place(self, time: Any) -> int:
        if not isinstance(time, Real) or time not in self.times:
            shown = ", ".join(f"{one:g}" for one in self.times[:8])
            raise ArgumentError(
                "time",
                "must be the end of a bin, because events are counted per bin; pass one "
                f"of {shown}{', …' if len(self.times) > 8 else ''}",
            )
        return self.times.index(time)

    def _lines(self) -> list[str]:
        head = ["arm", "time", "at risk", "survival", "95 % sample", "95 % population"]
        rows = [self._row(*row) for row in zip(*self.table().values(), strict=True)]
        more = len(rows) - SHOWN
        lines = [*aligned([head, *rows[:SHOWN]], (1, 2, 3, 4, 5))]
        return [*lines, *([f"… and {more:,} more"] if more > 0 else [])]

    def _row(
        self, arm: Any, time: float, risk: float, _: float, *ends: Any
    ) -> list[str]:
        value, low, high, lower, upper = (f"{end:.3f}" for end in ends)
        shown = "cut" if value == "nan" else value
        return [
            *(clean(str(arm)), f"{time:g}", f"{risk:.0f}", shown),
            *(f"{low} to {high}", f"{lower} to {upper}"),
        ]

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
