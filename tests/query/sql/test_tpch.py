"""TPC-H: each question comes out as the documentation says, and without noise an answer
is the exact one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dither
from bench.tpch import (
    CATALOGUE,
    TOOL,
    WANTED,
    Answer,
    Case,
    by_key,
    cases,
    exact,
    make,
    plain,
)
from dither.dataset import Dataset
from dither.mechanisms.additive import Gaussian, Laplace
from dither.privacy import Unit
from tools.tpch_table import PAGE, filled

made = pytest.mark.skipif(
    not TOOL.exists(), reason="needs the tool that makes the data: tpchgen-cli"
)

REFUSED = {
    "Q2": "all tables in FROM are public",
    "Q3": "'l_orderkey' identifies one unit",
    "Q10": "'c_custkey' is the unit's id",
    "Q11": "all tables in FROM are public",
    "Q15": "only aggregate within one unit",
    "Q16": "all tables in FROM are public",
    "Q17": "other units' data",
    "Q18": "'c_custkey' is the unit's id",
    "Q20": "other units' data",
    "Q22": "other units' data",
}
WIDE = {"radius": 1e8, "groups": 100}
"""So much that nothing is clipped and no key is left out."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("tpch")
    make(made, 0.002)
    return made


@pytest.fixture(scope="module")
def database(folder: Path) -> Iterator[Dataset]:
    with dither.open(
        folder / CATALOGUE, budget=dither.Budget(1e9, 1e-6, unit=Unit("c_custkey"))
    ) as opened:
        yield opened


@pytest.fixture
def noiseless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise switched off, in this test only."""
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(
            mechanism,
            "_draw",
            lambda _self, _scale, size: 0 if size is None else np.zeros(size, int),
        )


def test_the_page_shows_what_was_measured() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert filled(text) == text


def test_the_wanted_questions_are_there() -> None:
    names = [case.name for case in cases()]
    assert set(WANTED) <= set(names)
    assert set(REFUSED) <= set(names)


@made
@pytest.mark.parametrize(
    "case",
    [case for case in cases() if case.name in REFUSED],
    ids=lambda case: case.name,
)
def test_a_question_about_single_customers_is_refused(
    database: Dataset, case: Case
) -> None:
    with pytest.raises(dither.QueryError, match=REFUSED[case.name]):
        database.preview(case.sql, epsilon=1.0)


@made
@pytest.mark.parametrize(
    "case",
    [case for case in cases() if case.name not in REFUSED],
    ids=lambda case: case.name,
)
@pytest.mark.usefixtures("noiseless")
def test_an_answer_is_right_but_for_its_noise(
    folder: Path, database: Dataset, case: Case
) -> None:
    found = database.sql(case.sql, rho=1e7, **WIDE)
    assert isinstance(found, dither.TableRelease)
    keys = [place for place in range(len(found.columns)) if found.is_key(place)]
    with plain(folder) as connection:
        truth = by_key(exact(connection, case.sql), keys)
    answers = by_key(Answer(tuple(found.columns), found.rows, 0.0), keys)
    alone = {key for key, values in truth.items() if list(values.values()) == [1]}
    # A private key that one customer has is never named
    assert set(truth) - alone <= set(answers)
    for key, values in answers.items():
        for place, value in values.items():
            wanted = truth.get(key, {}).get(place)
            if wanted is not None:
                assert float(value) == pytest.approx(float(wanted), rel=1e-3, abs=0.02)
