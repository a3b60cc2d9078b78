"""A task from what a developer knows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.local.asking import Asked, counted, fitting
from dither.local.checks import parts_of
from dither.local.choose import PAYLOAD, make
from dither.local.domain import Counted, Domain
from dither.local.numbers import Numbers
from dither.local.oracles import OneBitMean, Oracle, Randomizer
from dither.local.signing import SigningKey
from dither.local.task import PERIODS, Task
from dither.local.thresholds import wanted
from dither.privacy.numbers import whole

__all__ = ["task"]

SIDES = 2  # of a threshold: what a kept one-bit mean tells apart
USUAL = 100  # messages below which nothing is estimated


@by_name('task(name, domain=["a", "b"], epsilon=1.0, n=100_000)')
def task(
    name: str,
    *,
    domain: Any = None,
    epsilon: float,
    for_ever: float | None = None,
    distinct: int | None = None,
    every: str | int | None = None,
    n: int,
    messages: int = 1,
    minimum: int | None = None,
    starts: date | None = None,
    expires: date | None = None,
    attribute: str = "",
    strata: Sequence[str] = (),
    none: bool = True,
    pairs: bool = False,
    oracle: str | Randomizer | None = None,
    payload: int | None = PAYLOAD,
    key: SigningKey | None = None,
) -> Task:
    """A question to devices: which of the values of `domain` do they hold?

    A device answers once, unless `every` says how often: "day", "week" or a number of
    days. Then `for_ever` is the ε of all its messages about one value, and `distinct`
    how many values of a device are told apart. `epsilon` is the ε of one message, `n`
    how many messages are expected: the oracle with the smallest variance is chosen
    (`choose`), unless `oracle` names one. domain=None counts any text.

    `domain` can also be `Numbers` (their mean, variance or distribution), `Vocabulary`
    (words that nobody has listed), or a mapping of several attributes to their
    domains: each device then answers one of them, or one pair with `pairs`.

    The task runs from `starts` (today) until before `expires` (a year later).
    """
    for one, day in (("starts", starts), ("expires", expires)):
        if day is not None and type(day) is not date:
            raise ArgumentError(one, "must be a date, such as date(2027, 1, 31)")
    days = _days(every)
    once, kept = _promises(epsilon, for_ever, days)
    expected = whole("n", n, "pass how many messages are expected")
    asked = Asked(once, kept if days else None, expected, payload)
    values = counted(domain, asked, none=none, pairs=pairs)
    if isinstance(oracle, str):
        oracle = _named(oracle, values, once, kept)
    if oracle is None:
        oracle = fitting(values, asked)
    first = starts or datetime.now(UTC).date()  # as devices count days
    made = Task(
        name=name,
        oracle=oracle,
        domain=values,
        epsilon=once,
        for_ever=kept,
        distinct=_distinct(distinct, oracle, values, days),
        every=days,
        messages=messages,
        minimum=_minimum(minimum, expected),
        starts=first,
        expires=expires or first + timedelta(days=365),
        attribute=attribute,
        strata=tuple(strata),
    )
    return made.sign(key) if key else made


def _days(every: str | int | None) -> int:
    if every is None:
        return 0
    if isinstance(every, str):
        if every not in PERIODS:
            raise ArgumentError("every", 'must be "day", "week" or a number of days')
        return PERIODS[every]
    return whole("every", every, 'pass "day", "week" or a number of days')


def _distinct(
    given: int | None, oracle: Randomizer, domain: Counted | None, days: int
) -> int:
    """Number of distinct answers per device (default: one)."""
    if any(isinstance(part, OneBitMean) for part in parts_of(oracle)):
        return max(given or 1, SIDES)
    if given is None and days and isinstance(domain, Numbers):
        raise ArgumentError(
            "distinct",
            "is required for numbers that are asked repeatedly: a device that has had "
            'this many different values sends "none" for others; pass for example '
            'distinct=10, or Numbers(…, ask="mean")',
        )
    return 1 if given is None else given


def _named(name: str, domain: Counted | None, once: float, kept: float) -> Oracle:
    """The oracle of a name, for one list of values or for any text."""
    if domain is not None and not isinstance(domain, Domain):
        raise ArgumentError(
            "oracle",
            "cannot be named for this kind of domain; leave it out, so that the best "
            "one is chosen, or pass an oracle object",
        )
    return make(name, 0 if domain is None else domain.items, once, kept)


def _promises(epsilon: float, for_ever: float | None, days: int) -> tuple[float, float]:
    once = wanted("epsilon", epsilon)
    if not days:
        if for_ever is not None:
            raise ArgumentError(
                "for_ever", 'requires repeated answers; pass every="day" too'
            )
        return once, once
    if for_ever is None:
        raise ArgumentError(
            "for_ever",
            "is required with every: it limits the ε of all messages about one value; "
            f"pass for example for_ever={2 * once:g}",
        )
    return once, wanted("for_ever", for_ever)


def _minimum(minimum: int | None, n: int) -> int:
    """A hundred messages, or a tenth of what is expected if that is less."""
    return max(min(USUAL, n // 10), 2) if minimum is None else minimum
