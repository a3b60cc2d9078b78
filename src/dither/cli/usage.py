"""Errors of click in the words of all other messages: which argument, what is wrong,
and what to pass.
"""

from __future__ import annotations

import difflib
import re
from typing import Any

import click

__all__ = ["called", "in_words"]

EXAMPLES = {
    "amend": "the board agreed",
    "freeze": "the data is wrong",
    "thaw": "looked at",
}
"""Reasons that somebody may have for a command."""
NUMBERS = (click.types.FloatParamType, click.types.IntParamType)
"""Types of numbers; click's ranges are below them."""
WORD = re.compile(r"^'?(.*?)'? is not (?:a valid|in the range|one of)", re.DOTALL)


def in_words(error: click.UsageError, command: click.Command) -> click.UsageError:
    """The error with a message that says what to do; errors that say it already are
    returned as they are. `command` is the one that was called.
    """
    words = _words(error, command)
    return click.UsageError(words, error.ctx) if words else error


def _words(error: click.UsageError, command: click.Command) -> str:
    match error:
        case click.MissingParameter(param=click.Option() as option):
            return f"{_name(option)} is missing; pass {_example(option, error.ctx)}"
        case click.MissingParameter(param=click.Argument() as argument):
            return f"{_name(argument)} is missing; write {_usage(error.ctx)}"
        case click.BadParameter(param=click.Parameter() as parameter):
            found = WORD.match(error.message)
            return _wrong(parameter, found[1]) if found else ""
        case click.NoSuchOption():
            return _no_option(error)
        case click.BadOptionUsage():
            return _usage_of(error.option_name, command, error)
    return _no_command(error)


def _name(parameter: click.Parameter) -> str:
    """An option as it is written, an argument as the help shows it."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return (parameter.metavar or parameter.name or "").upper().strip("[].")


def _usage(ctx: click.Context | None) -> str:
    if ctx is None:
        return "it after the command"
    pieces = ctx.command.collect_usage_pieces(ctx)
    return " ".join(
        ["dither", *_path(ctx), *(one for one in pieces if "OPT" not in one)]
    )


def _path(ctx: click.Context) -> list[str]:
    return ctx.command_path.split()[1:]


def _example(option: click.Option, ctx: click.Context | None) -> str:
    """The option with a value, and what its help says."""
    name = _name(option)
    if option.name == "reason":
        command = ctx.command.name if ctx is not None else None
        reason = EXAMPLES.get(command or "", "the board agreed")
        return f'why you do this, such as {name} "{reason}"'
    value = (option.metavar or option.type.name).upper()
    about = re.split(r"\.| \(", option.help or "")[0].strip()
    return f"{name} {value}" + (f" ({about[:1].lower()}{about[1:]})" if about else "")


def _wrong(parameter: click.Parameter, text: str) -> str:
    """A value that its type does not take."""
    name = _name(parameter)
    kind = parameter.type
    if isinstance(kind, click.Choice):
        listed = ", ".join(map(str, kind.choices))
        return f"{name} cannot be {text!r}; pass one of {listed}"
    if not isinstance(kind, NUMBERS):
        return ""
    whole = isinstance(kind, click.types.IntParamType)
    what = "a whole number" if whole else "a number"
    limits = ""
    if isinstance(kind, click.IntRange | click.FloatRange):
        limits = _limits(kind)
    example = _number(kind, whole=whole)
    shown = f"{name} {example}" if isinstance(parameter, click.Option) else example
    return f"{name} must be {what}{limits}, not {text!r}; pass one such as {shown}"


def _limits(kind: click.IntRange | click.FloatRange) -> str:
    if kind.min is not None and kind.max is not None:
        return f" from {kind.min:g} to {kind.max:g}"
    if kind.min is not None:
        return f" {'above' if kind.min_open else 'of at least'} {kind.min:g}"
    return "" if kind.max is None else f" of at most {kind.max:g}"


def _number(kind: Any, *, whole: bool) -> str:
    """A number within the range of its type."""
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    first = 10 if whole else 0.5
    if low is not None and first < low:
        first = low + (0 if not getattr(kind, "min_open", False) else 1)
    if high is not None and first > high:
        first = high
    return f"{first:g}"


def _no_option(error: click.NoSuchOption) -> str:
    name, ctx = error.option_name, error.ctx
    command = "this command" if ctx is None else f"`{ctx.command_path}`"
    if re.fullmatch(r"-[0-9.]+", name):
        return (
            f"{name} is not an option of {command}; write -- before a negative number, "
            f"such as -- {name}"
        )
    known = [] if ctx is None else [one for p in ctx.command.params for one in p.opts]
    close = difflib.get_close_matches(
        name, [one for one in known if one[:2] == "--"], 1, 0.7
    )
    if close:
        return f"{name} is not an option of {command}; did you mean {close[0]}?"
    way_out = f"run `{ctx.command_path} --help`" if ctx else "run it with --help"
    return f"{name} is not an option of {command}; {way_out} to see all options"


def _usage_of(name: str, command: click.Command, error: click.UsageError) -> str:
    """An option without its value, or a flag with one."""
    for one in command.params:
        if isinstance(one, click.Option) and name in one.opts:
            if one.is_flag:
                return f"{name} does not take a value; pass {name} alone"
            return f"{name} needs a value; pass {_example(one, error.ctx)}"
    return ""


def _no_command(error: click.UsageError) -> str:
    """A command that does not exist, or more arguments than a command has."""
    ctx, found = error.ctx, re.match(r"No such command '(.*?)'\.", error.message)
    if ctx is not None and found and isinstance(ctx.command, click.Group):
        names = ctx.command.list_commands(ctx)
        close = difflib.get_close_matches(found[1], names, 1)
        listed = (
            f"did you mean {close[0]}?" if close else f"use one of {', '.join(names)}"
        )
        return f"`{ctx.command_path}` has no command {found[1]!r}; {listed}"
    extra = re.match(
        r"Got unexpected extra arguments? \((.*)\)", error.message, re.DOTALL
    )
    if ctx is not None and extra:
        return (
            f"`{ctx.command_path}` does not take {extra[1]!r}; leave it out, or write "
            "text with blanks in quotes"
        )
    return ""


def called(command: click.Command, words: list[str]) -> click.Command:
    """The command that a command line calls, at the end of the groups above it."""
    for word in words:
        below = command.commands if isinstance(command, click.Group) else {}
        command = below.get(word, command)
    return command
