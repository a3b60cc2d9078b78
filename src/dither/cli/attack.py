"""`dither attack`: attacks on data as people publish it today, and on private releases
of it.
"""

from __future__ import annotations

from typing import IO, Any

import click

from dither.cli import completing
from dither.cli.explain import picture, told
from dither.cli.output import print_json
from dither.cli.source import console, grid, value

__all__ = ["command"]


def known(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The names of attacks."""
    from dither.audit.attacks.listed import ATTACKS

    return [name for name in ATTACKS if name.startswith(incomplete)]


def listing(*, as_json: bool) -> None:
    """Print all attacks with their options."""
    from dither.audit.attacks.listed import ATTACKS

    found = [
        {"name": name, "attacks": one.words, "options": list(one.options)}
        for name, one in ATTACKS.items()
    ]
    if as_json:
        print_json(found)
        return
    lines = [
        [name, one.words, " ".join(f"--{option}" for option in one.options)]
        for name, one in ATTACKS.items()
    ]
    shown = console()
    shown.print(grid([(name, False) for name in ("name", "attacks", "options")], lines))
    shown.print("dither attack NAME runs one on bundled or simulated data.")


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
            problem = (
                f"{text!r} is not a column with its edges; write it like age=0:110:10"
            )
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


@click.command(
    "attack", short_help="Run an attack on published data and on a private release."
)
@click.argument("name", required=False, shell_complete=known)
@click.option(
    "--table",
    metavar="FILE",
    shell_complete=completing.files,
    help="CSV or Parquet file with one row per person (default: bundled people).",
)
@click.option(
    "--columns",
    callback=split,
    metavar="A,B,…",
    help="Columns that the attacker may know.",
)
@click.option(
    "--secret", metavar="NAME", help="Column that the attacker wants to learn."
)
@click.option(
    "--edges",
    multiple=True,
    callback=ranges,
    metavar="NAME=LOW:HIGH:STEP",
    help="Public bin edges of a column of numbers, such as age=0:110:10.",
)
@click.option(
    "--k",
    type=int,
    metavar="K",
    help="Minimum number of people with the same known columns (default: 3).",
)
@click.option(
    "--diversity",
    type=int,
    metavar="L",
    help="Minimum number of different secrets among these people (default: 1).",
)
@click.option(
    "--epsilon",
    type=float,
    metavar="ε",
    help="Privacy cost of the release (default: depends on the attack).",
)
@click.option(
    "--rho",
    type=float,
    metavar="ρ",
    help="Privacy cost of the census release (default: 0.5).",
)
@click.option(
    "--tries",
    type=int,
    metavar="N",
    help="Number of repetitions (default: depends on the attack).",
)
@click.option(
    "--people",
    type=int,
    metavar="N",
    help="Number of simulated people (default: depends on the attack).",
)
@click.option(
    "--blocks",
    type=int,
    metavar="N",
    help="Number of simulated census blocks (default: 300).",
)
@click.option(
    "--variants",
    type=int,
    metavar="N",
    help="Number of simulated genetic variants (default: 3000).",
)
@picture
def command(
    name: str | None, as_json: bool, svg: IO[str] | None, **options: Any
) -> None:
    """Run the attack NAME on data as people publish it today, and on a private release
    of the same data. Show how often the attack is right, how often a guess is right,
    and how often the guarantee allows it to be right. Without NAME, list all attacks.

    The output about a table of your own is about real people: do not publish it.

    \b
    Examples:
      dither attack linkage
      dither attack homogeneity --k 5 --epsilon 0.5
      dither attack linkage --table people.csv --columns age,sex,postcode
    """
    if name is None:
        listing(as_json=as_json)
        return
    from dither.audit.attacks import run

    told(lambda: run(name, **chosen(options)), as_json, svg)
