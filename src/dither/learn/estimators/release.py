"""What a fit released: its numbers, what they promise, and what they cost."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.release import Ends, Release
from dither.text import UNBOUNDED

__all__ = ["FitRelease"]

MANY = 24
"""More numbers than this are not listed."""
HIDDEN = "without the noise it may be any number: spend more, or take fewer columns"


@dataclass(frozen=True, eq=False)
class FitRelease(Release):
    """The numbers of a fitted estimator; `value` holds them, and `keys` their names."""

    def interval(self, confidence: float = 0.95, *, of: str = "truth") -> Ends:
        if self.spread is None:
            raise ArgumentError("interval", f"a {self.what} has none")
        return super().interval(confidence, of=of)

    def __bool__(self) -> bool:
        return True

    def _lines(self) -> list[str]:
        if np.size(self.value) <= MANY and np.ndim(self.value) == 1:
            return [line.replace(UNBOUNDED, HIDDEN) for line in super()._lines()]
        shape = " × ".join(str(one) for one in np.shape(self.value))
        return [f"{self.what}: {shape} numbers"]

    def __repr__(self) -> str:
        return f"<FitRelease {self.what}>"

    def _repr_html_(self) -> str:
        lines: tuple[Any, ...] = (*self._lines(), *self.sources, *self.notes)
        return "<br>".join(html.escape(str(line)) for line in lines)
