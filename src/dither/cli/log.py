"""`dither log`: what happened in a book; whether it is all there; all of it for someone else to add up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

import click

from dither.cli import book as books
from dither.errors import LedgerError

if TYPE_CHECKING:
    from dither.ledger.entry import Entry

__all__ = ["command"]

NUMBERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ", "rate": "rate", "steps": "steps"}


class Log(click.Group):
    """A group whose first command may be left out: `dither log BOOK` is `dither log show BOOK`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {*self.commands, *ctx.help_option_names}
        return super().parse_args(ctx, args if args and args[0] in known else ["show", *args])


def parsed(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """SEQ:HASH, as `dither log` prints its head, or as kept from a receipt."""
    found = []
    for value in values:
        number, _, digest = value.partition(":")
        if not (number.isdecimal() and len(digest) == 64):
            raise click.BadParameter(f"{value!r} is not a line number and its hash, such as 12:9f86…", ctx, option)
        found.append((int(number), digest))
    return tuple(found)


anchors = click.option(
    "--anchor", "anchors", multiple=True, callback=parsed, metavar="SEQ:HASH", help="A receipt kept outside the book."
)


@click.group("log", cls=Log, short_help="Show, verify and export everything that happened in a book.")
def command() -> None:
    """Show, verify and export everything that happened in a book.

    `dither log [BOOK]` alone shows its lines. BOOK is a file (book.db if not given), a postgresql:// address, or a
    catalogue or data file that has a book.
    """


def in_words(body: Mapping[str, Any]) -> str:
    """What a line says, without its numbers for machines."""
    if "guarantee" in body:
        by = f", by {body['by']}" if body["by"] else ""
        return f"{guarantee(body['guarantee'])}{by}{': ' if body['purpose'] else ''}{body['purpose']}"
    hidden = ("caps", "policy", "sha256", "id", "pure_cap", "loss_cap", "delta_cap")
    return ", ".join(f"{name} {value}" for name, value in body.items() if name not in hidden and value != "")


def guarantee(data: Mapping[str, Any]) -> str:
    if "parts" in data:
        joined = ", ".join(map(guarantee, data["parts"][:3])) + (", …" if len(data["parts"]) > 3 else "")
        return f"{data['kind']} ({joined})"
    numbers = [f"{NUMBERS[name]} = {data[name]:g}" for name in NUMBERS if data.get(name)]
    numbers += [f"{loss:g} at order {order:g}" for order, loss in data.get("losses", [])[:1]]
    return f"{', '.join(numbers)} ({data['kind']})"


def line(entry: Entry) -> tuple[str, ...]:
    return str(entry.seq), entry.time[:19].replace("T", " "), entry.kind, entry.account, in_words(entry.body)


@command.command("show", hidden=True)
@books.argument
@click.option("--account", metavar="NAME", help="Show the lines of this account only.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each line.")
def show(book: str, account: str | None, as_json: bool) -> None:
    """Show the lines of BOOK, oldest first, and the head to keep elsewhere."""
    with books.open_book(book) as ledger:
        if account is not None:
            ledger.account(account)
        entries = list(ledger.entries(account=account))
        number, digest = ledger.head
    if as_json:
        for entry in entries:
            click.echo(json.dumps(vars(entry), ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"The log of {book}"), title_justify="left")
    for heading in ("line", "time (UTC)", "what", "account", "details"):
        table.add_column(heading)
    for entry in entries:
        table.add_row(*map(Text, line(entry)))
    Console().print(table)
    click.echo(f"head {number}:{digest}")


@command.command("verify", short_help="Check that nothing in a book was changed, moved or removed.")
@books.argument
@anchors
def verify(book: str, anchors: tuple[tuple[int, str], ...]) -> None:
    """Check that nothing in BOOK was changed, moved or removed.

    Without an --anchor from outside, a book that was cut and made to agree with itself again looks true.
    """
    from dither.ledger import verify as check

    with books.open_book(book) as ledger:
        lines = _or_fail(lambda: check(ledger, anchors))
        number, digest = ledger.head
    click.echo(f"{book} is as it was written: {lines} lines, {len(anchors)} anchors; head {number}:{digest}")


@command.command("export", short_help="Write a book as JSON lines that others can add up.")
@books.argument
def export(book: str) -> None:
    """Write BOOK as JSON lines, which anyone can add up again with Google's dp-accounting."""
    from dither.ledger.export import export as lines

    with books.open_book(book) as ledger:
        for text in lines(ledger):
            click.echo(text)


@command.command("recheck", short_help="Add an exported book up again with Google's dp-accounting.")
@click.argument("file", type=click.File(encoding="utf-8"))
@anchors
def recheck(file: TextIO, anchors: tuple[tuple[int, str], ...]) -> None:
    """Add the exported book in FILE (- for standard input) up again, with Google's dp-accounting alone."""
    from dither.ledger.export import recheck as add_up

    totals = _or_fail(lambda: add_up(file, anchors))
    for total in totals:
        click.echo(f"{total}: {'within' if total.fits else 'EXCEEDED'}")
    if not all(total.fits for total in totals):
        raise SystemExit(1)


def _or_fail(check: Any) -> Any:
    """A check that finds something wrong ends with 1; one that could not be made is an error like any other."""
    try:
        return check()
    except LedgerError as error:
        click.echo(f"Error: {' '.join(str(error).split())}", err=True)
        raise SystemExit(1) from error
