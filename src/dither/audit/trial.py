"""`audit.mechanism`: tries to refute a claimed guarantee by drawing from two
neighbouring inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from dither.audit.criteria import Bound, Counts, Criterion, criterion_of
from dither.audit.drawing import Caller, CallRaised, Progress, Side, takes_size
from dither.audit.events import CHOICES, Rule, choose
from dither.audit.finding import Finding
from dither.audit.outcomes import FAMILY, Encoder, Outcomes, joined
from dither.errors import ArgumentError, UnitMismatch
from dither.noise import uniform_integers
from dither.privacy import Guarantee, Unit
from dither.privacy.numbers import confidence_level, float_down, whole
from dither.progress import working

__all__ = ["mechanism"]

CHOOSING = 5
MOST_CHOOSING = 100_000
"""A fifth of the draws, at most so many of each input, choose the event; all others
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


def mechanism(
    f: Callable[..., Any],
    a: Any = None,
    b: Any = None,
    *,
    claimed: Guarantee | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    draws: int = 100_000,
    confidence: float = 0.999,
    vectorized: bool | None = None,
    unit: Unit | None = None,
    progress: Progress | None = None,
) -> Finding:
    """Tries to refute that a callable keeps a claimed guarantee on neighbouring inputs
    a and b (or `pairs` of them).

    `f(x)` makes one release, or `f(x, size)` so many independent ones along the first
    axis (`vectorized` says which, where the arguments of f do not). Outputs may be
    anything; what f raises is an output too. `claimed` may be left out for the
    `release` of a mechanism. `unit` is what the inputs differ in, if it is to be
    compared with the claim's. `progress` is called with the draws made and to be made.

    Guarantee: a claim that holds is called refuted with probability at most 1 −
    confidence, over all pairs together.
    Why: the event is chosen on draws that are not used again; on the others, each from
    an input chosen by a fair coin, an exact bound holds whatever was chosen
    (`criteria.py`); pairs share the alarm rate evenly.
    Assumes: draws of f are independent. A guarantee that is not refuted is not proved.
    """
    promise = _claim(f, claimed, unit)
    criterion, inputs = criterion_of(promise), _pairs(a, b, pairs)
    alarm = float_down(1 - confidence_level("confidence", confidence))
    each = alarm / len(inputs)
    count = whole(
        "draws", draws, "pass how many to make of each input, such as 100_000"
    )
    _check_draws(criterion, count, each)
    many = takes_size(f) if vectorized is None else vectorized
    total = 2 * count * len(inputs)
    trials = []
    with working("auditing") as tell:
        for number, (here, there) in enumerate(inputs):
            caller = Caller(f, many, many, total, progress or tell, 2 * count * number)
            trials.append(Trial(caller, criterion, count, each).run(here, there))
    best = max(range(len(trials)), key=lambda i: trials[i].bound.value)
    rule, counts, bound = trials[best].rule, trials[best].counts, trials[best].bound
    return Finding(
        refuted=bound.value > criterion.claimed,
        claimed=promise,
        measure=criterion.name,
        lower=bound.value,
        epsilon_lower=bound.epsilon,
        event=rule.words,
        right=counts.right,
        guesses=counts.guesses,
        draws=count,
        false_alarm=alarm,
        pair=best,
        pairs=len(inputs),
    )


