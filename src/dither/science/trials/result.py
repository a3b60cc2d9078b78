"""What a test of a trial returns: a release with a p-value, in scipy's words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dither.errors import ArgumentError
from dither.release import Ends, Inside, Release, Spread
from dither.science.trials.checks import GREATER, LESS, TWO_SIDED, confidence

__all__ = ["RECORD", "ConfidenceInterval", "TrialRelease", "shown"]


RECORD = "one record for each"


class ConfidenceInterval(NamedTuple):
    """The ends of an interval about the population."""

    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class TrialRelease(Release):
    """A private test. `interval()` is about these people: where their own statistic
    lies. `confidence_interval()` is about the population they come from: it allows for
    sampling and for noise. `estimand` says of what.

    The p-value, the intervals and all else here follow from the noisy statistic and
    from what is public.
    """

    pvalue: float | None = None
    alternative: str = TWO_SIDED
    population: Spread | None = None
    estimand: str = ""

    def __post_init__(self) -> None:
        """Say what the guarantee stands on, whoever asks."""
        super().__post_init__()
        unit = self.sources[0].guarantee.unit
        if not any(RECORD in note for note in self.notes):
            assumed = f"assumes {RECORD} {unit.name}"
            object.__setattr__(self, "notes", (*self.notes, assumed))

    @property
    def statistic(self) -> Any:
        """The noisy statistic."""
        return self.value

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """The ends between which the population's value lies with this probability
        over samples and noise.
        """
        rate = confidence(confidence_level)
        population = self._population()
        if population is None:
            way_out = "read its statistic and pvalue"
            if self.spread is not None:
                way_out = "call interval() for the value of these people"
            raise ArgumentError(
                "confidence_interval", f"is not available for {self.what}; {way_out}"
            )
        low, high = population.ends(rate)
        return ConfidenceInterval(_plain(low), _plain(high))

    def _population(self) -> Spread | None:
        """Intervals for the population's value that hold its estimate too."""
        if self.population is None:
            return None
        return Inside(self.population, self._estimate(), self._known())

    def _estimate(self) -> Any:
        """The point estimate of the population's value."""
        return self.value

    def _known(self) -> Ends | None:
        """Public limits of the population's value."""
        return self.limits

    def to_pandas(self) -> Any:
        """A pandas frame: the statistic and where it lies, the p-value, and the ends of
        the interval about the population.
        """
        frame = super().to_pandas()
        if self.pvalue is not None:
            frame["pvalue"] = self.pvalue
        if self.population is not None:
            low, high = self.confidence_interval()
            frame["population_low"], frame["population_high"] = low, high
        return frame

    def to_json(self, indent: int | None = None) -> str:
        """JSON text of a versioned shape: as for other releases, and what is tested."""
        test = {
            "pvalue": self.pvalue,
            "alternative": self.alternative,
            "estimand": self.estimand,
            "confidence_interval": self._told(),
        }
        told = json.loads(super().to_json()) | {"test": test}
        return json.dumps(told, indent=indent, allow_nan=False)

    def _told(self) -> list[Any] | None:
        """The ends about the population; null where one is open."""
        if self.population is None:
            return None
        return [_finite(end) for end in self.confidence_interval()]

    def _derived(self, **changes: Any) -> Release:
        """What is derived has no p-value of its own."""
        fields = ("what", "value", "sources", "spread", "keys", "notes", "noise")
        return Release(**({name: getattr(self, name) for name in fields} | changes))

    def _lines(self) -> list[str]:
        lines = super()._lines()
        if self.population is not None and not np.ndim(self.value):
            low, high = self.confidence_interval()
            # what follows a comma is in the notes too, which derived results keep
            named = self.estimand.partition(",")[0]
            named = f"{named} in the " if named not in ("", self.what) else ""
            ends = f"{low:.4g} to {high:.4g} (95 % interval)"
            lines.append(f"{named}population: {ends}")
        if self.pvalue is not None:
            sides = (TWO_SIDED, LESS, GREATER)
            about = "" if self.alternative in sides else "alternative: "
            lines.append(f"p {shown(self.pvalue)} ({about}{self.alternative})")
        return lines

    def __repr__(self) -> str:
        about = "" if self.pvalue is None else f", p {shown(self.pvalue)}"
        return f"<{type(self).__name__} {self.what}{about}>"


def shown(pvalue: float) -> str:
    """A p-value as papers print it."""
    return f"= {pvalue:.2g}"


def _finite(end: Any) -> Any:
    if np.ndim(end):
        return [_finite(one) for one in np.asarray(end).tolist()]
    return float(end) if np.isfinite(end) else None


def _plain(end: Any) -> Any:
    return end if np.ndim(end) else float(end)
