"""How estimates of device messages are asked for and shown, by all commands alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dither.cli.asked import lines
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
        help="One value a line to look for, where any text is counted.",
    ),
    click.option(
        "--of",
        multiple=True,
        metavar="NAME",
        help="The attribute to estimate; twice, for a table of two.",
    ),
    click.option(
        "--period",
        type=int,
        metavar="P",
        help="Count this period only; the first is 0.",
    ),
    click.option(
        "--consistent", is_flag=True, help="No negative shares; all make one."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the release as JSON."),
    click.option("--csv", "as_csv", is_flag=True, help="Print the release as CSV."),
)
stratum_option = click.option(
    "--stratum", metavar="NAME", help="The messages of this stratum only."
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
        raise ArgumentError("consistent", "is for shares; leave it out")
    found = found.consistent() if consistent else found
    if as_json:
        click.echo(found.to_json(2))
    elif as_csv:
        click.echo(found.to_csv(), nl=False)
    else:
        click.echo(str(found))
