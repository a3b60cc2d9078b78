"""`dither audit`: tries to refute the guarantee of everything this library releases, or
of a shell command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dither.cli.output import json_option, print_json
from dither.cli.source import console, grid, say

if TYPE_CHECKING:
    from dither.audit import Finding

__all__ = ["command"]

HEADINGS = [
    ("what", False),
    ("claimed", False),
    ("lower bound", True),
    ("draws per side", True),
    ("refuted", False),
]


def line(name: str, found: Finding) -> list[str]:
    bound = f"{found.measure} ≥ {found.lower:.3f}"
    return [
        name,
        found.claimed.measure,
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
            f"None of {len(found)} is refuted. This is not a proof, because other "
            f"inputs or events might refute one; {rate}."
        ),
        *blind([one for _, one in found]),
    ]


def blind(found: list[Finding]) -> list[str]:
    """A note on findings with a lower bound of 0; usually they had few draws."""
    none = sum(one.lower <= 0 for one in found)
    if not none:
        return []
    return [
        f"{none:,} of them show a lower bound of 0: this number of draws cannot find "
        "small mistakes there; pass more --draws."
    ]


def claim(costs: dict[str, float | None]) -> Any:
    """The guarantee that a command states."""
    from dither.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

    epsilon, delta, mu, rho = (costs[one] for one in ("epsilon", "delta", "mu", "rho"))
    stated = [one for one in (epsilon, mu, rho) if one is not None]
    if len(stated) != 1 or (delta is not None and epsilon is None):
        raise click.UsageError(
            "pass the claim of the command: --epsilon (with --delta), --mu or --rho"
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
        raise click.UsageError("pass two neighbouring inputs, such as --pair 0 1")
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
        print_json(data)
    else:
        say(console(), [*found.sentences, *(str(timed).splitlines() if timed else [])])


def show_table(
    found: list[tuple[str, Finding]], confidence: float, as_json: bool
) -> None:
    from dither.audit.library import left_out

    if as_json:
        print_json([{"name": name} | one.to_dict() for name, one in found])
        return
    screen = console()
    screen.print(grid(HEADINGS, [line(name, one) for name, one in found]))
    absent = [f"Not installed, so not audited: {name}." for name in left_out()]
    say(screen, [*absent, *conclusion(found, confidence)])


@click.command(
    "audit", short_help="Try to refute the guarantees of Dither, or of a command."
)
@click.option(
    "--self",
    "own",
    is_flag=True,
    help="Audit every mechanism, question shape, oracle, scientific release and trainer.",
)
@click.option(
    "--only",
    default="",
    metavar="TEXT",
    help="Part of the names of the cases to audit with --self (default: all cases).",
)
@click.option(
    "--command",
    "program",
    metavar="COMMAND",
    help="Shell command to audit: it reads one input per line, and prints one output "
    "per line.",
)
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="A B",
    help="Two neighbouring inputs of the command.",
)
@click.option(
    "--epsilon", type=float, metavar="ε", help="ε that the command claims to have."
)
@click.option(
    "--delta", type=float, metavar="δ", help="Claimed δ, with --epsilon (default: 0)."
)
@click.option(
    "--mu", type=float, metavar="μ", help="Claimed μ of Gaussian differential privacy."
)
@click.option(
    "--rho",
    type=float,
    metavar="ρ",
    help="Claimed ρ of zero-concentrated differential privacy.",
)
@click.option(
    "--timeout",
    type=float,
    default=10.0,
    metavar="SECONDS",
    help="Time limit of one run of the command, in seconds.",
)
@click.option(
    "--batch",
    type=int,
    default=1000,
    metavar="N",
    help="Number of draws per run of the command.",
)
@click.option(
    "--time",
    "timed",
    is_flag=True,
    help="Also measure whether run times distinguish the inputs of --command.",
)
@click.option(
    "--draws",
    type=int,
    default=100_000,
    metavar="N",
    help="Number of draws per input; slow cases get fewer.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.999,
    metavar="P",
    help="Probability that no true guarantee is reported as refuted.",
)
@click.option(
    "--workers",
    type=int,
    default=0,
    metavar="N",
    help="Number of worker processes; 0 uses only this process.",
)
@json_option
def command(
    own: bool,
    only: str,
    program: str | None,
    draws: int,
    confidence: float,
    as_json: bool,
    **options: Any,
) -> None:
    """Try to refute the guarantees of everything that is built in (--self), or the one
    of a shell command (--command). The exit code is 1 if a guarantee is refuted.

    The audit draws outputs for two neighbouring inputs, chooses the event that
    distinguishes them best, and tests it on new draws. In Python,
    dither.audit.mechanism audits a function, dither.audit.query a question, and
    dither.audit.training a trained model.

    \b
    Examples:
      dither audit --self --only "Laplace, reals" --draws 20000
      dither audit --command ./release --pair 100 101 --epsilon 1 --draws 2000
    """
    if own == (program is not None):
        raise click.UsageError(
            "pass either --self, to audit what is built in, or --command; in Python, "
            "dither.audit.mechanism and dither.audit.query audit your own releases"
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
