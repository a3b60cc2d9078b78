"""Exception bits: a question that fails if one person's row is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dither.audit.attacks.attack import Attack
from dither.audit.attacks.rates import Rate, coin, rate
from dither.audit.attacks.rebuilt import percent
from dither.audit.attacks.worlds import PEOPLE, database, guarded
from dither.errors import DitherError
from dither.mechanisms import Geometric
from dither.noise import uniform_integers
from dither.privacy.numbers import whole

__all__ = ["Exceptions", "exceptions"]

QUESTION = "SELECT COUNT(*) FROM people WHERE CAST(note AS INTEGER) >= 0"


@dataclass(frozen=True)
class Exceptions(Attack):
    """How often a person's secret is told by whether a question fails."""

    _name: ClassVar[str] = "exceptions"
    _not_stopped: ClassVar[str] = (
        "failures of the machine itself. A disk that is full or a time-out after reading "
        "is a bit without noise: it is charged, counted, and freezes the account after a "
        "few, but no ε covers it."
    )
    epsilon: float
    raised: int
    found: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        return self.found

    @property
    def title(self) -> str:
        return "A question that fails for one person's row"

    @property
    def sentences(self) -> tuple[str, str]:
        naive, _, ours = self.found
        return (
            "The attacker asks for a count whose condition cannot be computed for one "
            "person if that person is ill, and looks whether the question fails.",
            "With a database that adds noise to its count, the attacker is right in "
            f"{percent(naive.share)} of {naive.tries:,} cases. Here {self.raised:,} of "
            f"{ours.tries:,} questions failed, because a row that cannot be computed is "
            "ignored; from the noisy count the attacker is right in "
            f"{percent(ours.share, 1)}, and the guarantee allows at most "
            f"{percent(ours.bound or 1, 1)}.",
        )

    def _more(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "raised": self.raised}


def exceptions(*, epsilon: float = 0.5, tries: int = 60) -> Exceptions:
    """The exception attack on a database that noises its counts, and on a dataset of
    ours. A coin decides in each try whether the person is ill.
    """
    many = whole("tries", tries, "pass how often to try, such as 60")
    mechanism = Geometric(sensitivity=1, epsilon=epsilon)
    secret = uniform_integers(2, (many,)) == 1
    failed, refused, counts = [], [], []
    for ill in secret.tolist():
        with database(ill=ill) as connection:
            failed.append(_naive(connection, mechanism) is None)
            answer = _ours(connection, mechanism.epsilon)
            refused.append(answer is None)
            counts.append(PEOPLE if answer is None else answer)
    # Whoever is ill has no number in the note, and is not counted.
    says = np.array(counts) <= PEOPLE - 1
    told = coin(mechanism.guarantee)
    return Exceptions(
        mechanism.epsilon,
        sum(refused),
        (
            rate("noise alone: failed or not", np.array(failed) == secret, 0.5),
            rate("ours: failed or not", np.array(refused) == secret, 0.5, told),
            rate(
                f"ours: count with ε = {mechanism.epsilon:g}", says == secret, 0.5, told
            ),
        ),
    )


def _naive(connection: Any, mechanism: Geometric) -> int | None:
    """The count with good noise, or nothing where the database gives up."""
    import duckdb

    try:
        (count,) = connection.execute(QUESTION).fetchone()
    except duckdb.Error:
        return None
    noisy: int = mechanism.release(int(count))
    return noisy


def _ours(connection: Any, epsilon: float) -> int | None:
    with guarded(connection, budget=epsilon) as held:
        try:
            return int(held.sql(QUESTION, epsilon=epsilon).rows[0][0])
        except DitherError:
            return None
