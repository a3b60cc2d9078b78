"""How columns of a dataset become those of an estimator, in a fit and afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.learn.encoding import Column, Keyed, floats
from dither.learn.names import column_in, column_names, is_frame

__all__ = ["Columns"]

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Columns by their names, and how each is read: numbers as they are, and declared
    keys as one column each, of 0 and 1.
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns)

    @property
    def read_as(self) -> tuple[str, ...]:
        """Names of the columns of the estimator, such as `ward=A`."""
        found: list[str] = []
        for name, column in zip(self.names, self.columns, strict=True):
            keys = column.keys if isinstance(column, Keyed) else None
            found += [name] if keys is None else [f"{name}={key}" for key in keys]
        return tuple(found)

    def stacked(self, values: Sequence[Any]) -> Reals:
        """The numbers of each row, from the values of each column."""
        pairs = zip(self.columns, values, strict=True)
        return np.hstack([_read(column, held) for column, held in pairs])

    def holds(self, X: Any) -> bool:
        """Whether rows are a frame in which keys are still to be read."""
        if not is_frame(X):
            return False
        pairs = zip(self.names, self.columns, strict=True)
        keyed = {name for name, column in pairs if isinstance(column, Keyed)}
        return not keyed.isdisjoint(column_names(X))

    def of(self, X: Any) -> Reals:
        """A frame's rows as the fit has read its own."""
        return self.stacked([column_in(X, "X", name) for name in self.names])


def _read(column: Column, values: Any) -> Reals:
    return column.read(values) if isinstance(column, Keyed) else floats(values)[:, None]
