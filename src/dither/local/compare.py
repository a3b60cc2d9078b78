"""One question answered in both ways: by devices that trust nobody, and by a curator
whom everybody trusts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.by_name import by_name
from dither.chart import Chart
from dither.errors import ArgumentError
from dither.local.build import task
from dither.local.choose import choose, domain_of
from dither.local.frequencies import Frequencies
from dither.local.task import DEVICE
from dither.local.words import FRESH
from dither.mechanisms import Geometric
from dither.privacy import PureDP
from dither.privacy.numbers import float_up, share, written
from dither.release import Around, Release, Source

if TYPE_CHECKING:
    from dither.ledger import Account

__all__ = ["Comparison", "Needed", "compare", "needed"]

# One person's answer moves from one value to another: two counts change by one.
MOVED = 2


@dataclass(frozen=True)
class Comparison:
    """Shares of the same values at the same ε, from devices and from a curator."""

    local: Frequencies
    central: Release

    @property
    def times(self) -> float:
        """How many times wider the intervals of the devices are, on average."""
        widths = [
            float(np.mean(np.subtract(*found.interval()[::-1])))
            for found in (self.local, self.central)
        ]
        return widths[0] / widths[1]

    def plot(self, most: int = 12) -> Chart:
        """The most frequent values, each as a pair of bars."""
        order = np.argsort(-np.asarray(self.central.value), kind="stable")[:most]
        labels, values, ends = [], [], []
        for name, found in (("curator", self.central), ("devices", self.local)):
            rows = found.rows()
            for at, place in enumerate(order):
                key, value, low, high = rows[place]
                where = 2 * at + (name == "devices")
                labels.append((where, f"{_label(key)} ({name})"))
                values.append((where, value))
                ends.append((where, (low, high)))
        columns = (
            [one for _, one in sorted(found, key=_first)]
            for found in (labels, values, ends)
        )
        return Chart.of("share", *columns)

    def __str__(self) -> str:
        n = self.local.messages
        return "\n".join(
            [
                f"devices, {n:,} messages, {self.local.guarantee}:",
                *str(self.local).splitlines()[1:8],
                f"curator, {n:,} people, {self.central.guarantee}:",
                *(f"  {line}" for line in _top(self.central, 7)),
                f"Intervals of the devices are {self.times:.0f} times as wide.",
            ]
        )


def _first(pair: tuple[int, Any]) -> int:
    return pair[0]


def _label(key: Any) -> str:
    return "(none)" if key is None else str(key)


def _top(found: Release, count: int) -> list[str]:
    rows = sorted(found.rows(), key=lambda row: -row[1])[:count]
    return [
        f"{_label(key)}: {100 * value:.3f} % ({100 * low:.3f} to {100 * high:.3f})"
        for key, value, low, high in rows
    ]


@by_name('compare(values, domain=["a", "b"], epsilon=1.0)')
def compare(
    values: Any,
    *,
    domain: int | Sequence[Any],
    epsilon: float,
    none: bool = True,
    budget: Account | None = None,
) -> Comparison:
    """Answer "how frequent is each value" both ways at the same ε.

    The devices' side randomizes every value on its own, with the oracle that `choose`
    picks. The curator's side counts all values and adds exact geometric noise
    (sensitivity 2: one person's answer is replaced; how many people there are is
    public). Whoever holds the values makes both, so both are charged to `budget`, if
    there is one, before a value is read.
    """
    known = domain_of(domain, none)
    # what is wrong with the question is said before anything is charged
    choose(known, epsilon=epsilon, n=1)
    if hasattr(values, "__len__") and len(values) < 2:
        raise ArgumentError(
            "values", "must have at least two entries; pass one for each device"
        )
    mechanism = Geometric(sensitivity=MOVED, epsilon=epsilon)
    promise = PureDP(epsilon, unit=DEVICE)
    both = PureDP(float_up(2 * written(promise.epsilon)), unit=DEVICE)
    paid = nullcontext() if budget is None else budget.spending(both, purpose="compare")
    with paid as receipt:
        listed = values if isinstance(values, np.ndarray) else list(values)
        asked = task(
            "share", domain=known, epsilon=epsilon, n=max(len(listed), 1), minimum=2
        )
        local = asked.tally(asked.randomize(listed)).estimate()
        counts = np.bincount(known.places(listed, FRESH), minlength=known.items)
        noisy = mechanism.release(counts)
    n, paid_for = len(listed), (Source(both, receipt),)
    if budget is not None:
        local = replace(local, sources=paid_for)
    central = Release(
        what="share",
        value=noisy / n,
        sources=paid_for if budget is not None else (Source(promise),),
        spread=Around(noisy / n, mechanism, integer=True, step=1 / n),
        keys=known.keys,
    )
    return Comparison(local, central)


@dataclass(frozen=True)
class Needed:
    """How many people it takes to know a share within ± `error` (95 %)."""

    error: float
    devices: int
    curator: int

    def __str__(self) -> str:
        return (
            f"± {100 * self.error:g} %: {self.devices:,} devices, or "
            f"{self.curator:,} people and a curator they trust"
        )


@by_name("needed(100, epsilon=1.0, error=0.01)")
def needed(
    domain: int | Sequence[Any],
    *,
    epsilon: float,
    error: float = 0.01,
    none: bool = True,
) -> Needed:
    """How many people each side needs for intervals of ± `error` around a share that is
    near zero, at ε. Public: nothing is read.
    """
    wanted = share("error", error, "pass a share such as 0.01")
    z = NormalDist().inv_cdf(0.975)
    many = choose(domain, epsilon=epsilon, n=10**6, none=none).oracle.spread
    width = Geometric(sensitivity=MOVED, epsilon=epsilon).error(0.95, integer=True)
    if not math.isfinite(width):
        raise ArgumentError(
            "epsilon",
            "is too small: the noise of a curator would be infinite; pass an ε such as "
            "1.0",
        )
    return Needed(
        wanted, math.ceil(many * (z / wanted) ** 2), max(math.ceil(width / wanted), 1)
    )
