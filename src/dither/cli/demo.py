"""`dither demo`: five private questions about a bundled clinic, with their cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import click

from dither.cli import completing
from dither.cli.output import json_option, print_json
from dither.cli.source import console, grid, say

if TYPE_CHECKING:
    from rich.console import Console

    from dither.dataset import Dataset


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
        "Which ten diagnoses do most patients have? (the codes are not declared)",
        "SELECT code, COUNT(DISTINCT patient_id) AS patients FROM "
        "diagnoses JOIN visits USING (visit_id)\n"
        "GROUP BY code ORDER BY patients DESC LIMIT 10",
        0.2,
    ),
    Question(
        "How often does a patient come? (at most 30 visits per patient)",
        "SELECT AVG(LEAST(n, 30)) AS visits_per_patient\n"
        "FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY "
        "patient_id) AS each",
        0.05,
    ),
)


def ask(database: Dataset, shown: Console, number: int, question: Question) -> None:
    """Show a question, its SQL, the answer with its intervals, and its cost."""
    shown.print(f"{number}. {question.words}", style="bold", soft_wrap=True)
    shown.print(question.sql, style="dim", soft_wrap=True)
    release = database.sql(question.sql, share=question.share)
    headings = [
        (name, not release.is_key(place)) for place, name in enumerate(release.columns)
    ]
    shown.print(grid(headings, release.shown()))
    say(shown, [*release.about(), ""])


def data(database: Dataset, question: Question) -> dict[str, Any]:
    """A question with its answer as plain data."""
    release = database.sql(question.sql, share=question.share)
    return {
        "question": question.words,
        "sql": question.sql,
        "release": json.loads(release.to_json()),
    }


@click.command(
    "demo", short_help="Ask five private questions of bundled synthetic data."
)
@click.option(
    "--copy",
    "folder",
    metavar="FOLDER",
    shell_complete=completing.files,
    help="Folder to copy the clinic to, instead of asking questions.",
)
@json_option
def command(folder: str | None, as_json: bool) -> None:
    """Ask five private questions of a bundled synthetic clinic, and show their cost.
    The noise is new in each run, so the answers differ from run to run.

    \b
    Examples:
      dither demo
      dither demo --copy clinic
    """
    import dither

    if folder is not None:
        place = dither.example(folder)
        if as_json:
            print_json({"catalogue": str(place)})
            return
        click.echo(
            f"{place} declares the clinic's tables; ask it with: dither query "
            f"{place} 'SELECT …' --epsilon 0.5"
        )
        return
    with (
        as_file(files("dither") / "data" / "clinic") as bundled,
        dither.open(str(bundled / "clinic.toml"), ledger=":memory:") as database,
    ):
        if as_json:
            print_json([data(database, question) for question in QUESTIONS])
            return
        shown = console()
        say(shown, ["Private answers about a synthetic clinic.", ""])
        for number, question in enumerate(QUESTIONS, start=1):
            ask(database, shown, number, question)
        say(shown, str(database.account).splitlines())
