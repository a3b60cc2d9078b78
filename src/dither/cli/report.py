"""`dither report`: the page that explains a release or an account."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dither.cli import book as books
from dither.cli.completing import accounts, files
from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.explain.report import Report

__all__ = ["command"]

NUMBER = re.compile(r"([0-9]{1,18})(?::([0-9a-f]{64}))?")


def of_release(receipt: str, book: str | None) -> Report:
    """By its number in a book, with or without its hash; or from the file that the
    release was written to.
    """
    from dither.explain import report

    numbered = NUMBER.fullmatch(receipt)
    if numbered is not None:
        with books.open_book(book or "book.db") as ledger:
            return report.of_receipt(ledger, int(numbered[1]), numbered[2] or "")
    if book is None:
        return report.of_file(_read(receipt))
    with books.open_book(book) as ledger:
        return report.of_file(_read(receipt), ledger)


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        raise ArgumentError(
            "receipt",
            f"{name} is neither a receipt's number nor a file; pass a number such as "
            "3, or what `dither query --json` wrote",
        ) from None


def of_account(name: str | None, book: str | None) -> Report:
    with books.open_book(book or "book.db") as ledger:
        return books.one_account(ledger, name).report()


def written(made: Report, out: str | None) -> str:
    """Where the page is now."""
    name = re.sub(r"[^a-z0-9]+", "-", made.title.lower()).strip("-")
    return str(made.save(out or f"{name[:60]}.html"))


@click.command("report", short_help="Write the page that explains a release.")
@click.argument("receipt")
@click.argument("book", required=False, shell_complete=files)
@click.option(
    "--account",
    metavar="NAME",
    shell_complete=accounts,
    help="Which account, where RECEIPT is `account`.",
)
@click.option(
    "--out",
    metavar="FILE",
    help="Write to this file, which ends in .html or .json; - prints the page.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as JSON.")
def command(
    receipt: str, book: str | None, account: str | None, out: str | None, as_json: bool
) -> None:
    """Write the page that explains the release of RECEIPT: what was asked, of whom, what
    is promised, how far off it may be, what was spent, and how to verify it.

    RECEIPT is its number in BOOK (book.db if not given), or the file that `dither query
    --json` wrote, which knows more: numbers, mechanism and bounds. The word `account`
    in its place gives the page of a whole account.

    \b
    dither report 3 clinic.toml
    dither report answer.json --out report.html
    dither report account clinic.toml --json
    """
    whole = receipt == "account"
    if account is not None and not whole:
        raise click.UsageError("--account goes with `dither report account`")
    made = of_account(account, book) if whole else of_release(receipt, book)
    if as_json:
        click.echo(made.to_json())
    elif out == "-":
        click.echo(made.html(), nl=False)
    else:
        click.echo(written(made, out))
