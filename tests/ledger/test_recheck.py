"""An exported book can be re-added by someone who has only dp-accounting, and a forged
one does not pass.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dither.errors import BudgetExceeded, LedgerError, MissingExtra
from dither.ledger import Ledger, verify
from dither.ledger import recheck as recheck_module
from dither.ledger.export import Total, export, recheck
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    PureDP,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
)
from tests.ledger.support import full, three_accounts


@pytest.fixture
def book() -> Ledger:
    return three_accounts()


def by_name(totals: tuple[Total, ...]) -> dict[str, Total]:
    return {total.account: total for total in totals}


def test_every_kind_is_re_added(book: Ledger) -> None:
    lines = list(export(full(book)))
    totals = by_name(recheck(lines))
    assert [totals[name].charges for name in ("clinic", "curve", "plain")] == [10, 4, 1]
    assert all(total.fits for total in totals.values())
    assert totals["plain"].recomputed == 0.7
    assert "clinic: 10 charges" in str(totals["clinic"])
    # What stands in for a bounded range and for listed losses is an upper bound;
    # everything else agrees to 1e-7.
    loss = book.account("clinic").remaining.state.loss_spent / 1e9
    assert loss * (1 - 1e-7) <= totals["clinic"].spent.loss <= loss * 1.1


@pytest.mark.parametrize(
    "guarantee",
    [PureDP(0.05), GaussianDP(0.02), ZeroConcentratedDP(1e-4), ApproxDP(0.05, 1e-9)],
)
@pytest.mark.parametrize("accounting", ["renyi", "gdp"])
def test_a_full_account_is_within_its_promise(guarantee: Any, accounting: str) -> None:
    """The cap of the book and the conversion of dp-accounting agree at the very end of
    the budget.
    """
    ledger = Ledger.open(":memory:")
    account = ledger.account("a", epsilon=1, delta=1e-6, accounting=accounting)
    if accounting == "gdp" and isinstance(guarantee, ZeroConcentratedDP):
        return
    many = account.remaining._times(account.terms.cost(guarantee))
    for _ in range(many):
        account.charge(guarantee)
    (total,) = recheck(export(ledger))
    assert total.fits
    assert total.recomputed > 0.93 or many == 20


def test_everything_that_happens_to_an_account_is_replayed(book: Ledger) -> None:
    clinic = book.account("clinic")
    clinic.share("ana", 0.5)
    lost = clinic.charge(PureDP(0.2), by="ana")
    with pytest.raises(RuntimeError), clinic.spending(PureDP(0.1)):
        raise RuntimeError
    clinic.store(lost, "key", "a release")
    clinic.freeze("a look")
    clinic.thaw("seen")
    book.amend("clinic", epsilon=5.0, delta=1e-6, reason="new promise")
    book.account("clinic").charge(PureDP(3.0))
    book.amend("clinic", epsilon=4.0, delta=1e-6, reason="enough")
    book.account("plain").charge(PureDP(0.7))
    book.account("plain").write_off("closed")
    other = Ledger.open(":memory:").account("plain", epsilon=1)
    book.account("curve").recover([])
    totals = by_name(recheck(export(book)))
    assert totals["clinic"].charges == 3
    assert all(total.fits for total in totals.values())
    late = other.charge(PureDP(0.5))
    book.account("plain").recover([late])
    assert not by_name(recheck(export(book)))["plain"].fits


def test_recovered_disjoint_receipts_are_re_added(book: Ledger) -> None:
    lost = (
        Ledger.open(":memory:")
        .account("plain", epsilon=1)
        .charge_disjoint([PureDP(0.4), PureDP(0.5)])
    )
    book.account("plain").recover([lost])
    assert by_name(recheck(export(book)))["plain"].spent.pure == 0.5
    assert verify(book)


def test_replaced_units_count_twice_over_disjoint_keys() -> None:
    ledger = Ledger.open(":memory:")
    unit = Unit("patient", "replace")
    account = ledger.account("a", epsilon=1, unit=unit)
    account.charge_disjoint([PureDP(0.5, unit=unit), PureDP(0.2, unit=unit)])
    assert recheck(export(ledger))[0].spent.pure == 1


Forge = Callable[[list[dict[str, Any]]], None]


def chained(parsed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a forger who knows the format does last: number the lines and compute every
    hash anew.
    """
    previous, log = "", [line for line in parsed if line["line"] in ("charge", "note")]
    for number, line in enumerate(log, 1):
        place = ("line", "number", "time", "account", "hash")
        body = (
            line["body"]
            if line["line"] == "note"
            else {k: v for k, v in line.items() if k not in place}
        )
        kind = line.get("kind", "charge")
        text = dump([previous, number, line["time"], kind, line["account"], dump(body)])
        previous = hashlib.sha256(text.encode()).hexdigest()
        line.update(number=number, hash=previous)
    parsed[0].update(lines=len(log), head=previous)
    return parsed


def dump(data: Any) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def first_charge(parsed: list[dict[str, Any]]) -> dict[str, Any]:
    return next(line for line in parsed if line["line"] == "charge")


def remove(parsed: list[dict[str, Any]]) -> None:
    parsed.remove(first_charge(parsed))


def remove_the_last(parsed: list[dict[str, Any]]) -> None:
    parsed.pop()


def lower_epsilon(parsed: list[dict[str, Any]]) -> None:
    first_charge(parsed)["guarantee"]["epsilon"] = 0.01


def lower_cost(parsed: list[dict[str, Any]]) -> None:
    first_charge(parsed)["cost"][1] -= 1000


