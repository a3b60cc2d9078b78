"""Reports on releases: the same facts in words, on the page and as data; nothing that
was not released; and nothing about a receipt that the book does not hold.
"""

from __future__ import annotations

import json
import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither
from dither import local
from dither.errors import AccountFrozen, ArgumentError, EngineFailed, LedgerError
from dither.explain import report as reports
from dither.explain.report import book
from dither.ledger import Ledger
from dither.mechanisms import Laplace
from dither.privacy import PureDP, ZeroConcentratedDP
from dither.release import Around, Release, Source
from dither.science import synth
from tests.explain.report.support import EVIL, SQL, Page, clinic

NAMES = [
    "asked",
    "numbers",
    "whom",
    "promise",
    "accounts",
    "mechanism",
    "declared",
    "error",
    "afterwards",
    "limits",
    "verify",
    "deployments",
    "registry",
]


def test_a_report_says_it_all(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
        made = release.report()
        head = visits.account._ledger.head
    assert [one.name for one in made.sections] == NAMES
    receipt = release.receipt
    assert receipt is not None
    said = {name: made[name].texts() for name in NAMES}
    assert SQL in said["asked"]
    assert "answered" in said["asked"]
    assert "16.7 %" in said["asked"]  # 0.5 of 3, rounded up
    assert "patient_id" in said["whom"]
    assert "at most 1.649 times as likely" in said["promise"]  # e^0.5
    assert made["promise"].data["meaning"]["advantage"] == pytest.approx(
        math.tanh(0.25)
    )
    assert made["numbers"].rows == tuple(map(tuple, release.shown()))
    assert said["mechanism"][1] == "noise: Laplace"
    assert (
        "visits.age: from 0 to 110; provenance: declared when it was opened"
        in (said["declared"])
    )
    assert (
        "visits: rows belong to patient_id; no unit has more than 50 rows"
        in (said["declared"])
    )
    assert set(release.notes) <= set(said["error"])
    assert made["accounts"].rows == (
        ("visits", "visits", "one patient_id (add/remove)", "ε = 3", "16.67 %", "1"),
    )
    assert receipt.head in said["verify"]
    assert f"{head[0]}:{head[1]}" in said["verify"]
    assert any("outside the guarantee" in one for one in said["limits"])


def test_page_and_data_say_the_same(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        made = visits.sql(SQL, epsilon=0.5).report()
    shown = Page(made.html()).text
    data = json.loads(made.to_json())
    assert data["schema"] == "dither.report/1"
    written = json.dumps(data, ensure_ascii=False)
    for section in made.sections:
        for text in section.texts():
            assert text in shown
            assert json.dumps(text, ensure_ascii=False)[1:-1] in written
    for word, meaning in data["words"].items():
        assert word in shown
        assert re.sub("[`*]", "", meaning) in "".join(Page(made.html()).shown)


def test_the_page_loads_and_runs_nothing(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        html = visits.sql(SQL, epsilon=0.5).report().html()
    page = Page(html)
    assert (page.loaded, page.handlers) == ([], [])
    addresses = set(re.findall(r"https?://[^\"'\s<]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_hostile_names_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        sql = f"SELECT COUNT(*) AS \"{EVIL}\" FROM visits WHERE ward = '{EVIL}'"
        made = visits.sql(
            sql, epsilon=0.5, by='"><img src=x onerror=alert(1)>'
        ).report()
    page = Page(made.html())
    assert (page.loaded, page.handlers) == ([], [])
    assert EVIL in page.text
    assert '"><img src=x onerror=alert(1)>' in page.text


def test_every_registry_field_is_there(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        made = visits.sql(SQL, epsilon=0.5).report()
    fields = made["registry"].data["deployment"]
    names = {group: list(listed) for group, listed in fields.items()}
    assert names["dp_flavor"] == ["name", "data_domain", "unprotected_quantities"]
    assert names["accounting"] == ["post_processing", "composition"]
    assert fields["dp_flavor"]["name"] == "Pure DP"
    assert fields["privacy_loss"]["privacy_parameters"] == "epsilon 0.5"
    assert fields["model"]["model_name"] == "Central"


def test_the_registry_says_only_what_is_known(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
        rounded = release.round(-1).report()["registry"].data["deployment"]
        book, number = release.receipt.book, release.receipt.number
    by_number = reports.of_receipt(book, number)["registry"].data["deployment"]
    free = dither.count(np.arange(9), epsilon=0.5)
    bare = free.report()["registry"].data["deployment"]
    assert rounded["accounting"]["post_processing"].endswith("rounded to -1 digits")
    assert rounded["accounting"]["composition"].startswith("one account")
    assert by_number["accounting"]["post_processing"] == "for the curator to fill in"
    assert by_number["implementation"]["mechanisms"] == "for the curator to fill in"
    assert bare["accounting"]["composition"] == "none: not charged to any account"
    assert "training" not in bare["implementation"]["mechanisms"]


def test_what_is_weaker_is_said_too() -> None:
    made = dither.count(np.arange(9), epsilon=0.5).report()
    facts = dict(made["promise"].facts)
    assert facts["what the record says"].startswith("ε = 1:")
    assert facts["a group of 5"].startswith("ε = 2.5:")


def test_post_processing_is_told(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        sql = f"{SQL.replace('AVG(age) AS a', '2 * COUNT(*) AS a')} ORDER BY n LIMIT 2"
        release = visits.sql(sql, epsilon=0.5)
        made = release.round(-1).report()
    after = made["afterwards"].words
    assert "limit 2 offset 0" in after
    assert any(one.startswith("computed a = ") for one in after)
    assert after[-1] == "rounded to -1 digits"
    filed = reports.of_file(release.round(-1).to_json(), tmp_path / "visits.dither.db")
    assert filed["afterwards"].words == after


def test_numbers_of_a_file_are_vouched_for_by_nobody() -> None:
    release = dither.count(np.arange(9), epsilon=0.5)
    said = "confirms the charge only"
    assert said in reports.of_file(release.to_json())["numbers"].words[-1]
    assert said not in release.report()["numbers"].words[-1]


def test_post_processing_travels_with_the_file_of_an_array() -> None:
    text = dither.count(np.arange(9), epsilon=0.5).round(-1).to_json()
    assert reports.of_file(text)["afterwards"].words == ("rounded to -1 digits",)


def test_an_array_and_what_is_made_of_it() -> None:
    budget = dither.Budget(2.0)
    ages = np.arange(100.0)
    first = dither.count(ages, epsilon=0.5, budget=budget)
    made = first.report(budget)
    assert made["accounts"].data["accounts"][0]["spent"] == pytest.approx(0.25)
    assert made["mechanism"].words == (
        "Laplace, 2 times what one unit moves; ε = 0.5 (pure), protects one row (add/remove)",
    )
    both = (first + dither.count(ages, epsilon=0.3, budget=budget)).report(budget)
    assert both["promise"].data["pair"][0] == pytest.approx(0.8)
    assert both["afterwards"].words == ("computed from releases and public numbers",)
    assert len(both["verify"].data["receipts"]) == 2
    assert len(both["mechanism"].words) == 2


@pytest.mark.parametrize("ask", [dither.sum, dither.mean, dither.variance])
def test_bounds_of_an_array_are_told(ask: Any) -> None:
    made = ask(np.arange(9.0), bounds=(0, 110), epsilon=0.5).report()
    assert made["declared"].words == (
        "values: from 0 to 110; stated with the question",
    )
    assert made["mechanism"].words[0].startswith("Laplace, 2 times")


def test_a_release_of_another_room_tells_its_mechanism() -> None:
    noise = Laplace(sensitivity=2, epsilon=0.5)
    release = Release("sites", 7, (Source(noise.guarantee),), Around(7, noise))
    assert release.report()["mechanism"].words[0].startswith("Laplace, 2 times")


def test_the_local_room_is_named_as_such() -> None:
    task = local.task("votes", domain=["no", "yes"], epsilon=1, n=100)
    release = task.tally(task.randomize(["yes"] * 100)).estimate()
    made = release.report()
    assert made["registry"].data["deployment"]["model"]["model_name"] == "Local"
    assert made["numbers"].rows[0][0] == "no"


def test_a_synthetic_table_has_a_page_too() -> None:
    people = {"a": [0, 1, 2] * 20, "b": [0, 1] * 30}
    found = synth.mst(people, domain={"a": [0, 1, 2], "b": [0, 1]}, epsilon=1)
    made = reports.of_release(found)
    product = made["registry"].data["deployment"]["product"]
    assert product["data_product_type"] == "Synthetic data"
    assert "numbers" not in [one.name for one in made.sections]


def test_a_release_holds_none_of_the_data() -> None:
    """Nor does what it knows for its report: it may be pickled and sent."""
    ages = np.full(1000, 41.25)
    release = dither.mean(ages, bounds=(0, 110), epsilon=0.5)
    assert ages.tobytes()[:80] not in pickle.dumps(release)
    assert pickle.loads(pickle.dumps(release)).report()["mechanism"].words


def test_a_budget_of_one_process_says_so() -> None:
    release = dither.count([1, 2, 3], epsilon=0.5, budget=dither.Budget(1.0))
    assert "one process only" in release.report()["accounts"].words[0]


def test_a_release_that_nobody_charged_says_so() -> None:
    made = dither.count([1, 2, 3], epsilon=0.5).report()
    assert "not charged to any account" in made["accounts"].words[0]
    assert made.title == "Report on a release"


def test_a_gaussian_is_read_at_the_account_s_delta() -> None:
    budget = dither.Budget(2.0, 1e-5)
    made = dither.count([1, 2, 3], rho=0.01, budget=budget).report(budget)
    epsilon, delta = made["promise"].data["pair"]
    assert delta == 1e-5
    assert epsilon == pytest.approx(ZeroConcentratedDP(0.01).epsilon_at(1e-5), rel=0.5)
    assert epsilon <= ZeroConcentratedDP(0.01).epsilon_at(1e-5)


def test_other_accounts_on_the_same_people_are_listed(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
        book = visits.account._ledger
        book.account("visits-edges", epsilon=1.0, dataset="visits").charge(PureDP(0.25))
        book.account("another", epsilon=1.0)
        made = release.report()
    assert [row[0] for row in made["accounts"].rows] == [
        "visits",
        "visits-edges",
        "another",
    ]
    assert made["accounts"].rows[1][4] == "25 %"
    assert made["accounts"].words[0].startswith("2 of 3 accounts")


def test_tasks_of_devices_are_listed_beside_accounts(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
        task = local.task("votes", domain=["no", "yes"], epsilon=1, n=1000)
        task.record(visits.account._ledger, account="visits")
        said = release.report()["accounts"].words[-1]
    assert said.startswith("Promised to devices: votes (version 1): ε = 1 per message")
    assert "same people as in the account visits" in said


def test_both_promises_of_an_amended_account_are_told(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
        visits.account._ledger.amend("visits", epsilon=4.0, reason="a new year")
        made = release.report()
    assert "it promised ε = 3.0, δ = 0.0, then ε = 4.0" in made["accounts"].words[-1]


def test_by_number(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
    receipt = release.receipt
    assert receipt is not None
    made = reports.of_receipt(receipt.book, receipt.number, receipt.head)
    assert made["promise"].data == release.report()["promise"].data
    assert "A ledger does not store this" in made["mechanism"].words[0]
    assert "numbers" not in [one.name for one in made.sections]


def test_from_the_file_that_was_written(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
    made = reports.of_file(release.to_json()).to_dict()["sections"]
    same = release.report().to_dict()["sections"]
    # the file has no interval of the noise alone, which may be the shorter thing to say
    numbers, known = made.pop("numbers"), same.pop("numbers")
    assert made == same
    assert [row[0] for row in numbers["table"]["rows"]] == ["A", "B", "C"]
    assert numbers["table"]["heading"] == known["table"]["heading"]


def test_a_charge_that_failed_shows_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with clinic(tmp_path) as visits:

        def broken(*_: object) -> None:
            raise ValueError("ward SECRET of 4711")

        monkeypatch.setattr("dither.query.database.measure", broken)
        with pytest.raises(EngineFailed):
            visits.sql(SQL, epsilon=0.5)
        made = reports.of_receipt(visits.account, 3)
    assert "charged, but no answer was given" in made["asked"].texts()
    assert "SECRET" not in made.html() + made.to_json()
    assert "EngineFailed" not in made.html() + made.to_json()


def test_a_receipt_of_another_book_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with clinic(tmp_path / "one") as one, clinic(tmp_path / "two") as two:
        release = one.sql(SQL, epsilon=0.5)
        two.sql(SQL, epsilon=0.5)
        with pytest.raises(LedgerError, match="comes from another ledger"):
            release.report(two.account)
        forged = reports.of_receipt
        with pytest.raises(LedgerError, match="another hash"):
            forged(two.account, 3, release.receipt.head)  # type: ignore[union-attr]


@pytest.mark.parametrize("number", [0, 1, 2, 4, 99])
def test_an_unknown_receipt_is_refused(tmp_path: Path, number: int) -> None:
    with clinic(tmp_path) as visits:
        visits.sql(SQL, epsilon=0.5)
        with pytest.raises(
            LedgerError, match=f"does not have a charge with receipt {number}"
        ):
            reports.of_receipt(visits.account, number)


def test_a_book_that_is_gone_is_missed_and_not_begun(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
    place = tmp_path / "visits.dither.db"
    place.rename(tmp_path / "moved.db")
    with pytest.raises(LedgerError, match="there is no ledger at"):
        release.report()
    assert not place.exists()


def test_a_frozen_account_is_refused(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
        visits.account.freeze("looking into it")
        with pytest.raises(AccountFrozen, match="looking into it"):
            release.report()
        with pytest.raises(AccountFrozen, match="looking into it"):
            visits.account.report()


def test_a_restored_book_is_refused_until_it_is_cleared(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
        visits.account._ledger.backup(tmp_path / "copy.db")
    with Ledger.restore(tmp_path / "copy.db", tmp_path / "new.db") as book:
        with pytest.raises(AccountFrozen, match="may lack charges"):
            release.report(book)
        book.account("visits").thaw("nothing was asked since")
        book.clear("all accounts are there")
        assert release.report(book)["asked"].facts


def test_a_changed_guarantee_is_refused(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
    better = release.to_json().replace('"epsilon": 0.5', '"epsilon": 0.05')
    assert better != release.to_json()
    with pytest.raises(LedgerError, match="does not belong to a charge"):
        reports.of_file(better)


@pytest.mark.parametrize(
    ("name", "made_up"),
    [
        ("purpose", "SELECT COUNT(*) FROM visits"),
        ("by", "somebody"),
        ("time", "1999-01-01T00:00:00+00:00"),
    ],
)
def test_changed_words_of_a_receipt_are_refused(
    tmp_path: Path, name: str, made_up: str
) -> None:
    with clinic(tmp_path) as visits:
        data = json.loads(visits.sql(SQL, epsilon=0.5).to_json())
    data["receipt"][name] = made_up
    with pytest.raises(LedgerError, match=f"has another {name}"):
        reports.of_file(json.dumps(data))


def test_a_page_from_a_file_says_that_nobody_vouches_for_its_numbers(
    tmp_path: Path,
) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
    assert "a ledger confirms the charge only" in " ".join(
        reports.of_file(release.to_json())["numbers"].words
    )
    assert "confirms the charge" not in " ".join(release.report()["numbers"].words)


def test_a_page_does_not_name_the_folder_of_the_book(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
        pages = (release.report(), visits.account.report())
    for made in (*pages, reports.of_file(release.to_json())):
        for text in (made.html(), made.to_json(), str(made)):
            assert str(tmp_path) not in text
            assert "visits.dither.db" in text


def test_a_page_names_neither_host_nor_user_of_a_book() -> None:
    address = "postgresql://ann:…@db.internal:5432/clinic?options=-csearch_path%3Da"
    assert book.shown(address) == "postgresql://…/clinic"


def test_odd_fields_of_a_file_are_refused(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        data = json.loads(visits.sql(SQL, epsilon=0.5).to_json())
    for level in (math.nan, math.inf, 0, 1, -2, "0.95x"):
        with pytest.raises(ArgumentError, match="pass the file"):
            reports.of_file(json.dumps(data | {"confidence": level}))
    for name in ("book", "account"):
        receipt = data["receipt"] | {name: 5}
        with pytest.raises(ArgumentError, match="pass the file"):
            reports.of_file(json.dumps(data | {"receipt": receipt}))


def test_a_file_cannot_send_us_to_an_address(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        data = json.loads(visits.sql(SQL, epsilon=0.5).to_json())
    data["receipt"]["book"] = "postgresql://elsewhere/book"
    with pytest.raises(ArgumentError, match="a file cannot choose"):
        reports.of_file(json.dumps(data))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"schema": "dither.release/1"}', "[" * 100_000]
)
def test_a_file_that_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="pass the file"):
        reports.of_file(text)


def test_what_is_no_release_is_refused() -> None:
    with pytest.raises(ArgumentError, match="must be a release, not int"):
        reports.of_release(42)
    release = dither.count([1], epsilon=1, budget=dither.Budget(1.0))
    with pytest.raises(ArgumentError, match="must be the path or address of a ledger"):
        release.report(42)  # type: ignore[arg-type]