@dataclass(frozen=True)
class Trial:
    """One pair of inputs.

    Where a call for many draws raises, nobody knows in which of them. If that shows at
    once, in a few draws that are not used, or else when it first happens, all are drawn
    one by one. In the second case what was not thrown away would be more often without
    an exception than it should; so a small part of the alarm rate is kept for it.
    """

    caller: Caller
    criterion: Criterion
    draws: int
    alarm: float

    def run(self, a: Any, b: Any) -> Judged:
        """The rule with the highest bound, of those that were chosen."""
        apart = replace(self.caller, together=False)
        if not self.caller.together or any(
            self.caller.raises(x, PROBES) for x in (a, b)
        ):
            return self._judged(apart, self.alarm, (a, b))
        try:
            return self._judged(replace(self.caller), self.alarm * (1 - LATE), (a, b))
        except CallRaised:
            return self._judged(apart, self.alarm * LATE, (a, b))

    def _judged(self, caller: Caller, alarm: float, inputs: tuple[Any, Any]) -> Judged:
        """Nothing that is chosen, and no encoding, depends on a draw that judges."""
        few = min(ALONE, self.draws // 50) if caller.together else 0
        bulk, alone, encoder = _plan(self.draws - few), _plan(few), Encoder()
        apart = [
            caller.alone(x, alone.choosing + n)
            for x, n in zip(inputs, alone.judging, strict=True)
        ]
        early = [encoder.encode(one[: alone.choosing], alone=True) for one in apart]
        sides = [
            Side(caller, encoder, x, bulk.choosing + n)
            for x, n in zip(inputs, bulk.judging, strict=True)
        ]
        chosen = [side.take(bulk.choosing) for side in sides]
        encoder.settled = True
        _check_outputs(encoder, chosen)
        mixed = [
            _interleaved(encoder.again(one), encoder.again(other))
            for one, other in zip(chosen, early, strict=True)
        ]
        made = bulk.judging[0] + alone.judging[0], bulk.judging[1] + alone.judging[1]
        rules = choose(encoder, mixed, self.criterion, alarm, sum(made))
        late = [encoder.encode(one[alone.choosing :], alone=True) for one in apart]
        seen = [
            _seen(rules, side, other) for side, other in zip(sides, late, strict=True)
        ]
        found = []
        for number, (rule, part) in enumerate(rules):
            counts = rule.counts([one[number] for one in seen], made)
            found.append(Judged(rule, counts, self.criterion.bound(counts, part)))
        return max(found, key=lambda one: one.bound.value)


@dataclass(frozen=True)
class Judged:
    """A rule, how often it was right, and what that proves."""

    rule: Rule
    counts: Counts
    bound: Bound


@dataclass(frozen=True)
class _Split:
    """How many draws of each input choose the event, and how many of each judge it."""

    choosing: int
    judging: tuple[int, int]


def _plan(draws: int) -> _Split:
    choosing = min(draws // CHOOSING, MOST_CHOOSING)
    total = 2 * (draws - choosing)
    first = _heads(total)
    return _Split(choosing, (first, total - first))


def _heads(coins: int) -> int:
    """How many of so many fair coins show heads: each draw that judges is of an input
    chosen by one.
    """
    words, rest = divmod(coins, 32)
    found = (
        int(np.bitwise_count(uniform_integers(1 << 32, words)).sum()) if words else 0
    )
    return found + (int(uniform_integers(1 << rest)).bit_count() if rest else 0)


def _interleaved(many: Outcomes, few: Outcomes) -> Outcomes:
    """Both, so that each half of the result has half of each."""
    a, b = len(many) // 2, len(few) // 2
    return joined([many[:a], few[:b], few[b:], many[a:]])


def _seen(
    rules: Sequence[tuple[Rule, float]], side: Side, apart: Outcomes
) -> list[tuple[int, int]]:
    """For each rule, how many of one input's draws it takes for either input's."""
    totals = np.zeros((len(rules), 2), np.int64)
    for outcomes in chain(side.rest(), [apart]):
        totals += np.array([rule.count(outcomes) for rule, _ in rules])
    return [(int(first), int(second)) for first, second in totals]


def _check_outputs(encoder: Encoder, chosen: Sequence[Outcomes]) -> None:
    families = set((np.concatenate([one.kinds for one in chosen]) // FAMILY).tolist())
    words = encoder.names.get(min(families) * FAMILY, "")
    if len(families) == 1 and words.startswith("it raises"):
        name = words.removeprefix("it raises ")
        raise ArgumentError(
            "f",
            f"raised {name} in every draw on both inputs; pass what f(x) or "
            "f(x, size) accepts",
        )


def _claim(
    f: Callable[..., Any], claimed: Guarantee | None, unit: Unit | None
) -> Guarantee:
    if not callable(f):
        raise ArgumentError(
            "f", f"must be a callable such as mechanism.release, not {type(f).__name__}"
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
            f"is about {promise.unit}, but what is audited about "
            f"{stated}{_way(stated, promise.unit)}",
        )
    return promise


def _way(stated: Unit, claimed: Unit) -> str:
    if not stated.follows_from(claimed):
        return "; audit the guarantee for that unit"
    if stated.relation is not claimed.relation:
        return "; convert it with claimed.for_replacement()"
    return "; state it with claimed.for_facts([…])"


def _pairs(
    a: Any, b: Any, pairs: Sequence[tuple[Any, Any]] | None
) -> list[tuple[Any, Any]]:
    if pairs is None:
        return [(a, b)]
    if a is not None or b is not None:
        raise ArgumentError("pairs", "are given beside a and b; pass one or the other")
    listed = list(pairs)
    if not listed or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 for pair in listed
    ):
        raise ArgumentError(
            "pairs", "must list pairs of neighbouring inputs, such as [(0, 1), (5, 4)]"
        )
    return [(one, other) for one, other in listed]


def _check_draws(criterion: Criterion, draws: int, alarm: float) -> None:
    """Refuse an audit that could not refute the claim whatever f did."""
    if _enough(criterion, draws, alarm):
        return
    low, high = draws, max(2 * draws, 16)
    while not _enough(criterion, high, alarm):
        low, high = high, 2 * high
        if high > 1 << 60:
            raise ArgumentError(
                "draws",
                "cannot refute so weak a claim, however many there are; audit a "
                "smaller part",
            )
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (
            (low, middle) if _enough(criterion, middle, alarm) else (middle, high)
        )
    raise ArgumentError(
        "draws",
        f"{draws:,} cannot refute {criterion.name} = "
        f"{criterion.claimed:g} whatever is wrong; "
        f"make at least {high:,} of each input",
    )


def _enough(criterion: Criterion, draws: int, alarm: float) -> bool:
    judging, (_, part) = draws - min(draws // CHOOSING, MOST_CHOOSING), CHOICES[0]
    return (
        draws >= FEWEST
        and criterion.best(judging, alarm * (1 - LATE) * part) > criterion.claimed
    )
