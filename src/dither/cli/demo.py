"""`dither demo`: five private questions about a bundled clinic, each with its preview, its
cost and what remains, and one question again, which costs nothing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import click

from dither.cli import completing
from dither.cli.output import json_option, print_json
from dither.cli.source import console, grid, say
from dither.text import percent

if TYPE_CHECKING:
    from rich.console import Console

    from dither.dataset import Dataset
    from dither.table import TableRelease


__all__ = ["AGAIN", "QUESTIONS", "Question", "command"]

NEXT = (
    "Ask the clinic yourself:",
    "  dither demo --copy clinic",
    "  dither query clinic/clinic.toml 'SELECT COUNT(*) FROM visits' --epsilon 0.5",
)
BAR = 20
"""Width of the bar that shows the remaining budget."""


@dataclass(frozen=True)
class Question:
    """A question in words and in SQL, and the share of the account it may cost. `moral`
    is shown below the answer. `groups` is the number of private keys to which a patient
    contributes at most.
    """

    words: str
    sql: str
    share: float
    moral: str = ""
    groups: int | None = None

    @property
    def stated(self) -> dict[str, Any]:
        """The arguments that are passed with the SQL."""
        return {"share": self.share, "groups": self.groups}


QUESTIONS = (
    Question(
        "How many patients does each ward have?",
        "SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward",
        0.05,
    ),
    Question(
        "What does a visit cost on average?",
        "SELECT AVG(cost) AS mean_cost FROM visits",
        0.15,
    ),
    Question(
        "How many patients over 65 live in each country?",
        "SELECT country, COUNT(*) AS patients\n"
        "FROM patients JOIN regions USING (region) WHERE age > 65 GROUP BY country",
        0.05,
    ),
    Question(
        "Which five diagnoses do most patients have? (the codes are not declared)",
        "SELECT code, COUNT(DISTINCT patient_id) AS patients\n"
        "FROM diagnoses JOIN visits USING (visit_id)\n"
        "GROUP BY code ORDER BY patients DESC LIMIT 5",
        0.2,
        # The most rows of a patient; with fewer, intervals would be open upwards
        groups=180,
    ),
    Question(
        "What did a visit to one ward on one day cost?",
        "SELECT AVG(cost) AS mean_cost FROM visits\n"
        "WHERE ward = 'maternity' AND day = DATE '2024-02-29'",
        0.02,
        "Too little data: the noise that hides any patient is larger than a few visits.",
    ),
)
AGAIN = Question(
    "The two largest wards? That is the first answer again, sorted and cut.",
    f"{QUESTIONS[0].sql}\nORDER BY patients DESC LIMIT 2",
    QUESTIONS[0].share,
)


def opening(database: Dataset) -> list[str]:
    """The unit, the bounds and the budget, as the clinic's catalogue declares them."""
    catalogue = database.catalogue
    visits = next(one for one in catalogue.tables if one.name == "visits")
    cost = next(one for one in visits.fields if one.name == "cost").range
    total = database.account.terms.total
    return [
        "A synthetic clinic answers questions, with noise that hides each patient.",
        f"unit: one patient, with at most {visits.rows} visits; "
        f"bounds: a visit costs {cost.low:,} to {cost.high:,}",
        f"budget: ε = {total.epsilon:g} at δ = {total.delta:g}, for all answers together; "
        "previews are free",
    ]


def meter(database: Dataset, shown: Console) -> str:
    """The remaining part of the account, as a bar and in percent."""
    left = max(0.0, 1 - float(database.account.spent))
    full, empty = "█░" if shown.encoding.startswith("utf") else "#."
    bars = round(BAR * left)
    return f"account: {full * bars}{empty * (BAR - bars)} {100 * left:.3g} % left"


def foreseen(database: Dataset, question: Question) -> str:
    """The error and the cost of a question before it is asked."""
    found = database.preview(question.sql, **question.stated)
    if found.replay:
        return "preview: costs nothing, because this was asked before"
    errors = [
        f"{column.name} {re.split('[,;] ', column.in_words()[-1])[0]}"
        for column in found.columns
        if column.errors
    ]
    cost = f"{percent(question.share)} of the account"
    return f"preview: {'; '.join([*errors, cost])}"


def paid(database: Dataset, release: TableRelease) -> str:
    """The guarantee of an answer by itself, and its cost."""
    if release.replayed:
        return "cost: nothing, because the ledger has this answer already"
    alone = release.guarantee.epsilon_at(database.account.terms.total.delta)
    taken = release.receipt.taken if release.receipt else None
    share = "" if taken is None else f"; cost: {percent(taken.share)} of the account"
    return f"95 % intervals; ε = {alone:.3g} by itself{share}"


def ask(database: Dataset, shown: Console, number: int, question: Question) -> None:
    """Show a question, its preview, the answer with its intervals, and its cost."""
    shown.print(f"{number}. {question.words}", style="bold", soft_wrap=True)
    shown.print(question.sql, style="dim", soft_wrap=True)
    say(shown, [foreseen(database, question)])
    release = database.sql(question.sql, **question.stated)
    headings = [
        (name, not release.is_key(place)) for place, name in enumerate(release.columns)
    ]
    shown.print(grid(headings, release.shown()))
    moral = [question.moral] if question.moral else []
    say(shown, [*moral, paid(database, release), meter(database, shown), ""])


def data(database: Dataset, question: Question) -> dict[str, Any]:
    """A question with its answer as plain data."""
    release = database.sql(question.sql, **question.stated)
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
        say(shown, [*opening(database), meter(database, shown), ""])
        for number, question in enumerate((*QUESTIONS, AGAIN), start=1):
            ask(database, shown, number, question)
        say(shown, [*str(database.account).splitlines(), *NEXT])
