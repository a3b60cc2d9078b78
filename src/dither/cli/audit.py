"""`dither audit`: tries to refute the guarantee of everything this library releases, or
of a shell command.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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
        ),
        *blind([one for _, one in found]),
    ]


def blind(found: list[Finding]) -> list[str]:
    """How many findings show nothing at all; usually they had few draws."""
    none = sum(one.lower <= 0 for one in found)
    if not none:
        return []
    return [
        f"{none:,} of them show a lower bound of 0: small mistakes there would not have "
        "been seen with so few draws; pass more --draws."
    ]


def claim(costs: dict[str, float | None]) -> Any:
    """The guarantee that a command states."""
    from dither.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

    epsilon, delta, mu, rho = (costs[one] for one in ("epsilon", "delta", "mu", "rho"))
    stated = [one for one in (epsilon, mu, rho) if one is not None]
    if len(stated) != 1 or (delta is not None and epsilon is None):
        raise click.UsageError(
            "say what the command claims: --epsilon (and --delta), --mu or --rho"
        )
    if epsilon is not None:
        return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    if mu is not None:
        return GaussianDP(mu)
    return ZeroConcentratedDP(rho or 0.0)


def audited(line: str, options: dict[str, Any], draws: int, confidence: float) -> Any:
    """The finding about a command, and its run times if they are asked for."""
    from dither.audit import command as program
    from dither.audit import mechanism, run_time

    pairs = options["pairs"]
    if not pairs:
        raise click.UsageError("pass neighbouring inputs, such as --pair 0 1")
    run = program(line, timeout=options["timeout"], batch=options["batch"])
    found = mechanism(
        run,
        pairs=list(pairs),
        claimed=claim(options),
        draws=draws,
        confidence=confidence,
        workers=options["workers"],
    )
    timed = run_time(run, *pairs[0]) if options["timed"] else None
    return found, timed


def show_command(found: Finding, timed: Any, as_json: bool) -> None:
    if as_json:
        data = found.to_dict() | ({"run_time": timed.to_dict()} if timed else {})
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        say(console(), [*found.sentences, *(str(timed).splitlines() if timed else [])])


def show_table(
    found: list[tuple[str, Finding]], confidence: float, as_json: bool
) -> None:
    from dither.audit.library import left_out

    if as_json:
        data = [{"name": name} | one.to_dict() for name, one in found]
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    screen = console()
    screen.print(grid(HEADINGS, [line(name, one) for name, one in found]))
    absent = [f"Not installed, so not audited: {name}." for name in left_out()]
    say(screen, [*absent, *conclusion(found, confidence)])


@click.command(
    "audit", short_help="Try to refute guarantees: built in, or a command's."
)
@click.option(
    "--self",
    "own",
    is_flag=True,
    help="Audit every mechanism, question shape, oracle, scientific release and trainer.",
)
@click.option("--only", default="", metavar="WORDS", help="Of these: names with WORDS.")
@click.option(
    "--command",
    "program",
    metavar="COMMAND",
    help="Audit a shell command: a line in for each draw, a line out for each.",
)
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="A B",
    help="Two neighbouring inputs of the command; may be repeated.",
)
@click.option("--epsilon", type=float, metavar="ε", help="What the command claims.")
@click.option("--delta", type=float, metavar="δ", help="Beside ε.")
@click.option("--mu", type=float, metavar="μ", help="A Gaussian claim.")
@click.option("--rho", type=float, metavar="ρ", help="A zero-concentrated claim.")
@click.option(
    "--timeout",
    type=float,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long one start of the command may take.",
)
@click.option(
    "--batch",
    type=int,
    default=1000,
    show_default=True,
    help="Draws for each start of the command.",
)
@click.option(
    "--time", "timed", is_flag=True, help="Measure what its run time tells, too."
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
@click.option(
    "--workers",
    type=int,
    default=0,
    show_default=True,
    help="Processes to use at once.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(
    own: bool,
    only: str,
    program: str | None,
    draws: int,
    confidence: float,
    as_json: bool,
    **options: Any,
) -> None:
    """Try to refute the guarantees of everything built in, or of a shell command: this
    ends with 1 if one is refuted.

    Each is drawn from on two neighbouring inputs, and the event that tells them apart
    best is judged on fresh draws. To audit something of your own in Python:
    dither.audit.mechanism for a function, dither.audit.query for a question,
    dither.audit.training for a trained model.

    \b
    dither audit --self --only trials --draws 20000
    dither audit --command './release --epsilon 1' --pair 100 101 --epsilon 1
    """
    if own == (program is not None):
        raise click.UsageError(
            "pass --self to audit what is built in, or --command; in Python, "
            "dither.audit.mechanism and .query audit your own"
        )
    if program is not None:
        finding, timed = audited(program, options, draws, confidence)
        show_command(finding, timed, as_json)
        raise SystemExit(1 if finding.refuted else 0)
    from dither.audit import everything

    workers = options["workers"]
    found = list(everything(draws, confidence, only=only, workers=workers))
    show_table(found, confidence, as_json)
    if any(one.refuted for _, one in found):
        raise SystemExit(1)
