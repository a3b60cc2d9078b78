"""`dither log`: what happened in a book; whether it is all there; all of it for someone
else to add up.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any, TextIO

import click

from dither.cli import book as books
from dither.cli.completing import accounts
from dither.errors import LedgerError
from dither.progress import working
from dither.text import clean

if TYPE_CHECKING:
    from dither.ledger import Ledger
    from dither.ledger.entry import Entry

__all__ = ["command"]

HEADINGS = ("line", "time (UTC)", "what", "account", "details")
SHOWN = 100  # lines, if not said otherwise
WIDEST = 24  # columns for the name of an account
NUMBERS = {
    "epsilon": "ε",
    "delta": "δ",
    "rho": "ρ",
    "mu": "μ",
    "rate": "rate",
    "steps": "steps",
}


class Log(click.Group):
    """A group whose first command may be left out: `dither log BOOK` is `dither log
    show BOOK`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {*self.commands, *ctx.help_option_names}
        return super().parse_args(
            ctx, args if args and args[0] in known else ["show", *args]
        )


def parsed(
    ctx: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[int, str], ...]:
    """SEQ:HASH, as `dither log` prints its head, or as kept from a receipt."""
    found = []
    for value in values:
        number, _, digest = value.partition(":")
        if not (number.isdecimal() and len(digest) == 64):
            raise click.BadParameter(
                f"{value!r} is not a line number and its hash, such as 12:9f86…",
                ctx,
                option,
            )
        found.append((int(number), digest))
    return tuple(found)


anchors = click.option(
    "--anchor",
    "anchors",
    multiple=True,
    callback=parsed,
    metavar="SEQ:HASH",
    help="A receipt kept outside the book.",
)


@click.group(
    "log",
    cls=Log,
    short_help="Show, verify and export everything that happened in a book.",
)
def command() -> None:
    """Show, verify and export everything that happened in a book.

    `dither log [BOOK]` alone shows its last lines; `dither log show --help` says how to
    see others. BOOK is a file (book.db if not given), a postgresql:// address, or a
    catalogue or data file that has a book.
    """


def in_words(body: Mapping[str, Any]) -> str:
    """What a line says, without its numbers for machines."""
    if "guarantee" in body:
        by = f", by {body['by']}" if body["by"] else ""
        purpose = f": {body['purpose']}" if body["purpose"] else ""
        promised = body["guarantee"]
        return f"{guarantee(promised)}{given(promised)}{by}{purpose}"
    hidden = ("caps", "policy", "sha256", "id", "pure_cap", "loss_cap", "delta_cap")
    return ", ".join(
        f"{name} {value}"
        for name, value in body.items()
        if name not in hidden and value != ""
    )


def given(data: Mapping[str, Any]) -> str:
    """The exact facts beside a promise, as the log writes them."""
    relation = data.get("parts", [data])[0].get("relation", "")
    facts = str(relation).partition(" given ")[2]
    return f", given the exact {facts}" if facts else ""


def guarantee(data: Mapping[str, Any]) -> str:
    if "parts" in data:
        joined = ", ".join(map(guarantee, data["parts"][:3])) + (
            ", …" if len(data["parts"]) > 3 else ""
        )
        return f"{data['kind']} ({joined})"
    numbers = [
        f"{NUMBERS[name]} = {data[name]:g}" for name in NUMBERS if data.get(name)
    ]
    numbers += [
        f"{loss:g} at order {order:g}" for order, loss in data.get("losses", [])[:1]
    ]
    return f"{', '.join(numbers)} ({data['kind']})"


def line(entry: Entry) -> tuple[str, ...]:
    words = (entry.kind, entry.account, in_words(entry.body))
    return str(entry.seq), entry.time[:19].replace("T", " "), *map(clean, words)


def written(entries: Iterable[Entry], widths: tuple[int, ...]) -> Iterator[str]:
    """Lines with aligned columns, each as soon as its entry is read: a long log is
    never held as a whole.
    """
    for cells in chain([HEADINGS], map(line, entries)):
        *padded, last = cells
        yield "  ".join(
            [
                *(
                    text.ljust(width)
                    for text, width in zip(padded, widths, strict=True)
                ),
                last,
            ]
        ).rstrip()


def widths(ledger: Ledger, number: int) -> tuple[int, ...]:
    """How wide the columns are, known before the first line is read."""
    names = (account.name for account in ledger.accounts())
    return (
        max(len(str(number)), 4),
        19,
        len("write off"),
        min(max(map(len, (*names, "account"))), WIDEST),
    )


