"""Which oracle fits: by closed-form variance, among those whose messages and tallies
are small enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.local.domain import Domain
from dither.local.estimates import detection_limit
from dither.local.oracles import (
    CountMeanSketch,
    HadamardResponse,
    HadamardSketch,
    KAryResponse,
    LocalHashing,
    Loloha,
    LongitudinalUnary,
    Oracle,
    SubsetSelection,
    Unary,
)
from dither.local.rappor.oracle import Rappor
from dither.local.thresholds import wanted
from dither.privacy.numbers import whole

__all__ = ["Choice", "Option", "choose", "make"]

PAYLOAD, CELLS = 4096, 1 << 24
FOCUS = 0.05
"""Σ frequency² that is assumed where collisions matter: one value at 20 % has 0.04."""
PREFERRED = 1.05
"""LOLOHA is taken where it is at most this much above the best variance: its messages
are small, and say less about which of them come from one device.
"""
RATE = 0.05

Maker = Callable[[int, float, float], Oracle]

ONCE: dict[str, Maker] = {
    "k-ary response": lambda items, once, _: KAryResponse.at(items, once),
    "subset selection": lambda items, once, _: SubsetSelection.at(items, once),
    "local hashing": lambda items, once, _: LocalHashing.at(items, once),
    "optimized unary": lambda items, once, _: Unary.optimized(items, once),
    "symmetric unary": lambda items, once, _: Unary.symmetric(items, once),
    "Hadamard response": lambda items, once, _: HadamardResponse.at(items, once),
}
AGAIN: dict[str, Maker] = {
    "loloha": Loloha.at,
    "longitudinal unary": LongitudinalUnary.at,
}
NAMED: dict[str, Maker] = {
    "rappor": lambda items, once, kept: Rappor.at(items, epsilon=once, for_ever=kept),
}
"""Oracles for answers given again that are chosen only where the vocabulary is open: the
others have a smaller variance.
"""
OPEN: dict[str, Maker] = {
    "count-mean sketch": lambda _, once, __: CountMeanSketch.at(once),
    "Hadamard sketch": lambda _, once, __: HadamardSketch.at(once),
}


@dataclass(frozen=True)
class Option:
    """One oracle at the wanted ε: the standard error of a frequency, bytes of a message,
    integers of a tally.
    """

    name: str
    oracle: Oracle
    error: float
    fits: bool

    @property
    def payload(self) -> int:
        return self.oracle.record

    @property
    def cells(self) -> int:
        return self.oracle.cells


@dataclass(frozen=True)
class Choice:
    """What was chosen, and among which options.

    `detection_limit` is the smallest frequency that so many messages show: it is found
    four times in five.
    """

    chosen: Option
    options: tuple[Option, ...]
    n: int
    detection_limit: float

    @property
    def oracle(self) -> Oracle:
        return self.chosen.oracle

    def __str__(self) -> str:
        head = f"{'oracle':20} {'± at 95 %':>10} {'bytes':>8} {'integers':>12}"
        rows = [_row(option, option is self.chosen) for option in self.options]
        smallest = f"{100 * self.detection_limit:.2g} %"
        last = f"{self.n:,} messages detect values with a share of at least {smallest}."
        return "\n".join([head, *rows, last])


def _row(option: Option, chosen: bool) -> str:
    error = f"{196 * option.error:.2f} %"
    mark = "  chosen" if chosen else "" if option.fits else "  too large"
    numbers = f"{error:>10} {option.payload:>8,} {option.cells:>12,}"
    return f"{option.name:20} {numbers}{mark}"


def choose(
    domain: int | Sequence[Any] | Domain | None,
    *,
    epsilon: float,
    n: int,
    for_ever: float | None = None,
    none: bool = True,
    payload: int | None = PAYLOAD,
    cells: int | None = CELLS,
) -> Choice:
    """The oracle with the smallest variance for a domain (its values, or how many there
    are; None for an open vocabulary), at `epsilon` a message and `n` messages.

    `for_ever` is what all messages of a device about one value may lose; without it,
    a device answers once. `payload` limits the bytes of a message, `cells` the
    integers of a tally; None lifts a limit. `none` makes room for "no answer".
    """
    once = wanted("epsilon", epsilon)
    messages = whole("n", n, "pass how many messages are expected")
    items = 0 if domain is None else domain_of(domain, none).items
    options = [
        _option(name, oracle, messages, payload, cells)
        for name, oracle in _made(items, once, for_ever)
    ]
    options.sort(key=lambda option: (not option.fits, _rank(option)))
    if not options:
        raise ArgumentError(
            "epsilon",
            "is too small or too large for probabilities of 32 bits; pass an ε such as "
            "1.0",
        )
    if not options[0].fits:
        raise ArgumentError(
            "payload",
            "no oracle is small enough for payload and cells; raise them, or pass None",
        )
    outlook = options[0].oracle.outlook(messages)
    limit = detection_limit(outlook, max(items, 1000 if domain is None else 1), RATE)
    return Choice(options[0], tuple(options), messages, limit)


def _made(
    items: int, once: float, for_ever: float | None
) -> Iterator[tuple[str, Oracle]]:
    """Each oracle at ε; those that 32 bits are too coarse for are left out."""
    for name, maker in _makers(items, once, for_ever).items():
        with suppress(ArgumentError):
            yield name, maker(items, once, for_ever or once)


def _makers(items: int, once: float, for_ever: float | None) -> dict[str, Maker]:
    if for_ever is None:
        return ONCE if items else OPEN
    if wanted("for_ever", for_ever) <= once:
        raise ArgumentError(
            "for_ever",
            "must be above epsilon: a kept answer without fresh noise would identify "
            f"its device; pass for_ever={2 * once:g}",
        )
    return AGAIN if items else NAMED


def _option(
    name: str, oracle: Oracle, n: int, payload: int | None, cells: int | None
) -> Option:
    variance = oracle.spread / n + FOCUS * oracle.collisions
    small = payload is None or oracle.record <= payload
    light = cells is None or oracle.cells <= cells
    return Option(name, oracle, math.sqrt(variance), small and light)


def _rank(option: Option) -> tuple[float, int]:
    """Smaller variance first; equal ones by the size of a message."""
    favour = PREFERRED if isinstance(option.oracle, Loloha) else 1.0
    return round(option.error / math.sqrt(favour), 12), option.payload


def domain_of(domain: int | Sequence[Any] | Domain, none: bool) -> Domain:
    """A domain from its values, or from how many there are."""
    if isinstance(domain, Domain):
        return domain
    if isinstance(domain, str | bytes | set | frozenset):
        raise ArgumentError(
            "domain", "must be a list of values, or their number, not a string or a set"
        )
    if isinstance(domain, range):
        return Domain(domain, none)
    if isinstance(domain, np.ndarray) and domain.ndim == 1:
        return Domain(tuple(domain.tolist()), none)
    if hasattr(domain, "__index__"):
        count = whole("domain", domain, "pass how many values there are")
        return Domain(range(count), none)
    return Domain(tuple(domain), none)


def make(name: str, items: int, epsilon: float, for_ever: float) -> Oracle:
    """The oracle of a name, at ε."""
    makers = ONCE | AGAIN | OPEN | NAMED
    if name not in makers:
        raise ArgumentError("oracle", f"must be one of: {', '.join(sorted(makers))}")
    if name not in NAMED and (name in OPEN) != (items == 0):
        kind = (
            "counts any string; pass domain=None"
            if items
            else "needs a domain; pass a list of values"
        )
        raise ArgumentError("oracle", f"the oracle {name!r} {kind}")
    if name in AGAIN | NAMED and for_ever <= epsilon:
        raise ArgumentError(
            "for_ever",
            f"must be above epsilon for the oracle {name!r}; pass for example "
            f'every="day" and for_ever={2 * epsilon:g}',
        )
    return makers[name](items, epsilon, for_ever)
