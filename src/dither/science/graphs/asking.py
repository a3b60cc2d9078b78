"""What every question about a graph has: a reader, a cost, a unit and notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dither.errors import ArgumentError, UnitMismatch
from dither.privacy import Guarantee, Unit
from dither.question import Paid, Question
from dither.science.declared import note
from dither.science.graphs.reading import Reader

__all__ = [
    "EDGE",
    "NODE",
    "Asked",
    "chosen",
    "edges_only",
    "ladder_epsilon",
    "unit_of",
]

EDGE, NODE = Unit("edge"), Unit("node")
SEPARATE = (
    "edges and nodes have separate accounts about the same people, and neither account "
    "covers what the other one spent"
)
REWIRED = (
    "a node is a vertex whose edges all come or go; one whose edges change is a group of "
    "two (guarantee.for_replacement())"
)
UNITS = {"edge": EDGE, "node": NODE}


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about a graph, settled by what is public, before it is paid for."""

    question: Question
    reader: Reader
    provenance: str

    @classmethod
    def of(
        cls,
        what: str,
        graph: Any,
        cost: Mapping[str, Any],
        *,
        vertices: Any,
        ends: Sequence[str] | None,
        provenance: str | None,
        unit: Unit = EDGE,
    ) -> Asked:
        reader = Reader.of(graph, vertices, ends)
        words = note(f"{len(reader.vertices):,} vertices", provenance)
        question = Question.of(what, cost, unit=unit, dataset=reader.dataset)
        if question.replacing or (reader.dataset is not None and unit == NODE):
            raise ArgumentError(
                "graph",
                "a dataset protects one row, which is one edge that is added or removed; "
                "pass the graph itself with budget= for another unit or relation",
            )
        return cls(question, reader, words)

    @property
    def size(self) -> int:
        """The public number of vertices."""
        return len(self.reader.vertices)

    def asking(self, question: Question) -> Asked:
        """The same about another cost."""
        return replace(self, question=question)

    def for_error(self, sensitivity: int) -> Asked:
        """The same, with a wanted error turned into the ε that reaches it."""
        return self.asking(self.question.for_error(sensitivity))

    @contextmanager
    def paying(self, guarantee: Guarantee | None = None) -> Iterator[Paid]:
        """Charge, then read: all of the cost, if no guarantee says what is used."""
        try:
            with self.question.paying(guarantee) as paid:
                yield paid
        except UnitMismatch as problem:
            name = self.question.unit.name
            way_out = f'pass budget=Budget(epsilon=1.0, unit=Unit("{name}"))'
            words = f"{problem.message}; {way_out}; {SEPARATE}"
            raise UnitMismatch(problem.argument, words) from None

    def notes(self, *more: str) -> tuple[str, ...]:
        """What stands beside every release about a graph."""
        rewired = (REWIRED,) if self.question.unit == NODE else ()
        return self.provenance, *more, *rewired, SEPARATE


def unit_of(unit: Any) -> Unit:
    """Edge or node, by its name or as a unit."""
    found = unit.name if unit in (EDGE, NODE) else unit
    return UNITS[chosen("unit", found, tuple(UNITS))]


def edges_only(unit: Any, what: str, why: str = "") -> None:
    """Refuse node privacy where it is not offered."""
    if unit_of(unit) == NODE:
        raise ArgumentError(
            "unit",
            f"{what} are not available under node privacy{why}; ask for edges or degrees "
            "instead",
        )


def chosen(argument: str, value: Any, choices: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(f'"{one}"' for one in choices)
        raise ArgumentError(argument, f"must be {listed}, not {value!r:.40}")
    return str(value)


def ladder_epsilon(question: Question) -> float:
    """The ε of a choice that costs what was stated: of bounded range ε, it costs
    ρ = ε² / 8.
    """
    if question.rho is None:
        return question.epsilon or 0.0
    return math.sqrt(8 * question.rho) * (1 - 2.0**-48)
