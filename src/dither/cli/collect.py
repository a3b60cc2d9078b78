"""`dither local serve`, `estimate`, `status` and more: a collector and what it counted."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.book import say
from dither.cli.completing import collected, files
from dither.cli.decoding import FILE, decoding_options, show_estimate, stratum_option
from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.local.collector import Collector
    from dither.local.collector.status import PeriodStatus, RelayStatus, TaskStatus
    from dither.local.tally import Tally
    from dither.local.task import Task

__all__ = ["commands"]

ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]+)?|https?://\[[0-9a-f:]+\](:[0-9]+)?")
store_argument = click.argument("store", shell_complete=files)


@click.command("serve", short_help="Collect messages over HTTP.")
@store_argument
@click.option(
    "--trust",
    required=True,
    metavar="KEY",
    help="The public key that tasks are signed with.",
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Collect this signed task; several times, for several.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen. Leave TLS to a proxy in front.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    metavar="PORT",
    help="0 takes a free one.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="A web page that may send messages, such as https://app.example.",
)
@click.option(
    "--grace",
    type=int,
    default=7,
    show_default=True,
    metavar="DAYS",
    help="How long after its end a period takes messages.",
)
@click.option(
    "--retention",
    type=int,
    default=400,
    show_default=True,
    metavar="DAYS",
    help="How long after that its tally is kept.",
)
@click.option(
    "--direct",
    type=int,
    default=10_000_000,
    show_default=True,
    metavar="N",
    help="Messages of a task and period that come without a relay's token.",
)
@click.option("--restored", is_flag=True, help="Open a copy or a backup, on purpose.")
def serve_command(
    store: str,
    trust: str,
    tasks: tuple[Path, ...],
    host: str,
    port: int,
    origins: tuple[str, ...],
    **settings: Any,
) -> None:
    """Collect messages of signed tasks over HTTP, and keep their tallies in STORE, a
    file or a postgresql:// address, until SIGTERM or Ctrl-C.

    Log lines are JSON, on stderr, and say nothing about who sent what.
    """
    from dither.local.collector import Collector, log
    from dither.local.collector.serving import listen, serve

    for origin in origins:
        _check_origin(origin)
    log.write_lines(sys.stderr)
    with (
        listen(host, port) as listener,
        Collector(store, trust=trust, **settings) as collector,
    ):
        for path in tasks:
            _publish(collector, path)

        def listening(address: str) -> None:
            say(f"{collector.place}: listening on {address}, {_collected(collector)}")

        serve(collector, sockets=[listener], origins=origins, listening=listening)


def _check_origin(origin: str) -> None:
    """As browsers write it; any other form would match no page, and say nothing."""
    if origin != "*" and not ORIGIN.fullmatch(origin):
        raise ArgumentError(
            "origin",
            f"{origin} must read https://app.example, without a path or a slash at the "
            "end; * is any page",
        )


def _publish(collector: Collector, path: Path) -> Task:
    try:
        return collector.publish(path.read_bytes())
    except ArgumentError as error:
        raise ArgumentError("task", f"{path}: {error}") from error


def _collected(collector: Collector) -> str:
    newest = {
        task.name: f"{task.name} (version {task.version})"
        for task in sorted(collector.tasks, key=lambda one: one.version)
        if not collector.state(task)
    }
    listed = ", ".join(newest[name] for name in sorted(newest))
    return f"collecting {listed}" if listed else "collecting nothing yet"


@click.command("publish", short_help="Collect more tasks.")
@store_argument
@click.argument("tasks", nargs=-1, required=True, type=FILE, metavar="TASK…")
def publish_command(store: str, tasks: tuple[Path, ...]) -> None:
    """Collect signed tasks in STORE from now on, or newer versions of tasks. A
    collector that is running notices by itself.
    """
    with _looked(store) as collector:
        for path in tasks:
            task = _publish(collector, path)
            state = collector.state(task).removeprefix("task-") or "collected"
            say(f"{task.name}, version {task.version}: {state}")


@click.command("retire", short_help="Collect a task no more.")
@store_argument
@click.argument("task", shell_complete=collected)
def retire_command(store: str, task: str) -> None:
    """Take no more messages of TASK, for good. What was counted stays until its
    retention is over.
    """
    with _looked(store) as collector:
        collector.retire(task)
    say(f"{task}: retired; devices are told to send nothing more")


@click.command("relay", short_help="Admit a relay, or revoke one.")
@store_argument
@click.argument("name")
@click.option(
    "--quota",
    type=int,
    metavar="N",
    help="How many messages of a task and period it may bring.",
)
@click.option("--revoke", is_flag=True, help="Take nothing more from it.")
def relay_command(store: str, name: str, quota: int | None, revoke: bool) -> None:
    """Admit the relay NAME, which hands on batches of messages: prints its token, once.
    A relay that is there already gets a new token and quota, and its old token ends.
    """
    if revoke == (quota is not None):
        raise ArgumentError("quota", "pass either --quota N or --revoke")
    with _looked(store) as collector:
        if quota is None:
            collector.revoke(name)
            say(f"{name}: revoked")
            return
        token = collector.admit(name, quota=quota)
    click.echo(token)
    click.echo(
        f"{name}: admitted; this token is not shown again. The relay sends it as "
        "Authorization: Bearer …",
        err=True,
    )


def _looked(store: str, *, copy: bool = False) -> Collector:
    from dither.local.collector import Collector

    return Collector.look(store, copy=copy)


@click.command("estimate", short_help="Estimate from what was collected.")
@store_argument
@click.argument("task", shell_complete=collected)
@click.option(
    "--version", type=int, metavar="V", help="A version; the newest, if not given."
)
@stratum_option
@decoding_options
def estimate_command(
    store: str,
    task: str,
    period: int | None,
    version: int | None,
    stratum: str | None,
    **shown: Any,
) -> None:
    """Estimate what TASK asks for, from the tallies in STORE; a collector that is
    running goes on. Strata with fewer messages than the task's minimum are left out.
    """
    with _looked(store, copy=True) as collector:
        tally = collector.tally(task, period=period, version=version)
    _check_enough(tally, stratum)
    show_estimate(tally if stratum is None else tally.of(stratum), **shown)


def _check_enough(tally: Tally, stratum: str | None) -> None:
    """Refuse what is too little to show; below the minimum, not even the count is."""
    task, few = tally.task, [not count for count in tally.strata]
    wanted = all(few) if stratum is None else few[task.stratum(stratum)]
    if wanted:
        where = " of a stratum" if task.strata else ""
        raise ArgumentError(
            "task",
            f"{task.name} has fewer than {task.minimum:,} messages{where} here (its "
            f"`minimum`) in version {task.version}, so nothing is shown; ask for another "
            "period or version, or wait",
        )
    if stratum is None and any(few):
        names = (name for name, left in zip(task.strata, few, strict=True) if left)
        note = f"Left out, with too few messages: {', '.join(names)}."
        click.echo(note, err=True)


@click.command("status", short_help="Say what is collected.")
@store_argument
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status_command(store: str, as_json: bool) -> None:
    """Say what is collected in STORE: tasks, periods, messages where there are enough
    to show, and relays with their quotas.
    """
    with _looked(store, copy=True) as collector:
        found = collector.status()
        settings = (
            f"a period closes {collector.grace} days after its end, and is deleted "
            f"{collector.retention} days later"
        )
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return
    say(f"{found.place}: {settings}")
    for task in found.tasks:
        say(*_about_task(task))
    say(
        "messages of a task and period:",
        *map(_about_relay, (found.direct, *found.relays)),
    )


def _about_task(task: TaskStatus) -> list[str]:
    head = f"{task.name}, version {task.version}: {task.state}"
    periods = [_about_period(one) for one in task.periods] or ["  nothing yet"]
    return [f"{head}, shown from {task.minimum:,} messages on", *periods]


def _about_period(period: PeriodStatus) -> str:
    until = f"open until {period.closes}" if period.open else "closed"
    if period.messages is None:
        return (
            f"  period {period.period}, from {period.first}, {until}: too few to show"
        )
    more = f", {period.invalid:,} invalid" if period.invalid else ""
    return (
        f"  period {period.period}, from {period.first}, {until}: "
        f"{period.messages:,} messages{more}"
    )


def _about_relay(relay: RelayStatus) -> str:
    name = f"relay {relay.name}" if relay.name else "without a token"
    state = "" if relay.state == "live" else f" ({relay.state})"
    used = [
        f"{about}: {'few' if count is None else f'{count:,} or more'}"
        for about, count in relay.used.items()
    ]
    return f"  {name}{state}: at most {relay.quota:,}; {', '.join(used) or 'none yet'}"


commands = (
    serve_command,
    publish_command,
    retire_command,
    relay_command,
    estimate_command,
    status_command,
)
