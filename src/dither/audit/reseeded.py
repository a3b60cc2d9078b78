"""New seeds for generators that are not this library's: copies of them in several
processes would repeat each other, and what repeats itself looks like a leak.
"""

from __future__ import annotations

import functools
import inspect
import random  # allowed: only to make it forget what it repeats
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dither.noise import uniform_integers

__all__ = ["reseed"]

DEPTH, MOST = 4, 10_000
"""The depth and the total number of objects that are looked at."""


def reseed(f: Callable[..., Any]) -> None:
    """Generators of the whole process, and those that f holds: in its closure, the
    globals that it names, its defaults and its object, a few steps deep. Noise of this
    library has a new key in every process anyway.
    """
    random.seed(_word())  # allowed: so that what is audited does not repeat itself
    np.random.seed(_word())  # allowed: likewise
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(_word())  # allowed: likewise
    for one in _reached(f, set(), DEPTH):
        _renew(one)


def _word() -> int:
    return int(uniform_integers(1 << 32))


def _renew(held: Any) -> None:
    if isinstance(held, np.random.Generator):  # allowed: what is audited may hold it
        bits = held.bit_generator
        bits.state = type(bits)(_word()).state
    elif isinstance(held, np.random.RandomState | random.Random):  # allowed: likewise
        held.seed(_word())


def _reached(held: Any, seen: set[int], depth: int) -> Iterator[Any]:
    if id(held) in seen or depth < 0 or len(seen) >= MOST:
        return
    seen.add(id(held))
    yield held
    try:
        parts = _parts(held)
    except Exception:  # a thing of somebody else's may refuse to be looked at
        return
    for one in parts:
        yield from _reached(one, seen, depth - 1)


def _parts(held: Any) -> list[Any]:
    if isinstance(held, functools.partial):
        return [held.func, *held.args, *held.keywords.values()]
    if inspect.ismethod(held):
        return [held.__self__, held.__func__]
    if inspect.isfunction(held):
        named = inspect.getclosurevars(held)
        defaults = (held.__defaults__ or ()) + tuple(
            (held.__kwdefaults__ or {}).values()
        )
        return [*named.nonlocals.values(), *named.globals.values(), *defaults]
    if isinstance(held, list | tuple):
        return list(held[:100])
    if isinstance(held, dict):
        return list(held.values())[:100]
    plain = inspect.ismodule(held) or isinstance(held, type)
    return [] if plain else list(getattr(held, "__dict__", {}).values())
