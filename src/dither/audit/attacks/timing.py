"""Timing bits: a question that takes longer if one person's row is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.attack import Attack
from dither.audit.attacks.rates import Rate, rate
from dither.audit.attacks.rebuilt import percent
from dither.audit.attacks.worlds import database, guarded
from dither.errors import ArgumentError, DitherError
from dither.noise import uniform_integers
from dither.privacy.numbers import whole

__all__ = ["Timing", "timing", "told_by_time"]

LONG = 20_000_000
SLOW = "SELECT COUNT(*) FROM people WHERE length(repeat('x', length)) > 0"
PLAIN = "SELECT COUNT(*) FROM people WHERE length > 0"


@dataclass(frozen=True)
class Timing(Attack):
    """How often a person's secret is told by how long a question takes. Time is outside
    of every guarantee: no bound is stated, and what is measured is a warning.
    """

    _name: ClassVar[str] = "timing"
    _not_stopped: ClassVar[str] = (
        "time, at all. How long an answer takes is outside of the guarantee, here and "
        "elsewhere. Functions like this one are refused, which slows an attacker down; to "
        "hide the time, show answers at a time that is fixed in advance."
    )
    refused: bool
    found: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        return self.found

    @property
    def title(self) -> str:
        return "A question that is slow for one person's row"

    @property
    def sentences(self) -> tuple[str, str]:
        naive, ours = self.found
        refusal = (
            "is refused before anything is read" if self.refused else "is answered"
        )
        return (
            "The attacker asks for a count whose condition takes long for one person if "
            "that person is ill, and looks at the clock.",
            "With a database that adds noise, the attacker is right in "
            f"{percent(naive.share)} of {naive.tries:,} cases, whatever its noise. Here that "
            f"question {refusal}, and with one that is answered the attacker is right in "
            f"{percent(ours.share)}, where guessing is right in 50 %.",
        )

    def _more(self) -> dict[str, Any]:
        return {"refused": self.refused, "guarantee": "none: time is outside of it"}


def timing(
    *, tries: int = 40, clock: Callable[[], float] = time.process_time
) -> Timing:
    """The timing attack on a database and on a dataset of ours. A coin decides in each
    try whether the person is ill.

    The attacker learns a line between fast and slow from as many further tries.
    `clock` gives seconds; by default those that this process computes.
    """
    many = whole("tries", tries, "pass how often to try, such as 40")
    if many < 2:
        raise ArgumentError("tries", "must be 2 or more; pass a number such as 40")
    secret = uniform_integers(2, (2 * many,)) == 1
    # Both worlds are in the tries to learn from.
    secret[:2] = (True, False)
    naive, ours, refused = [], [], []
    for ill in secret.tolist():
        with database(ill=ill, long=LONG) as connection:
            # The slow question comes last: its memory is freed on the clock of the next.
            with guarded(connection, budget=1.0) as held:
                refused.append(_refused(held))
                ours.append(_seconds(clock, lambda: held.sql(PLAIN, epsilon=0.5)))
            naive.append(_seconds(clock, lambda: connection.execute(SLOW).fetchall()))
    return Timing(
        all(refused),
        (
            rate("noise alone: slow or fast", told_by_time(naive, secret), 0.5),
            rate("ours: slow or fast", told_by_time(ours, secret), 0.5),
        ),
    )


def told_by_time(seconds: Sequence[float], secret: Any) -> NDArray[np.bool_]:
    """Whether times tell the secret rightly in the second half of the tries, by the line
    between the medians of the first half.
    """
    times, ill = np.asarray(seconds, np.float64), np.asarray(secret, np.bool_)
    half = times.size // 2
    with_it = np.median(times[:half][ill[:half]])
    without = np.median(times[:half][~ill[:half]])
    slower = with_it > without
    beyond = times[half:] > (with_it + without) / 2
    return np.asarray((beyond == slower) == ill[half:])


def _seconds(clock: Callable[[], float], ask: Callable[[], Any]) -> float:
    start = clock()
    ask()
    return clock() - start


def _refused(held: Any) -> bool:
    try:
        held.preview(SLOW, epsilon=0.5)
    except DitherError:
        return True
    return False
