"""`dither log`: the lines of a ledger, a check that all of them are there, and an export
for an independent check.
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
from dither.cli.output import already_json, json_option, print_json
from dither.errors import LedgerError
from dither.progress import working
from dither.text import clean, finite

if TYPE_CHECKING:
    from dither.ledger import Ledger
    from dither.ledger.entry import Entry
    from dither.ledger.recheck import Total

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
    """SEQ:HASH, as `dither log` prints the head, and as receipts have it."""
    found = []
    for value in values:
        number, _, digest = value.partition(":")
        if not (number.isdecimal() and len(digest) == 64):
            raise click.BadParameter(
                f"{value!r} is not a line number with its hash; write it like 12:9f86…",
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
    help="Receipt that was kept outside the ledger.",
)


@click.group(
    "log",
    cls=Log,
    short_help="Show, verify and export the lines of a ledger.",
)
def command() -> None:
    """Show, verify and export the lines of a ledger: every charge, and every change of
    an account.

    `dither log LEDGER` is short for `dither log show LEDGER`. LEDGER is a file (default:
    book.db), a postgresql:// address, or a catalogue or data file that has a ledger.

    \b
    Examples:
      dither log clinic.toml
      dither log clinic.toml --last 10 --json
      dither log show --help
    """


def in_words(body: Mapping[str, Any]) -> str:
    """A line in words, without its numbers for machines."""
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
    """Widths of the columns, known before the first line is read."""
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
    help="Name of the account whose lines to show (default: all accounts).",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show all lines instead of the last 100.",
)
@click.option(
    "--last",
    type=click.IntRange(1),
    metavar="N",
    help="Number of lines to show, counted from the last one (default: 100).",
)
@click.option(
    "--after",
    type=click.IntRange(0),
    metavar="LINE",
    help="Number of a line; only later lines are shown.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object per line (default: of all lines).",
)
def show(
    book: str,
    account: str | None,
    everything: bool,
    last: int | None,
    after: int | None,
    as_json: bool,
) -> None:
    """Show the last lines of LEDGER (default: book.db), oldest first, and the head:
    keep it elsewhere, as an anchor for `dither log verify`.

    \b
    Examples:
      dither log show clinic.toml
      dither log show clinic.toml --account clinic --after 2
    """
    if everything and (last, after) != (None, None):
        raise click.UsageError("pass --all, or --last and --after, but not both")
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
            "earlier lines are not shown; pass --all, --last N or --after LINE to see "
            "them"
        )
    click.echo(f"head {number}:{digest}")


def stream(lines: Iterable[str]) -> None:
    """Print lines as they come, in large pieces."""
    for text in lines:
        sys.stdout.write(f"{text}\n")
    sys.stdout.flush()  # here, where a reader that is gone is not an error


@command.command(
    "verify", short_help="Check that no line of a ledger was changed or removed."
)
@books.argument
@anchors
@click.option(
    "--whole",
    is_flag=True,
    help="Read all lines again, also those that were verified before.",
)
@json_option
def verify(
    book: str, anchors: tuple[tuple[int, str], ...], whole: bool, as_json: bool
) -> None:
    """Check that no line of LEDGER (default: book.db) was changed, moved or removed
    since the last check; with --whole, since the first line.

    Without an --anchor from outside, the check cannot find lines that somebody removed
    from the end together with everything that refers to them.

    \b
    Examples:
      dither log verify clinic.toml
      dither log verify clinic.toml --whole
    """
    from dither.ledger import verify as check

    with books.open_book(book) as ledger:
        before = 0 if whole else verified(ledger)
        with working("reading the ledger"):
            lines = _or_fail(lambda: check(ledger, anchors, whole=whole))
        number, digest = ledger.head
    head = f"{number}:{digest}"
    if as_json:
        print_json(
            {
                "lines": lines,
                "verified_before": before,
                "anchors": len(anchors),
                "head": head,
            }
        )
        return
    place = ledger.store.place
    click.echo(
        f"the ledger {place} is unchanged: {lines} lines, {len(anchors)} anchors"
    )
    click.echo(f"head {head}")
    click.echo(checked(before, lines))


def checked(before: int, lines: int) -> str:
    """The lines that were read now, in words."""
    if not before:
        return "all lines were checked"
    now = (
        "no line was added since"
        if lines == before
        else f"lines {before + 1} to {lines} were checked now"
    )
    return (
        f"lines 1 to {before} were verified before (--whole checks them again); {now}"
    )


def verified(ledger: Ledger) -> int:
    """Number of the last line that was verified before, or 0."""
    with ledger.store.reading() as run:
        rows = run("SELECT value FROM meta WHERE name = 'verified'")
    found = re.match(r"\[([0-9]+),", str(rows[0][0])) if rows else None
    return int(found[1]) if found else 0


@command.command(
    "export", short_help="Print a ledger as JSON lines for an independent check."
)
@books.argument
@already_json
def export(book: str) -> None:
    """Print LEDGER (default: book.db) as JSON lines, from which anyone can recompute
    the spent budget with Google's dp-accounting: see `dither log recheck`.

    \b
    Examples:
      dither log export clinic.toml > ledger.jsonl
    """
    from dither.ledger.export import export as lines

    with books.open_book(book) as ledger:
        stream(lines(ledger))


@command.command(
    "recheck", short_help="Recompute the spent budget of an exported ledger."
)
@click.argument("file", type=click.File(encoding="utf-8"))
@anchors
@json_option
def recheck(file: TextIO, anchors: tuple[tuple[int, str], ...], as_json: bool) -> None:
    """Recompute the spent budget of the exported ledger in FILE (- for standard input),
    with Google's dp-accounting alone, and compare it with the promise.

    \b
    Examples:
      dither log recheck ledger.jsonl
    """
    from dither.ledger.export import recheck as add_up

    with working("adding up"):
        totals = _or_fail(lambda: add_up(file, anchors))
    if as_json:
        print_json([_as_data(total) for total in totals])
    else:
        for total in totals:
            click.echo(f"{total}: {'within' if total.fits else 'EXCEEDED'}")
    if not all(total.fits for total in totals):
        raise SystemExit(1)


def _as_data(total: Total) -> dict[str, Any]:
    return {
        "account": total.account,
        "charges": total.charges,
        "recomputed": finite(total.recomputed),
        "epsilon": float(total.epsilon),
        "delta": float(total.delta),
        "fits": total.fits,
    }


def _or_fail(check: Any) -> Any:
    """A check that finds something wrong ends with 1; one that could not be made is an
    error like any other.
    """
    try:
        return check()
    except LedgerError as error:
        click.echo(f"Error: {' '.join(str(error).split())}", err=True)
        raise SystemExit(1) from error
