"""What a curator does with the accounts of a book: amend, share, freeze, thaw, renew,
write off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dither.cli import book as books
from dither.cli.book import say
from dither.cli.completing import files
from dither.errors import LedgerError

if TYPE_CHECKING:
    from dither.ledger import Account, Ledger

__all__ = ["commands"]

analyst_option = click.option(
    "--analyst", metavar="NAME", help="Only this analyst, and not the whole account."
)


@click.command("amend", short_help="Change the total of an account: a new promise.")
@books.argument
@books.account
@click.option(
    "--epsilon", type=float, metavar="ε", help="The new total; as before if not given."
)
@click.option(
    "--delta", type=float, metavar="δ", help="The new δ; as before if not given."
)
@click.option(
    "--population",
    type=click.IntRange(1),
    metavar="N",
    help="The usual δ for a public size, instead of --delta.",
)
@books.reason
def amend(
    book: str,
    account: str | None,
    epsilon: float | None,
    delta: float | None,
    population: int | None,
    reason: str,
) -> None:
    """Change the total of an account in BOOK. That is a new promise, and the log keeps
    both.

    A total below what is spent is refused, and so is any for an account that was
    written off. Whether there is a δ is fixed when an account is opened.
    """
    if delta is not None and population is not None:
        raise click.UsageError(
            "say the δ once: --delta, or --population, from which it follows"
        )
    if population is not None:
        from dither.query.catalogue.model import usual_delta

        delta = usual_delta(population)
    if epsilon is None and delta is None:
        raise click.UsageError(
            "say what changes: --epsilon, --delta (or --population), or both"
        )
    with books.open_book(book) as ledger:
        old = books.one_account(ledger, account)
        new = ledger.amend(old.name, epsilon=epsilon, delta=delta, reason=reason)
        left = new.remaining.in_words()
    say(
        f"{new.name}: {old.terms.total} was promised, and from now on "
        f"{new.terms.total}; the log keeps both",
        left,
    )


@click.command("share", short_help="Let an analyst spend at most a part of an account.")
@click.argument("book", shell_complete=files)
@click.argument("analyst")
@click.argument("part", type=float)
@books.account
def share(book: str, analyst: str, part: float, account: str | None) -> None:
    """Let ANALYST spend at most PART (such as 0.25) of an account in BOOK. What they
    have spent in this period counts.

    As soon as anybody has a share, whoever has none is refused.
    """
    with books.open_book(book) as ledger:
        one = books.one_account(ledger, account)
        one.share(analyst, part)
        left = one.remaining_for(analyst).in_words()
        shares = ", ".join(f"{name} {given:g}" for name, given in one.shares().items())
    say(
        f"{analyst} may spend {part:g} of {one.name}: {left}",
        f"shares: {shares}; whoever has none is refused",
    )


@click.command("freeze", short_help="Stop all charges, of everybody or of one analyst.")
@books.argument
@books.account
@analyst_option
@books.reason
def freeze(book: str, account: str | None, analyst: str | None, reason: str) -> None:
    """Grant no charge of an account in BOOK until it is thawed; without --account, of
    all its accounts.
    """
    with books.open_book(book) as ledger:
        found = books.accounts(ledger, account)
        for one in found:
            one.freeze(reason, analyst=analyst)
    names = ", ".join(one.name for one in found) or "no account"
    say(f"{analyst} is stopped in: {names}" if analyst else f"frozen: {names}")


@click.command(
    "thaw", short_help="Grant charges again, after a freeze, failures or a restoring."
)
@books.argument
@books.account
@analyst_option
@books.reason
def thaw(book: str, account: str | None, analyst: str | None, reason: str) -> None:
    """Grant charges of an account in BOOK again, and count failures anew.

    A book that was restored, copied or moved is frozen as a whole. Once the charges
    that it lacks are entered or written off, `dither thaw BOOK` without --account thaws
    all accounts that were frozen with it.
    """
    with books.open_book(book) as ledger:
        marks = reasons(ledger)
        if marks and account is None and analyst is None:
            thaw_book(ledger, marks, reason)
        else:
            thaw_one(books.one_account(ledger, account), analyst, reason)
            if marks:
                say(
                    f"the book itself is still frozen ({'; '.join(marks)}): "
                    "accounts "
                    "opened in it are frozen too, until"
                )
                say(f"dither thaw {book} --reason …")


def reasons(ledger: Ledger) -> list[str]:
    """Why the book as a whole was frozen, since that was last cleared."""
    cleared = max((entry.seq for entry in ledger.entries(kind="clear")), default=0)
    return list(
        dict.fromkeys(
            entry.body["reason"] for entry in ledger.entries(kind="mark", after=cleared)
        )
    )


def thaw_book(ledger: Ledger, marks: list[str], reason: str) -> None:
    """Thaw what was frozen with the book. What was frozen for a reason of its own stays
    so.
    """
    frozen = {one: why for one in ledger.accounts() if (why := one.frozen)}
    thawed = [one for one, why in frozen.items() if why in marks]
    for one in thawed:
        one.thaw(reason)
    ledger.clear(reason)
    say(f"the book was frozen ({'; '.join(marks)}), and is no longer")
    say(f"thawed: {', '.join(one.name for one in thawed) or 'no account'}")
    others = [
        f"{one.name} stays frozen ({why})"
        for one, why in frozen.items()
        if one not in thawed
    ]
    say(*others)


def thaw_one(account: Account, analyst: str | None, reason: str) -> None:
    if analyst is not None and analyst not in [one.name for one in account.analysts()]:
        names = ", ".join(one.name for one in account.analysts()) or "nobody"
        raise LedgerError(
            f"{account.place}: nobody named {analyst!r} has asked "
            f"{account.name} or has a share of it; there is {names}"
        )
    account.thaw(reason, analyst=analyst)
    who = account.name if analyst is None else f"{analyst} in {account.name}"
    say(f"thawed: {who}; failures are counted anew")
    if account.frozen:
        say(f"{account.name} itself is still frozen ({account.frozen})")


@click.command(
    "renew", short_help="Begin a new period of an account with its whole budget."
)
@books.argument
@books.account
@books.reason
def renew(book: str, account: str | None, reason: str) -> None:
    """Begin a new period of an account in BOOK with its whole budget, once the window
    of its policy has passed.

    That is one more promise: whoever is in the data in both periods was promised the
    total twice.
    """
    with books.open_book(book) as ledger:
        new = ledger.renew(books.one_account(ledger, account).name, reason=reason)
        say(*str(new).splitlines())


@click.command("write-off", short_help="Give up what is left of an account, for ever.")
@books.argument
@books.account
@books.reason
def write_off(book: str, account: str | None, reason: str) -> None:
    """Give up what is left of an account in BOOK, for ever: where charges are lost,
    nobody knows what is left.
    """
    with books.open_book(book) as ledger:
        one = books.one_account(ledger, account)
        one.write_off(reason)
    say(f"{one.name} is written off, which is final: nothing more can be charged to it")


commands = (amend, share, freeze, thaw, renew, write_off)
