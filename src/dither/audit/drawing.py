"""Calling what is audited: one call for many draws, or one call for each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from dither.audit.outcomes import Encoder, Outcomes, Raised, joined
from dither.errors import ArgumentError

__all__ = ["CallRaised", "Caller", "Progress", "Side", "takes_size"]

Progress = Callable[[int, int], None]

AT_ONCE = 1 << 20
ONE_BY_ONE = 1 << 14
NUMBERS = 1 << 23
"""How many draws one step makes at most, in one call or one by one, and how many
numbers it holds.
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

    def draws(self, value: Any, count: int, width: int = 1) -> Iterator[Any]:
        """So many draws of outputs with so many numbers, step by step; at least one
        step.
        """
        left = count
        while True:
            size = min(left, self._step(width))
            yield (
                self._many(value, size)
                if self.together
                else [self._one(value) for _ in range(size)]
            )
            left -= size
            self._tell(size)
            if left <= 0:
                return

    def alone(self, value: Any, count: int) -> list[Any]:
        """So many draws, each from a call of its own."""
        found = [self._one(value) for _ in range(count)]
        self._tell(count)
        return found

    def raises(self, value: Any, count: int) -> bool:
        """Whether any of so many draws raises, which are then forgotten."""
        return any(isinstance(self._one(value), Raised) for _ in range(count))

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
        try:
            found = self.f(value, size) if size else []
        except Exception as error:
            raise CallRaised from error
        return _checked(found, size)

    def _one(self, value: Any) -> Any:
        try:
            found = self.f(value, 1) if self.vectorized else self.f(value)
        except Exception as error:
            return Raised.by(error)
        return _checked(found, 1)[0] if self.vectorized else found


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
            f"returned {got} when asked for {size:,}; return one for each "
            "draw, or pass vectorized=False",
        )
    return rows
