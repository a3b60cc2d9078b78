"""`dither report`: the page that explains a release or an account."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dither.cli import book as books
from dither.cli.completing import accounts, files
from dither.cli.output import json_option
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
            f"{name} is neither the number of a receipt nor a file; pass a number such "
            "as 3, or the file that `dither query --json` wrote",
        ) from None


def of_account(name: str | None, book: str | None) -> Report:
    with books.open_book(book or "book.db") as ledger:
        return books.one_account(ledger, name).report()


def written(made: Report, out: str | None) -> str:
    """Write the page, and return the name of its file."""
    name = re.sub(r"[^a-z0-9]+", "-", made.title.lower()).strip("-")
    try:
        return str(made.save(out or f"{name[:60]}.html"))
    except ArgumentError as error:
        raise ArgumentError("out", error.message) from error


@click.command(
    "report", short_help="Write a page that explains a release or an account."
)
@click.argument("receipt")
@click.argument("book", required=False, metavar="[LEDGER]", shell_complete=files)
@click.option(
    "--account",
    metavar="NAME",
    shell_complete=accounts,
    help="Name of the account for `dither report account`; needed if the ledger has "
    "several.",
)
@click.option(
    "--out",
    metavar="FILE",
    help="File for the page, ending in .html or .json; - prints the page (default: "
    "named after its title).",
)
@json_option
def command(
    receipt: str, book: str | None, account: str | None, out: str | None, as_json: bool
) -> None:
    """Write a page that explains the release RECEIPT: the question, the protected unit,
    the guarantee, the error, the spent budget, and how to verify them. Print the name
    of its file.

    RECEIPT is the number of the release in LEDGER (default: book.db), or the file that
    `dither query --json` wrote, which also contains the answer, the mechanism and the
    bounds. `dither report account LEDGER` explains a whole account.

    \b
    Examples:
      dither report 3 clinic.toml
      dither report answer.json --out report.html
      dither report account clinic.toml --json
    """
    whole = receipt == "account"
    if account is not None and not whole:
        raise click.UsageError(
            "--account needs `dither report account`; leave it out for a single release"
        )
    made = of_account(account, book) if whole else of_release(receipt, book)
    if as_json:
        click.echo(made.to_json())
    elif out == "-":
        click.echo(made.html(), nl=False)
    else:
        click.echo(written(made, out))
