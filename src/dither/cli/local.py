"""`dither local`: make a task, choose an oracle, try it, and decode what devices sent.
Commands about a running collector are in `collect`.
"""

from __future__ import annotations

import json
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli import collect
from dither.cli.asked import (
    asked,
    asked_options,
    domain_of,
    domain_option,
    values_of,
)
from dither.cli.decoding import FILE, decoding_options, show_estimate, stratum_option
from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.local import Task

__all__ = ["command"]

DAY = click.DateTime(["%Y-%m-%d"])


@click.group("local", short_help="Count what devices hold, without holding it.")
def command() -> None:
    """Statistics from devices that trust nobody: each randomizes its own answer."""


epsilon_option = click.option(
    "--epsilon", type=float, required=True, metavar="ε", help="The ε of one message."
)
for_ever_option = click.option(
    "--for-ever",
    type=float,
    metavar="ε",
    help="The ε of all messages about one value, for devices that answer again.",
)
n_option = click.option(
    "--n", type=int, required=True, metavar="N", help="How many messages are expected."
)
payload_option = click.option(
    "--payload",
    type=int,
    default=4096,
    show_default=True,
    metavar="BYTES",
    help="The largest message.",
)


def read_task(path: Path) -> Task:
    from dither.local import Task

    return Task.from_json(path.read_bytes())


@command.command("choose", short_help="Say which oracle fits.")
@domain_option
@epsilon_option
@for_ever_option
@n_option
@payload_option
@click.option("--json", "as_json", is_flag=True, help="Print the options as JSON.")
def choose_command(
    domain: str | None,
    epsilon: float,
    for_ever: float | None,
    n: int,
    payload: int,
    as_json: bool,
) -> None:
    """Say which oracle has the smallest variance, and what N messages can show."""
    from dither.local import choose

    values = domain_of(domain)
    choice = choose(values, epsilon=epsilon, for_ever=for_ever, n=n, payload=payload)
    if not as_json:
        click.echo(str(choice))
        return
    options = [
        {
            "name": option.name,
            "standard_error": option.error,
            "payload": option.payload,
            "cells": option.cells,
            "fits": option.fits,
        }
        for option in choice.options
    ]
    limit = choice.detection_limit
    click.echo(json.dumps({"options": options, "detection_limit": limit}))


@command.command("task", short_help="Write a task, signed if a key is given.")
@click.argument("name")
@asked_options
@epsilon_option
@for_ever_option
@n_option
@payload_option
@click.option(
    "--distinct",
    type=int,
    metavar="K",
    help="How many values of a device are told apart: one, if not given.",
)
@click.option("--every", metavar="day|week|DAYS", help="How often a device answers.")
@click.option("--oracle", metavar="NAME", help="Use this oracle, and not the best one.")
@click.option("--starts", type=DAY, metavar="DAY", help="Today, if not given.")
@click.option("--expires", type=DAY, metavar="DAY", help="A year later, if not given.")
@click.option(
    "--stratum", "strata", multiple=True, metavar="NAME", help="A public stratum."
)
@click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Sign with this key; a new one is made where there is no such file.",
)
@click.option(
    "--out",
    type=click.File("w", "utf-8", lazy=True),
    default="-",
    metavar="FILE",
    help="Where the task goes; - prints it.",
)
def task_command(
    name: str,
    every: str | None,
    starts: datetime | None,
    expires: datetime | None,
    key: Path | None,
    out: Any,
    **given: Any,
) -> None:
    """Write the task NAME: what devices are asked, with which probabilities."""
    from dither.local import task

    what = ("domain", "numbers", "ask", "attributes", "alphabet", "longest")
    domain = asked(**{option: given.pop(option) for option in what})
    signing = _signing_key(key)
    made = task(
        name,
        domain=domain,
        every=int(every) if every and every.isdecimal() else every,
        starts=starts.date() if starts else None,
        expires=expires.date() if expires else None,
        key=signing,
        **given,
    )
    if out.name != "-" and Path(out.name).exists():
        raise ArgumentError("out", f"{out.name} is there already; name a new file")
    out.write(made.to_json() + "\n")
    click.echo(made.promise, err=True)
    if signing is not None:
        public = signing.public
        click.echo(f"Signed: build apps with the public key {public}", err=True)
    else:
        click.echo("Not signed: devices need that; pass --key FILE.", err=True)


