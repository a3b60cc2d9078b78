"""The background-knowledge attack on a k-anonymous table: anyone who can exclude some
secrets, or knows the others of a class, is left with one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.anonymized import Anonymized
from dither.audit.attacks.attack import Attack
from dither.audit.attacks.drawn import Curve, curves
from dither.audit.attacks.homogeneity import study_of
from dither.audit.attacks.rates import Rate, rate, right_among
from dither.audit.attacks.rebuilt import percent
from dither.audit.attacks.tabulated import Tabulated, tabulated
from dither.noise import random_words
from dither.picture import Picture

__all__ = ["Background", "background"]

Codes = NDArray[np.intp]
Reals = NDArray[np.float64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class Background(Attack):
    """How often a secret is named by an attacker who can exclude so many others, or
    who knows everybody else.

    `certain` is the share of people for whom the k-anonymous table leaves one secret,
    by how many are excluded.
    """

    _name: ClassVar[str] = "background"
    _not_stopped: ClassVar[str] = (
        "what the attacker knows already. An attacker who can exclude all secrets but one "
        "needs no release, and a release shows what people have in common with or without "
        "one of them."
    )
    table: Anonymized
    epsilon: float
    certain: tuple[float, ...]
    anonymous: tuple[Rate, ...]
    ours: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        """For each amount of knowledge the k-anonymous table, then the noisy counts;
        the last two are of an attacker who knows everybody else.
        """
        pairs = zip(self.anonymous, self.ours, strict=True)
        return tuple(one for pair in pairs for one in pair)

    @property
    def title(self) -> str:
        return f"Background knowledge on a {self.table.k}-anonymous table"

    @property
    def sentences(self) -> tuple[str, str]:
        last, more = self.ours[-1], len(self.certain) - 1
        return (
            "The attacker finds the class of a person, excludes secrets that the person "
            "does not have, or subtracts everybody else whom they know.",
            f"The k-anonymous table leaves one secret for {percent(self.certain[0])} of "
            f"the people, for {percent(self.certain[-1])} if {more} of "
            f"{len(self.table.secrets)} secrets are excluded, and for all if the others "
            f"are known; noisy counts then give {percent(last.share)}, and the "
            f"guarantee allows at most {percent(last.bound or 0)}.",
        )

    def plot(self) -> Picture:
        """The share named rightly by how many secrets are excluded; at the right end
        everybody else is known.
        """
        names = {float(at): str(at) for at in range(len(self.certain))}
        names[float(len(self.certain))] = "all others"
        xs = tuple(names)
        drawn = {
            "k-anonymous table": [one.share for one in self.anonymous],
            f"counts with ε = {self.epsilon:g}": [one.share for one in self.ours],
            "the guarantee allows": [one.bound or 0.0 for one in self.ours],
            "counts without the person": [one.guessing for one in self.ours],
        }
        lines = [Curve(name, xs, ys, apart=1) for name, ys in drawn.items()]
        known = (
            "secrets that the attacker can exclude; all others: knows everybody else"
        )
        return curves(self.title, known, "named rightly", lines, names=names)

    def _more(self) -> dict[str, Any]:
        return {
            "k": self.table.k,
            "epsilon": self.epsilon,
            "certain": list(self.certain),
        }


def background(
    table: Any = None,
    columns: Sequence[str] | None = None,
    *,
    secret: str | None = None,
    k: int = 3,
    diversity: int = 1,
    hierarchies: Mapping[str, Any] | None = None,
    edges: Mapping[str, Sequence[float]] | None = None,
    epsilon: float = 1.0,
) -> Background:
    """The background-knowledge attack (Machanavajjhala et al. 2006) on a k-anonymous
    copy of a table, and on noisy counts; without a table, on a study in the bundled
    clinic. The arguments are those of `homogeneity`.

    Which secrets the attacker can exclude is drawn for each person, among those that
    the person does not have.
    """
    held, given = study_of(
        table, columns, secret, hierarchies, edges, k=k, diversity=diversity
    )
    ours = tabulated(held, given, epsilon)
    order = _excluded(held.codes, len(held.secrets))
    certain, anonymous, noisy = [], [], []
    for count in range(max(len(held.secrets) - 1, 1)):
        out = order < count
        left, right, without = _in_classes(held, out)
        certain.append(float(left.mean()))
        anonymous.append(
            rate(f"classes, {count} excluded", right, float(without.mean()))
        )
        noisy.append(_noisy(ours, count, out))
    return Background(
        held,
        ours.epsilon,
        tuple(certain),
        (*anonymous, _everybody_else(held)),
        (*noisy, _of_one(ours, held)),
    )


def _excluded(codes: Codes, secrets: int) -> Codes:
    """For each person the order in which secrets are excluded; their own comes last."""
    drawn = random_words(codes.size * secrets).reshape(codes.size, secrets) >> 1
    drawn[np.arange(codes.size), codes] = np.iinfo(drawn.dtype).max
    return np.argsort(np.argsort(drawn, axis=1), axis=1)


def _in_classes(held: Anonymized, out: Truths) -> tuple[Truths, Reals, Reals]:
    """Who is left with one secret, and who is named rightly, with and without their own
    line.
    """
    own = np.where(out, 0, held.counts[held.classes])
    alone = np.eye(len(held.secrets), dtype=np.int64)[held.codes]
    certain = (own > 0).sum(axis=1) == 1
    shown, hidden = (
        np.where(out, -1.0, one).astype(np.float64) for one in (own, own - alone)
    )
    return certain, right_among(shown, held.codes), right_among(hidden, held.codes)


def _noisy(ours: Tabulated, count: int, out: Truths) -> Rate:
    right, without = ours.told(out)
    guessing = float(without.mean())
    label = f"noisy counts, {count} excluded"
    return rate(label, right, guessing, ours.bound(guessing))


def _shares(held: Anonymized) -> Reals:
    return np.asarray(held.counts.sum(axis=0) / held.people)


def _everybody_else(held: Anonymized) -> Rate:
    """Anyone who subtracts everybody else from a class is left with one secret."""
    right = np.ones(held.people)
    return rate("classes, all others known", right, float(_shares(held).max()))


def _of_one(ours: Tabulated, held: Anonymized) -> Rate:
    """The most likely secret by the shares of all people and one person's noisy counts.

    Noise is discrete Laplace, so a count of 1 or more is e^ε as likely for the secret
    itself, and e^-ε otherwise.
    """
    shares = _shares(held)
    evidence = np.where(ours.of_one() >= 1, ours.epsilon, -ours.epsilon)
    right = right_among(np.log(shares) + evidence, held.codes)
    guessing = float(shares.max())
    label = "noisy counts, all others known"
    return rate(label, right, guessing, ours.bound(guessing))
