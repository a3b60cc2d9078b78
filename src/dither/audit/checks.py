"""The arguments of an audit, checked before anything is drawn, and the split of its
draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import chain
from typing import Any

from dither.audit.criteria import Criterion, criterion_of
from dither.audit.events import CHOICES
from dither.audit.workers import Crew
from dither.errors import ArgumentError, UnitMismatch
from dither.privacy import Guarantee, Unit

__all__ = [
    "ALONE",
    "CHOOSING",
    "FEWEST",
    "HANGS",
    "LATE",
    "MOST_CHOOSING",
    "PROBES",
    "check_draws",
    "claim_of",
    "crew_of",
    "pairs_of",
]

CHOOSING = 5
MOST_CHOOSING = 100_000
"""A fifth of the draws, up to this number for each input, choose the event; all others
judge it.
"""
ALONE = 1000
"""So many draws of each input, but not more than one in fifty, come from calls for one
draw.
"""
PROBES = 20
LATE = 0.05
"""So many draws of each input show beforehand whether calls raise, and this part of the
alarm rate is kept for those that raise later. See `Trial`.
"""
FEWEST = 100
HANGS = 3
"""So many calls that hang, one after the other, tell that all do."""


def crew_of(
    f: Callable[..., Any],
    vectorized: bool,
    pairs: Sequence[tuple[Any, Any]],
    workers: int,
    timeout: float | None,
) -> Any:
    """Processes to call f in, if there are to be any."""
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 0:
        raise ArgumentError(
            "workers",
            f"must be a number of processes, not {workers!r:.40}; pass a number such as 2",
        )
    if timeout is not None and not 0 < timeout < float("inf"):
        raise ArgumentError(
            "timeout",
            "must be a number of seconds above 0; pass the longest time of a call, such as "
            "10",
        )
    if not workers and timeout is None:
        return nullcontext()
    inputs = list(chain.from_iterable(pairs))
    return Crew(f, vectorized, inputs, max(workers, 1), timeout)


def claim_of(
    f: Callable[..., Any], claimed: Guarantee | None, unit: Unit | None
) -> Guarantee:
    if not callable(f):
        raise ArgumentError(
            "f",
            f"{type(f).__name__} is not callable; pass a function such as "
            "mechanism.release",
        )
    own = getattr(getattr(f, "__self__", None), "guarantee", None)
    promise = own if claimed is None else claimed
    if promise is None:
        raise ArgumentError(
            "claimed",
            "is missing; pass the guarantee to be refuted, such as PureDP(1.0)",
        )
    criterion_of(promise)
    stated = unit if unit is not None else getattr(own, "unit", promise.unit)
    if stated != promise.unit:
        raise UnitMismatch(
            "claimed",
            f"is for {promise.unit}, but the audited function is for "
            f"{stated}{_way(stated, promise.unit)}",
        )
    return promise


def _way(stated: Unit, claimed: Unit) -> str:
    if not stated.follows_from(claimed):
        return "; pass a guarantee for that unit"
    if stated.relation is not claimed.relation:
        return "; convert it with claimed.for_replacement()"
    return "; convert it with claimed.for_facts([…])"


def pairs_of(
    a: Any, b: Any, pairs: Sequence[tuple[Any, Any]] | None
) -> list[tuple[Any, Any]]:
    if pairs is None:
        return [(a, b)]
    if a is not None or b is not None:
        raise ArgumentError(
            "pairs", "cannot be passed together with a and b; pass one or the other"
        )
    listed = list(pairs)
    if not listed or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 for pair in listed
    ):
        raise ArgumentError(
            "pairs",
            "must be pairs of neighbouring inputs; pass a list such as [(0, 1), (5, 4)]",
        )
    return [(one, other) for one, other in listed]


def check_draws(criterion: Criterion, draws: int, alarm: float) -> None:
    """Refuse an audit that could not refute the claim whatever f did."""
    if _enough(criterion, draws, alarm):
        return
    low, high = draws, max(2 * draws, 16)
    while not _enough(criterion, high, alarm):
        low, high = high, 2 * high
        if high > 1 << 60:
            raise ArgumentError(
                "draws",
                "cannot refute a claim this weak, whatever their number; pass a stronger "
                "claim",
            )
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (
            (low, middle) if _enough(criterion, middle, alarm) else (middle, high)
        )
    raise ArgumentError(
        "draws",
        f"{draws:,} draws cannot refute {criterion.name} = {criterion.claimed:g}, "
        f"whatever is wrong; pass draws={high} or more",
    )


def _enough(criterion: Criterion, draws: int, alarm: float) -> bool:
    judging, (_, part) = draws - min(draws // CHOOSING, MOST_CHOOSING), CHOICES[0]
    return (
        draws >= FEWEST
        and criterion.best(judging, alarm * (1 - LATE) * part) > criterion.claimed
    )
