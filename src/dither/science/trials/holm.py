"""Several tests of one study, corrected together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.privacy.numbers import fraction
from dither.science.trials.checks import level
from dither.science.trials.result import TrialRelease, shown

__all__ = ["Corrected", "holm"]


@dataclass(frozen=True)
class Corrected:
    """Tests corrected for being several. `pvalues` are adjusted: compare each with
    alpha.
    """

    names: tuple[str, ...]
    pvalues: tuple[float, ...]
    alpha: float

    @property
    def reject(self) -> dict[str, bool]:
        """Which hypotheses are rejected."""
        pairs = zip(self.names, self.pvalues, strict=True)
        return {name: value <= self.alpha for name, value in pairs}

    def __getitem__(self, name: str) -> float:
        return dict(zip(self.names, self.pvalues, strict=True))[name]

    def __str__(self) -> str:
        head = f"Holm's correction of {len(self.names)} tests, for α = {self.alpha:g}"
        pairs = zip(self.names, self.pvalues, strict=True)
        lines = (f"  {name}: corrected p {shown(value)}" for name, value in pairs)
        return "\n".join([head, *lines])


def holm(tests: Mapping[str, Any], *, alpha: float = 0.05) -> Corrected:
    """Holm's correction of the tests of one study, by name: results, or p-values.
    Free: it uses nothing but p-values that are public already.

    The probability of any false rejection is at most alpha, however the tests hang
    together.
    """
    if not isinstance(tests, Mapping) or not tests:
        raise ArgumentError(
            "tests",
            "must be a mapping from names to tests, such as "
            '{"primary": t, "survival": km.logrank()}',
        )
    found = np.array([_pvalue(name, one) for name, one in tests.items()])
    adjusted = tuple(adjust(found).tolist())
    return Corrected(tuple(map(str, tests)), adjusted, level(alpha))


def _pvalue(name: Any, test: Any) -> float:
    value = test.pvalue if isinstance(test, TrialRelease) else test
    way_out = "pass a test with a p-value, or a number from 0 to 1"
    if value is None or not 0 <= fraction("tests", value, way_out) <= 1:
        words = f"the test {str(name)!r:.40} does not have a p-value; {way_out}"
        raise ArgumentError("tests", words)
    return float(value)


def adjust(pvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each p-value times the number of tests that are not smaller, and never smaller
    than that of a test before it.
    """
    order = np.argsort(pvalues, kind="stable")
    factors = np.arange(pvalues.size, 0, -1)
    stepped = np.maximum.accumulate(pvalues[order] * factors)
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
