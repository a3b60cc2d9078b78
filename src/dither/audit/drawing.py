"""Calling what is audited: one call for many draws, or one call for each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.audit.outcomes import Encoder, Outcomes, Raised, joined
from dither.errors import ArgumentError

__all__ = ["Caller", "Progress", "Side", "takes_size"]

Progress = Callable[[int, int], None]

AT_ONCE = 1 << 20
ONE_BY_ONE = 1 << 14
NUMBERS = 1 << 23
"""How many draws one step makes at most, in one call or one by one, and how many numbers it holds."""


def takes_size(f: Callable[..., Any]) -> bool:
    """Whether a callable makes many draws at once: it has a `size`, or a second argument that must be given."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return False
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters if one.kind in plain and one.default is inspect.Parameter.empty]
    return any(one.name == "size" for one in parameters[1:]) or len(needed) == 2


@dataclass
class Caller:
    """Draws outputs of a callable and encodes them. Exceptions are outputs; a call for many draws that raises is
    repeated draw by draw, because it does not say which of its draws raised.
    """

    f: Callable[..., Any]
    vectorized: bool
    encoder: Encoder
    total: int
    progress: Progress | None = None
    done: int = 0

    def draws(self, value: Any, count: int) -> Iterator[Outcomes]:
        """So many draws, step by step; at least one step."""
        left = count
        while True:
            size = min(left, self._step())
            yield self._many(value, size)
            left -= size
            self._tell(size)
            if left <= 0:
                return

    def alone(self, value: Any, count: int) -> Outcomes:
        """So many draws, each from a call of its own."""
        found = self.encoder.encode([self._one(value) for _ in range(count)], alone=True)
        self._tell(count)
        return found

    def _step(self) -> int:
        if not self.vectorized:
            return ONE_BY_ONE
        return max(1, min(AT_ONCE, NUMBERS // max(self.encoder.width or 1, 1)))

    def _tell(self, count: int) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(self.done, self.total)

    def _many(self, value: Any, size: int) -> Outcomes:
        if not self.vectorized:
            return self._singly(value, size)
        try:
            found = self.f(value, size) if size else []
        except Exception:
            return self._singly(value, size)
        return self.encoder.encode(_checked(found, size))

    def _singly(self, value: Any, size: int) -> Outcomes:
        return self.encoder.encode([self._one(value) for _ in range(size)])

    def _one(self, value: Any) -> Any:
        try:
            found = self.f(value, 1) if self.vectorized else self.f(value)
        except Exception as error:
            return Raised(type(error).__name__)
        if not self.vectorized:
            return found
        return _checked(found, 1)[0]


class Side:
    """The draws of one input, of which some are taken first."""

    def __init__(self, caller: Caller, value: Any, count: int) -> None:
        self._steps, self._caller = caller.draws(value, count), caller
        self._left: list[Outcomes] = []

    def take(self, count: int) -> Outcomes:
        """The first so many; what else was drawn with them is kept."""
        found: list[Outcomes] = []
        while sum(map(len, found)) < count or not found:
            found.append(next(self._steps))
        whole = joined([self._caller.encoder.again(one) for one in found])
        self._left = [whole[count:]]
        return whole[:count]

    def rest(self) -> Iterator[Outcomes]:
        yield from map(self._caller.encoder.again, self._left)
        yield from self._steps


def _checked(found: Any, size: int) -> Any:
    """The outputs of one call, if there is one for each draw."""
    if isinstance(found, list | tuple):
        rows: Any = list(found)
    else:
        rows = np.asarray(found)
        rows = rows.reshape(1) if rows.ndim == 0 and size == 1 else rows
    if getattr(rows, "ndim", 1) == 0 or len(rows) != size:
        got = "one output" if getattr(rows, "ndim", 1) == 0 else f"{len(rows):,} outputs"
        raise ArgumentError(
            "f", f"returned {got} when asked for {size:,}; return one for each draw, or pass vectorized=False"
        )
    return rows
