"""Commands of a curator for the accounts of a ledger: amend, share, freeze, thaw, renew,
write off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from dither.cli import book as books
from dither.cli.book import say
from dither.cli.budget import analysts, as_data
from dither.cli.completing import files
from dither.cli.output import json_option, print_json
from dither.errors import ArgumentError, LedgerError

if TYPE_CHECKING:
    from dither.ledger import Account, Ledger

__all__ = ["commands"]

analyst_option = click.option(
    "--analyst",
    metavar="NAME",
    help="Name of an analyst (default: the whole account).",
)


@click.command("amend", short_help="Change the total budget of an account.")
@books.argument
@books.account
@click.option(
    "--epsilon", type=float, metavar="ε", help="New total ε (default: unchanged)."
)
@click.option(
    "--delta", type=float, metavar="δ", help="New total δ (default: unchanged)."
)
@click.option(
    "--population",
    type=click.IntRange(1),
    metavar="N",
    help="Public number of people, from which the new δ follows; instead of --delta.",
)
@books.reason
@json_option
def amend(
    book: str,
    account: str | None,
    epsilon: float | None,
    delta: float | None,
    population: int | None,
    reason: str,
    as_json: bool,
) -> None:
    """Change the total budget of an account in LEDGER (default: book.db). This is a new
    promise, and the log keeps both.

    A total below what is already spent is refused, and so is a change of an account
    that was written off. An account that was opened without a δ cannot get one, and an
    account with a δ cannot give it up.

    \b
    Examples:
      dither amend clinic.toml --epsilon 5 --reason "the board agreed"
      dither amend clinic.toml --population 30000 --reason "more people"
    """
    if delta is not None and population is not None:
        raise click.UsageError(
            "pass either --delta or --population, from which δ follows, not both"
        )
    if population is not None:
        from dither.query.catalogue.model import usual_delta

        delta = usual_delta(population)
    if epsilon is None and delta is None:
        raise click.UsageError(
            "pass the new total: --epsilon, or --delta (or --population), or both"
        )
    with books.open_book(book) as ledger:
        old = books.one_account(ledger, account)
        new = ledger.amend(old.name, epsilon=epsilon, delta=delta, reason=reason)
        left = new.remaining.in_words()
        if as_json:
            print_json([as_data(new)])
            return
    say(
        f"{new.name}: the guarantee was {old.terms.total}, and from now on it is "
        f"{new.terms.total}; the log keeps both",
        f"remaining: {left}",
    )


@click.command(
    "share", short_help="Limit the share of an account that an analyst may spend."
)
@click.argument("book", metavar="LEDGER", shell_complete=files)
@click.argument("analyst")
@click.argument("part", type=float)
@books.account
@json_option
def share(
    book: str, analyst: str, part: float, account: str | None, as_json: bool
) -> None:
    """Let ANALYST spend at most the share PART, from 0 to 1, of an account in LEDGER.
    The share includes what the analyst has already spent in this period.

    Once one analyst has a share, analysts without a share are refused.

    \b
    Examples:
      dither share clinic.toml ana 0.25
    """
    with books.open_book(book) as ledger:
        one = books.one_account(ledger, account)
        if not 0 <= part <= 1:
            raise ArgumentError(
                "PART", "must lie from 0 to 1; pass a share of the account such as 0.25"
            )
        one.share(analyst, part)
        if as_json:
            print_json(analysts(one))
            return
        left = one.remaining_for(analyst).in_words()
        shares = ", ".join(f"{name} {given:g}" for name, given in one.shares().items())
    say(
        f"{analyst} may spend {part:g} of {one.name}",
        f"remaining: {left}",
        f"shares: {shares}; analysts without a share are refused",
    )


@click.command("freeze", short_help="Stop all charges, or those of one analyst.")
@books.argument
@books.account
@analyst_option
@books.reason
@json_option
def freeze(
    book: str, account: str | None, analyst: str | None, reason: str, as_json: bool
) -> None:
    """Refuse all charges of an account in LEDGER (default: book.db) until `dither thaw`;
    without --account, those of all its accounts.

    \b
    Examples:
      dither freeze clinic.toml --reason "the data is being checked"
      dither freeze clinic.toml --analyst ana --reason "too many failures"
    """
    with books.open_book(book) as ledger:
        found = books.accounts(ledger, account)
        for one in found:
            one.freeze(reason, analyst=analyst)
        if as_json:
            print_json(rows(found, analyst))
            return
    names = ", ".join(one.name for one in found) or "no account"
    say(f"{analyst} is stopped in: {names}" if analyst else f"frozen: {names}")


@click.command(
    "thaw", short_help="Allow charges again after a freeze, failures or a restore."
)
@books.argument
@books.account
@analyst_option
@books.reason
@json_option
def thaw(
    book: str, account: str | None, analyst: str | None, reason: str, as_json: bool
) -> None:
    """Allow charges of an account in LEDGER (default: book.db) again, and reset its
    count of failures.

    A ledger that was restored, copied or moved is frozen as a whole. After its missing
    charges are entered or written off, `dither thaw LEDGER` without --account thaws all
    accounts that were frozen with it.

    \b
    Examples:
      dither thaw clinic.toml --reason "the data is correct"
      dither thaw clinic.toml --analyst ana --reason "her script is fixed"
    """
    with books.open_book(book) as ledger:
        marks = reasons(ledger)
        if marks and account is None and analyst is None:
            said, found = thaw_ledger(ledger, marks, reason), ledger.accounts()
        else:
            found = (books.one_account(ledger, account),)
            said = thaw_one(found[0], analyst, reason)
            if marks:
                said += [
                    f"the ledger itself is still frozen ({'; '.join(marks)}), and so is "
                    "each account that is opened in it; thaw it:",
                    f"  dither thaw {book} --reason …",
                ]
        if as_json:
            print_json(rows(found, analyst))
            return
    say(*said)


def rows(accounts: Iterable[Account], analyst: str | None) -> list[dict[str, Any]]:
    """Accounts, or an analyst in each of them, as in `dither budget --json`."""
    if analyst is None:
        return [as_data(one) for one in accounts]
    return [row for one in accounts for row in analysts(one, analyst)]


def reasons(ledger: Ledger) -> list[str]:
    """Reasons why the ledger as a whole was frozen, since that was last cleared."""
    cleared = max((entry.seq for entry in ledger.entries(kind="clear")), default=0)
    return list(
        dict.fromkeys(
            entry.body["reason"] for entry in ledger.entries(kind="mark", after=cleared)
        )
    )


def thaw_ledger(ledger: Ledger, marks: list[str], reason: str) -> list[str]:
    """Thaw what was frozen with the ledger; accounts with another reason stay frozen."""
    frozen = {one: why for one in ledger.accounts() if (why := one.frozen)}
    thawed = [one for one, why in frozen.items() if why in marks]
    for one in thawed:
        one.thaw(reason)
    ledger.clear(reason)
    return [
        f"the ledger is no longer frozen (the reason was: {'; '.join(marks)})",
        f"thawed: {', '.join(one.name for one in thawed) or 'no account'}",
        *(
            f"{one.name} stays frozen ({why})"
            for one, why in frozen.items()
            if one not in thawed
        ),
    ]


def thaw_one(account: Account, analyst: str | None, reason: str) -> list[str]:
    if analyst is not None and analyst not in [one.name for one in account.analysts()]:
        names = ", ".join(one.name for one in account.analysts()) or "none yet"
        raise LedgerError(
            f"{account.place}: the account {account.name} does not have an analyst "
            f"{analyst!r}; its analysts are: {names}"
        )
    account.thaw(reason, analyst=analyst)
    who = account.name if analyst is None else f"{analyst} in {account.name}"
    still = [f"{account.name} itself is still frozen ({account.frozen})"]
    said = f"thawed: {who}; failures are counted from 0 again"
    return [said, *(still if account.frozen else [])]


@click.command(
    "renew", short_help="Start a new period of an account with its full budget."
)
@books.argument
@books.account
@books.reason
@json_option
def renew(book: str, account: str | None, reason: str, as_json: bool) -> None:
    """Start a new period of an account in LEDGER (default: book.db) with its full
    budget, once the renewal window of its policy has passed.

    This is one more promise: people whose data is in both periods were promised the
    total twice.

    \b
    Examples:
      dither renew clinic.toml --reason "a new year"
    """
    with books.open_book(book) as ledger:
        new = ledger.renew(books.one_account(ledger, account).name, reason=reason)
        if as_json:
            print_json([as_data(new)])
        else:
            say(*str(new).splitlines())


@click.command(
    "write-off", short_help="Write off the remaining budget of an account, permanently."
)
@books.argument
@books.account
@books.reason
@json_option
def write_off(book: str, account: str | None, reason: str, as_json: bool) -> None:
    """Write off the remaining budget of an account in LEDGER (default: book.db),
    permanently. Do this if receipts of charges are lost: the true remaining budget is
    then unknown.

    \b
    Examples:
      dither write-off clinic.toml --reason "receipts were lost"
    """
    with books.open_book(book) as ledger:
        one = books.one_account(ledger, account)
        one.write_off(reason)
        if as_json:
            print_json([as_data(one)])
            return
    say(f"{one.name} is written off, permanently: nothing more can be charged to it")


commands = (amend, share, freeze, thaw, renew, write_off)
