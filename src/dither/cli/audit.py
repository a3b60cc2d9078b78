"""`dither audit`: tries to refute the guarantee of everything this library releases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from dither.cli.source import console, grid, say

if TYPE_CHECKING:
    from dither.audit import Finding

__all__ = ["command"]

HEADINGS = [
    ("what", False),
    ("claimed", False),
    ("lower bound", True),
    ("draws a side", True),
    ("refuted", False),
]


def line(name: str, found: Finding) -> list[str]:
    stated, _, _ = str(found.claimed).partition(", one ")
    bound = f"{found.measure} ≥ {found.lower:.3f}"
    return [
        name,
        stated,
        bound,
        f"{found.draws:,}",
        "REFUTED" if found.refuted else "no",
    ]


def conclusion(found: list[tuple[str, Finding]], confidence: float) -> list[str]:
    refuted = [(name, one) for name, one in found if one.refuted]
    rate = (
        "a false alarm in the whole table has a probability of at most "
        f"{1 - confidence:.2g}"
    )
    if refuted:
        return [f"{name}: {one.event}" for name, one in refuted] + [
            f"{len(refuted)} of {len(found)} refuted; {rate}."
        ]
    return [
        (
            f"None of {len(found)} is refuted, which proves nothing: other "
            f"inputs or events might; {rate}."
        )
    ]


@click.command(
    "audit", short_help="Try to refute the guarantees of everything built in."
)
@click.option(
    "--self",
    "own",
    is_flag=True,
    help="Audit every mechanism, array function and some SQL questions.",
)
@click.option(
    "--draws",
    type=int,
    default=100_000,
    show_default=True,
    help="Draws of each input; slow ones get fewer.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.999,
    show_default=True,
    help="That nothing true is called refuted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(own: bool, draws: int, confidence: float, as_json: bool) -> None:
    """Try to refute the guarantees of everything built in: the command ends with 1 if
    one is refuted.

    Each is drawn from on two neighbouring inputs, and the event that tells them apart
    best is judged on fresh draws. To audit something of your own in Python:
    dither.audit.mechanism for a function, dither.audit.query for a question.
    """
    if not own:
        raise click.UsageError(
            "pass --self to audit what is built in; in Python, "
            "dither.audit.mechanism and .query audit your own"
        )
    from dither.audit import everything

    found = list(everything(draws, confidence))
    if as_json:
        click.echo(
            json.dumps(
                [{"name": name} | one.to_dict() for name, one in found],
                indent=2,
                ensure_ascii=False,
            )
        )
    else:
        screen = console()
        screen.print(grid(HEADINGS, [line(name, one) for name, one in found]))
        say(screen, conclusion(found, confidence))
    if any(one.refuted for _, one in found):
        raise SystemExit(1)
