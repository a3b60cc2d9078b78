"""`dither budget`: the remaining budget of each account or analyst, and the answers
that still fit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any

import click

from dither.cli import book as books
from dither.cli.completing import accounts
from dither.cli.output import json_option, print_json
from dither.terminal import spelled
from dither.text import clean

if TYPE_CHECKING:
    from rich.table import Table

    from dither.ledger import Account, Analyst, Ledger
    from dither.ledger.left import Remaining

__all__ = ["command"]

HEIGHTS = " ▁▂▃▄▅▆▇█"
WIDTH = 24
NO_ACCOUNT = "no account yet: the first charged answer opens one"
PAUSE = 1.0  # seconds between two looks
SHOWN = Context(prec=4, rounding=ROUND_FLOOR)


def as_data(account: Account) -> dict[str, Any]:
    """One account as plain data. The time that this takes does not grow with the number
    of charges.
    """
    total = account.terms.total
    return {
        "account": account.name,
        "epsilon": total.epsilon,
        "delta": total.delta,
        "unit": account.unit.name,
        "relation": str(account.unit.relation),
        "given": list(account.unit.given),
        "accounting": str(account.terms.accounting),
        "charges": account.charges,
        **fitting(account.remaining),
        "frozen": account.frozen,
        "burn_down": account.burn_down(),
    }


def fitting(left: Remaining, allowed: bool = True) -> dict[str, Any]:
    """The remaining part, and the largest answer of each kind that fits; 0 for analysts
    who may not ask.
    """
    found = {
        "remaining": left.share,
        "largest_epsilon": left.epsilon,
        "largest_mu": left.mu,
        "largest_rho": left.rho,
        "largest_gaussian_epsilon": left.gaussian_epsilon,
        "counts_within_10": left.counts(10),
    }
    words = left.share_in_words if allowed else "0 %"
    numbers = found if allowed else dict.fromkeys(found, 0)
    return {**numbers, "remaining_in_words": words}


def analysts(account: Account, name: str | None = None) -> list[dict[str, Any]]:
    """Analysts who have a share of an account or have asked it, or the analyst `name`."""
    from dither.ledger import Analyst

    everybody = account.analysts()
    shared = any(one.part is not None for one in everybody)
    found = [one for one in everybody if name in (None, one.name)]
    if name is not None and not found:
        found = [Analyst(name, None, 0, 0, "", account.remaining_for(name))]
    return [analyst(account, one, one.part is not None or not shared) for one in found]


def analyst(account: Account, one: Analyst, allowed: bool) -> dict[str, Any]:
    return {
        "account": account.name,
        "analyst": one.name,
        "part": one.part,
        "charges": one.charges,
        "failures": one.failures,
        "may_ask": allowed,
        **fitting(one.remaining, allowed),
        "frozen": account.frozen or one.frozen,
    }


def over_time(shares: list[float]) -> str:
    """The remaining share over time as a line of bars, the newest on the right."""
    step = max(1, math.ceil(len(shares) / WIDTH))
    shown = [*shares[::-1][::step]][::-1]
    return "".join(HEIGHTS[math.ceil(share * 8)] for share in shown)


def guarantee(data: dict[str, Any]) -> str:
    delta = f", δ = {data['delta']:g}" if data["delta"] else ""
    from dither.privacy.units import facts_in_words

    facts = facts_in_words(clean(one) for one in data["given"])
    whose = f"one {clean(data['unit'])}, {data['relation']}{facts}"
    return f"ε = {data['epsilon']:g}{delta}\n{whose}\n{data['accounting']} accounting"


def still_fits(data: dict[str, Any]) -> str:
    if data["frozen"]:
        return f"nothing: frozen\n({clean(data['frozen'])})"
    if not data.get("may_ask", True):
        return "nothing: no share"
    kinds = (
        [f"one Laplace answer at ε = {down(data['largest_epsilon'])}"]
        if data["largest_epsilon"]
        else []
    )
    if data["largest_mu"]:
        kinds.append(f"one Gaussian answer at ρ = {down(data['largest_rho'])}")
    if data["largest_gaussian_epsilon"]:
        kinds.append(f"(ε = {down(data['largest_gaussian_epsilon'])} by itself)")
    if not kinds:
        return "nothing: the budget is spent"
    return "\n".join(
        [*kinds, f"counts of units within ±10: {data['counts_within_10']:,}"]
    )


def down(value: float) -> str:
    """Four digits, rounded down, so that what is shown fits as well."""
    return f"{float(SHOWN.create_decimal(repr(value))):g}"


def account_cells(data: dict[str, Any]) -> tuple[str, ...]:
    amount = f"{data['remaining_in_words']}\ncharges: {data['charges']:,}"
    return (
        clean(data["account"]),
        guarantee(data),
        over_time(data["burn_down"]),
        amount,
        still_fits(data),
    )


def analyst_cells(data: dict[str, Any]) -> tuple[str, ...]:
    part = "" if data["part"] is None else f"{data['part']:g}"
    counts = (f"{data['charges']:,}", f"{data['failures']:,}")
    return (
        clean(data["account"]),
        clean(data["analyst"]),
        part,
        data["remaining_in_words"],
        *counts,
        still_fits(data),
    )


@dataclass(frozen=True)
class View:
    """Rows to show of a ledger: its accounts, or all analysts or one analyst of each."""

    account: str | None = None
    by: str | None = None
    analysts: bool = False

    def data(self, ledger: Ledger) -> list[dict[str, Any]]:
        return [
            row
            for account in books.accounts(ledger, self.account)
            for row in self._rows(account)
        ]

    def _rows(self, account: Account) -> list[dict[str, Any]]:
        return analysts(account, self.by) if self.of_analysts else [as_data(account)]

    @property
    def of_analysts(self) -> bool:
        return self.analysts or self.by is not None

    def table(self, ledger: Ledger) -> Table:
        title, headings, cells = ANALYSTS if self.of_analysts else ACCOUNTS
        rows = [cells(data) for data in self.data(ledger)]
        shown = table(f"{title} in {ledger.store.place}", headings, rows)
        if not rows:
            shown.caption = "none yet" if self.of_analysts else NO_ACCOUNT
        return shown


Shape = tuple[str, tuple[str, ...], Callable[[dict[str, Any]], tuple[str, ...]]]
"""The title of a table, its headings, and the cells of a row."""
ACCOUNTS: Shape = (
    "Budgets",
    ("account", "guarantee", "remaining over time", "remaining", "still fits"),
    account_cells,
)
ANALYSTS: Shape = (
    "Analysts",
    (
        "account",
        "analyst",
        "share",
        "remaining",
        "charges",
        "failures",
        "still fits",
    ),
    analyst_cells,
)


def table(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(title), title_justify="left")
    for heading in headings:
        shown.add_column(heading)
    for cells in rows:
        shown.add_row(*(Text(spelled(one)) for one in cells))
    return shown


def looks(times: int | None) -> Iterator[None]:
    """Once for each look, with a pause in between; without end if `times` is None."""
    yield
    while times is None or times > 1:
        times = None if times is None else times - 1
        time.sleep(PAUSE)
        yield


def watch(ledger: Ledger, view: View, times: int | None) -> None:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(), auto_refresh=False) as live:
        for _ in looks(times):
            live.update(view.table(ledger), refresh=True)


def show(ledger: Ledger, view: View) -> None:
    from rich.console import Console

    Console().print(view.table(ledger))


@click.command(
    "budget",
    short_help="Show the remaining budget of each account.",
)
@books.argument
@click.option(
    "--account",
    metavar="NAME",
    shell_complete=accounts,
    help="Name of the account to show (default: all accounts).",
)
@click.option(
    "--analysts",
    "each",
    is_flag=True,
    help="Show what each analyst has asked, and what still fits.",
)
@click.option("--by", metavar="NAME", help="Name of the only analyst to show.")
@click.option(
    "--watch",
    "watching",
    is_flag=True,
    help="Refresh the table every second until interrupted.",
)
@click.option(
    "--times",
    type=click.IntRange(1),
    hidden=True,
    help="Number of refreshes with --watch.",
)
@json_option
def command(
    book: str,
    account: str | None,
    each: bool,
    by: str | None,
    watching: bool,
    times: int | None,
    as_json: bool,
) -> None:
    """Show the remaining budget of each account in LEDGER, and the answers that still
    fit.

    LEDGER is a file (default: book.db), a postgresql:// address, or a catalogue or data
    file that has a ledger.

    \b
    Examples:
      dither budget clinic.toml
      dither budget clinic.toml --analysts
      dither budget clinic.toml --json
    """
    view = View(account, by, each)
    with books.open_book(book) as ledger:
        if as_json:
            print_json(view.data(ledger))
        elif watching:
            with suppress(KeyboardInterrupt):
                watch(ledger, view, times)
        else:
            show(ledger, view)