def _signing_key(path: Path | None) -> Any:
    from dither.local import SigningKey

    if path is None:
        return None
    if path.exists():
        return SigningKey.load(path)
    key = SigningKey.new()
    key.save(path)
    click.echo(f"new key in {path}: keep it at home", err=True)
    return key


@command.command("simulate", short_help="Try a task on made-up devices.")
@click.argument("path", metavar="TASK", type=FILE)
@click.option(
    "--values",
    type=FILE,
    metavar="FILE",
    help="One device's value a line (a CSV file, of several attributes); without it, "
    "N devices follow Zipf's law.",
)
@click.option(
    "--n", type=int, metavar="N", help="How many devices; 100,000 if not given."
)
@click.option(
    "--messages",
    type=click.File("wb", lazy=True),
    metavar="FILE",
    help="Write what the devices send.",
)
@click.option(
    "--stratum",
    metavar="NAME",
    help="The stratum of the devices, if the task has some.",
)
def simulate_command(
    path: Path, values: Path | None, n: int | None, messages: Any, stratum: str | None
) -> None:
    """Randomize values as devices of TASK would, and compare the estimate with the
    truth, which only a simulation knows.
    """
    made = read_task(path)
    held = _held(made, values, n)
    sent = made.randomize(held, stratum=stratum)
    _say_what_is_none(made, held)
    if messages is not None:
        messages.write(sent.to_bytes())
    tally = made.tally(sent)
    if made.domain is None or hasattr(made.domain, "values"):
        _show_beside_truth(tally.estimate(_candidates(made, held)), held)
    else:
        for wanted in getattr(made.domain, "parts", (None,)):
            click.echo(str(tally.estimate(wanted)))


def _say_what_is_none(made: Task, held: list[Any]) -> None:
    """Values that the task does not know: often a file in another form."""
    domain = made.domain
    if domain is None:
        return
    parts = range(len(domain.sizes))
    nothing = sum(
        all(domain.answer(value, part)[0] is None for part in parts) for value in held
    )
    if nothing:
        click.echo(
            f"{nothing:,} of {len(held):,} values are no answer to this task.", err=True
        )


def _held(made: Task, values: Path | None, n: int | None) -> list[Any]:
    if values is not None:
        return values_of(made, values)
    keys = getattr(made.domain, "values", None)
    if keys is None:
        raise ArgumentError("values", "are needed: the task has no list of its own")
    wanted = n or 100_000
    weights = [1 / (place + 1) for place in range(len(keys))]
    total = sum(weights)
    ends = [round(wanted * part / total) for part in accumulate(weights)]
    counts = [end - before for before, end in zip([0, *ends], ends, strict=False)]
    return [key for key, count in zip(keys, counts, strict=True) for _ in range(count)]


def _candidates(made: Task, held: list[Any]) -> list[Any] | None:
    return None if made.domain is not None else sorted(set(held))


def _show_beside_truth(found: Any, held: list[Any]) -> None:
    from collections import Counter

    truth = Counter(held)
    click.echo(f"{'value':20} {'true':>9} {'estimate':>9}   95 % interval")
    for key, value, low, high in found.top():
        true = truth[key] / len(held) if key is not None else 0.0
        name = "(none)" if key is None else str(key)
        ends = f"{100 * low:.2f} to {100 * high:.2f} %"
        click.echo(f"{name:20} {100 * true:8.2f}% {100 * value:8.2f}%   {ends}")
    inside = [
        low <= truth[key] / len(held) <= high for key, _, low, high in found.rows()
    ]
    share = 100 * sum(inside) / len(inside)
    limit = 100 * found.detection_limit
    click.echo(
        f"{share:.1f} % of the intervals hold the truth; found from {limit:.2g} % on."
    )


@command.command("decode", short_help="Estimate from what devices sent.")
@click.argument("path", metavar="TASK", type=FILE)
@click.argument("messages", nargs=-1, required=True, type=FILE)
@stratum_option
@decoding_options
def decode_command(
    path: Path,
    messages: tuple[Path, ...],
    period: int | None,
    stratum: str | None,
    **shown: Any,
) -> None:
    """Estimate what TASK asks for from the batches in MESSAGES."""
    files = [one.read_bytes() for one in messages]
    tally = read_task(path).tally(files, period=period, batches=True)
    show_estimate(tally if stratum is None else tally.of(stratum), **shown)


for collecting in collect.commands:
    command.add_command(collecting)
