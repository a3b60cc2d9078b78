"""The guarantee, and for whom it holds, in words and odds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dither.errors import ArgumentError
from dither.explain.belief import Meaning
from dither.explain.belief_words import POPULATION, others
from dither.explain.explanation import Rows
from dither.explain.report.section import Section
from dither.explain.words import plain, tiny
from dither.ledger.wire import to_json
from dither.privacy import Guarantee, Relation, Unit

__all__ = ["Promise", "whom"]

USUAL = 1e-6
"""The δ at which a guarantee is read as an ε where no account says another one."""
NEIGHBOURS = {
    Relation.ADD_REMOVE: "with one unit more or less: all of one unit's rows come or go",
    Relation.REPLACE: "with one unit replaced: all of one unit's rows are other ones",
}


@dataclass(frozen=True)
class Promise:
    """A guarantee, read as (ε, δ) at an account's δ."""

    guarantee: Guarantee
    at: float = 0.0

    @property
    def pair(self) -> tuple[float, float] | None:
        """ε and δ, without a δ if none is needed; None if no ε says it, as for metric
        privacy.
        """
        for delta in dict.fromkeys((0.0, self.at, USUAL)):
            try:
                epsilon = self.guarantee.epsilon_at(delta)
            except ArgumentError:
                continue
            if math.isfinite(epsilon):
                return epsilon, delta
        return None

    @property
    def in_numbers(self) -> str:
        if self.pair is None:
            return str(self.guarantee)
        epsilon, delta = self.pair
        missed = f", δ = {tiny(delta)}" if delta else ""
        return f"ε = {plain(epsilon)}{missed}"

    @property
    def meaning(self) -> Meaning | None:
        if self.pair is None:
            return None
        epsilon, delta = self.pair
        return Meaning(epsilon, delta, relation=self.guarantee.unit.relation)

    def section(self, title: str = "What is promised") -> Section:
        meaning = self.meaning
        facts = [("guarantee", str(self.guarantee)), ("by itself", self.in_numbers)]
        data = {"guarantee": to_json(self.guarantee), "pair": self.pair}
        if meaning is None:
            words = ("No ε states this promise: it depends on how far values differ.",)
            return Section("promise", title, words, tuple(facts), data=data)
        data["meaning"] = meaning.to_dict()
        return Section(
            "promise",
            title,
            (*meaning.sentences, *(one for one in meaning.notes if one != POPULATION)),
            (*facts, *((name.strip(), text) for name, text in _rows(meaning))),
            picture=meaning.svg(),
            data=data,
        )


def _rows(meaning: Meaning) -> Rows:
    """The meaning for one unit, then the weaker guarantees: for the content of its
    record, and for a group.
    """
    return (*meaning.rows[:6], *others(meaning))


def whom(unit: Unit) -> Section:
    """The unit that the guarantee protects, and between which datasets."""
    facts = [
        ("one unit", unit.name),
        ("neighbours", f"{unit.relation}: {NEIGHBOURS[unit.relation]}"),
    ]
    if unit.given:
        facts.append(("exact facts, not protected", ", ".join(unit.given)))
    data = {"unit": unit.name, "relation": str(unit.relation), "given": unit.given}
    return Section("whom", "Whom it protects", facts=tuple(facts), data=data)
