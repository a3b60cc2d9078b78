"""`dither demo`: five private questions about a bundled clinic, what they cost, and
what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import click

from dither.cli import completing
from dither.cli.source import console, grid, say
from dither.text import percent

if TYPE_CHECKING:
    from rich.console import Console

    from dither.dataset import Dataset
    from dither.table import TableRelease

__all__ = ["QUESTIONS", "Question", "command"]


@dataclass(frozen=True)
class Question:
    """A question in words and in SQL, and the share of the account it may cost."""

    words: str
    sql: str
    share: float


QUESTIONS = (
    Question(
        "How many patients and visits does each ward have, and what does a visit cost?",
        "SELECT ward, COUNT(DISTINCT patient_id) AS patients, COUNT(*) "
        "AS visits, AVG(cost) AS mean_cost\n"
        "FROM visits GROUP BY ward",
        0.25,
    ),
    Question(
        "Half of all stays are shorter than how many days?",
        "SELECT MEDIAN(days) AS median_stay FROM visits",
        0.05,
    ),
    Question(
        "How many patients over 65 live in each country?",
        "SELECT r.country, COUNT(*) AS patients FROM patients AS p JOIN "
        "regions AS r ON p.region = r.region\n"
        "WHERE p.age > 65 GROUP BY r.country",
        0.05,
    ),
    Question(
        "Which ten diagnoses do most patients have? (nobody listed them in advance)",
        "SELECT code, COUNT(DISTINCT patient_id) AS patients FROM "
        "diagnoses JOIN visits USING (visit_id)\n"
        "GROUP BY code ORDER BY patients DESC LIMIT 10",
        0.2,
    ),
    Question(
        "How often does a patient come? (more than 30 visits count as 30)",
        "SELECT AVG(LEAST(n, 30)) AS visits_per_patient\n"
        "FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY "
        "patient_id) AS each",
        0.05,
    ),
)


def cost(database: Dataset, release: TableRelease, spent: float) -> str:
    delta = database.account.terms.total.delta
    alone = release.guarantee.epsilon_at(delta)
    return (
        f"cost: {percent(spent)} of the account; by itself this answer is "
        f"ε = {alone:.3g} at δ = {delta:g}"
    )


def ask(database: Dataset, shown: Console, number: int, question: Question) -> None:
    """Show a question, its SQL, the answer with its intervals, and what it cost."""
    shown.print(f"{number}. {question.words}", style="bold", soft_wrap=True)
    shown.print(question.sql, style="dim", soft_wrap=True)
    before = database.account.spent
    release = database.sql(question.sql, share=question.share)
    headings = [
        (name, not release.is_key(place)) for place, name in enumerate(release.columns)
    ]
    shown.print(grid(headings, release.shown()))
    for note in release.notes:
        shown.print(note, style="dim", soft_wrap=True)
    say(shown, [cost(database, release, database.account.spent - before), ""])


@click.command(
    "demo", short_help="Ask five private questions of bundled synthetic data."
)
@click.option(
    "--copy",
    "folder",
    metavar="FOLDER",
    shell_complete=completing.files,
    help="Instead, copy the clinic into a folder to ask it yourself.",
)
def command(folder: str | None) -> None:
    """Ask five private questions of a bundled synthetic clinic. Noise is fresh in every
    run, so no two runs agree.
    """
    import dither

    if folder is not None:
        place = dither.example(folder)
        click.echo(
            f"{place} declares the clinic's tables; ask it with: dither query "
            f"{place} 'SELECT …' --epsilon 0.5"
        )
        return
    shown = console()
    say(
        shown,
        [
            (
                "Private answers about a synthetic clinic. 95 of 100 intervals "
                "hold the true answer."
            ),
            "",
        ],
    )
    with (
        as_file(files("dither") / "data" / "clinic") as bundled,
        dither.open(str(bundled / "clinic.toml"), ledger=":memory:") as database,
    ):
        for number, question in enumerate(QUESTIONS, start=1):
            ask(database, shown, number, question)
        say(shown, str(database.account).splitlines())
