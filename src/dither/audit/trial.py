"""`audit.mechanism`: tries to refute a claimed guarantee by drawing from two
neighbouring inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from dither.audit.checks import (
    ALONE,
    CHOOSING,
    FEWEST,
    HANGS,
    LATE,
    MOST_CHOOSING,
    PROBES,
    check_draws,
    claim_of,
    crew_of,
    pairs_of,
)
from dither.audit.criteria import Bound, Counts, Criterion, criterion_of
from dither.audit.drawing import Caller, CallRaised, Progress, Side, takes_size
from dither.audit.events import Rule, choose
from dither.audit.finding import Finding
from dither.audit.outcomes import FAMILY, Encoder, Outcomes, Raised, joined
from dither.audit.workers import TIMED_OUT
from dither.errors import ArgumentError
from dither.noise import uniform_integers
from dither.privacy import Guarantee, Unit
from dither.privacy.numbers import confidence_level, float_down, whole
from dither.progress import working
from dither.text import clean

__all__ = ["FEWEST", "mechanism"]

SHOWN = 80


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
    workers: int = 0,
    timeout: float | None = None,
) -> Finding:
    """Tries to refute that a callable keeps a claimed guarantee on neighbouring inputs
    a and b (or `pairs` of them).

    `f(x)` makes one release, or `f(x, size)` so many independent ones along the first
    axis (`vectorized` says which, where the arguments of f do not). Outputs may be
    anything; what f raises is an output too. `claimed` may be left out for the
    `release` of a mechanism. `unit` is what the inputs differ in, if it is to be
    compared with the claim's. `progress` is called with the draws made and to be made.

    `workers` are processes that call f, at once; 0 calls it in this one. A call that
    takes longer than `timeout` seconds is ended, and that is an output too; such calls
    are made in a process of their own.

    Guarantee: a claim that holds is called refuted with probability at most 1 −
    confidence, over all pairs together.
    Why: the event is chosen on draws that are not used again; on the others, each from
    an input chosen by a fair coin, an exact bound holds whatever was chosen
    (`criteria.py`); pairs share the alarm rate evenly.
    Assumes: draws of f are independent, also those of different processes: generators
    that f visibly holds get new seeds there (`reseeded.py`), but one that is hidden
    would repeat itself in each of them. A guarantee that is not
    refuted is not proved.
    """
    promise = claim_of(f, claimed, unit)
    criterion, inputs = criterion_of(promise), pairs_of(a, b, pairs)
    alarm = float_down(1 - confidence_level("confidence", confidence))
    each = alarm / len(inputs)
    count = whole(
        "draws", draws, "pass how many to make of each input, such as 100_000"
    )
    check_draws(criterion, count, each)
    many = takes_size(f) if vectorized is None else vectorized
    total = 2 * count * len(inputs)
    crew, trials = crew_of(f, many, inputs, workers, timeout), []
    with working("auditing") as tell, crew as held:
        for number, (here, there) in enumerate(inputs):
            told, done = progress or tell, 2 * count * number
            caller = Caller(f, many, many, total, told, done, held)
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
        _check_works(self.caller, a, b)
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
    """Number of draws of each input that choose the event, and number that judge it."""

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


def _check_works(caller: Caller, a: Any, b: Any) -> None:
    """Refuse at once what raises the same in every call, whatever the input."""
    found = set[Any]()
    for number, value in enumerate([a, b] * PROBES):
        one = caller.first(value)
        if not isinstance(one, Raised):
            return
        found.add(one)
        if len(found) > 1:
            return
        if one.name == TIMED_OUT and number >= HANGS:
            break
    (same,) = found
    raise _raising(same.name, same.message)


WAYS_OUT = {
    "CommandFailed": "pass a command that prints one line for each line it reads and ends with code 0",
    TIMED_OUT: "pass a longer timeout or a faster function",
}


def _raising(name: str, message: str = "") -> ArgumentError:
    said = f" ({clean(message[:SHOWN])})" if message else ""
    way_out = WAYS_OUT.get(name, "pass what f(x) or f(x, size) accepts")
    return ArgumentError(
        "f",
        f"the function raised {name} in every draw on both inputs{said}; {way_out}",
    )


def _check_outputs(encoder: Encoder, chosen: Sequence[Outcomes]) -> None:
    families = set((np.concatenate([one.kinds for one in chosen]) // FAMILY).tolist())
    words = encoder.names.get(min(families) * FAMILY, "")
    if len(families) == 1 and words.startswith("it raises"):
        raise _raising(words.removeprefix("it raises "))
