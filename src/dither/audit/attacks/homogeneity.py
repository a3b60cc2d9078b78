"""The homogeneity attack on a k-anonymous table: who looks alike often has the same
secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dither.audit.attacks.anonymized import Anonymized
from dither.audit.attacks.attack import Attack
from dither.audit.attacks.clinic import study
from dither.audit.attacks.mondrian import anonymize
from dither.audit.attacks.rates import Rate, rate, right_among
from dither.audit.attacks.rebuilt import percent
from dither.audit.attacks.tabulated import tabulated

__all__ = ["Homogeneity", "homogeneity", "study_of"]


@dataclass(frozen=True)
class Homogeneity(Attack):
    """How often the secret of a person is read off a k-anonymous table, and off noisy
    counts of the same people.

    `guessing` of both is how often the attacker is right if the person is not in the
    data: what the others tell.
    """

    _name: ClassVar[str] = "homogeneity"
    _not_stopped: ClassVar[str] = (
        "what holds for a whole group. If most people of an age share one secret, noisy "
        "counts show it too, with or without any one person among them."
    )
    table: Anonymized
    found: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        return self.found

    @property
    def certain(self) -> float:
        """The share of people whose secret the k-anonymous table states outright."""
        return self.table.homogeneous

    @property
    def title(self) -> str:
        return f"Homogeneity of a {self.table.k}-anonymous table"

    @property
    def sentences(self) -> tuple[str, str]:
        anonymous, ours = self.found[1], self.found[2]
        return (
            "The attacker knows the quasi-identifiers of a person, looks up the class, "
            f"and names its most frequent {self.table.secret}.",
            f"{percent(self.certain, 1)} of {self.table.people:,} people are in a "
            "class with only one secret, which is then certain. In total, the attacker "
            f"is right for {percent(anonymous.share)} of the people, and for "
            f"{percent(anonymous.guessing)} without their own row; with noisy counts, "
            f"for {percent(ours.share)} with and {percent(ours.guessing)} without their row.",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (str(self.table), *super().notes)

    def _more(self) -> dict[str, Any]:
        return {
            "k": self.table.k,
            "classes": len(self.table.labels),
            "certain": self.certain,
            "distinct l-diversity": self.table.least_diversity,
            "entropy l-diversity": self.table.least_entropy,
            "t-closeness": self.table.closeness,
        }


def homogeneity(
    table: Any = None,
    columns: Sequence[str] | None = None,
    *,
    secret: str | None = None,
    k: int = 3,
    diversity: int = 1,
    hierarchies: Mapping[str, Any] | None = None,
    edges: Mapping[str, Sequence[float]] | None = None,
    epsilon: float = 1.0,
) -> Homogeneity:
    """The homogeneity attack (Machanavajjhala et al. 2006) on a k-anonymous copy of a
    table, and on noisy counts of the same people; without a table, on a study in the
    bundled clinic.

    `edges` are public edges for columns of numbers, which the noisy table counts by:
    {"age": range(0, 111, 10)}. `secret`, `k`, `diversity` and `hierarchies` are
    those of `anonymize`.
    """
    held, given = study_of(
        table, columns, secret, hierarchies, edges, k=k, diversity=diversity
    )
    own = held.counts[held.classes]
    alone = np.eye(len(held.secrets), dtype=np.int64)[held.codes]
    # Of somebody whose class is only themselves nothing is left: all are tied.
    without = right_among((own - alone).astype(np.float64), held.codes)
    right = right_among(own.astype(np.float64), held.codes)
    certain = held.diversity[held.classes] == 1
    ours = tabulated(held, given, epsilon)
    shown, hidden = ours.told()
    label = f"{held.k}-anonymous table"
    return Homogeneity(
        held,
        (
            rate(f"{label}, certain", certain, 0.0),
            rate(label, right, float(without.mean())),
            rate(
                f"counts with ε = {ours.mechanism.epsilon:g}",
                shown,
                float(hidden.mean()),
                ours.bound(float(hidden.mean())),
            ),
        ),
    )


def study_of(
    table: Any,
    columns: Any,
    secret: Any,
    hierarchies: Any,
    edges: Any,
    **kept: Any,
) -> tuple[Anonymized, Any]:
    """The k-anonymous copy of the given table, or of the bundled study, and edges."""
    if table is None:
        bundled = study()
        found = bundled.columns if columns is None else columns
        above = bundled.hierarchies if hierarchies is None else hierarchies
        held = anonymize(
            bundled.people,
            found,
            secret=bundled.secret if secret is None else secret,
            hierarchies={name: one for name, one in above.items() if name in found},
            **kept,
        )
        return held, bundled.edges | ({} if edges is None else dict(edges))
    wanted: Any = () if columns is None else columns
    held = anonymize(
        table, wanted, secret=secret or "", hierarchies=hierarchies, **kept
    )
    return held, edges
