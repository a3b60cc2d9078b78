"""What a fit released: its numbers, what they promise, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dither.chart import MOST, Chart
from dither.errors import ArgumentError
from dither.release import Ends, Release
from dither.text import UNBOUNDED
from dither.wording import in_html

__all__ = ["FitRelease"]

MANY = 24
"""More numbers than this are not listed."""
HIDDEN = "no interval: the noise is too large; spend more, or use fewer columns"


@dataclass(frozen=True, eq=False)
class FitRelease(Release):
    """The numbers of a fitted estimator; `value` holds them, and `keys` their names."""

    def interval(self, confidence: float = 0.95, *, of: str = "truth") -> Ends:
        if self.spread is None:
            raise ArgumentError(
                "interval",
                f"the numbers of this fit ({self.what}) do not have intervals; read "
                ".value",
            )
        return super().interval(confidence, of=of)

    def __bool__(self) -> bool:
        return True

    def plot(self, confidence: float = 0.95) -> Chart:
        if np.size(self.value) > MOST:
            raise ArgumentError(
                "plot",
                f"can show at most {MOST} numbers, and this fit has "
                f"{np.size(self.value):,}; read .value or .to_pandas()",
            )
        return super().plot(confidence)

    def _lines(self) -> list[str]:
        if np.size(self.value) <= MANY and np.ndim(self.value) == 1:
            return [line.replace(UNBOUNDED, HIDDEN) for line in super()._lines()]
        shape = " × ".join(str(one) for one in np.shape(self.value))
        return [f"{self.what}: {shape} numbers"]

    def __repr__(self) -> str:
        return f"<FitRelease {self.what}>"

    def _repr_html_(self) -> str:
        return in_html(str(self).splitlines())
