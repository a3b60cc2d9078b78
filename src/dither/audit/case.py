"""One line of the catalogue: a callable, two neighbouring inputs and a claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dither.audit.drawing import Progress
from dither.audit.finding import Finding
from dither.audit.trial import FEWEST, mechanism
from dither.privacy import Guarantee

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """What is audited, under a name. `seldom` is how many times fewer draws it gets;
    `covers` are the full names of what it audits, where its own name does not tell.

    A claim that follows from a release is a function, called when it is needed.
    """

    name: str
    f: Callable[..., Any]
    a: Any
    b: Any
    claimed: Guarantee | Callable[[], Guarantee]
    seldom: int = 1
    covers: tuple[str, ...] = ()

    def audit(
        self, draws: int, confidence: float, progress: Progress | None = None
    ) -> Finding:
        claim = self.claimed if isinstance(self.claimed, Guarantee) else self.claimed()
        return mechanism(
            self.f,
            self.a,
            self.b,
            claimed=claim,
            draws=max(draws // self.seldom, FEWEST),
            confidence=confidence,
            progress=progress,
        )
