"""`dither tables`: what is declared about the tables of a catalogue. It reads no row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dither.cli.completing import files
from dither.cli.output import json_option, print_json

if TYPE_CHECKING:
    from dither.query.catalogue.model import Catalogue, Field, Table

__all__ = ["command"]


def as_data(catalogue: Catalogue) -> dict[str, Any]:
    """The declarations that `Tables` prints, as plain data."""
    return {
        "unit": catalogue.unit.name,
        "given": list(catalogue.unit.given),
        "tables": [_table(one) for one in catalogue.tables],
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "public": table.public,
        "owner": table.owner,
        "link": vars(table.link) if table.link else None,
        "rows": table.rows,
        "columns": [_column(one) for one in table.fields],
    }


def _column(field: Field) -> dict[str, Any]:
    from dither.query.catalogue.values import value_at
    from dither.text import finite

    ends = (field.range.low, field.range.high)
    low, high = (
        None if one is None else finite(value_at(one, field.type)) for one in ends
    )
    keys = None if field.keys is None else [finite(key) for key in field.keys]
    return {
        "name": field.name,
        "type": str(field.type),
        "low": low,
        "high": high,
        "keys": keys,
        "total": field.total,
    }


@click.command(
    "tables",
    short_help="Show the tables of a catalogue: columns, types, bounds, public keys.",
)
@click.argument("catalogue", shell_complete=files)
@json_option
def command(catalogue: str, as_json: bool) -> None:
    """Show the declarations of CATALOGUE: tables, columns, types, bounds and public
    keys. The data is not read.

    \b
    Examples:
      dither tables clinic.toml
      dither tables clinic.toml --json
    """
    from dither.query.catalogue.tables import Tables
    from dither.query.load import load_catalogue

    found = load_catalogue(catalogue)
    if as_json:
        print_json(as_data(found))
    else:
        click.echo(str(Tables(found)))
