"""`dither query`: a private answer to a question in SQL, charged to its account."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dither.cli import preview
from dither.cli.output import json_option
from dither.cli.source import Arguments, arguments, console, grid, say
from dither.progress import working

if TYPE_CHECKING:
    from dither.table import TableRelease

__all__ = ["command", "show"]


def level(ctx: click.Context, option: click.Parameter, value: float) -> float:
    """Checked before anything is spent: a charge for an answer that cannot be shown
    would be lost.
    """
    from dither.errors import ArgumentError
    from dither.table import check_confidence

    try:
        return check_confidence(value)
    except ArgumentError as error:
        raise click.BadParameter(str(error), ctx, option) from error


def show(release: TableRelease, left: str) -> None:
    """The answer as a table, then its guarantee, its cost and the remaining budget."""
    from dither.text import clean

    shown = console()
    headings = [
        (clean(name), not release.is_key(place))
        for place, name in enumerate(release.columns)
    ]
    shown.print(grid(headings, release.shown()))
    say(shown, release.about(left))


@click.command("query", short_help="Answer a question in SQL, and charge its account.")
@arguments
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    callback=level,
    metavar="P",
    help="Confidence level of the intervals, between 0 and 1.",
)
@json_option
@click.option(
    "--csv", "as_csv", is_flag=True, help="Print the rows and their intervals as CSV."
)
def command(given: Arguments, confidence: float, as_json: bool, as_csv: bool) -> None:
    """Answer the question SQL about SOURCE. Its cost is charged to the account of
    SOURCE before the data is read.

    SOURCE is a catalogue (clinic.toml), or a data file with its declarations: --unit,
    --bounds, --keys, --budget. SQL can be - for standard input. Pass exactly one of
    --epsilon, --rho, --share and --error.

    \b
    Examples:
      dither query clinic.toml "SELECT COUNT(*) FROM visits" --epsilon 0.1
      dither query clinic.toml --file question.sql --share 0.1 --json
      dither query visits.csv "SELECT AVG(age) FROM visits" --unit patient_id \\
        --rows 10 --bounds age=0:110 --budget 2 --epsilon 0.5
    """
    from dither.query.asker import answer as answer_to
    from dither.query.asker import asking
    from dither.query.preview import Preview

    if as_json and as_csv:
        raise click.UsageError("pass either --json or --csv, not both")
    with given.open() as database:
        with asking(database.account, given.by) as name, working("asking"):
            answer = answer_to(database, given.sql, by=name, **given.cost)
        left = database.account.remaining_for(name).in_words()
    if isinstance(answer, Preview):
        if as_csv:
            raise click.UsageError(
                "EXPLAIN prints a preview, which has no rows; leave --csv out, or "
                "pass --json"
            )
        preview.show(answer, as_json=as_json)
        return
    release = answer.at(confidence)
    if as_json:
        click.echo(release.to_json())
    elif as_csv:
        # As it is: echo would take what looks like a colour out of a key
        sys.stdout.write(release.to_csv() or "")
    else:
        show(release, left)
