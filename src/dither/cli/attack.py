"""`dither attack`: attacks that work on what people publish today, and what they find
in releases.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from dither.cli import completing
from dither.cli.explain import show
from dither.cli.source import console, grid, value

if TYPE_CHECKING:
    from dither.audit.attacks import Attack

__all__ = ["command"]


def known(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The names of attacks."""
    from dither.audit.attacks.listed import ATTACKS

    return [name for name in ATTACKS if name.startswith(incomplete)]


def listing() -> None:
    """What can be attacked, and by which options."""
    from dither.audit.attacks.listed import ATTACKS

    lines = [
        [name, one.words, " ".join(f"--{option}" for option in one.options)]
        for name, one in ATTACKS.items()
    ]
    shown = console()
    shown.print(grid([(name, False) for name in ("name", "attacks", "options")], lines))
    shown.print("dither attack NAME runs one on bundled or made-up data.")


def split(
    ctx: click.Context,  # noqa: ARG001
    option: click.Parameter,  # noqa: ARG001
    text: str | None,
) -> list[str] | None:
    """Names between commas."""
    return None if text is None else [one.strip() for one in text.split(",")]


def ranges(
    ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, list[float]] | None:
    """NAME=LOW:HIGH:STEP as edges."""
    found = {}
    for text in texts:
        name, _, rest = text.partition("=")
        ends = [value(one) for one in rest.split(":")]
        whole = len(ends) == 3 and all(isinstance(one, int) for one in ends)
        if not name or not whole or ends[2] < 1 or ends[0] >= ends[1]:
            problem = f"{text!r} is not a column and its edges, such as age=0:110:10"
            raise click.BadParameter(problem, ctx, option)
        found[name] = [float(one) for one in range(ends[0], ends[1] + 1, ends[2])]
    return found or None


def chosen(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, with the table read."""
    found = {name: one for name, one in options.items() if one is not None}
    if "table" in found:
        from dither.audit.attacks.columns import read

        found["table"] = read(found["table"])
    return found


def printed(found: Attack, *, as_json: bool, svg: IO[str] | None) -> None:
    if svg is not None:
        svg.write(found.svg() + "\n")
    if as_json:
        click.echo(found.to_json())
    elif svg is None or svg.name != "-":
        show(found)


@click.command("attack", short_help="Attack what people publish, and releases.")
@click.argument("name", required=False, shell_complete=known)
@click.option(
    "--table",
    metavar="FILE",
    shell_complete=completing.files,
    help="A CSV or Parquet file with one line a person; bundled people if not given.",
)
@click.option(
    "--columns",
    callback=split,
    metavar="A,B,…",
    help="The columns that an attacker may know.",
)
@click.option("--secret", metavar="NAME", help="The column that they want to know.")
@click.option(
    "--edges",
    multiple=True,
    callback=ranges,
    metavar="NAME=LOW:HIGH:STEP",
    help="Public edges of a column of numbers.",
)
@click.option("--k", type=int, metavar="K", help="So many people look alike.")
@click.option(
    "--diversity", type=int, metavar="L", help="So many secrets among them, at least."
)
@click.option("--epsilon", type=float, metavar="ε", help="What the release costs.")
@click.option("--rho", type=float, metavar="ρ", help="The same for a census.")
@click.option("--tries", type=int, metavar="N", help="How often to try.")
@click.option("--people", type=int, metavar="N", help="How many people to make up.")
@click.option("--blocks", type=int, metavar="N", help="How many blocks to make up.")
@click.option("--variants", type=int, metavar="N", help="How many variants.")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option(
    "--svg",
    type=click.File("w", "utf-8", lazy=True),
    metavar="FILE",
    help="Write the picture; - prints it.",
)
def command(
    name: str | None, as_json: bool, svg: IO[str] | None, **options: Any
) -> None:
    """Attack what people publish today, and a release of the same: how often each
    attack is right, what guessing gives, and what the guarantee allows. Without a NAME,
    list all attacks.

    What is printed about a table of your own is about real people: keep it.

    \b
    dither attack linkage
    dither attack homogeneity --k 5 --epsilon 0.5
    dither attack linkage --table people.csv --columns age,sex,postcode
    """
    if name is None:
        listing()
        return
    if as_json and svg is not None and svg.name == "-":
        raise click.UsageError("print one thing: --json, or the picture with --svg -")
    from dither.audit.attacks import run

    printed(run(name, **chosen(options)), as_json=as_json, svg=svg)
