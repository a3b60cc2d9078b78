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
from dither.cli.output import already_json, json_option, print_json
from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.local import Task

__all__ = ["command"]

DAY = click.DateTime(["%Y-%m-%d"])


@click.group(
    "local", short_help="Collect statistics from devices that randomize their answers."
)
def command() -> None:
    """Collect statistics from devices that do not trust the collector: each device
    randomizes its own answer (local differential privacy).

    \b
    Examples:
      dither local choose --domain 100 --epsilon 1 --n 100000
      dither local simulate task.json --n 20000
    """


epsilon_option = click.option(
    "--epsilon", type=float, required=True, metavar="ε", help="ε of one message."
)
for_ever_option = click.option(
    "--for-ever",
    type=float,
    metavar="ε",
    help="Total ε of all messages of a device about one value, with --every.",
)
n_option = click.option(
    "--n", type=int, required=True, metavar="N", help="Expected number of messages."
)
payload_option = click.option(
    "--payload",
    type=int,
    default=4096,
    metavar="BYTES",
    help="Largest size of a message, in bytes.",
)


def read_task(path: Path) -> Task:
    from dither.local import Task

    return Task.from_json(path.read_bytes())


@command.command("choose", short_help="Compare the oracles for a task.")
@domain_option
@epsilon_option
@for_ever_option
@n_option
@payload_option
@json_option
def choose_command(
    domain: str | None,
    epsilon: float,
    for_ever: float | None,
    n: int,
    payload: int,
    as_json: bool,
) -> None:
    """Compare the oracles for a task, and choose the one with the smallest variance
    among those that fit. Also print the smallest share that N messages can detect.

    \b
    Examples:
      dither local choose --domain 100 --epsilon 1 --n 100000
    """
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
    print_json({"options": options, "detection_limit": limit})


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
    help="Number of distinct values per device (default: 1).",
)
@click.option(
    "--every",
    metavar="day|week|DAYS",
    help="Time between two answers of a device (default: a device answers once).",
)
@click.option(
    "--oracle",
    metavar="NAME",
    help="Oracle to use (default: the one with the smallest variance).",
)
@click.option(
    "--starts",
    type=DAY,
    metavar="DAY",
    help="First day of the task, such as 2027-01-31 (default: today).",
)
@click.option(
    "--expires",
    type=DAY,
    metavar="DAY",
    help="Day on which the task ends (default: 365 days after its start).",
)
@click.option(
    "--stratum",
    "strata",
    multiple=True,
    metavar="NAME",
    help="Public group that a device names, such as a country.",
)
@click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of the signing key; if it does not exist, a new key is written to it.",
)
@click.option(
    "--out",
    type=click.File("w", "utf-8", lazy=True),
    default="-",
    metavar="FILE",
    help="File for the task; - prints it.",
)
@already_json
def task_command(
    name: str,
    every: str | None,
    starts: datetime | None,
    expires: datetime | None,
    key: Path | None,
    out: Any,
    **given: Any,
) -> None:
    """Write the task NAME as JSON: the question to devices, and the probabilities with
    which they randomize their answers.

    \b
    Examples:
      dither local task emoji --domain values.txt --epsilon 2 --n 20000
      dither local task minutes --numbers 0:120 --epsilon 4 --n 500 --out minutes.json
    """
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
        raise ArgumentError("out", f"{out.name} already exists; pass a new file")
    out.write(made.to_json() + "\n")
    click.echo(made.promise, err=True)
    if signing is not None:
        public = signing.public
        click.echo(f"Signed: build apps with the public key {public}", err=True)
    else:
        click.echo(
            "Not signed: devices accept only signed tasks, so pass --key FILE.",
            err=True,
        )


def _signing_key(path: Path | None) -> Any:
    from dither.local import SigningKey

    if path is None:
        return None
    if path.exists():
        return SigningKey.load(path)
    key = SigningKey.new()
    key.save(path)
    click.echo(f"new key in {path}: keep it secret, away from the collector", err=True)
    return key


