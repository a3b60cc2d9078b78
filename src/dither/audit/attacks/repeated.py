"""A dataset that is really asked the same question repeatedly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dither.errors import BudgetExceeded
from dither.query.open import open as open_dataset

__all__ = ["Repeated", "repeated"]

PEOPLE = """
CREATE TABLE people AS
SELECT 'p' || i AS person, i % 2 AS ill, i AS age FROM range(100) AS t(i)
"""
QUESTION = "SELECT COUNT(*) FROM people WHERE ill = 1"
MOST = 1000


@dataclass(frozen=True)
class Repeated:
    """What a dataset did: how often it was asked the same, how many different answers
    and charges that made, how many other wordings were paid, and whether the next one
    was refused.
    """

    asked: int
    answers: int
    charges: int
    paid: int
    refused: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        end = "the next was refused" if self.refused else "and none was refused"
        return (
            f"A dataset was asked the same {self.asked:,} times: {self.answers} answer, "
            f"{self.charges} charge. In other words it answered {self.paid:,} times more, "
            f"each charged; {end}."
        )


def repeated(epsilon: float, affordable: int, times: int) -> Repeated:
    """Ask a dataset of 100 synthetic people whose account pays for this number of
    answers.
    """
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        budget = epsilon * affordable
        with _opened(connection, budget) as held:
            asked = min(times, MOST)
            answers = {held.sql(QUESTION, epsilon=epsilon).rows for _ in range(asked)}
            charges = len(held.account.history())
            paid, refused = _reworded(held, epsilon, affordable)
            return Repeated(asked, len(answers), charges, paid, refused)


def _opened(connection: Any, budget: float) -> Any:
    return open_dataset(
        connection,
        table="people",
        unit="person",
        bounds={"age": (0, 99), "ill": (0, 1)},
        rows=1,
        budget=budget,
        ledger=":memory:",
    )


def _reworded(held: Any, epsilon: float, affordable: int) -> tuple[int, bool]:
    """Ask the same with a condition that everybody meets, another one each time."""
    paid = 0
    for number in range(affordable):
        try:
            held.sql(f"{QUESTION} AND age < {200 + number}", epsilon=epsilon)
        except BudgetExceeded:
            return paid, True
        paid += 1
    return paid, False
