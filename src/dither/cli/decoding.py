"""Options and output of all commands that estimate from messages of devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dither.cli.asked import lines
from dither.cli.output import json_option
from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["FILE", "decoding_options", "show_estimate", "stratum_option"]

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OPTIONS = (
    click.option(
        "--candidates",
        type=FILE,
        metavar="FILE",
        help="File with one value per line to look for, if the task counts any string.",
    ),
    click.option(
        "--of",
        multiple=True,
        metavar="NAME",
        help="Attribute to estimate; pass two for a table of both.",
    ),
    click.option(
        "--period",
        type=int,
        metavar="P",
        help="Number of the period to use, from 0 (default: all periods).",
    ),
    click.option(
        "--consistent",
        is_flag=True,
        help="Clamp shares to 0 or more, and rescale them to sum to 1.",
    ),
    json_option,
    click.option("--csv", "as_csv", is_flag=True, help="Print the release as CSV."),
)
stratum_option = click.option(
    "--stratum", metavar="NAME", help="Stratum to use (default: all strata)."
)


def decoding_options(command: Command) -> Command:
    """The options that say what to estimate, and how to print it."""
    for option in OPTIONS[::-1]:
        command = option(command)
    return command


def show_estimate(
    tally: Tally,
    *,
    candidates: Path | None,
    of: tuple[str, ...],
    consistent: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    wanted = lines(str(candidates)) if candidates else of or None
    found = tally.estimate(wanted)
    if consistent and not hasattr(found, "consistent"):
        raise ArgumentError(
            "consistent",
            "needs shares, which this task does not estimate; leave it out",
        )
    found = found.consistent() if consistent else found
    if as_json:
        click.echo(found.to_json(2))
    elif as_csv:
        click.echo(found.to_csv(), nl=False)
    else:
        click.echo(str(found))
