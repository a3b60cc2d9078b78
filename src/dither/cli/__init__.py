"""The `dither` command. Each command is a module; heavy parts are imported only by the
command that needs them.
"""

from __future__ import annotations

from typing import Any

import click

from dither._version import __version__
from dither.cli import (
    attack,
    audit,
    backup,
    budget,
    completion,
    curator,
    demo,
    doctor,
    explain,
    init,
    local,
    log,
    preview,
    query,
    report,
    tables,
)
from dither.cli.source import as_options
from dither.errors import DitherError, QueryError
from dither.terminal import adapt_all

__all__ = ["main"]


class Refused(click.ClickException):
    """A refusal on purpose: one line on stderr (for a question, also the place in its
    SQL), no traceback.
    """

    exit_code = 2


class Commands(click.Group):
    """A group that turns Dither's own errors into refusals."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except QueryError as error:
            raise Refused(str(error)) from error
        except DitherError as error:
            raise Refused(as_options(" ".join(str(error).split()))) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dither", message="%(prog)s %(version)s")
def main() -> None:
    """Answers from sensitive data that are safe to publish."""
    adapt_all()


for module in (
    attack,
    audit,
    budget,
    completion,
    demo,
    doctor,
    explain,
    init,
    local,
    log,
    preview,
    query,
    report,
    tables,
):
    main.add_command(module.command)
for command in (*backup.commands, *curator.commands):
    main.add_command(command)
