"""Columns by their names."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from dither.errors import ArgumentError
from dither.science.synth.domain import Domain

__all__ = ["pairs_of", "place_of", "places_of"]


def place_of(domain: Domain, name: Any, argument: str = "columns") -> int:
    """The place of a column in its domain."""
    names = tuple(domain.names)
    if isinstance(name, str) and name in names:
        return names.index(name)
    near = get_close_matches(str(name)[:80], names, 1)
    listed = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
    way_out = f"did you mean {near[0]!r}?" if near else f"use one of {listed}"
    raise ArgumentError(argument, f"the domain has no column {name!r:.80}; {way_out}")


def places_of(domain: Domain, names: Sequence[Any], argument: str) -> tuple[int, ...]:
    """The places of one column, or of two that differ."""
    found = tuple(place_of(domain, name, argument) for name in names)
    if len(found) not in (1, 2) or len(set(found)) < len(found):
        raise ArgumentError(
            argument,
            "must be one column or two different ones, because tables of three or more "
            "columns were not measured; ask for pairs",
        )
    return found


def pairs_of(domain: Domain, pairs: Any) -> tuple[tuple[int, int], ...]:
    """The places of pairs of columns that are measured in any case."""
    way_out = 'pass pairs of columns, such as pairs=[("age", "smokes")]'
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise ArgumentError("pairs", f"must be a list of pairs; {way_out}")
    found = []
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ArgumentError("pairs", f"must have two columns each; {way_out}")
        first, second = (place_of(domain, name, "pairs") for name in pair)
        found.append((first, second))
    return tuple(found)
