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


def opened(**more: Any) -> Any:
    """Genotypes with NULL where a call is missing; one person has two rows."""
    held = {
        name: pd.array([None if one < 0 else int(one) for one in column], "Int64")
        for name, column in zip(names(4), TABLE.T, strict=True)
    }
    frame = pd.DataFrame({"person": IDS, **held})
    frame = pd.concat([frame, frame.iloc[:1]])
    words: dict[str, Any] = {
        "unit": "person",
        "bounds": dict.fromkeys(names(4), (0, 2)),
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
    expected = genotypes(TABLE, names(4)).count(Panel.of(panel), roster)
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


def test_what_a_dataset_must_be() -> None:
    words: dict[str, Any] = {"panel": names(4), "epsilon": 1.0, "coarse": True}
    with pytest.raises(ArgumentError, match="rows of a table have no order"):
        genomes.frequencies(opened(), clusters=["a"] * PEOPLE, **words)
    budget = Budget(epsilon=1, unit=Unit("person"))
    with pytest.raises(ArgumentError, match="its own account"):
        genomes.frequencies(opened(), clusters=CLUSTERS, budget=budget, **words)
    frame = pd.DataFrame(dict(zip(names(4), TABLE.T, strict=True)))
    rows = dither.open(
        frame, unit="row", bounds={"rs0": (0, 2)}, budget=1.0, ledger=":memory:"
    )
    with pytest.raises(ArgumentError, match="unit column"):
        genomes.frequencies(rows, clusters=CLUSTERS, **words)
