"""`dither budget`: what is left of each account, and what can still be asked."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from dither.cli import book as books
from dither.errors import LedgerError

if TYPE_CHECKING:
    from rich.table import Table

    from dither.ledger import Account, Ledger

__all__ = ["command"]

HEIGHTS = " ▁▂▃▄▅▆▇█"
WIDTH = 24
PAUSE = 1.0  # seconds between two looks


def chosen(ledger: Ledger, name: str | None) -> tuple[Account, ...]:
    found = tuple(account for account in ledger.accounts() if name in (None, account.name))
    if name is not None and not found:
        raise LedgerError(f"there is no account {name!r} in {ledger.store.place}")
    return found


def as_data(account: Account) -> dict[str, Any]:
    """One account as plain data."""
    left, total = account.remaining, account.terms.total
    return {
        "account": account.name,
        "epsilon": total.epsilon,
        "delta": total.delta,
        "unit": account.unit.name,
        "relation": str(account.unit.relation),
        "accounting": str(account.terms.accounting),
        "charges": len(account.history()),
        "left": left.share,
        "largest_epsilon": left.epsilon,
        "largest_mu": left.mu,
        "counts_within_10": left.counts(10),
        "frozen": account.frozen,
        "burn_down": account.burn_down(),
    }


def burn_down(shares: list[float]) -> str:
    """The share left after each charge as a line of bars, the newest on the right."""
    step = max(1, math.ceil(len(shares) / WIDTH))
    shown = [*shares[::-1][::step]][::-1]
    return "".join(HEIGHTS[math.ceil(share * 8)] for share in shown)


def promise(data: dict[str, Any]) -> str:
    delta = f", δ = {data['delta']:g}" if data["delta"] else ""
    return f"ε = {data['epsilon']:g}{delta}\none {data['unit']}, {data['relation']}\n{data['accounting']} accounting"


def can_ask(data: dict[str, Any]) -> str:
    if data["frozen"]:
        return f"nothing: frozen\n({data['frozen']})"
    if not data["largest_epsilon"]:
        return "nothing: it is spent"
    largest = math.floor(data["largest_epsilon"] * 1e4) / 1e4 or data["largest_epsilon"]
    return f"one answer of ε = {largest:g}\ncounts within ±10: {data['counts_within_10']:,}"


def table(rows: list[dict[str, Any]], place: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(f"Budgets in {place}"), title_justify="left")
    for heading in ("account", "promise", "burn-down", "left", "can still be asked"):
        shown.add_column(heading)
    for data in rows:
        left = f"{math.floor(data['left'] * 1000) / 10:g} %\ncharges: {data['charges']:,}"
        cells = (data["account"], promise(data), burn_down(data["burn_down"]), left, can_ask(data))
        shown.add_row(*map(Text, cells))
    return shown


def looks(times: int | None) -> Iterator[None]:
    """Once for each look, with a pause in between; for ever if `times` is not given."""
    yield
    while times is None or times > 1:
        times = None if times is None else times - 1
        time.sleep(PAUSE)
        yield


def watch(ledger: Ledger, name: str | None, times: int | None) -> None:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(), auto_refresh=False) as live:
        for _ in looks(times):
            live.update(table(list(map(as_data, chosen(ledger, name))), ledger.store.place), refresh=True)


def show(ledger: Ledger, name: str | None) -> None:
    from rich.console import Console

    Console().print(table(list(map(as_data, chosen(ledger, name))), ledger.store.place))


@click.command("budget", short_help="Show what is left of each account, and what can still be asked.")
@books.argument
@click.option("--account", metavar="NAME", help="Show this account only.")
@click.option("--watch", "watching", is_flag=True, help="Look again every second, until interrupted.")
@click.option("--times", type=click.IntRange(1), hidden=True, help="With --watch: how often to look.")
@click.option("--json", "as_json", is_flag=True, help="Print plain data instead of a table.")
def command(book: str, account: str | None, watching: bool, times: int | None, as_json: bool) -> None:
    """Show what is left of each account in BOOK, and what can still be asked.

    BOOK is a file (book.db if not given), a postgresql:// address, or a catalogue or data file that has a book.
    """
    with books.open_book(book) as ledger:
        if as_json:
            click.echo(json.dumps(list(map(as_data, chosen(ledger, account))), indent=2, ensure_ascii=False))
        elif watching:
            with suppress(KeyboardInterrupt):
                watch(ledger, account, times)
        else:
            show(ledger, account)