def lower_both(parsed: list[dict[str, Any]]) -> None:
    lower_epsilon(parsed)
    first_charge(parsed)["cost"] = [10_000_000, 500_000, 0]


def raise_the_promise(parsed: list[dict[str, Any]]) -> None:
    parsed[1]["epsilon"] = "30.0"


def forget_an_account(parsed: list[dict[str, Any]]) -> None:
    del parsed[1]


def twice(parsed: list[dict[str, Any]]) -> None:
    parsed.insert(1, parsed[1])


@pytest.mark.parametrize(
    "forge",
    [
        remove,
        remove_the_last,
        lower_epsilon,
        lower_cost,
        lower_both,
        raise_the_promise,
        forget_an_account,
        twice,
    ],
)
def test_a_forged_export_is_found(book: Ledger, forge: Forge) -> None:
    parsed = [json.loads(line) for line in export(full(book))]
    forge(parsed)
    with pytest.raises(LedgerError):
        recheck(map(dump, parsed))


@pytest.mark.parametrize("forge", [remove, remove_the_last, lower_cost, lower_both])
def test_computing_the_hashes_anew_does_not_help(book: Ledger, forge: Forge) -> None:
    parsed = [json.loads(line) for line in export(full(book))]
    forge(parsed)
    with pytest.raises(LedgerError):
        recheck(map(dump, chained(parsed)))


def test_only_a_receipt_finds_a_forgery_that_agrees_with_itself(book: Ledger) -> None:
    receipts = full(book).account("clinic").history()
    parsed = [json.loads(line) for line in export(book)]
    gone = first_charge(parsed)
    remove(parsed)
    taken = [cost or 0 for cost in gone["cost"]]
    parsed[1]["spent"] = [
        was - cost for was, cost in zip(parsed[1]["spent"], taken, strict=True)
    ]
    for line in parsed:
        if line["line"] == "charge" and line["account"] == gone["account"]:
            line["spent"] = [
                was - cost for was, cost in zip(line["spent"], [*taken, 0], strict=True)
            ]
    forged = [dump(line) for line in chained(parsed)]
    recheck(forged)
    with pytest.raises(LedgerError, match="receipt"):
        recheck(forged, [(receipts[-1].number, receipts[-1].head)])
    recheck(export(book), [(receipt.number, receipt.head) for receipt in receipts])


def test_an_overspent_account_is_found(book: Ledger) -> None:
    """A book whose own caps are wrong agrees with itself, but not with dp-accounting."""
    clinic = book.account("clinic")
    for _ in range(8):
        clinic.charge(GaussianDP(0.2))
    parsed = [json.loads(line) for line in export(book)]
    opened = next(
        line
        for line in parsed
        if line.get("kind") == "open" and line["account"] == "clinic"
    )
    opened["body"]["epsilon"] = parsed[1]["epsilon"] = "2.0"
    with pytest.raises(LedgerError, match="spends more"):
        recheck(map(dump, chained(parsed)))


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["{}"],
        ["nonsense"],
        ['{"line":"book","format":99}'],
        ['{"line":"book","format":1}', '{"line":"charge"}'],
    ],
)
def test_foreign_lines_are_refused(lines: list[str]) -> None:
    with pytest.raises(LedgerError):
        recheck(lines)


def test_without_dp_accounting_it_says_what_to_install(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list(export(full(book)))
    recheck_module._loss.cache_clear()
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MissingExtra, match="accounting"):
        recheck(lines)


def test_nothing_else_of_dither_is_used(book: Ledger, tmp_path: Path) -> None:
    """The file runs on its own, in a process that never imports the mathematics it
    checks.
    """
    place = tmp_path / "book.jsonl"
    place.write_text("\n".join(export(full(book))))
    spec = importlib.util.find_spec("dither.ledger.recheck")
    assert spec is not None
    code = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('alone', {spec.origin!r})\n"
        "alone = importlib.util.module_from_spec(spec); sys.modules['alone'] = alone; spec.loader.exec_module(alone)\n"
        f"totals = alone.recheck(open({str(place)!r}))\n"
        "print(len(totals), sorted(name for name in sys.modules if name.startswith('dither')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.split("\n")[0].startswith("3 ")
    mine = {
        "dither",
        "dither._version",
        "dither.errors",
        "dither.ledger",
        "dither.terminal",
    }
    mine |= {
        f"dither.ledger.{name}"
        for name in (
            "claims",
            "entry",
            "facts",
            "neighbours",
            "recheck_runs",
            "state",
            "transitions",
        )
    }
    assert set(json.loads(done.stdout[2:].replace("'", '"'))) == mine


def test_charges_that_only_an_upper_bound_is_known_for_pass_both() -> None:
    ledger = Ledger.open(":memory:")
    for number, guarantee in enumerate(
        (BoundedRange(0.3), RenyiDP({2: 0.001, 8: 0.004, 32: 0.02, 128: 0.2}))
    ):
        account = ledger.account(f"a{number}", epsilon=1, delta=1e-6)
        while account.affords(guarantee):
            account.charge(guarantee)
    assert verify(ledger)
    assert all(total.fits for total in recheck(export(ledger)))


def test_honest_books_pass_both_accountants() -> None:
    """What an earlier recheck refused: a write-off after pure spending on an account
    with a δ.
    """
    ledger = Ledger.open(":memory:")
    account = ledger.account("clinic", epsilon=3, delta=1e-6)
    for _ in range(3):
        account.charge(PureDP(1))
    account.write_off("enough")
    assert verify(ledger)
    assert recheck(export(ledger))
    with pytest.raises(BudgetExceeded, match="cannot be undone"):
        account.charge(PureDP(0.001))
