"""A dataset with a column for each variant: its own account pays."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.science import genomes
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import Counts
from dither.science.genomes.panel import Panel
from dither.science.genomes.reading import genotypes, read
from tests.science.genomes.cohort import cohort, names

PEOPLE = 60
TABLE = cohort(PEOPLE, 4, missing=0.2)
IDS = [f"p{at:03d}" for at in range(PEOPLE)]
CLUSTERS = {name: "ab"[at % 2] for at, name in enumerate(IDS)}


def _coded(column: Any) -> list[int | None]:
    """Missing calls as NULL and in some of the codes that people use."""
    missed = (None, 9, -9, -1)
    return [
        missed[at % 4] if one < 0 else int(one)
        for at, one in enumerate(column.tolist())
    ]


def opened(**more: Any) -> Any:
    """A table in which one person has two rows."""
    held = {
        name: pd.array(_coded(column), "Int64")
        for name, column in zip(names(4), TABLE.T, strict=True)
    }
    frame = pd.DataFrame({"person": IDS, **held})
    frame = pd.concat([frame, frame.iloc[:1]])
    words: dict[str, Any] = {
        "unit": "person",
        "bounds": dict.fromkeys(names(4), (-1, 3)),
        "rows": 2,
        "budget": 9.0,
        "ledger": ":memory:",
    }
    return dither.open(frame, **{**words, **more})


def test_a_table_is_counted_as_the_matrix_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Counts] = []

    def kept(*told: Any) -> Counts:
        seen.append(read(*told))
        return seen[-1]

    # the package has a function of that name, so the module is asked for by name
    module = importlib.import_module("dither.science.genomes.frequencies")
    monkeypatch.setattr(module, "read", kept)
    dataset = opened()
    panel = ["rs2", "nowhere", "rs0"]
    found = genomes.frequencies(
        dataset, panel=panel, clusters=CLUSTERS, epsilon=3.0, coarse=True
    )
    roster = Roster.of(CLUSTERS, IDS)
    expected = genotypes(TABLE, variants=names(4)).count(Panel.of(panel), roster)
    assert (seen[0].none == expected.none).all()
    assert (seen[0].one == expected.one).all()
    assert (seen[0].two == expected.two).all()
    assert found.receipt is not None
    assert dataset.account.spent > 0.3
    assert found.guarantee.unit == dataset.unit


def test_all_questions_are_charged_to_the_dataset() -> None:
    dataset, case = opened(), {name: at % 2 for at, name in enumerate(IDS)}
    top = genomes.top_snps(dataset, case, 1, panel=names(4), epsilon=1.0)
    assert top.guarantee.unit == dataset.unit
    beacon = genomes.beacon(
        dataset, panel=names(4), samples=IDS, questions=2, epsilon=1.0
    )
    assert np.isfinite(beacon.ask("rs1").value)
    with pytest.raises(UnitMismatch, match="add/remove"):
        genomes.chi2(dataset, case, panel=names(4), epsilon=1.0)
    test = genomes.chi2(
        dataset, case, panel=names(4), epsilon=1.0, relation="add/remove"
    )
    assert test.guarantee.unit == dataset.unit
    assert dataset.account.spent == pytest.approx(1 / 3)


def test_a_dataset_whose_neighbours_replace_a_person() -> None:
    """Noise for twice as much: one replaced person moves a sum by 2."""
    dataset = opened(unit=Unit("person", "replace"))
    case = {name: at % 2 for at, name in enumerate(IDS)}
    found = genomes.frequencies(
        dataset, panel=names(4), samples=IDS, epsilon=1.0, calls="complete", coarse=True
    )
    assert found.guarantee.unit == dataset.unit
    assert found.spread.mechanism.sensitivity == 8  # type: ignore[union-attr]
    top = genomes.top_snps(dataset, case, 1, panel=names(4), epsilon=2.0)
    plain = genomes.top_snps(opened(), case, 1, panel=names(4), epsilon=1.0)
    assert top.notes[1] == plain.notes[1]  # the same noise for twice the cost


def test_bounds_must_leave_room_for_missing_codes() -> None:
    """A table's values are brought within their bounds: a 9 would become a 2."""
    dataset = opened(bounds=dict.fromkeys(names(4), (0, 2)))
    with pytest.raises(ArgumentError, match=r"\(-1, 3\)"):
        genomes.frequencies(dataset, panel=["rs0"], samples=IDS, epsilon=1.0)
    assert dataset.account.spent == 0


def test_what_a_dataset_must_be() -> None:
    words: dict[str, Any] = {"panel": names(4), "epsilon": 1.0, "coarse": True}
    with pytest.raises(ArgumentError, match="rows of a table are not ordered"):
        genomes.frequencies(opened(), clusters=["a"] * PEOPLE, **words)
    budget = Budget(epsilon=1, unit=Unit("person"))
    with pytest.raises(ArgumentError, match="dataset's own account"):
        genomes.frequencies(opened(), clusters=CLUSTERS, budget=budget, **words)
    frame = pd.DataFrame(dict(zip(names(4), TABLE.T, strict=True)))
    rows = dither.open(
        frame, unit="row", bounds={"rs0": (-1, 3)}, budget=1.0, ledger=":memory:"
    )
    with pytest.raises(ArgumentError, match="unit column"):
        genomes.frequencies(rows, clusters=CLUSTERS, **words)
