"""A panel is declared: each variant once, by id or by its place and alleles."""

from __future__ import annotations

from typing import Any

import pytest

from dither import ArgumentError
from dither.science.genomes.panel import ABSENT, ANY, Panel, known_at


@pytest.mark.parametrize(
    "panel", [None, "rs1", b"rs1", {"rs1": 1}, {"rs1"}, 3, [], [""], [None], [True]]
)
def test_what_is_no_list_of_ids_is_refused(panel: Any) -> None:
    with pytest.raises(ArgumentError, match="panel"):
        Panel.of(panel)


def test_a_variant_is_named_once() -> None:
    with pytest.raises(ArgumentError, match="'rs2' is repeated"):
        Panel.of(["rs1", "rs2", "rs3", "rs2"])
    with pytest.raises(ArgumentError, match="is repeated"):
        Panel.of([("1", 5, "A", "G"), "1:5:A:G"])


def test_an_id_counts_any_alternative_and_a_place_its_own() -> None:
    panel = Panel.of(["rs1", ("1", 5, "A", "T")])
    by_id, absent = (0, ANY, True), (1, ABSENT, False)
    assert list(panel.found("rs1", "1", 5, ("A", "G"))) == [absent, by_id]
    assert list(panel.found("rs1;rs9", "1", 6, ("A", "G"))) == [by_id]
    assert list(panel.found("rs1", "1", 5, ("A", "G", "T"))) == [(1, 2, True), by_id]
    assert list(panel.found("", "1", 5, ("A",))) == [absent]
    assert list(panel.found("", "1", 5, ("C", "T"))) == []
    assert list(panel.found("", "1", 5, ())) == []


def test_columns_are_found_by_their_first_name_or_their_order() -> None:
    panel = Panel.of(["a", "b", "c"])
    assert known_at(panel, ["c", "a", "c"], 3) == [1, -1, 0]
    assert known_at(panel, None, 2) == [0, 1, -1]
