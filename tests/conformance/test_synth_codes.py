"""Every engine's rows become the same codes of a synthetic table's domain."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import dither
from dither.science.synth import Domain, categories, dates, numbers
from dither.science.synth.reading import source_of
from tests.conformance.world import plain_answer

COLUMNS = ("ward", "day", "moment", "cost", "paid", "share", "urgent")
TABLES: dict[str, tuple[str, ...]] = {
    "visits": COLUMNS,
    "patients": ("born", "sex", "weight", "height"),
    "diagnoses": ("severity",),
}
ANYTHING = {
    "doctor": categories(["nobody"], other="somebody", missing=True),
    "cost": numbers([0, 10, 100, 5000], whole=True),
    "moment": dates("2022-06-01", "2023-05-31", by="week", missing=True),
    "urgent": ["0", "1"],
}


def plain_codes(domain: Domain, table: str) -> Counter[tuple[int, ...]]:
    """The codes of plain rows, read by Python's own types one by one."""
    rows = plain_answer(f"SELECT {', '.join(domain.names)} FROM {table}")
    places = (
        tuple(domain[n].place(one) for n, one in zip(domain.names, row, strict=True))
        for row in rows
    )
    return Counter(codes for codes in places if min(codes) >= 0)


def codes_of(dataset: Any, domain: Domain, table: str, rows: int) -> Any:
    receipt = dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))
    return source_of(dataset, domain, name=table, rows=rows).read(receipt)


def counted(codes: Any) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, codes.tolist()))


@pytest.mark.parametrize("table", TABLES)
def test_codes_are_those_of_the_plain_rows(pure: Any, table: str) -> None:
    domain = Domain.of(pure, table=table, columns=TABLES[table], bins=7)
    want = plain_codes(domain, table)
    assert want.total() > 50
    assert counted(codes_of(pure, domain, table, 10**6)) == want


def test_a_domain_may_differ_from_what_the_catalogue_declares(pure: Any) -> None:
    domain = Domain(ANYTHING)
    want = plain_codes(domain, "visits")
    assert counted(codes_of(pure, domain, "visits", 10**6)) == want


def test_units_keep_so_many_rows(pure: Any) -> None:
    domain = Domain.of(pure, table="visits", columns=["ward", "urgent"])
    everything = "SELECT patient_id, ward, urgent FROM visits"
    each = Counter(
        owner
        for owner, ward, urgent in plain_answer(everything)
        if min(domain["ward"].place(ward), domain["urgent"].place(urgent)) >= 0
    )
    found = codes_of(pure, domain, "visits", 2)
    assert len(found) == sum(min(number, 2) for number in each.values())
