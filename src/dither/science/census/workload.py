"""The marginals that every level of a census has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dither.errors import ArgumentError
from dither.privacy.numbers import fraction
from dither.science.census.attributes import Attributes

__all__ = ["Marginal", "Workload", "weight_of", "workload_of"]

Marginal = tuple[int, ...]

MOST_MARGINALS = 64
MANY = 10**6


@dataclass(frozen=True)
class Workload:
    """The marginals that every level has, each with its weight in the cost."""

    marginals: tuple[Marginal, ...]
    weights: tuple[Fraction, ...]


def workload_of(stated: Any, attributes: Attributes) -> Workload:
    """The marginals of every level: the total and the cross of all attributes, unless
    said otherwise. A mapping gives each a weight.
    """
    if stated is None:
        everything = tuple(range(len(attributes.names)))
        default = [(), everything] if everything else [()]
        return Workload(tuple(default), (Fraction(1),) * len(default))
    wrong = isinstance(stated, str | bytes) or not isinstance(stated, Iterable)
    listed = [] if wrong else list(stated)
    if not 0 < len(listed) <= MOST_MARGINALS:
        raise ArgumentError(
            "workload",
            f"must list 1 to {MOST_MARGINALS} marginals as tuples of attributes; pass "
            'for example [(), ("sex",), ("sex", "age")], where () is the total',
        )
    found = [_one_marginal(one, attributes) for one in listed]
    double = next((one for one in found if found.count(one) > 1), None)
    if double is not None:
        shown = tuple(attributes.names[place] for place in double)
        raise ArgumentError(
            "workload", f"must list each marginal once, and has {shown} twice; drop one"
        )
    weights = stated.values() if isinstance(stated, Mapping) else [1] * len(found)
    return Workload(tuple(found), tuple(weight_of("workload", one) for one in weights))


def _one_marginal(stated: Any, attributes: Attributes) -> Marginal:
    if isinstance(stated, str):
        stated = (stated,)
    if not isinstance(stated, tuple | list | frozenset | set):
        raise ArgumentError(
            "workload",
            f'must list tuples of attributes, not {stated!r:.40}; write ("sex",)',
        )
    found = sorted({attributes.place(name, "workload") for name in stated})
    return tuple(found)


def weight_of(argument: str, stated: Any) -> Fraction:
    found = fraction(argument, stated, "pass weights such as 1 or 2")
    if found < 0 or found > MANY:
        raise ArgumentError(
            argument,
            "must have weights from 0 to 1,000,000; pass weights such as 1 or 2",
        )
    return found
