"""`dither tables`: what is declared about the tables of a catalogue. It reads no row."""

from __future__ import annotations

import click

from dither.cli.completing import files

__all__ = ["command"]


@click.command(
    "tables",
    short_help="Show the tables of a catalogue: columns, types, bounds, public keys.",
)
@click.argument("catalogue", shell_complete=files)
def command(catalogue: str) -> None:
    """Show what CATALOGUE declares: tables, columns, types, bounds and public keys.
    Nothing in it is from the data.
    """
    from dither.query.catalogue.tables import Tables
    from dither.query.load import load_catalogue

    click.echo(str(Tables(load_catalogue(catalogue))))
