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
from dither.cli.usage import called, in_words
from dither.errors import ArgumentError, DitherError, EngineFailed, QueryError
from dither.terminal import adapt_all

__all__ = ["main"]


class Failed(click.ClickException):
    """A failure on the way, such as of the engine after the charge: one line on stderr,
    no traceback.
    """

    exit_code = 1


class Refused(click.ClickException):
    """A refusal on purpose: one line on stderr (for a question, also the place in its
    SQL), no traceback.
    """

    exit_code = 2


class Commands(click.Group):
    """A group that turns errors of Dither and of files into messages with an exit
    code.
    """

    line: list[str]
    """The words of the command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        self.line = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise in_words(error, called(self, self.line)) from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise in_words(error, called(self, self.line)) from error
        except QueryError as error:
            raise Refused(str(error)) from error
        except EngineFailed as error:
            raise Failed(" ".join(str(error).split())) from error
        except DitherError as error:
            raise Refused(self._shown(error)) from error
        except OSError as error:
            if error.filename is None:
                raise  # a closed pipe, for example, which click knows
            words = f"{error.filename} cannot be used ({error.strerror})"
            raise Failed(f"{words}; pass another path") from error

    def _shown(self, error: DitherError) -> str:
        """A message in the words of the command line, which names an option with its
        dashes and an argument as the help shows it.
        """
        words = " ".join(str(error).split())
        if not isinstance(error, ArgumentError) or str(error) == error.message:
            return as_options(words)
        name = error.argument
        params = called(self, self.line).params
        if any(isinstance(one, click.Argument) and one.name == name for one in params):
            return name.upper() + as_options(words.removeprefix(name))
        return as_options(words, name if name in options(self) else "")


def options(command: click.Command) -> set[str]:
    """The names of all options of a command and of the commands below it."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    own = (one.opts for one in command.params if isinstance(one, click.Option))
    names = {name.lstrip("-").replace("-", "_") for opts in own for name in opts}
    return names.union(*map(options, below))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, prog_name="dither", message="%(prog)s %(version)s")
def main() -> None:
    """Release statistics of sensitive data with differential privacy.

    Errors go to stderr. The exit code is 0 for success, 1 if a check finds a problem or
    the command fails on the way, and 2 if the command is refused.

    \b
    Examples:
      dither demo
      dither query --help
    """
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
