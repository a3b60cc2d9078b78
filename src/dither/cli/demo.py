"""`dither demo`: five private questions about a bundled clinic, what they cost, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, cast

import click

from dither.cli.source import console, grid, say

if TYPE_CHECKING:
    from rich.console import Console

    from dither.query.database import Database
    from dither.table import TableRelease

__all__ = ["QUESTIONS", "Question", "command"]


@dataclass(frozen=True)
class Question:
    """A question in words and in SQL, and what it may cost."""

    words: str
    sql: str
    epsilon: float
    more: Mapping[str, Any] = field(default_factory=dict)


QUESTIONS = (
    Question(
        "How many patients and visits does each ward have, and what does a visit cost?",
        "SELECT ward, COUNT(DISTINCT patient_id) AS patients, COUNT(*) AS visits, AVG(cost) AS mean_cost\n"
        "FROM visits GROUP BY ward",
        1.5,
    ),
    Question(
        "Half of all stays are shorter than how many days?",
        "SELECT MEDIAN(days) AS median_stay FROM visits",
        0.5,
    ),
    Question(
        "How many patients over 65 live in each country? (a patient lives in one)",
        "SELECT r.country, COUNT(*) AS patients FROM patients AS p JOIN regions AS r ON p.region = r.region\n"
        "WHERE p.age > 65 GROUP BY r.country",
        0.8,
        {"groups": 1},
    ),
    Question(
        "Which ten diagnoses do most patients have? (nobody listed them in advance)",
        "SELECT code, COUNT(DISTINCT patient_id) AS patients FROM diagnoses JOIN visits USING (visit_id)\n"
        "GROUP BY code ORDER BY patients DESC LIMIT 10",
        1.5,
    ),
    Question(
        "How often does a patient come? (more than 30 visits count as 30)",
        "SELECT AVG(LEAST(n, 30)) AS visits_per_patient\n"
        "FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS each",
        0.3,
    ),
)


def show(shown: Console, number: int, question: Question, release: TableRelease, spent: float) -> None:
    """The question, its SQL, the answer with its intervals, and what it cost."""
    from dither.text import percent

    shown.print(f"{number}. {question.words}", style="bold", soft_wrap=True)
    shown.print(question.sql, style="dim", soft_wrap=True)
    headings = [(name, not release.is_key(place)) for place, name in enumerate(release.columns)]
    shown.print(grid(headings, release.shown()))
    say(shown, [f"cost: ε = {question.epsilon:g}, {percent(spent)} of the account", ""])


def ask(database: Database, shown: Console) -> None:
    """All questions, one after the other, as any analyst would ask them."""
    for number, question in enumerate(QUESTIONS, start=1):
        before = database.account.spent
        release = cast("TableRelease", database.sql(question.sql, epsilon=question.epsilon, **question.more))
        show(shown, number, question, release, database.account.spent - before)


@click.command("demo", short_help="Ask five private questions of bundled synthetic data.")
def command() -> None:
    """Ask five private questions of a bundled synthetic clinic. Noise is fresh in every run, so no two runs agree."""
    import dither

    shown = console()
    say(shown, ["Private answers about a synthetic clinic; ± holds with 95 % each and covers the noise.", ""])
    with (
        as_file(files("dither") / "data" / "clinic") as folder,
        dither.open(str(folder / "clinic.toml"), ledger=":memory:") as database,
    ):
        ask(database, shown)
        say(shown, str(database.account).splitlines())
