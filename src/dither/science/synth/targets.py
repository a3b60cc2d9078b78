"""Public tables that a synthetic one is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.synth.checking import Places, tables_of
from dither.science.synth.marginals import Codes
from dither.science.synth.names import places_of

if TYPE_CHECKING:
    from dither.science.synth.domain import Domain
    from dither.science.synth.result import Synthetic

__all__ = ["against"]

Reals = NDArray[np.float64]
EXAMPLE = 'targets={("sex",): {"f": 0.51, "m": 0.49}}, or a public frame'


def against(release: Synthetic, targets: Any) -> list[tuple[Places, float]]:
    """The distance of the made-up rows from each target, as shares."""
    made = Codes.of(release.codes, release.domain.sizes)
    found = []
    for places, wanted in _tables(release.domain, targets):
        own = _shares(made, places)
        found.append((places, float(np.abs(own - wanted).sum())))
    return found


def _shares(codes: Codes, places: Places) -> Reals:
    counts = codes.one(places[0]) if len(places) == 1 else codes.two(*places)
    return np.asarray(counts.reshape(-1) / max(int(counts.sum()), 1))


def _tables(domain: Domain, targets: Any) -> Iterator[tuple[Places, Reals]]:
    if isinstance(targets, Mapping) and _written(targets):
        for key, wanted in targets.items():
            names = (key,) if isinstance(key, str) else tuple(key)
            places = places_of(domain, names, "targets")
            yield places, _declared(domain, places, wanted)
        return
    yield from _of_frame(domain, targets)


def _written(targets: Mapping[Any, Any]) -> bool:
    return all(isinstance(one, Mapping) for one in targets.values())


def _declared(domain: Domain, places: Places, wanted: Mapping[Any, Any]) -> Reals:
    """A table somebody wrote down: labels with counts or shares."""
    columns = [domain.columns[domain.names[place]] for place in places]
    known = list(product(*(column.labels for column in columns)))
    names = [key[0] if len(key) == 1 else key for key in known]
    unknown = [key for key in wanted if key not in names]
    if unknown:
        raise ArgumentError(
            "targets",
            f"contain {unknown[0]!r:.60}, which is not declared; use labels such as "
            f"{', '.join(repr(one) for one in names[:6])}",
        )
    values = np.array([_number(wanted.get(name, 0)) for name in names], np.float64)
    if not values.sum() > 0:
        raise ArgumentError("targets", f"must not all be 0; pass {EXAMPLE}")
    return np.asarray(values / values.sum())


def _number(value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = -1.0
    if not 0 <= found < np.inf:
        raise ArgumentError("targets", f"must be counts or shares; pass {EXAMPLE}")
    return found


def _of_frame(domain: Domain, frame: Any) -> Iterator[tuple[Places, Reals]]:
    """All small tables of a public frame's columns."""
    try:
        named = getattr(frame, "column_names", getattr(frame, "columns", frame))
        held = [str(name) for name in named]
        shared = [place for place, name in enumerate(domain.names) if name in held]
    except TypeError:
        shared = []
    if not shared:
        raise ArgumentError(
            "targets", f"must have a column of the domain; pass {EXAMPLE}"
        )
    codes = [
        domain.columns[domain.names[one]].code(frame[domain.names[one]])
        for one in shared
    ]
    sizes = [domain.sizes[one] for one in shared]
    public = Codes.of(np.stack(codes, axis=1), sizes)
    for places in tables_of(range(len(shared))):
        yield tuple(shared[one] for one in places), _shares(public, places)
