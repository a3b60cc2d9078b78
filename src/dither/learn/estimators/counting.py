"""Number of units, for fits whose shape follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from dither.learn.estimators.data import Declared, Rows
from dither.learn.estimators.spending import Spending
from dither.mechanisms import Additive

__all__ = ["COUNT", "UnitCount"]

COUNT = 0.05
"""The part of the cost that counts units, if nobody has said how many there are."""


@dataclass(frozen=True)
class UnitCount:
    """Units: declared, or counted with noise, which `spending` pays for."""

    declared: Declared
    spending: Spending | None = None

    @classmethod
    def of(
        cls, declared: Declared, spending: Spending, needed: bool
    ) -> tuple[UnitCount, Spending]:
        """A count where it is needed, and what is left after it."""
        if not needed:
            return cls(declared), spending
        first, rest = spending.parts(COUNT, 1 - COUNT)
        found = cls(declared, first)
        _ = found.noise  # what it refuses is refused before the charge
        return found, rest

    @property
    def noise(self) -> Additive | None:
        whole = float(self.declared.whole)
        return None if self.spending is None else self.spending.noise(whole, whole)

    def release(self, rows: Rows, least: float = 1.0) -> float:
        """About how many there are."""
        if self.noise is None:
            return float(self.declared.units or 1)
        noisy = self.noise.release(int(rows.weights.sum()))
        return max(float(noisy) / self.declared.whole, least)
