"""What an analyst states beside the SQL: what the answer may cost, and how to spend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.query.catalogue.names import nearest
from dither.query.sql.question import Output

__all__ = ["Request", "request_of"]

MOST_KEPT = 100_000
"""For how many keys or different values one unit may count; an engine keeps a list of
as many for a heavy one.
"""
COSTS = ("epsilon", "rho", "share", "error")
OTHERS = ("expect", "shares", "radius", "groups", "values", "mechanism")


@dataclass(frozen=True)
class Request:
    """A cost, and how it is to be spent.

    `expect` is a public number of rows of a group. `shares` and `radius` are stated by
    column of the answer, or for all of them under the name "". `groups` and `values`
    are the largest numbers of private keys and of different values that one unit
    contributes to; without `groups`, 16, or the declared rows if they are fewer.
    """

    cost: Cost
    expect: int | None = None
    shares: tuple[tuple[str, float], ...] = ()
    radius: tuple[tuple[str, float], ...] = ()
    groups: int | None = None
    values: int | None = None
    mechanism: str | None = None
    fixed: bool = False
    """Whether every radius must be public: all that units have, where that is declared.
    """

    def at(self, epsilon: float) -> Request:
        """The same for this ε. Each radius is public, so that the error is known."""
        return replace(self, cost=Cost(epsilon=epsilon), fixed=True)

    def spelled(self, outputs: tuple[Output, ...]) -> Request:
        """The same, under the names that the columns of the answer have."""
        names = {_plain(output.name): output.name for output in outputs}
        shares = tuple(
            (_named("shares", one, names), part) for one, part in self.shares
        )
        radius = tuple(
            (_named("radius", one, names), size) for one, size in self.radius
        )
        return replace(self, shares=shares, radius=radius)


def request_of(keywords: Mapping[str, Any]) -> Request:
    """What was stated as keyword arguments."""
    known = {*COSTS, *OTHERS}
    for name in keywords:
        if name not in known:
            raise ArgumentError(
                name,
                f"is not a known argument; {nearest(name, sorted({*known, 'by'}))}",
            )
    stated = {name: value for name, value in keywords.items() if value is not None}
    _check(stated)
    for name in ("shares", "radius"):
        if name in stated:
            stated[name] = _by_column(name, stated[name])
    cost = Cost(**{name: stated.pop(name) for name in COSTS if name in stated})
    return Request(cost, **stated)


def _check(stated: Mapping[str, Any]) -> None:
    """Refuse values that no number, whole number or name can be."""
    for name, value in stated.items():
        if isinstance(value, bool):
            raise ArgumentError(name, f"cannot be {value}; {_usual(name)}")
    for name, most in (
        ("expect", 1 << 40),
        ("groups", MOST_KEPT),
        ("values", MOST_KEPT),
    ):
        size = stated.get(name, 1)
        if not (isinstance(size, int) and 1 <= size <= most):
            raise ArgumentError(name, f"must be a whole number from 1 to {most:,}")
    if stated.get("error") == {}:
        raise ArgumentError(
            "error", 'must name a column; pass for example {"n": "±50"}'
        )
    if not isinstance(stated.get("mechanism", ""), str):
        raise ArgumentError(
            "mechanism", 'must be the name of a mechanism, such as "laplace"'
        )


def _usual(name: str) -> str:
    """An example of a value."""
    return "pass a name" if name == "mechanism" else "pass a number"


def _by_column(argument: str, stated: Any) -> tuple[tuple[str, float], ...]:
    pairs = stated.items() if isinstance(stated, Mapping) else [("", stated)]
    try:
        found = tuple((str(name), float(size)) for name, size in pairs)
    except (TypeError, ValueError, OverflowError):
        found = (("", 0.0),)
    if not all(0 < size < 1e300 for _, size in found):
        raise ArgumentError(
            argument,
            'must be one positive number, or one for each column, such as {"n": 20}',
        )
    return found


def _plain(name: str) -> str:
    """A column without a name of its own is called as it was written: case and blanks
    do not matter.
    """
    return "".join(name.casefold().split())


def _named(argument: str, name: str, names: Mapping[str, str]) -> str:
    if not name or _plain(name) in names:
        return names.get(_plain(name), "")
    known = ", ".join(sorted(names.values()))
    way_out = (
        f'give the column a name, such as COUNT(*) AS n, and pass {argument}={{"n": 1}}'
    )
    raise ArgumentError(
        argument,
        f"the answer has no column {name!r} for {argument}, only {known}; {way_out}",
    )
