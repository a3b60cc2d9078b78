"""Averaging: the same question asked again and again until its noise cancels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.attack import Attack
from dither.audit.attacks.drawn import Curve, curves
from dither.audit.attacks.rates import Rate, coin, rate
from dither.audit.attacks.rebuilt import percent
from dither.audit.attacks.repeated import Repeated, repeated
from dither.errors import ArgumentError
from dither.mechanisms import Geometric
from dither.noise import uniform_integers
from dither.picture import Picture
from dither.privacy import PureDP
from dither.privacy.numbers import positive, whole

__all__ = ["Averaging", "averaging"]

Bits = NDArray[np.int64]
REPEATS = (1, 4, 16, 64, 256, 1024)
AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Averaging(Attack):
    """How often the mean of repeated answers tells whether one person is counted.

    `naive` draws fresh noise for each answer and forgets what it told. `replayed` gives
    the stored answer again. `reworded` is asked in other words each time, until the
    account is empty. `asked` is what a dataset did when it was really asked.
    """

    _name: ClassVar[str] = "averaging"
    _not_stopped: ClassVar[str] = (
        "an account that is too large. Noise only slows averaging down, and the budget "
        "ends it: a curator who grants a new budget every day never ends it."
    )
    repeats: tuple[int, ...]
    epsilon: float
    budget: float
    naive: tuple[Rate, ...]
    replayed: tuple[Rate, ...]
    reworded: tuple[Rate, ...]
    asked: Repeated

    @property
    def rates(self) -> tuple[Rate, ...]:
        first = (self.naive[0],) if len(self.naive) > 1 else ()
        return (*first, self.naive[-1], self.replayed[-1], self.reworded[-1])

    @property
    def title(self) -> str:
        return "Averaging of repeated noisy answers"

    @property
    def sentences(self) -> tuple[str, str]:
        last = self.repeats[-1]
        return (
            "The attacker asks for one count again and again, and takes the mean to find "
            "out whether it contains a person. A coin decided whether it does.",
            f"After {last:,} answers with fresh noise the attacker is right in "
            f"{percent(self.naive[-1].share, 1)} of the cases, with stored answers in "
            f"{percent(self.replayed[-1].share, 1)}, and with other wordings, each charged "
            f"until ε = {self.budget:g} is spent, in {percent(self.reworded[-1].share, 1)}.",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (str(self.asked), *super().notes)

    def plot(self) -> Picture:
        """Success rate of the attack, by the number of questions."""
        xs = [float(one) for one in self.repeats]
        bound = self.reworded[-1].bound or 0.0
        ends = (xs[0], max(xs[-1], xs[0] + 1))
        lines = [
            Curve("fresh noise each time", xs, [one.share for one in self.naive]),
            Curve(
                "replay of the stored answer", xs, [one.share for one in self.replayed]
            ),
            Curve(
                f"reworded, until ε = {self.budget:g} is spent",
                xs,
                [one.share for one in self.reworded],
            ),
            Curve(
                f"allowed for ε = {self.budget:g} in total",
                ends,
                (bound, bound),
                dots=False,
            ),
        ]
        return curves(self.title, "answers", "right", lines, log=True)

    def _more(self) -> dict[str, Any]:
        kinds = {
            "naive": self.naive,
            "replayed": self.replayed,
            "reworded": self.reworded,
        }
        found = {name: [one.share for one in rates] for name, rates in kinds.items()}
        return {"repeats": list(self.repeats), "asked": self.asked.to_dict()} | found


def averaging(
    *,
    epsilon: float = 0.25,
    budget: float = 1.0,
    repeats: Sequence[int] = REPEATS,
    tries: int = 4000,
) -> Averaging:
    """The averaging attack on a count that is asked for again and again.

    Each answer costs `epsilon`; the account holds `budget`. A dataset is really asked,
    by the same words and by others; rates are over `tries` counts with discrete Laplace
    noise.
    """
    listed = repeats if isinstance(repeats, Sequence) else ()
    often = tuple(whole("repeats", one, "pass numbers of answers") for one in listed)
    many = whole("tries", tries, "pass how often to try, such as 4_000")
    if not often or sorted(set(often)) != list(often):
        raise ArgumentError("repeats", "must be increasing numbers, such as (1, 16)")
    mechanism = Geometric(sensitivity=1, epsilon=epsilon)
    held = positive("budget", budget, "pass what the account holds, such as 1.0")
    affordable = int(round(held / mechanism.epsilon, 9))
    if not affordable:
        raise ArgumentError(
            "budget", "must be enough for one answer; pass epsilon or more"
        )
    naive, replayed, reworded = [], [], []
    once, all_of_it = coin(mechanism.guarantee), coin(PureDP(held))
    for count in often:
        fresh = _told(mechanism, count, many)
        naive.append(rate(f"fresh noise, {_answers(count)}", fresh, 0.5))
        stored = _told(mechanism, 1, many)
        replayed.append(rate(f"replay, {_answers(count)}", stored, 0.5, once))
        paid = min(count, affordable)
        charged = _told(mechanism, paid, many)
        reworded.append(
            rate(f"reworded, {_answers(paid)} charged", charged, 0.5, all_of_it)
        )
    asked = repeated(mechanism.epsilon, affordable, often[-1])
    return Averaging(
        often,
        mechanism.epsilon,
        held,
        tuple(naive),
        tuple(replayed),
        tuple(reworded),
        asked,
    )


def _answers(count: int) -> str:
    return f"{count:,} answer{'s' * (count > 1)}"


def _told(mechanism: Geometric, count: int, tries: int) -> NDArray[np.bool_]:
    """Whether the mean of this number of answers is on the right side, in each try."""
    there = uniform_integers(2, (tries,))
    sums = np.zeros(tries, np.int64)
    step = max(1, AT_ONCE // tries)
    for start in range(0, count, step):
        some = min(step, count - start)
        answers = mechanism.release(np.broadcast_to(there, (some, tries)).copy())
        sums += answers.sum(axis=0)
    says = 2 * sums > count
    return np.asarray(says == there)
