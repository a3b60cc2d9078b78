"""What a question may cost and how to split it, as stated by keyword."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue.names import nearest
from dither.query.plan.spend import Asked
from dither.query.sql.question import Output

__all__ = ["asked_of", "spelled"]

MOST_KEPT = 100_000
"""For how many keys or different values one unit may count; an engine keeps a list of
as many for a heavy one.
"""


def asked_of(cost: dict[str, Any]) -> Asked:
    """What was stated as keyword arguments."""
    known = {
        "epsilon",
        "rho",
        "share",
        "error",
        "expect",
        "shares",
        "radius",
        "groups",
        "values",
        "mechanism",
    }
    for name in cost:
        if name not in known:
            raise ArgumentError(
                name, f"is unknown; {nearest(name, sorted({*known, 'by'}))}"
            )
    stated = {name: value for name, value in cost.items() if value is not None}
    for name, value in stated.items():
        if isinstance(value, bool):
            raise ArgumentError(name, "must be a number, not true or false")
    for name, most in (
        ("expect", 1 << 40),
        ("groups", MOST_KEPT),
        ("values", MOST_KEPT),
    ):
        whole = isinstance(stated.get(name, 1), int) and not isinstance(
            stated.get(name), bool
        )
        if not (whole and 1 <= stated.get(name, 1) <= most):
            raise ArgumentError(name, f"must be a whole number from 1 to {most:,}")
    if not isinstance(stated.get("mechanism", ""), str):
        raise ArgumentError("mechanism", 'must be a name such as "laplace"')
    for name in ("shares", "radius"):
        if name in stated:
            stated[name] = _by_column(name, stated[name])
    return Asked(**stated)


def _by_column(argument: str, stated: Any) -> tuple[tuple[str, float], ...]:
    pairs = stated.items() if isinstance(stated, Mapping) else [("", stated)]
    try:
        found = tuple((str(name), float(size)) for name, size in pairs)
    except (TypeError, ValueError, OverflowError):
        found = (("", 0.0),)
    if not all(0 < size < 1e300 for _, size in found):
        raise ArgumentError(
            argument, 'must be positive numbers by column, such as {"n": 20}'
        )
    return found


def spelled(asked: Asked, outputs: tuple[Output, ...]) -> Asked:
    """What was stated by column, under the names that the columns of the answer have."""
    names = {_plain(output.name): output.name for output in outputs}
    shares = tuple((_named("shares", name, names), part) for name, part in asked.shares)
    radius = tuple((_named("radius", name, names), size) for name, size in asked.radius)
    return replace(asked, shares=shares, radius=radius)


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
        "give the column a name, such as COUNT(*) AS n, and state "
        f'{argument}={{"n": 1}}'
    )
    raise ArgumentError(
        argument,
        f"names a column {name!r} that the answer does not have ({known}); {way_out}",
    )
