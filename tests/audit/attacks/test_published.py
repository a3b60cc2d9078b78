"""Tables of blocks over declared attributes and coarser ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks.published import domain

AGES = {"age": ["child", "adult", "old"], "sex": ["f", "m"]}
GROUPS = {"grown": ("age", [False, True, True])}


def test_records_and_marginals() -> None:
    over = domain(AGES, GROUPS)
    assert [over.record(cell) for cell in (0, 1, 5)] == [
        ("child", "f"),
        ("child", "m"),
        ("old", "m"),
    ]
    truth = np.arange(12).reshape(2, 3, 2)
    found = attacks.tables(
        truth, [(), "sex", ("sex", "grown")], attributes=AGES, recodes=GROUPS
    )
    assert found[()].tolist() == [[15], [51]]
    assert found[("sex",)].tolist() == [[6, 9], [24, 27]]
    assert found[("sex", "grown")].tolist() == [[0, 6, 1, 8], [6, 18, 7, 20]]
    assert over.table(("sex", "grown")).labels[1] == ("f", True)


@pytest.mark.parametrize(
    ("attributes", "recodes", "argument"),
    [
        ({}, None, "attributes"),
        (["sex"], None, "attributes"),
        ({"sex": "fm"}, None, "attributes"),
        ({"sex": ["f", "f"]}, None, "attributes"),
        ({"age": range(600)}, None, "attributes"),
        (AGES, {"sex": ("age", [1, 2, 3])}, "recodes"),
        (AGES, {"old": ("years", [1, 2, 3])}, "recodes"),
        (AGES, {"old": ("age", [1, 2])}, "recodes"),
        (AGES, {"old": "x"}, "recodes"),
        (AGES, {"old": ("age", 3)}, "recodes"),
        (AGES, ["old"], "recodes"),
        ({"sex": 3}, None, "attributes"),
        ({"sex": [["f"], ["f"]]}, None, "attributes"),
        ({3: ["f"]}, None, "attributes"),
    ],
)
def test_domains_are_checked(attributes: Any, recodes: Any, argument: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        domain(attributes, recodes)
    assert refused.value.argument == argument


def test_a_large_domain_is_refused_with_its_size() -> None:
    with pytest.raises(ArgumentError, match="1,000 cells"):
        domain({"a": range(10), "b": range(10), "c": range(10)}, None)


@pytest.mark.parametrize("table", [3, ("sex", "sex"), (["sex"],), ({},), None])
def test_what_is_no_table_is_refused(table: Any) -> None:
    with pytest.raises(ArgumentError) as refused:
        domain(AGES, None).table(table)
    assert refused.value.argument == "published"
