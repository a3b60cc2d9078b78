"""Calling what is audited: one call for many draws, or one call for each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from dither.audit.outcomes import Encoder, Outcomes, Raised, joined
from dither.audit.workers import TIMED_OUT, Crew, Waiting, call, call_many
from dither.errors import ArgumentError

__all__ = ["CallRaised", "Caller", "Progress", "Side", "takes_size"]

Progress = Callable[[int, int], None]

AT_ONCE = 1 << 20
ONE_BY_ONE = 1 << 14
NUMBERS = 1 << 23
"""Largest number of draws in one step, in one call or one by one, and of numbers in it.
"""


def takes_size(f: Callable[..., Any]) -> bool:
    """Whether a callable makes many draws at once: it has a `size`, or a second
    argument that must be given.
    """
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return False
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        one
        for one in parameters
        if one.kind in plain and one.default is inspect.Parameter.empty
    ]
    return any(one.name == "size" for one in parameters[1:]) or len(needed) == 2


class CallRaised(Exception):
    """A call for many draws raised: it does not say in which of them."""


@dataclass
class Caller:
    """Draws outputs of a callable. What a call for one draw raises is an output."""

    f: Callable[..., Any]
    vectorized: bool
    together: bool
    total: int
    progress: Progress | None = None
    done: int = 0
    crew: Crew | None = None
    waiting: Waiting = field(default_factory=Waiting)

    def draws(self, value: Any, count: int, width: int = 1) -> Iterator[Any]:
        """Draw outputs of this size step by step; at least one step."""
        left = count
        while True:
            size = min(left, self._step(width))
            yield (
                self._many(value, size) if self.together else self._each(value, size)
            )
            left -= size
            self._tell(size)
            if left <= 0:
                return

    def alone(self, value: Any, count: int) -> list[Any]:
        """Draws from one call each."""
        found = self._each(value, count)
        self._tell(count)
        return found

    def first(self, value: Any) -> Any:
        """One draw that is not used."""
        return self._each(value, 1)[0]

    def raises(self, value: Any, count: int) -> bool:
        """Whether any of these draws raises; the draws are discarded."""
        return any(isinstance(one, Raised) for one in self._each(value, count))

    def _step(self, width: int) -> int:
        return (
            max(1, min(AT_ONCE, NUMBERS // max(width, 1)))
            if self.together
            else ONE_BY_ONE
        )

    def _tell(self, count: int) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(self.done, self.total)

    def _many(self, value: Any, size: int) -> Any:
        if self.crew is None:
            return self._rows(call_many(self.f, value, size), size)
        parts = [self._rows(one, n) for n, one in self.crew.together(value, size)]
        if all(isinstance(one, np.ndarray) for one in parts) and parts:
            return np.concatenate(parts)
        return list(chain.from_iterable(parts))

    def _rows(self, found: Any, size: int) -> Any:
        if isinstance(found, Raised):
            raise CallRaised(found)
        return _checked(found, size)

    def _each(self, value: Any, count: int) -> list[Any]:
        """Draws from one call each."""
        if self.crew is not None:
            return [self._single(one) for one in self.crew.alone(value, count)]
        found = (call(self.f, value, self.vectorized) for _ in range(count))
        return [self._single(one) for one in found]

    def _single(self, found: Any) -> Any:
        if isinstance(found, Raised):
            self._wait(found)
            return found
        return _checked(found, 1)[0] if self.vectorized else found

    def _wait(self, found: Raised) -> None:
        """A crew counts calls that hang itself; here are those that end on their own."""
        limit = getattr(self.f, "timeout", None)
        if self.crew is None and limit is not None and found.name == TIMED_OUT:
            self.waiting.more(limit)


class Side:
    """The draws of one input, of which some are taken first. The others are not looked
    at before that.
    """

    def __init__(
        self, caller: Caller, encoder: Encoder, value: Any, count: int
    ) -> None:
        self._steps, self._encoder = (
            caller.draws(value, count, encoder.width or 1),
            encoder,
        )
        self._left: list[Any] = []

    def take(self, count: int) -> Outcomes:
        """The first so many; what else was drawn with them is kept as it is."""
        found: list[Outcomes] = []
        while count > 0 or not found:
            step = next(self._steps)
            found.append(self._encoder.encode(step[:count]))
            self._left = [step[count:]]
            count -= len(found[-1])
        return joined([self._encoder.again(one) for one in found])

    def rest(self) -> Iterator[Outcomes]:
        yield from map(self._encoder.encode, chain(self._left, self._steps))


def _checked(found: Any, size: int) -> Any:
    """The outputs of one call, if there is one for each draw."""
    if isinstance(found, list | tuple):
        rows: Any = list(found)
    else:
        rows = np.asarray(found)
        rows = rows.reshape(1) if rows.ndim == 0 and size == 1 else rows
    if getattr(rows, "ndim", 1) == 0 or len(rows) != size:
        got = (
            "one output" if getattr(rows, "ndim", 1) == 0 else f"{len(rows):,} outputs"
        )
        raise ArgumentError(
            "f",
            f"the function returned {got} instead of {size:,}; return one "
            "output per draw, or pass vectorized=False",
        )
    return rows
