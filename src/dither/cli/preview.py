"""`dither preview`: the cost of a question and the error of its answer, without spending
or reading anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dither.cli.output import json_option
from dither.cli.source import Arguments, arguments, console, grid, say

if TYPE_CHECKING:
    from dither.query.preview import Preview

__all__ = ["command", "show"]


def show(preview: Preview, *, as_json: bool) -> None:
    if as_json:
        click.echo(preview.to_json())
        return
    shown = console()
    shown.print(
        grid(
            [(name, False) for name in preview.heading],
            [list(row) for row in preview.table()],
        )
    )
    say(shown, preview.about())


@click.command(
    "preview", short_help="Show the cost and error of a question, without spending."
)
@arguments
@json_option
def command(given: Arguments, as_json: bool) -> None:
    """Show the privacy cost and the expected error of the question SQL about SOURCE.
    Nothing is spent, and the data is not read.

    SOURCE is a catalogue (clinic.toml), or a data file with its declarations: --unit,
    --bounds, --keys, --budget. SQL can be - for standard input. Pass exactly one of
    --epsilon, --rho, --share and --error.

    \b
    Examples:
      dither preview clinic.toml "SELECT COUNT(*) FROM visits" --epsilon 0.1
      dither preview clinic.toml "SELECT COUNT(*) FROM visits" --error "±500 at 95%"
    """
    from dither.query.asker import advice, asker

    with given.open() as database:
        name = asker(given.by)
        found = database.preview(given.sql, by=name, **given.cost)
        hint = advice(database.account, given.by, name)
    show(found, as_json=as_json)
    if hint:
        click.echo(hint, err=True)