@command.command("simulate", short_help="Try a task on simulated devices.")
@click.argument("path", metavar="TASK", type=FILE)
@click.option(
    "--values",
    type=FILE,
    metavar="FILE",
    help="File with one value per line, one for each device; for several attributes, a "
    "CSV file (default: N devices whose values follow Zipf's law).",
)
@click.option(
    "--n",
    type=int,
    default=100_000,
    metavar="N",
    help="Number of devices, without --values.",
)
@click.option(
    "--messages",
    type=click.File("wb", lazy=True),
    metavar="FILE",
    help="File for the messages of the devices.",
)
@click.option(
    "--stratum",
    metavar="NAME",
    help="Stratum of the devices, if the task has strata.",
)
@json_option
def simulate_command(
    path: Path,
    values: Path | None,
    n: int,
    messages: Any,
    stratum: str | None,
    as_json: bool,
) -> None:
    """Randomize values as the devices of TASK would, and compare the estimate with the
    true values, which are known only in a simulation.

    \b
    Examples:
      dither local simulate task.json --n 20000 --messages sent.bin
      dither local simulate task.json --values answers.txt
    """
    made = read_task(path)
    held = _held(made, values, n)
    sent = made.randomize(held, stratum=stratum)
    invalid = _invalid(made, held)
    if invalid:
        click.echo(
            f"{invalid:,} of {len(held):,} values are not valid answers to this task.",
            err=True,
        )
    if messages is not None:
        messages.write(sent.to_bytes())
    tally = made.tally(sent)
    shares = made.domain is None or hasattr(made.domain, "values")
    wanted = (
        [_candidates(made, held)] if shares else getattr(made.domain, "parts", (None,))
    )
    found = [tally.estimate(one) for one in wanted]
    compared = _compared(found[0], held) if shares else {}
    if as_json:
        estimates = [json.loads(one.to_json()) for one in found]
        about = {"devices": len(held), "invalid": invalid, "estimates": estimates}
        print_json(about | compared)
    elif shares:
        _show_compared(compared)
    else:
        for one in found:
            click.echo(str(one))


def _invalid(made: Task, held: list[Any]) -> int:
    """Number of values that are not answers to the task: often a file in another form."""
    domain = made.domain
    if domain is None:
        return 0
    parts = range(len(domain.sizes))
    return sum(
        all(domain.answer(value, part)[0] is None for part in parts) for value in held
    )


def _held(made: Task, values: Path | None, n: int) -> list[Any]:
    if values is not None:
        return values_of(made, values)
    keys = getattr(made.domain, "values", None)
    if keys is None:
        raise ArgumentError(
            "values",
            "are needed, because the task does not list its values; pass --values FILE",
        )
    weights = [1 / (place + 1) for place in range(len(keys))]
    total = sum(weights)
    ends = [round(n * part / total) for part in accumulate(weights)]
    counts = [end - before for before, end in zip([0, *ends], ends, strict=False)]
    return [key for key, count in zip(keys, counts, strict=True) for _ in range(count)]


def _candidates(made: Task, held: list[Any]) -> list[Any] | None:
    return None if made.domain is not None else sorted(set(held))


def _compared(found: Any, held: list[Any]) -> dict[str, Any]:
    """The most frequent values with their true shares, and the share of all intervals
    that contain the true one.
    """
    from collections import Counter

    counts = Counter(held)
    values = [
        {
            "value": key,
            "true": counts[key] / len(held),
            "estimate": float(value),
            "low": float(low),
            "high": float(high),
        }
        for key, value, low, high in found.top()
    ]
    inside = [
        low <= counts[key] / len(held) <= high for key, _, low, high in found.rows()
    ]
    return {
        "values": values,
        "covered": sum(inside) / len(inside),
        "detection_limit": float(found.detection_limit),
    }


def _show_compared(compared: dict[str, Any]) -> None:
    click.echo(f"{'value':20} {'true':>9} {'estimate':>9}   95 % interval")
    for one in compared["values"]:
        name = "(none)" if one["value"] is None else str(one["value"])
        ends = f"{100 * one['low']:.2f} to {100 * one['high']:.2f} %"
        shares = f"{100 * one['true']:8.2f}% {100 * one['estimate']:8.2f}%"
        click.echo(f"{name:20} {shares}   {ends}")
    click.echo(
        f"{100 * compared['covered']:.1f} % of the intervals contain the true share; "
        f"shares from {100 * compared['detection_limit']:.2g} % are detected."
    )


@command.command("decode", short_help="Estimate from files of messages.")
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
    """Estimate the statistics of TASK from the batches of messages in MESSAGES, one or
    more files.

    \b
    Examples:
      dither local decode task.json sent.bin
      dither local decode task.json sent.bin --json
    """
    files = [one.read_bytes() for one in messages]
    tally = read_task(path).tally(files, period=period, batches=True)
    show_estimate(tally if stratum is None else tally.of(stratum), **shown)


for collecting in collect.commands:
    command.add_command(collecting)
