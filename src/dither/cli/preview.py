"""`dither preview`: what a question costs and how far off its answer will be, without
spending or reading anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

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
    "preview", short_help="Show what a question costs and its error, without spending."
)
@arguments
@click.option("--json", "as_json", is_flag=True, help="Print the preview as JSON.")
def command(given: Arguments, as_json: bool) -> None:
    """Show what the question SQL about SOURCE costs, and how far off its answer will
    be. Nothing is spent or read.

    SOURCE is a catalogue (clinic.toml), or a data file together with what is declared
    about it: --unit, --bounds, --keys, --budget. SQL may be - for standard input.
    """
    from dither.query.asker import advice, asker

    with given.open() as database:
        name = asker(given.by)
        found = database.preview(given.sql, by=name, **given.cost)
        hint = advice(database.account, given.by, name)
    show(found, as_json=as_json)
    if hint:
        click.echo(hint, err=True)
