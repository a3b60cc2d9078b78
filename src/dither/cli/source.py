"""Arguments that `query` and `preview` share: the source, its declarations, the question
and its cost.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from dither.cli import completing
from dither.terminal import spelled

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dither.dataset import Dataset

__all__ = [
    "Arguments",
    "arguments",
    "as_options",
    "console",
    "grid",
    "listed",
    "say",
    "value",
]

DECLARED = (
    "table",
    "unit",
    "bounds",
    "keys",
    "types",
    "rows",
    "budget",
    "delta",
    "population",
    "ledger",
)
COST = (
    "epsilon",
    "rho",
    "share",
    "error",
    "expect",
    "shares",
    "radius",
    "groups",
    "values",
)

WRITTEN: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"[+-]?(?:0|[1-9][0-9]*)"), int),
    (re.compile(r"[+-]?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"), float),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), date.fromisoformat),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+"), datetime.fromisoformat),
)
ARGUMENT = re.compile(
    rf'\b({"|".join((*DECLARED, *COST, "by"))})=(?:"([^"]*)"|([\w./-]*\w))?'
    r"|\b(restored)=True"
)
COSTS = re.compile(
    r"(?<=one of )epsilon, rho, share (?:or|and) error"
    r"|(?<=three of )epsilon, n, questions and error"
    r"|(?<=the fourth; ).*(?= (?:is|are) missing)"
    r"|(?<=pass only ).*"
)
WORD = re.compile(r"\b(?!and\b|or\b)[a-z][a-z_]*\b")


def as_options(message: str, argument: str = "") -> str:
    """A message about arguments in the words of the command line: unit="row" is --unit
    row there. `argument` is the argument that the message begins with, if any.
    """
    rest = message.removeprefix(argument)
    shown = f"--{argument.replace('_', '-')}{rest}" if argument else message
    shown = COSTS.sub(
        lambda found: WORD.sub(lambda one: f"--{one[0].replace('_', '-')}", found[0]),
        shown,
    )
    return ARGUMENT.sub(
        lambda found: " ".join(
            filter(None, (f"--{found[1] or found[4]}", found[2], found[3]))
        ),
        shown,
    )


def value(text: str) -> Any:
    """A bound or a key as it is written: an integer, a real, a date or a time; anything
    else, and 007, is a string.
    """
    for pattern, read in WRITTEN:
        if pattern.fullmatch(text):
            try:
                return read(text)
            except ValueError:
                return text
    return text


def named(
    ctx: click.Context, option: click.Parameter, text: str, example: str
) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if not (name.strip() and equals and rest.strip()):
        raise click.BadParameter(
            f"{text!r} does not have the form NAME=VALUE; write it like {example}",
            ctx,
            option,
        )
    return name.strip(), rest.strip()


def bounds(
    ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, tuple[Any, Any]]:
    """NAME=LOW:HIGH, or NAME=LOW..HIGH where the values hold colons themselves."""
    found = {}
    for text in texts:
        name, rest = named(ctx, option, text, "age=0:110")
        ends = [
            value(end.strip())
            for end in (rest.split("..") if ".." in rest else rest.split(":"))
        ]
        if len(ends) != 2 or any(isinstance(end, str) for end in ends):
            way_out = (
                "write two numbers or dates, such as age=0:110 or "
                "day=2020-01-01..2024-12-31"
            )
            raise click.BadParameter(
                f"{text!r} does not have a low and a high end; {way_out}", ctx, option
            )
        found[name] = (ends[0], ends[1])
    return found


QUOTED = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,"]*))\s*(?:,|$)')


def keys(
    ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, list[Any]]:
    """NAME=A,B,C; a value in double quotes is a string, even if it looks like a
    number, and can contain commas.
    """
    found = {}
    for text in texts:
        name, rest = named(ctx, option, text, "ward=A,B,C")
        found[name] = listed(rest)
        if not found[name]:
            raise click.BadParameter(
                f"{text!r} has an opening quotation mark without a closing one; add it",
                ctx,
                option,
            )
    return found


def listed(text: str) -> list[Any]:
    """The values between commas; empty if a quotation mark is not closed."""
    values: list[Any] = []
    place = 0
    while place < len(text):
        match = QUOTED.match(text, place)
        if match is None:
            return []
        quoted, plain = match.groups()
        values.append(
            value(plain.strip()) if quoted is None else quoted.replace('""', '"')
        )
        place = match.end()
    return values


def types(
    ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    """NAME=TYPE."""
    return dict(named(ctx, option, text, "age=integer") for text in texts)


def sizes(
    ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, float]:
    """NAME=NUMBER, for columns of the answer."""
    found = {}
    for text in texts:
        name, rest = named(ctx, option, text, "n=2")
        number = value(rest)
        if not isinstance(number, int | float):
            raise click.BadParameter(
                f"{text!r} is not a name with a number; write it like n=2", ctx, option
            )
        found[name] = float(number)
    return found


def error(
    ctx: click.Context,  # noqa: ARG001
    option: click.Parameter,  # noqa: ARG001
    text: str | None,
) -> float | str | None:
    found = None if text is None else value(text)
    return float(found) if isinstance(found, int | float) else text


@dataclass(frozen=True)
class Arguments:
    """A question as it was typed: the source, what was declared about it, the SQL, what
    it may cost, who asks.
    """

    source: str
    sql: str
    declared: dict[str, Any]
    cost: dict[str, Any]
    by: str | None = None

    def open(self) -> Dataset:
        import dither

        found: Dataset = dither.open(self.source, **self.declared)
        return found


OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("source", shell_complete=completing.files),
    click.argument("sql", required=False, shell_complete=completing.in_sql),
    click.option(
        "--file",
        type=click.File("rb"),
        metavar="FILE",
        help="File with the SQL, instead of the argument SQL.",
    ),
    click.option(
        "--table",
        metavar="NAME",
        shell_complete=completing.tables,
        help="Name of the table, if SOURCE is a database.",
    ),
    click.option(
        "--unit",
        metavar="NAME",
        shell_complete=completing.columns,
        help="Column with a person's id, or 'row' if each row is another person.",
    ),
    click.option(
        "--bounds",
        multiple=True,
        callback=bounds,
        shell_complete=completing.column_equals,
        metavar="NAME=LOW:HIGH",
        help="Public bounds of a column, such as age=0:110.",
    ),
    click.option(
        "--keys",
        multiple=True,
        callback=keys,
        shell_complete=completing.column_equals,
        metavar="NAME=A,B,…",
        help="Public values of a column, such as ward=A,B.",
    ),
    click.option(
        "--types",
        multiple=True,
        callback=types,
        shell_complete=completing.column_equals,
        metavar="NAME=TYPE",
        help="Type of a column, such as age=integer or day=date.",
    ),
    click.option(
        "--rows",
        type=click.IntRange(1),
        metavar="N",
        help="Largest number of rows per unit, a public fact.",
    ),
    click.option(
        "--budget",
        type=float,
        metavar="ε",
        help="Total ε of all answers about this data.",
    ),
    click.option(
        "--delta",
        type=float,
        metavar="δ",
        help="Total δ of all answers (default: from --population, else 0).",
    ),
    click.option(
        "--population",
        type=click.IntRange(1),
        metavar="N",
        help="Public number of people that the data is about; sets δ.",
    ),
    click.option(
        "--ledger",
        metavar="LEDGER",
        shell_complete=completing.files,
        help="Ledger to charge: a file or a postgresql:// address (default: a file "
        "next to SOURCE).",
    ),
    click.option(
        "--epsilon", type=float, metavar="ε", help="Privacy cost of this answer, as ε."
    ),
    click.option(
        "--rho",
        type=float,
        metavar="ρ",
        help="Privacy cost of this answer, as ρ of zero-concentrated privacy.",
    ),
    click.option(
        "--share",
        type=float,
        metavar="PART",
        help="Privacy cost of this answer, as a share of the account, such as 0.1.",
    ),
    click.option(
        "--error",
        callback=error,
        metavar="±",
        help="Wanted error, such as '±50 at 95%'; the cost follows from it.",
    ),
    click.option(
        "--expect",
        type=click.IntRange(1),
        metavar="N",
        help="Public guess of the number of rows per group.",
    ),
    click.option(
        "--by",
        metavar="NAME",
        help="Analyst who asks and whose share pays (default: your login name).",
    ),
    click.option(
        "--shares",
        multiple=True,
        callback=sizes,
        metavar="NAME=PART",
        help="Weight of a column of the answer when the cost is split, such as n=2.",
    ),
    click.option(
        "--radius",
        multiple=True,
        callback=sizes,
        metavar="NAME=SIZE",
        help="Largest contribution of one unit to a column of the answer; larger ones "
        "are scaled down.",
    ),
    click.option(
        "--groups",
        type=click.IntRange(1),
        metavar="N",
        help="Largest number of private keys per unit (default: 16, or the declared rows "
        "if they are fewer).",
    ),
    click.option(
        "--values",
        type=click.IntRange(1),
        metavar="N",
        help="Largest number of different values per unit.",
    ),
)


def arguments(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the source, the question and the cost as one `Arguments`."""

    @functools.wraps(function)
    def gathered(
        source: str, sql: str | None, file: BinaryIO | None, by: str | None, **rest: Any
    ) -> None:
        declared, cost = (
            {name: rest[name] for name in names if rest[name] not in (None, {})}
            for names in (DECLARED, COST)
        )
        others = {
            name: given
            for name, given in rest.items()
            if name not in (*DECLARED, *COST)
        }
        function(Arguments(source, question(sql, file), declared, cost, by), **others)

    for option in reversed(OPTIONS):
        gathered = option(gathered)
    return gathered


def question(sql: str | None, file: BinaryIO | None) -> str:
    """The SQL: the argument, a file, or standard input if the argument is a dash."""
    if (sql is None) == (file is None):
        raise click.UsageError(
            "pass the question once: as SQL in quotes, as - to read it from standard "
            "input, or with --file"
        )
    if sql is not None and sql != "-":
        return sql
    stream = file if file is not None else sys.stdin.buffer
    try:
        return stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise click.UsageError(
            "the question is not UTF-8 text; save it as UTF-8"
        ) from problem


def console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def grid(headings: list[tuple[str, bool]], rows: list[list[str]]) -> Table:
    """A rich table of plain text: names with whether their column stands on the right,
    then its rows.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name, right in headings:
        table.add_column(
            Text(spelled(name)), justify="right" if right else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(spelled(one)) for one in row))
    return table


def say(shown: Console, lines: list[str]) -> None:
    for line in lines:
        shown.print(line, soft_wrap=True)
