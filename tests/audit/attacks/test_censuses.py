"""Blocks of a released census: no more of them are rebuilt than the guarantee allows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import dither
from bench.census.reconstruction import ATTRIBUTES, LEVELS, PRIOR, made_up
from dither import ArgumentError
from dither.audit import attacks
from dither.science import census
from tests.chance import chance

BLOCKS, TRUTH, PEOPLE = made_up(500)


def released(**options: Any) -> census.Census:
    asked: dict[str, Any] = {"attributes": ATTRIBUTES, **options}
    return census.release(PEOPLE, levels=LEVELS, keys=BLOCKS, **asked)


@chance(1e-9)
@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"rho": 0.05},
        {"rho": 0.5, "invariants": ["state"]},
        {"rho": 0.2, "invariants": ["state", "county"]},
        {"epsilon": 1.0},
    ],
)
def test_releases_rebuild_no_more_than_the_guarantee_allows(
    options: dict[str, Any], others: bool
) -> None:
    """Six standard errors of a share at the bound: 1e-9 if blocks were independent;
    the shares lie far below the bounds.
    """
    found = attacks.reconstruction(
        released(**options), TRUTH, prior=PRIOR, others=others
    )
    assert found.blocks == 500
    assert found.bound is not None
    spread = math.sqrt(found.bound * (1 - found.bound) / found.blocks)
    assert found.share <= found.bound + 6 * spread


@chance(1e-12)
def test_a_release_without_much_noise_is_rebuilt() -> None:
    """So the attack does not fail because it is a weak one."""
    found = attacks.reconstruction(released(rho=1e5), TRUTH, prior=PRIOR)
    assert found.share > 0.99


def test_people_are_counted_as_the_release_counts_them() -> None:
    one = released(rho=1.0)
    found = attacks.reconstruction(one, PEOPLE)
    assert (found.truth == TRUTH).all()
    assert found.prior == pytest.approx(TRUTH.sum(axis=0) / TRUTH.sum())
    assert found.guarantee == one.guarantee
    shaped = attacks.reconstruction(one, TRUTH.reshape(500, 2, 5, 4))
    assert (shaped.truth == TRUTH).all()


def test_odd_people_count_where_the_release_counts_them() -> None:
    """With exact totals, whoever has no declared sex is in the first block and cell."""
    odd = {**PEOPLE, "sex": ["x", *PEOPLE["sex"][1:]]}
    one = census.release(
        odd,
        levels=LEVELS,
        keys=BLOCKS,
        attributes=ATTRIBUTES,
        invariants=["state"],
        rho=1.0,
    )
    found = attacks.reconstruction(one, odd)
    assert found.truth.sum() == TRUTH.sum()
    loose = census.release(
        odd, levels=LEVELS, keys=BLOCKS, attributes=ATTRIBUTES, rho=1.0
    )
    assert attacks.reconstruction(loose, odd).truth.sum() == TRUTH.sum() - 1


@pytest.mark.parametrize("invariants", [None, ["state"]])
def test_other_people_are_refused(invariants: list[str] | None) -> None:
    one = released(rho=1.0, invariants=invariants)
    some = {name: column[:100] for name, column in PEOPLE.items()}
    with pytest.raises(ArgumentError, match="pass the people that were counted"):
        attacks.reconstruction(one, some)
    with pytest.raises(ArgumentError, match="pass the people that were counted"):
        attacks.reconstruction(one, 2 * TRUTH)


def test_blocks_by_their_labels() -> None:
    found = attacks.reconstruction(released(rho=1e5), PEOPLE)
    assert found.records(BLOCKS[7]) == found.records(7)
    assert found.records(BLOCKS[7]) != found.records(8)


def test_a_census_without_attributes() -> None:
    """Whoever knows the sizes of blocks knows it all."""
    found = attacks.reconstruction(released(rho=1.0, attributes=None), PEOPLE)
    assert found.guessing == found.share == 1
    assert found.records(0) == [(True,)] * int(TRUTH[0].sum())


def test_bad_questions(tmp_path: Path) -> None:
    book = tmp_path / "book.db"
    frame = pandas.DataFrame({"state": [1]})
    stored = dither.open(frame, unit="row", budget=1.0, ledger=book)
    one = released(rho=1.0)
    for truth in (TRUTH[:3], TRUTH[:, :3], 7, [[1], [2, 3]]):
        with pytest.raises(ArgumentError, match="blocks by 40 counts"):
            attacks.reconstruction(one, truth)
    with pytest.raises(ArgumentError, match="whole numbers"):
        attacks.reconstruction(one, np.full(TRUTH.shape, np.nan))
    with pytest.raises(ArgumentError, match="no column 'county'"):
        attacks.reconstruction(one, {"state": [1]})
    with pytest.raises(ArgumentError, match="only gives noisy answers"):
        attacks.reconstruction(one, stored)
    coarse = released(rho=1.0, workload=[()])
    with pytest.raises(ArgumentError, match="table of all attributes together"):
        attacks.reconstruction(coarse, TRUTH)
    with pytest.raises(ArgumentError, match="must map names"):
        attacks.reconstruction({(): TRUTH.sum(axis=1)}, TRUTH)
