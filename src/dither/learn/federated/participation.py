"""Limits on how often a client takes part, if sampling of clients cannot be guaranteed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.learn.failures import attempted
from dither.noise import uniform_integers
from dither.privacy.numbers import whole

__all__ = ["Admission", "Arrivals", "Participation", "Phases", "Told", "check_told"]

Places = NDArray[np.intp]
Arrivals = Callable[[int], Places]
"""The numbers of the clients that come in a round, which is counted from 1."""
NEVER = -(1 << 60)


@dataclass(frozen=True)
class Participation:
    """A client takes part at most `most` times, with `gap` rounds or more from one time
    to the next: gap=1 allows neighbouring rounds. `train` enforces it for each client by
    itself: whoever comes too early, or once more, is turned away and not replaced.
    """

    gap: int
    most: int

    def __post_init__(self) -> None:
        whole("gap", self.gap, "pass the smallest distance in rounds, such as 20")
        whole(
            "most", self.most, "pass the largest number of rounds per client, such as 5"
        )

    def times(self, rounds: int) -> int:
        """How often a client can take part in so many rounds."""
        return min(self.most, 1 + (rounds - 1) // self.gap)

    def period(self, rounds: int) -> int:
        """How often a client comes where nobody says when: evenly over the run."""
        return max(self.gap, -(-rounds // self.most))


@dataclass
class Admission:
    """Who has taken part, and when. What is decided about a client depends on that
    client's own arrivals alone.
    """

    rule: Participation
    clients: int
    last: Places = field(init=False)
    times: Places = field(init=False)

    def __post_init__(self) -> None:
        self.last = np.full(self.clients, NEVER, np.intp)
        self.times = np.zeros(self.clients, np.intp)

    def admit(self, number: int, arrived: Places) -> Places:
        """Those that may take part in a round, each once; they have then taken part."""
        known = arrived[(arrived >= 0) & (arrived < self.clients)]
        once = np.unique(known)
        late = number - self.last[once] >= self.rule.gap
        admitted = once[late & (self.times[once] < self.rule.most)]
        self.last[admitted] = number
        self.times[admitted] += 1
        return admitted


@dataclass(frozen=True)
class Phases:
    """Each client comes once in a period, from a first round that is drawn for it."""

    period: int
    first: Places

    @classmethod
    def drawn(cls, period: int, clients: int) -> Phases:
        found = uniform_integers(period, clients) if clients else np.zeros(0)
        return cls(period, np.asarray(found, np.intp))

    def __call__(self, number: int) -> Places:
        return np.flatnonzero(self.first == (number - 1) % self.period)


@dataclass(frozen=True)
class Told:
    """Clients come as a function says, by their names. It is part of the data: what it
    names and nobody is, and a round in which it fails, has nobody.
    """

    ask: Callable[[int], Iterable[Any]]
    places: Mapping[Any, int]

    def __call__(self, number: int) -> Places:
        found: list[int] = []

        def ask() -> None:
            for one in self.ask(number):
                found.append(self._place(one))

        attempted(ask)  # whoever came before it failed has come
        return np.array(found, np.intp)

    def _place(self, one: Any) -> int:
        found, error = attempted(lambda: self.places.get(one, -1))
        # Whatever is odd is nobody's name, and stops no other.
        return -1 if error is not None or found is None else found


def check_told(arrivals: Any, participation: Any) -> None:
    """Sampling and a schedule of one's own exclude each other."""
    if participation is not None and not isinstance(participation, Participation):
        raise ArgumentError(
            "participation",
            "must be a Participation; pass Participation(gap=20, most=5)",
        )
    if arrivals is None:
        return
    if not callable(arrivals):
        raise ArgumentError("arrivals", "must be a function of the number of a round")
    if participation is None:
        raise ArgumentError(
            "arrivals",
            "needs participation, because clients that arrive by themselves are not "
            "sampled; pass participation=Participation(gap=20, most=5), which is "
            "enforced",
        )
