"""Node privacy: a graph whose degrees are held to a cap, so that one vertex counts for
no more than that.

Edges are added one by one, each where both of its ends have fewer than the cap (Day, Li
& Lyu 2016). They come in an order of all pairs that is drawn at random for each
question. It does not depend on the graph, so the edges of others keep their order when
all edges of a vertex go. The order in which vertices are declared would not do: it may
come from the graph, by degrees say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms import Exponential
from dither.noise import secret_bytes
from dither.privacy.numbers import whole
from dither.question import Question
from dither.science.graphs.asking import ladder_epsilon
from dither.science.graphs.kernels import Edges, compiled
from dither.science.graphs.vertices import Integers

__all__ = [
    "CHOICE",
    "CapChoice",
    "declared_cap",
    "histogram_l2",
    "projected_degrees",
    "shuffled",
]

CHOICE = 0.2
"""The part of the cost that choosing a cap takes."""
EXACT = 1 << 52
"""Differences of such numbers are exact in floats."""


def declared_cap(max_degree: int | None, size: int) -> int | None:
    """A public cap on degrees, where one is declared."""
    if size < 2:
        raise ArgumentError(
            "vertices", "must be 2 or more, because an edge has two ends"
        )
    if max_degree is None:
        return None
    way_out = "pass the public number of edges that no vertex exceeds, or leave it out"
    return min(size - 1, whole("max_degree", max_degree, way_out))


def shuffled(edges: Edges) -> Edges:
    """The same graph with its vertices numbered at random, whatever its edges are."""
    words = np.frombuffer(secret_bytes(8 * edges.count), np.uint64)
    number = np.empty(edges.count, np.int64)
    number[np.argsort(words, kind="stable")] = np.arange(edges.count)
    return Edges.of(edges.count, number[edges.low], number[edges.high])


def projected_degrees(edges: Edges, cap: int) -> Integers:
    """Degrees once edges were added up to the cap, in the order of their numbers."""
    low, high = edges.low, edges.high
    fast, degrees = compiled(), np.zeros(edges.count, np.int64)
    if int(edges.degrees.max(initial=0)) <= cap:
        return edges.degrees
    if fast is not None:
        kept: Integers = fast.kept_degrees(low, high, degrees, cap)
        return kept
    return _kept_degrees(low.tolist(), high.tolist(), edges.count, cap)


def _kept_degrees(low: list[int], high: list[int], count: int, cap: int) -> Integers:
    degrees = [0] * count
    for u, v in zip(low, high, strict=True):
        if degrees[u] < cap and degrees[v] < cap:
            degrees[u] += 1
            degrees[v] += 1
    return np.array(degrees, np.int64)


def histogram_l2(cap: int) -> float:
    """√(θ² + (θ + 1)²), rounded up: θ others leave one bin for the next, where the
    vertex itself may join them.
    """
    return math.nextafter(math.sqrt(cap**2 + (cap + 1) ** 2), math.inf)


@dataclass(frozen=True)
class CapChoice:
    """A private choice among caps 1, 2, 4, … up to the first that no degree exceeds.

    What a cap θ costs is −(edges kept) + penalty(θ). One vertex moves the edges kept by
    0 to θ, all caps in the same direction, so the differences between two caps, divided
    by the larger, move by 1 at most; so does the largest of them, which is a cap's
    score (Raskhodnikova & Smith 2016, with max(θ, θ′) in place of θ + θ′).
    """

    size: int
    mechanism: Exponential
    noise: float
    squared: float = 0.0

    @classmethod
    def of(
        cls, question: Question, size: int, noise: float, squared: float = 0.0
    ) -> CapChoice:
        """`noise` and `squared` say how many edges a cap θ is worth for its noise:
        noise·θ + squared·θ².
        """
        epsilon = ladder_epsilon(question)
        chosen = Exponential(sensitivity=1, epsilon=epsilon, unit=question.unit)
        return cls(size, chosen, noise, squared)

    @cached_property
    def caps(self) -> tuple[int, ...]:
        """Powers of two, so that dividing by them is exact."""
        return tuple(1 << power for power in range((self.size - 2).bit_length() + 1))

    @cached_property
    def penalties(self) -> tuple[int, ...]:
        """What noise costs in edges, and what a wrong choice would: the choice's own
        noise is 2 / ε scores, each worth θ edges.
        """
        slack = 2 * math.log(len(self.caps) + 1) / self.mechanism.epsilon
        return tuple(
            min(EXACT, math.ceil((self.noise + slack) * cap + self.squared * cap**2))
            for cap in self.caps
        )

    def scores(self, edges: Edges) -> list[float]:
        """The score of each cap: the best has 0, others less."""
        kept = [int(projected_degrees(edges, cap).sum()) // 2 for cap in self.caps]
        costs = [p - min(EXACT, k) for p, k in zip(self.penalties, kept, strict=True)]
        return [
            -max(
                (mine - other) / max(cap, rival)
                for other, rival in zip(costs, self.caps, strict=True)
            )
            for mine, cap in zip(costs, self.caps, strict=True)
        ]

    def release(self, edges: Edges) -> int:
        chosen = self.caps[self.mechanism.release(self.scores(edges))]
        return min(chosen, self.size - 1)
