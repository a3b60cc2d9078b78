"""`dither explain`: the meaning of an ε, plans for several questions, and published
deployments, in plain words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import click

from dither.cli.output import json_option
from dither.cli.source import console, grid

if TYPE_CHECKING:
    from dither.explain import Explanation

__all__ = ["command", "picture", "told"]

PERCENT = re.compile(r"±?\s*([0-9.eE+-]+)\s*(%?)")


class Explain(click.Group):
    """A group whose first command may be left out: `dither explain 0.5` is `dither
    explain epsilon 0.5`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {*self.commands, *ctx.help_option_names}
        named = bool(args) and args[0] in known
        return super().parse_args(ctx, args if named else ["epsilon", *args])


def show(explanation: Explanation) -> None:
    """Title, sentences, numbers and notes, as wide as the terminal."""
    shown = console()
    for line in (explanation.title, "", *explanation.sentences):
        shown.print(line)
    names = explanation.heading or ("",) * len(explanation.rows[0])
    table = grid(
        [(name, False) for name in names], [list(row) for row in explanation.rows]
    )
    table.show_header = bool(explanation.heading)
    shown.print(table)
    for line in explanation.notes:
        shown.print(line)


svg_option = click.option(
    "--svg",
    type=click.File("w", "utf-8", lazy=True),
    metavar="FILE",
    help="File for the picture as SVG; - prints it.",
)


def picture(function: Any) -> Any:
    """The options that print an explanation as data or as a picture."""
    return json_option(svg_option(function))


def told(
    explain: Callable[[], Explanation], as_json: bool, svg: IO[str] | None
) -> None:
    """Print an explanation in words, as data or as a picture."""
    if as_json and svg is not None and svg.name == "-":
        raise click.UsageError("pass either --json or --svg -, not both")
    explanation = explain()
    if svg is not None:
        svg.write(explanation.svg() + "\n")
    if as_json:
        click.echo(explanation.to_json())
    elif svg is None or svg.name != "-":
        show(explanation)


@click.group(
    "explain",
    cls=Explain,
    short_help="Explain an ε, plan questions, or list published ε values.",
)
def command() -> None:
    """Explain an ε in plain words, plan the budget of several questions, or list ε
    values that others have published.

    `dither explain 0.5` is short for `dither explain epsilon 0.5`.

    \b
    Examples:
      dither explain 0.5
      dither explain plan count --error 3% --n 200 --questions 50
      dither explain deployments 0.5
    """


@command.command("epsilon", short_help="Explain what an ε means for one person.")
@click.argument("epsilon", type=float)
@click.option(
    "--delta",
    type=float,
    default=0.0,
    metavar="δ",
    help="δ of the guarantee, such as 1e-6.",
)
@click.option(
    "--prior",
    type=float,
    default=0.5,
    metavar="P",
    help="Probability that an attacker assigned before the release, from 0 to 1.",
)
@click.option(
    "--group",
    type=int,
    default=1,
    metavar="K",
    help="Number of people to protect together, such as a family.",
)
@click.option(
    "--relation",
    type=click.Choice(["add/remove", "replace"]),
    default="add/remove",
    help="Difference of neighbouring datasets: your record is there or not, or it is "
    "another record.",
)
@picture
def means(
    epsilon: float,
    delta: float,
    prior: float,
    group: int,
    relation: str,
    as_json: bool,
    svg: IO[str] | None,
) -> None:
    """Explain what EPSILON means for one person: how far a release can move a belief
    about them, and how well an attacker can detect that they took part. 0 is perfect
    privacy.

    \b
    Examples:
      dither explain epsilon 0.5
      dither explain epsilon 1 --delta 1e-6 --prior 0.01 --svg epsilon.svg
    """
    from dither.explain import epsilon as explained

    stated: dict[str, Any] = {"delta": delta, "prior": prior, "group": group}
    told(lambda: explained(epsilon, relation=relation, **stated), as_json, svg)


def part(ctx: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """A share: 3%, ±3 %, or 0.03."""
    if text is None:
        return None
    found = PERCENT.fullmatch(text.strip())
    try:
        number = float(found[1]) if found else None
    except ValueError:
        number = None
    if found is None or number is None:
        raise click.BadParameter(
            f"{text!r} is not a share; write it like 3% or 0.03", ctx, option
        )
    return number / 100 if found[2] else number


def ends(ctx: click.Context, option: click.Parameter, text: str) -> tuple[float, float]:
    """LOW:HIGH."""
    low, colon, high = text.partition(":")
    try:
        return float(low), float(high if colon else "none")
    except ValueError:
        raise click.BadParameter(
            f"{text!r} does not have two ends; write it like 0:110", ctx, option
        ) from None


@command.command("plan", short_help="Plan the budget or the error of questions.")
@click.argument("query", default="count")
@click.option(
    "--error",
    callback=part,
    metavar="±",
    help="Relative error of each answer, such as 3% or 0.03.",
)
@click.option("--n", type=int, metavar="N", help="Number of people in each answer.")
@click.option("--questions", type=int, metavar="K", help="Number of questions.")
@click.option("--epsilon", type=float, metavar="ε", help="Total ε of all questions.")
@click.option(
    "--delta",
    type=float,
    default=0.0,
    metavar="δ",
    help="Total δ of all questions.",
)
@click.option(
    "--bounds",
    callback=ends,
    default="0:1",
    metavar="LOW:HIGH",
    help="Bounds of the values of a sum or mean.",
)
@click.option(
    "--bins", type=int, default=10, metavar="N", help="Number of bins of a histogram."
)
@click.option(
    "--q",
    type=float,
    default=0.5,
    metavar="Q",
    help="Quantile to release, from 0 to 1.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    metavar="P",
    help="Probability that an answer is within its error.",
)
@click.option("--local", is_flag=True, help="Let devices add the noise themselves.")
@picture
def planned(
    as_json: bool, svg: IO[str] | None, local: bool, query: str, **stated: Any
) -> None:
    """Plan several questions of the kind QUERY: count (default), sum, mean, histogram
    or quantile. Pass three of --error, --n, --questions and --epsilon; the fourth is
    computed.

    \b
    Examples:
      dither explain plan count --error 3% --n 200 --questions 50 --delta 1e-6
      dither explain plan mean --epsilon 1 --n 5000 --questions 10 --bounds 0:110
      dither explain plan histogram --local --error 3% --epsilon 4 --questions 1
    """
    from dither.explain import plan

    model = "local" if local else "central"
    told(lambda: plan(query, model=model, **stated), as_json, svg)


@command.command("deployments", short_help="List ε values that others have published.")
@click.argument("epsilon", type=float, required=False)
@picture
def published(epsilon: float | None, as_json: bool, svg: IO[str] | None) -> None:
    """List ε values that others have published, with unit, period and source. With
    EPSILON, show its place among them. The list does not endorse any value.

    \b
    Examples:
      dither explain deployments
      dither explain deployments 0.5
    """
    from dither.explain import deployments

    told(lambda: deployments(epsilon), as_json, svg)