@command.command("show", hidden=True)
@books.argument
@click.option(
    "--account",
    metavar="NAME",
    shell_complete=accounts,
    help="Show the lines of this account only.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show all lines, and not only the last 100.",
)
@click.option(
    "--last",
    type=click.IntRange(1),
    metavar="N",
    help="Show so many of the last lines.",
)
@click.option(
    "--after",
    type=click.IntRange(0),
    metavar="LINE",
    help="Show the lines after this one.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object for each line; of all, if not limited.",
)
def show(
    book: str,
    account: str | None,
    everything: bool,
    last: int | None,
    after: int | None,
    as_json: bool,
) -> None:
    """Show the last lines of BOOK, oldest first, and the head to keep elsewhere."""
    if everything and (last, after) != (None, None):
        raise click.UsageError(
            "show all lines, or say which: --all, or --last and --after"
        )
    if (last, after) == (None, None) and not (everything or as_json):
        last = SHOWN
    with books.open_book(book) as ledger:
        if account is not None:
            books.accounts(ledger, account)
        number, digest = ledger.head
        found = ledger.entries(account=account, after=after or 0, last=last)
        # None that are written meanwhile
        entries = takewhile(lambda entry: entry.seq <= number, found)
        if as_json:
            stream(json.dumps(vars(entry), ensure_ascii=False) for entry in entries)
            return
        first = next(entries, None)
        shown = entries if first is None else chain([first], entries)
        stream(written(shown, widths(ledger, number)))
    if (
        first is not None
        and after is None
        and (first.kind != "open" if account else first.seq > 1)
    ):
        click.echo(
            "there are earlier lines: --all shows them, --last N some, "
            "--after LINE those after a line"
        )
    click.echo(f"head {number}:{digest}")


def stream(lines: Iterable[str]) -> None:
    """Print lines as they come, in large pieces."""
    for text in lines:
        sys.stdout.write(f"{text}\n")
    sys.stdout.flush()  # here, where it is no error if nobody reads any more


@command.command(
    "verify", short_help="Check that nothing in a book was changed, moved or removed."
)
@books.argument
@anchors
@click.option(
    "--whole",
    is_flag=True,
    help="Read all lines again, also those that were verified before.",
)
def verify(book: str, anchors: tuple[tuple[int, str], ...], whole: bool) -> None:
    """Check that nothing in BOOK was changed, moved or removed since it was last
    verified; with --whole, ever.

    Without an --anchor from outside, a book that was cut and made to agree with itself
    again looks true.
    """
    from dither.ledger import verify as check

    with books.open_book(book) as ledger:
        before = 0 if whole else verified(ledger)
        with working("reading the book"):
            lines = _or_fail(lambda: check(ledger, anchors, whole=whole))
        number, digest = ledger.head
    click.echo(
        f"{book} is as it was written: {lines} lines, {len(anchors)} "
        f"anchors; head {number}:{digest}"
    )
    click.echo(checked(before, lines))


def checked(before: int, lines: int) -> str:
    """Which lines were read now."""
    if not before:
        return "all lines were checked"
    now = (
        "no line was written since"
        if lines == before
        else f"the lines from {before + 1} on were checked now"
    )
    return (
        f"lines 1 to {before} were verified before (--whole checks them again); {now}"
    )


def verified(ledger: Ledger) -> int:
    """Up to which line the book was verified before."""
    with ledger.store.reading() as run:
        rows = run("SELECT value FROM meta WHERE name = 'verified'")
    found = re.match(r"\[([0-9]+),", str(rows[0][0])) if rows else None
    return int(found[1]) if found else 0


@command.command(
    "export", short_help="Write a book as JSON lines that others can add up."
)
@books.argument
def export(book: str) -> None:
    """Write BOOK as JSON lines, which anyone can add up again with Google's
    dp-accounting.
    """
    from dither.ledger.export import export as lines

    with books.open_book(book) as ledger:
        stream(lines(ledger))


@command.command(
    "recheck", short_help="Add an exported book up again with Google's dp-accounting."
)
@click.argument("file", type=click.File(encoding="utf-8"))
@anchors
def recheck(file: TextIO, anchors: tuple[tuple[int, str], ...]) -> None:
    """Add the exported book in FILE (- for standard input) up again, with Google's
    dp-accounting alone.
    """
    from dither.ledger.export import recheck as add_up

    with working("adding up"):
        totals = _or_fail(lambda: add_up(file, anchors))
    for total in totals:
        click.echo(f"{total}: {'within' if total.fits else 'EXCEEDED'}")
    if not all(total.fits for total in totals):
        raise SystemExit(1)


def _or_fail(check: Any) -> Any:
    """A check that finds something wrong ends with 1; one that could not be made is an
    error like any other.
    """
    try:
        return check()
    except LedgerError as error:
        click.echo(f"Error: {' '.join(str(error).split())}", err=True)
        raise SystemExit(1) from error
