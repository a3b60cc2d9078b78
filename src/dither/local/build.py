"""A task from what a developer knows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.local.choose import PAYLOAD, choose, domain_of, make
from dither.local.domain import Domain
from dither.local.oracles import Oracle
from dither.local.signing import SigningKey
from dither.local.task import PERIODS, Task
from dither.local.thresholds import wanted
from dither.privacy.numbers import whole

__all__ = ["task"]

USUAL = 100  # messages below which nothing is estimated


@by_name('task(name, domain=["a", "b"], epsilon=1.0, n=100_000)')
def task(
    name: str,
    *,
    domain: int | Sequence[Any] | Domain | None = None,
    epsilon: float,
    for_ever: float | None = None,
    distinct: int = 1,
    every: str | int | None = None,
    n: int,
    messages: int = 1,
    minimum: int | None = None,
    starts: date | None = None,
    expires: date | None = None,
    attribute: str = "",
    strata: Sequence[str] = (),
    none: bool = True,
    oracle: str | Oracle | None = None,
    payload: int | None = PAYLOAD,
    key: SigningKey | None = None,
) -> Task:
    """A question to devices: which of the values of `domain` do they hold?

    A device answers once, unless `every` says how often: "day", "week" or a number of
    days. Then `for_ever` is the ε of all its messages about one value, and `distinct`
    how many values of a device are told apart. `epsilon` is the ε of one message, `n`
    how many messages are expected: the oracle with the smallest variance is chosen
    (`choose`), unless `oracle` names one. domain=None counts any text.

    The task runs from `starts` (today) until before `expires` (a year later).
    """
    for one, day in (("starts", starts), ("expires", expires)):
        if day is not None and type(day) is not date:
            raise ArgumentError(one, "must be a day, such as date(2027, 1, 31)")
    days = _days(every)
    once, kept = _promises(epsilon, for_ever, days)
    expected = whole("n", n, "pass how many messages are expected")
    values = None if domain is None else domain_of(domain, none)
    if not isinstance(oracle, Oracle):
        items = 0 if values is None else values.items
        oracle = (
            make(oracle, items, once, kept)
            if oracle
            else choose(
                values,
                epsilon=once,
                n=expected,
                for_ever=kept if days else None,
                payload=payload,
            ).oracle
        )
    first = starts or datetime.now(UTC).date()  # as devices count days
    made = Task(
        name=name,
        oracle=oracle,
        domain=values,
        epsilon=once,
        for_ever=kept,
        distinct=distinct,
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


def _promises(epsilon: float, for_ever: float | None, days: int) -> tuple[float, float]:
    once = wanted("epsilon", epsilon)
    if not days:
        if for_ever is not None:
            raise ArgumentError(
                "for_ever", 'is for devices that answer again; pass every="day" too'
            )
        return once, once
    if for_ever is None:
        raise ArgumentError(
            "for_ever",
            "is missing: pass the ε that all messages about one value may lose "
            f"together, such as {2 * once:g}",
        )
    return once, wanted("for_ever", for_ever)


def _minimum(minimum: int | None, n: int) -> int:
    """A hundred messages, or a tenth of what is expected if that is less."""
    return max(min(USUAL, n // 10), 2) if minimum is None else minimum
