"""What tests of association release: the variants that were chosen, and χ² statistics
with p-values that count the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.picture import Picture
from dither.privacy import Guarantee
from dither.science.genomes import pictures
from dither.science.genomes.releases import Table
from dither.text import clean

__all__ = ["ChiSquares", "Chosen", "Measured"]

Reals = NDArray[np.float64]

GENOME_WIDE = 5e-8
LEVELS = [10.0**-power for power in range(1, 10)]


@dataclass(frozen=True, eq=False, repr=False)
class Chosen(Table):
    """Variants that were chosen, best first: `variants` names them. A choice has no
    numbers; ask `chi2` or `frequencies` about the chosen ones. `promise` is what all
    choices promise together.
    """

    promise: Guarantee | None = None

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.value)

    def interval(self, confidence: float = 0.95, *, of: str = "truth") -> NoReturn:  # noqa: ARG002
        raise ArgumentError(
            "interval",
            "a choice of variants does not have an interval; call "
            "chi2(…, panel=chosen.variants) for numbers",
        )

    def _columns(self, confidence: float = 0.95) -> dict[str, Any]:  # noqa: ARG002
        return {"rank": list(self.keys or ()), "variant": list(self.variants)}

    def _lines(self) -> list[str]:
        ranked = zip(self.keys or (), self.variants, strict=True)
        return [self.what, *(f"  {rank}. {clean(name)}" for rank, name in ranked)]

    def _promise(self) -> str:
        return f"{self.promise}, for all choices together"

    def plot(self, confidence: float = 0.95) -> Picture:  # type: ignore[override]  # noqa: ARG002
        """The names in their order."""
        return pictures.ranking(self.what, self.variants)


@dataclass(frozen=True)
class Measured:
    """Noisy reals plus or minus their noise."""

    value: Reals
    mechanism: Additive
    size: int

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        width = self.mechanism.error(confidence, size=self.size)
        return self.value - width, self.value + width


@dataclass(frozen=True, eq=False, repr=False)
class ChiSquares(Table):
    """χ² statistics with one degree of freedom.

    `pvalues` counts the noise: it is large enough to be a p-value of the noisy
    statistic. The p-value of the exact one lies between `p_low` and `p_high` of
    `to_pandas()` as surely as the statistic between `low` and `high`.
    """

    @property
    def pvalues(self) -> Reals:
        """P(χ² + noise ≥ what was released) without association, or more: for every w
        it is at most P(χ² ≥ released - w) + P(noise > w).
        """
        assert isinstance(self.spread, Measured)
        noisy = np.asarray(self.spread.value)
        found = np.ones(noisy.shape)
        for level in LEVELS:
            width = self.spread.mechanism.error(1 - 2 * level, size=self.spread.size)
            found = np.minimum(found, 10.0 ** -logs(noisy - width) + level)
        return found

    def _columns(self, confidence: float = 0.95) -> dict[str, Any]:
        low, high = self.interval(confidence)
        return {
            "variant": list(self.keys or ()),
            "chi2": self.value,
            "low": low,
            "high": high,
            "pvalue": self.pvalues,
            "p_low": 10.0 ** -logs(high),
            "p_high": 10.0 ** -logs(low),
        }

    def plot(self, confidence: float = 0.95) -> Picture:  # type: ignore[override]
        """A Manhattan plot of the released variants: where -log10 of the p-value of
        the exact statistic lies.
        """
        low, high = self.interval(confidence)
        names = [str(name) for name in self.keys or ()]
        return pictures.manhattan(
            names, logs(low), logs(high), -math.log10(GENOME_WIDE)
        )


def logs(statistic: Any) -> Reals:
    """-log10 P(χ² ≥ statistic), one degree of freedom, however small it is."""
    return np.array([_log(float(one)) for one in np.atleast_1d(statistic)])


def _log(statistic: float) -> float:
    root = math.sqrt(max(statistic, 0.0) / 2)
    if root < 20:
        return -math.log10(math.erfc(root))
    # erfc(z) < e^(-z²) / (z√π), and nearly that: below a thousandth apart here
    return (root * root + math.log(root * math.sqrt(math.pi))) / math.log(10)
