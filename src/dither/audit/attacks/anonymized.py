"""A k-anonymous table, and how diverse the secrets of its classes are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.columns import coded, numeric, reals
from dither.audit.attacks.generalized import Quasi
from dither.axes import Axes, Scale
from dither.picture import Picture, Text

__all__ = ["Anonymized"]

Codes = NDArray[np.intp]
Counts = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Anonymized:
    """A table in which each person looks like at least k - 1 others.

    `classes` is the class of each person, `labels` what is published of each class.
    `counts` says how many of a class have each of the `secrets`; these are in order if
    they are `ordered` numbers.
    """

    k: int
    quasi: tuple[Quasi, ...]
    classes: Codes
    labels: tuple[tuple[str, ...], ...]
    secret: str
    codes: Codes
    secrets: tuple[Any, ...]
    ordered: bool

    @classmethod
    def of(
        cls,
        k: int,
        quasi: Sequence[Quasi],
        parts: Sequence[Codes],
        secret: str,
        column: Sequence[Any],
    ) -> Anonymized:
        classes = np.zeros(len(column), np.intp)
        for place, rows in enumerate(parts):
            classes[rows] = place
        labels = tuple(tuple(one.label(rows) for one in quasi) for rows in parts)
        codes, secrets, ordered = _secrets(column)
        return cls(k, tuple(quasi), classes, labels, secret, codes, secrets, ordered)

    @property
    def people(self) -> int:
        return self.classes.size

    @cached_property
    def counts(self) -> Counts:
        """Classes by secrets."""
        shape = (len(self.labels), len(self.secrets))
        place = self.classes * shape[1] + self.codes
        return np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)

    @cached_property
    def sizes(self) -> Counts:
        return np.asarray(self.counts.sum(axis=1))

    @property
    def smallest(self) -> int:
        """How many people the smallest class has: the k that was reached."""
        return int(self.sizes.min())

    @cached_property
    def diversity(self) -> Counts:
        """How many different secrets each class has (distinct l-diversity)."""
        return np.asarray((self.counts > 0).sum(axis=1))

    @cached_property
    def entropy(self) -> Reals:
        """e^H of the secrets of each class (entropy l-diversity): m if m secrets are
        equally frequent.
        """
        shares = self.counts / self.sizes[:, None]
        logs = np.log(np.where(shares > 0, shares, 1.0))
        return np.asarray(np.exp(-(shares * logs).sum(axis=1)))

    @cached_property
    def distances(self) -> Reals:
        """The earth mover's distance between the secrets of each class and of all
        (t-closeness): over their order for numbers, else half the L1 distance.
        """
        apart = (
            self.counts / self.sizes[:, None] - self.counts.sum(axis=0) / self.people
        )
        if not self.ordered:
            return np.asarray(np.abs(apart).sum(axis=1) / 2)
        steps = max(len(self.secrets) - 1, 1)
        return np.asarray(np.abs(apart.cumsum(axis=1)).sum(axis=1) / steps)

    @property
    def least_diversity(self) -> int:
        """The l of distinct l-diversity: of the class with the fewest secrets."""
        return int(self.diversity.min())

    @property
    def least_entropy(self) -> float:
        """The l of entropy l-diversity."""
        return float(self.entropy.min())

    @property
    def closeness(self) -> float:
        """The t of t-closeness: of the class that differs most from all."""
        return float(self.distances.max())

    @property
    def homogeneous(self) -> float:
        """The share of people in classes with a single secret."""
        return float((self.diversity == 1)[self.classes].mean())

    def find(self, person: Mapping[str, Any]) -> list[int]:
        """The classes that a person with these values may be in: what an attacker who
        knows them looks up.
        """
        return [
            place
            for place, labels in enumerate(self.labels)
            if self._fits(labels, person)
        ]

    def _fits(self, labels: Sequence[str], person: Mapping[str, Any]) -> bool:
        pairs = zip(self.quasi, labels, strict=True)
        return all(
            one.holds(label, person[one.name])
            for one, label in pairs
            if one.name in person
        )

    def table(self) -> dict[str, list[Any]]:
        """The published table: a column for each quasi-identifier, and the secret."""
        columns = zip(*(self.labels[one] for one in self.classes), strict=True)
        named = zip(self.quasi, columns, strict=True)
        found: dict[str, list[Any]] = {one.name: list(column) for one, column in named}
        return found | {self.secret: [self.secrets[code] for code in self.codes]}

    def plot(self) -> Picture:
        """How many people are in classes with so many secrets or fewer."""
        title = f"Secrets in the classes of a {self.k}-anonymous table"
        most = len(self.secrets)
        held = self.diversity[self.classes]
        xs = range(1, most + 1)
        ys = [float((held <= count).mean()) for count in xs]
        axes = Axes(64, 40, 360, 260, Scale(1, max(most, 2)), Scale(0, 1))
        shapes = [
            *axes.frame("different secrets in the class, at most", "share of people")
        ]
        shapes += [
            axes.line(xs, ys),
            *(axes.dot(*at) for at in zip(xs, ys, strict=True)),
        ]
        return Picture.of(448, 360, [*shapes, Text(12, 22, title, bold=True)], title)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"{self.people:,} people in {len(self.labels):,} classes of {self.smallest:,} "
            f"to {int(self.sizes.max()):,} with the same quasi-identifiers "
            f"({self.k}-anonymous)."
        )
        yield (
            f"The secret {self.secret!r} has {len(self.secrets):,} values. "
            f"{100 * self.homogeneous:.1f} % of the people are in a class with only one of "
            "them."
        )
        yield (
            f"Distinct l-diversity {self.least_diversity}, entropy l-diversity "
            f"{self.least_entropy:.2f}, t-closeness {self.closeness:.2f}."
        )


def _secrets(column: Sequence[Any]) -> tuple[Codes, tuple[Any, ...], bool]:
    """The code of each secret, and the secrets: in order if they are finite numbers."""
    codes, values = coded(column)
    ordered = numeric(column) and reals(column) is not None
    if not ordered:
        return codes, tuple(values), False
    order = np.argsort(np.array(values, np.float64), kind="stable")
    place = np.argsort(order)
    return np.asarray(place[codes]), tuple(values[at] for at in order), True
