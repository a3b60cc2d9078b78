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
from dither.cli.output import json_option, print_json
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
    help="Public key that tasks are signed with: 64 hexadecimal digits.",
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="File of a signed task to collect.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Address to listen on. For TLS, put a proxy in front.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    metavar="PORT",
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Origin of a web page that may send messages, such as https://app.example.",
)
@click.option(
    "--grace",
    type=int,
    default=7,
    metavar="DAYS",
    help="Number of days after its end during which a period still takes messages.",
)
@click.option(
    "--retention",
    type=int,
    default=400,
    metavar="DAYS",
    help="Number of days after that until the tally of the period is deleted.",
)
@click.option(
    "--direct",
    type=int,
    default=10_000_000,
    metavar="N",
    help="Largest number of messages per task and period that come without the token "
    "of a relay.",
)
@click.option(
    "--restored", is_flag=True, help="Open STORE although it is a copy or a backup."
)
@json_option
def serve_command(
    store: str,
    trust: str,
    tasks: tuple[Path, ...],
    host: str,
    port: int,
    origins: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Collect messages of signed tasks over HTTP until SIGTERM or Ctrl-C, and keep
    their tallies in STORE, a file or a postgresql:// address.

    One line on stdout says that the collector is ready. Log lines are JSON on stderr,
    and do not identify senders.

    \b
    Examples:
      dither local serve collector.db --trust $PUBLIC_KEY --task task.json
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
            names = _collected(collector)
            if as_json:
                about = {"store": collector.place, "address": address, "tasks": names}
                click.echo(json.dumps(about, ensure_ascii=False))
                return
            listed = ", ".join(f"{name} (version {names[name]})" for name in names)
            doing = f"collecting {listed}" if listed else "collecting nothing yet"
            say(f"{collector.place}: listening on {address}, {doing}")

        serve(collector, sockets=[listener], origins=origins, listening=listening)


def _check_origin(origin: str) -> None:
    """Refuse forms that browsers do not send, because they would match no page."""
    if origin != "*" and not ORIGIN.fullmatch(origin):
        raise ArgumentError(
            "origin",
            f"{origin!r} is not an origin; write it like https://app.example, without a "
            "path or a final slash, or * for any page",
        )


def _publish(collector: Collector, path: Path) -> Task:
    try:
        return collector.publish(path.read_bytes())
    except ArgumentError as error:
        raise ArgumentError("task", f"in {path}, {error}") from error


def _collected(collector: Collector) -> dict[str, int]:
    """Names and newest versions of the tasks that are collected."""
    newest = {
        task.name: task.version
        for task in sorted(collector.tasks, key=lambda one: one.version)
        if not collector.state(task)
    }
    return dict(sorted(newest.items()))


@click.command("publish", short_help="Collect more tasks, or newer versions.")
@store_argument
@click.argument("tasks", nargs=-1, required=True, type=FILE, metavar="TASK…")
@json_option
def publish_command(store: str, tasks: tuple[Path, ...], as_json: bool) -> None:
    """Add signed tasks, or newer versions of tasks, to STORE. A running collector
    collects them without a restart.

    \b
    Examples:
      dither local publish collector.db task.json
    """
    found = []
    with _looked(store) as collector:
        for path in tasks:
            task = _publish(collector, path)
            state = collector.state(task).removeprefix("task-") or "collected"
            found.append({"task": task.name, "version": task.version, "state": state})
            if not as_json:
                say(f"{task.name}, version {task.version}: {state}")
    if as_json:
        print_json(found)


@click.command("retire", short_help="Stop collecting a task.")
@store_argument
@click.argument("task", shell_complete=collected)
@json_option
def retire_command(store: str, task: str, as_json: bool) -> None:
    """Stop collecting TASK, permanently. Its tallies are kept until their retention
    ends.

    \b
    Examples:
      dither local retire collector.db emoji
    """
    with _looked(store) as collector:
        collector.retire(task)
    if as_json:
        print_json({"task": task, "state": "retired"})
    else:
        say(f"{task}: retired; devices are told to stop sending")


@click.command("relay", short_help="Admit a relay, or revoke one.")
@store_argument
@click.argument("name")
@click.option(
    "--quota",
    type=int,
    metavar="N",
    help="Largest number of messages per task and period from this relay.",
)
@click.option("--revoke", is_flag=True, help="Accept no more messages from this relay.")
@json_option
def relay_command(
    store: str, name: str, quota: int | None, revoke: bool, as_json: bool
) -> None:
    """Admit the relay NAME, which delivers batches of messages, and print its token,
    once. An existing relay gets a new token and quota, and its old token ends.

    \b
    Examples:
      dither local relay collector.db edge --quota 20000
      dither local relay collector.db old --revoke
    """
    if revoke == (quota is not None):
        raise ArgumentError("quota", "pass either --quota N or --revoke")
    with _looked(store) as collector:
        token = None if quota is None else collector.admit(name, quota=quota)
        if token is None:
            collector.revoke(name)
    if as_json:
        state = "revoked" if token is None else "admitted"
        print_json({"relay": name, "state": state, "quota": quota, "token": token})
        return
    if token is None:
        say(f"{name}: revoked")
        return
    click.echo(token)
    click.echo(
        f"{name}: admitted; this token is not shown again. The relay sends it as "
        "Authorization: Bearer …",
        err=True,
    )


def _looked(store: str, *, copy: bool = False) -> Collector:
    from dither.local.collector import Collector

    return Collector.look(store, copy=copy)


@click.command("estimate", short_help="Estimate from the collected messages.")
@store_argument
@click.argument("task", shell_complete=collected)
@click.option(
    "--version",
    type=int,
    metavar="V",
    help="Version of the task (default: the newest).",
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
    """Estimate the statistics of TASK from the tallies in STORE, also while the
    collector is running. Strata with fewer messages than the task's minimum are left
    out.

    \b
    Examples:
      dither local estimate collector.db emoji
      dither local estimate collector.db emoji --period 0 --consistent --json
    """
    with _looked(store, copy=True) as collector:
        tally = collector.tally(task, period=period, version=version)
    _check_enough(tally, stratum)
    show_estimate(tally if stratum is None else tally.of(stratum), **shown)


def _check_enough(tally: Tally, stratum: str | None) -> None:
    """Refuse an estimate of fewer messages than the minimum, without their number."""
    task, few = tally.task, [not count for count in tally.strata]
    wanted = all(few) if stratum is None else few[task.stratum(stratum)]
    if wanted:
        where = " per stratum" if task.strata else ""
        raise ArgumentError(
            "task",
            f"the task {task.name} has fewer than {task.minimum:,} messages{where} (its "
            f"minimum) in version {task.version}, so no estimate is shown; pass another "
            "--period or --version, or wait for more messages",
        )
    if stratum is None and any(few):
        names = (name for name, left in zip(task.strata, few, strict=True) if left)
        note = f"Left out because of too few messages: {', '.join(names)}."
        click.echo(note, err=True)


@click.command("status", short_help="Show the tasks, periods and relays of a store.")
@store_argument
@json_option
def status_command(store: str, as_json: bool) -> None:
    """Show the tasks and periods of STORE, their numbers of messages from the task's
    minimum on, and the relays with their quotas.

    \b
    Examples:
      dither local status collector.db
    """
    with _looked(store, copy=True) as collector:
        found = collector.status()
        settings = (
            f"a period closes {collector.grace} days after its end, and is deleted "
            f"{collector.retention} days later"
        )
    if as_json:
        print_json(found.to_dict())
        return
    say(f"{found.place}: {settings}")
    for task in found.tasks:
        say(*_about_task(task))
    say(
        "messages per task and period:",
        *map(_about_relay, (found.direct, *found.relays)),
    )


def _about_task(task: TaskStatus) -> list[str]:
    head = f"{task.name}, version {task.version}: {task.state}"
    periods = [_about_period(one) for one in task.periods] or ["  nothing yet"]
    hidden = f"counts below {task.minimum:,} messages are not shown"
    return [f"{head}; {hidden}", *periods]


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
