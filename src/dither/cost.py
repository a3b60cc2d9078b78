"""How a caller states what an answer may cost: one convention for every function.

The cost is stated as `epsilon` (the guarantee of this release by itself), as `rho`
(zero-concentrated), as a `share` of the account, or as the `error` that one can live
with, from which the cost follows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from dither.errors import ArgumentError
from dither.privacy.numbers import positive

__all__ = ["Cost", "Stated", "Wanted"]

LONGEST = 100
ERROR = re.compile(r"\s*(?:±|\+/-|\+-)?\s*([0-9.eE+-]+)\s*(?:at\s+([0-9.]+)\s*%)?\s*")
WAY_OUT = 'pass an acceptable ±, such as 50 or "±50 at 95%"'


class Stated(TypedDict, total=False):
    """The keywords in which a cost is stated, as type checkers see them."""

    epsilon: float | None
    rho: float | None
    share: float | None


@dataclass(frozen=True)
class Wanted:
    """A wanted error: ± width at a confidence."""

    width: float
    confidence: float = 0.95

    @classmethod
    def of(cls, error: float | str) -> Wanted:
        """A wanted error from a number or a string such as "±50 at 95%"."""
        if isinstance(error, bool):
            raise ArgumentError("error", f"must be a number; {WAY_OUT}")
        if not isinstance(error, str):
            return cls(positive("error", error, WAY_OUT))
        found = ERROR.fullmatch(error) if len(error) <= LONGEST else None
        if found is None:
            raise ArgumentError("error", f"cannot be read; {WAY_OUT}")
        width, confidence = _number(found[1]), _number(found[2] or "95") / 100
        if not 0 < confidence < 1:
            words = "must have a confidence between 0 and 100 %"
            raise ArgumentError("error", f"{words}; {WAY_OUT}")
        return cls(positive("error", width, WAY_OUT), confidence)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentError("error", f"cannot be read; {WAY_OUT}") from None


@dataclass(frozen=True)
class Cost:
    """The cost that an answer may have, stated in one of four ways."""

    epsilon: float | None = None
    rho: float | None = None
    share: float | None = None
    error: float | str | Mapping[str, float | str] | None = None

    def __post_init__(self) -> None:
        ways = (self.epsilon, self.rho, self.share, self.error)
        if sum(way is not None for way in ways) != 1:
            raise ArgumentError(
                "epsilon",
                "pass exactly one of epsilon, rho, share or error, to say what this may "
                "cost",
            )

    @property
    def wanted(self) -> Wanted | None:
        """The error that one can live with, where the cost is stated so."""
        if isinstance(self.error, Mapping):
            raise ArgumentError("error", f"must be one number here; {WAY_OUT}")
        return None if self.error is None else Wanted.of(self.error)
