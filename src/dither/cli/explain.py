"""`dither explain`: what an ε means, what a number of questions takes, and what others
have published, in plain words.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any

import click

from dither.cli.source import console, grid

if TYPE_CHECKING:
    from dither.explain import Explanation

__all__ = ["command", "show"]

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


def picture(function: Any) -> Any:
    """The options in which every explanation is shown otherwise."""
    for option in (
        click.option(
            "--svg",
            type=click.File("w", "utf-8", lazy=True),
            metavar="FILE",
            help="Write the picture; - prints it.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="Print the numbers as JSON."
        ),
    ):
        function = option(function)
    return function


def told(explanation: Explanation, as_json: bool, svg: IO[str] | None) -> None:
    """In words, as data, or as a picture."""
    if as_json and svg is not None and svg.name == "-":
        raise click.UsageError("print one thing: --json, or the picture with --svg -")
    if svg is not None:
        svg.write(explanation.svg() + "\n")
    if as_json:
        click.echo(explanation.to_json())
    elif svg is None or svg.name != "-":
        show(explanation)


@click.group("explain", cls=Explain, short_help="Say in plain words what an ε means.")
def command() -> None:
    """Say in plain words what an ε means, what a number of questions takes, and what
    others have published.

    `dither explain 0.5` is short for `dither explain epsilon 0.5`.
    """


@command.command("epsilon", short_help="What an ε means for one person.")
@click.argument("epsilon", type=float)
@click.option(
    "--delta",
    type=float,
    default=0.0,
    metavar="δ",
    help="The δ beside it, such as 1e-6; none if not given.",
)
@click.option(
    "--prior",
    type=float,
    default=0.5,
    metavar="P",
    help="What was believed before; 0.5 if not given.",
)
@click.option(
    "--group",
    type=int,
    default=1,
    metavar="K",
    help="So many people whose records go together.",
)
@click.option(
    "--relation",
    type=click.Choice(["add/remove", "replace"]),
    default="add/remove",
    show_default=True,
    help=(
        "How neighbours differ: one has your record and the other has "
        "not, or your record is another one."
    ),
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
    """Say in plain words what EPSILON means for one person: how far it lets a belief
    about them move, and how well anybody can notice that they took part. 0 is perfect
    privacy.

    \b
    dither explain 0.5
    dither explain 1 --delta 1e-6 --prior 0.01 --svg epsilon.svg
    """
    from dither.explain import epsilon as explained

    meaning = explained(
        epsilon, delta=delta, prior=prior, group=group, relation=relation
    )
    told(meaning, as_json, svg)


def part(ctx: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """A part of the whole: 3%, ±3 %, or 0.03."""
    if text is None:
        return None
    found = PERCENT.fullmatch(text.strip())
    try:
        number = float(found[1]) if found else None
    except ValueError:
        number = None
    if found is None or number is None:
        raise click.BadParameter(
            f"{text!r} is no part, such as 3% or 0.03", ctx, option
        )
    return number / 100 if found[2] else number


def ends(ctx: click.Context, option: click.Parameter, text: str) -> tuple[float, float]:
    """LOW:HIGH."""
    low, colon, high = text.partition(":")
    try:
        return float(low), float(high if colon else "none")
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not LOW:HIGH, such as 0:110", ctx, option
        ) from None


@command.command("plan", short_help="What a number of questions takes.")
@click.argument("query", default="count")
@click.option(
    "--error", callback=part, metavar="±", help="A part of the whole, such as 3%."
)
@click.option("--n", type=int, metavar="N", help="How many people each is about.")
@click.option("--questions", type=int, metavar="K", help="How many are to be asked.")
@click.option("--epsilon", type=float, metavar="ε", help="What the account promises.")
@click.option(
    "--delta",
    type=float,
    default=0.0,
    metavar="δ",
    help="The δ beside it; none if not given.",
)
@click.option(
    "--bounds",
    callback=ends,
    default="0:1",
    metavar="LOW:HIGH",
    help="Of a sum or mean.",
)
@click.option("--bins", type=int, default=10, metavar="N", help="Of a histogram.")
@click.option("--q", type=float, default=0.5, metavar="Q", help="Of a quantile.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="Of each answer."
)
@click.option("--local", is_flag=True, help="Devices add the noise themselves.")
@picture
def planned(
    as_json: bool, svg: IO[str] | None, local: bool, query: str, **stated: Any
) -> None:
    """What so many questions take: leave one of --error, --n, --questions and --epsilon
    out, and it is solved for. QUERY is count (if not given), sum, mean, histogram or
    quantile.

    \b
    dither explain plan count --error 3% --n 200 --questions 50 --delta 1e-6
    dither explain plan mean --epsilon 1 --n 5000 --questions 10 --bounds 0:110
    dither explain plan histogram --local --error 3% --epsilon 4 --questions 1
    """
    from dither.explain import plan

    model = "local" if local else "central"
    told(plan(query, model=model, **stated), as_json, svg)


@command.command("deployments", short_help="ε values that others have published.")
@click.argument("epsilon", type=float, required=False)
@picture
def published(epsilon: float | None, as_json: bool, svg: IO[str] | None) -> None:
    """ε values that others have published, with unit, time and source; with EPSILON,
    where yours lies among them. No endorsement.
    """
    from dither.explain import deployments

    told(deployments(epsilon), as_json, svg)
