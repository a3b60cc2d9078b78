"""`dither budget`: what is left of each account, and what can still be asked, by everybody or by one analyst."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any

import click

from dither.cli import book as books

if TYPE_CHECKING:
    from rich.table import Table

    from dither.ledger import Account, Ledger
    from dither.ledger.left import Remaining

__all__ = ["command"]

HEIGHTS = " ▁▂▃▄▅▆▇█"
WIDTH = 24
PAUSE = 1.0  # seconds between two looks
SHOWN = Context(prec=4, rounding=ROUND_FLOOR)


def as_data(account: Account) -> dict[str, Any]:
    """One account as plain data. The time that this takes does not grow with the number of charges."""
    total = account.terms.total
    return {
        "account": account.name,
        "epsilon": total.epsilon,
        "delta": total.delta,
        "unit": account.unit.name,
        "relation": str(account.unit.relation),
        "accounting": str(account.terms.accounting),
        "charges": account.charges,
        **fitting(account.remaining),
        "frozen": account.frozen,
        "burn_down": account.burn_down(),
    }


def fitting(left: Remaining) -> dict[str, Any]:
    """What is left, and the most that one answer of each kind may cost."""
    return {
        "left": left.share,
        "largest_epsilon": left.epsilon,
        "largest_mu": left.mu,
        "largest_rho": left.rho,
        "largest_gaussian_epsilon": left.gaussian_epsilon,
        "counts_within_10": left.counts(10),
    }


def analysts(account: Account) -> list[dict[str, Any]]:
    """Everybody who has a share of an account or has asked."""
    everybody = account.analysts()
    shared = any(one.part is not None for one in everybody)
    return [
        {
            "account": account.name,
            "analyst": one.name,
            "part": one.part,
            "charges": one.charges,
            "failures": one.failures,
            "may_ask": one.part is not None or not shared,
            **fitting(one.remaining),
            "frozen": account.frozen or one.frozen,
        }
        for one in everybody
    ]


def analyst(account: Account, name: str) -> list[dict[str, Any]]:
    """One analyst, be it that they never asked."""
    found = [data for data in analysts(account) if data["analyst"] == name]
    return found or [
        {
            "account": account.name,
            "analyst": name,
            "part": None,
            "charges": 0,
            "failures": 0,
            "may_ask": not account.shares(),
            **fitting(account.remaining_for(name)),
            "frozen": account.frozen,
        }
    ]


def burn_down(shares: list[float]) -> str:
    """The share left at some moments as a line of bars, the newest on the right."""
    step = max(1, math.ceil(len(shares) / WIDTH))
    shown = [*shares[::-1][::step]][::-1]
    return "".join(HEIGHTS[math.ceil(share * 8)] for share in shown)


def promise(data: dict[str, Any]) -> str:
    delta = f", δ = {data['delta']:g}" if data["delta"] else ""
    return f"ε = {data['epsilon']:g}{delta}\none {data['unit']}, {data['relation']}\n{data['accounting']} accounting"


def can_ask(data: dict[str, Any]) -> str:
    if data["frozen"]:
        return f"nothing: frozen\n({data['frozen']})"
    if not data.get("may_ask", True):
        return "nothing: no share"
    kinds = [f"a pure answer of ε = {down(data['largest_epsilon'])}"] if data["largest_epsilon"] else []
    if data["largest_mu"]:
        alone = data["largest_gaussian_epsilon"]
        kinds.append(
            f"a Gaussian one of ρ = {down(data['largest_rho'])}" + (f"\n(ε = {down(alone)} alone)" if alone else "")
        )
    if not kinds:
        return "nothing: it is spent"
    return "\n".join([*kinds, f"counts within ±10: {data['counts_within_10']:,}"])


def down(value: float) -> str:
    """Four digits, rounded down, so that what is shown fits as well."""
    return f"{float(SHOWN.create_decimal(repr(value))):g}"


def left(data: dict[str, Any]) -> str:
    share = data["left"] if data.get("may_ask", True) else 0.0
    return f"{math.floor(share * 1000) / 10:g} %"


def account_cells(data: dict[str, Any]) -> tuple[str, ...]:
    amount = f"{left(data)}\ncharges: {data['charges']:,}"
    return data["account"], promise(data), burn_down(data["burn_down"]), amount, can_ask(data)


def analyst_cells(data: dict[str, Any]) -> tuple[str, ...]:
    part = "" if data["part"] is None else f"{data['part']:g}"
    counts = (f"{data['charges']:,}", f"{data['failures']:,}")
    return data["account"], data["analyst"], part, left(data), *counts, can_ask(data)


@dataclass(frozen=True)
class View:
    """What to show of a book: the accounts, all analysts of each, or one analyst in each."""

    account: str | None = None
    by: str | None = None
    analysts: bool = False

    def data(self, ledger: Ledger) -> list[dict[str, Any]]:
        return [row for account in books.accounts(ledger, self.account) for row in self._rows(account)]

    def _rows(self, account: Account) -> list[dict[str, Any]]:
        if self.by is not None:
            return analyst(account, self.by)
        return analysts(account) if self.analysts else [as_data(account)]

    def table(self, ledger: Ledger) -> Table:
        of_analysts = self.analysts or self.by is not None
        title, headings, cells = ANALYSTS if of_analysts else ACCOUNTS
        rows = [cells(data) for data in self.data(ledger)]
        return table(f"{title} in {ledger.store.place}", headings, rows)


Shape = tuple[str, tuple[str, ...], Callable[[dict[str, Any]], tuple[str, ...]]]
"""The title of a table, its headings, and the cells of a row."""
ACCOUNTS: Shape = ("Budgets", ("account", "promise", "burn-down", "left", "can still be asked"), account_cells)
ANALYSTS: Shape = (
    "Analysts",
    ("account", "analyst", "share", "left", "charges", "failures", "can still be asked"),
    analyst_cells,
)


def table(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(title), title_justify="left")
    for heading in headings:
        shown.add_column(heading)
    for cells in rows:
        shown.add_row(*map(Text, cells))
    return shown


def looks(times: int | None) -> Iterator[None]:
    """Once for each look, with a pause in between; for ever if `times` is not given."""
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


@click.command("budget", short_help="Show what is left of each account, and what can still be asked.")
@books.argument
@click.option("--account", metavar="NAME", help="Show this account only.")
@click.option("--analysts", "each", is_flag=True, help="Show what each analyst has asked, and what they can still ask.")
@click.option("--by", metavar="NAME", help="Show that for this analyst only.")
@click.option("--watch", "watching", is_flag=True, help="Look again every second, until interrupted.")
@click.option("--times", type=click.IntRange(1), hidden=True, help="With --watch: how often to look.")
@click.option("--json", "as_json", is_flag=True, help="Print plain data instead of a table.")
def command(
    book: str, account: str | None, each: bool, by: str | None, watching: bool, times: int | None, as_json: bool
) -> None:
    """Show what is left of each account in BOOK, and what can still be asked.

    BOOK is a file (book.db if not given), a postgresql:// address, or a catalogue or data file that has a book.
    """
    view = View(account, by, each)
    with books.open_book(book) as ledger:
        if as_json:
            click.echo(json.dumps(view.data(ledger), indent=2, ensure_ascii=False))
        elif watching:
            with suppress(KeyboardInterrupt):
                watch(ledger, view, times)
        else:
            show(ledger, view)
