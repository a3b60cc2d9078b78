"""Results as JSON: the option that all commands share, and how plain data is printed."""

from __future__ import annotations

import json
from typing import Any

import click

__all__ = ["already_json", "json_option", "print_json"]

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON."
)


already_json = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    help="Has no effect: the output is JSON.",
)
"""The option of a command that prints JSON in any case."""


def print_json(data: Any) -> None:
    """Print plain data as one JSON document."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
