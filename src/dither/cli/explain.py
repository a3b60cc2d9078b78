"""`dither explain`: what an ε means, in plain words."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import click

from dither.cli.source import console, grid

if TYPE_CHECKING:
    from dither.explain import Explanation

__all__ = ["command", "show"]


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


@click.command("explain", short_help="Say in plain words what an ε means.")
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
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option(
    "--svg",
    type=click.File("w", "utf-8", lazy=True),
    metavar="FILE",
    help="Write the picture; - prints it.",
)
def command(
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

    if as_json and svg is not None and svg.name == "-":
        raise click.UsageError("print one thing: --json, or the picture with --svg -")
    meaning = explained(
        epsilon, delta=delta, prior=prior, group=group, relation=relation
    )
    if svg is not None:
        svg.write(meaning.svg() + "\n")
    if as_json:
        click.echo(meaning.to_json())
    elif svg is None or svg.name != "-":
        show(meaning)
