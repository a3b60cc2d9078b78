"""Exact tables of small blocks give away who lives there; noisy ones give away no more
than their guarantee allows.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError, GaussianDP, PureDP, ZeroConcentratedDP
from dither.audit import attacks
from dither.audit.attacks.rebuilt import percent
from dither.picture import Dot
from tests.chance import chance

ATTRIBUTES = {
    "sex": ["f", "m"],
    "age": ["0–17", "18–39", "40–64", "65+"],
    "group": ["a", "b", "c"],
}
RECODES = {"adult": ("age", [False, True, True, True])}
TABLES: list[Any] = [("sex", "age"), ("sex", "group"), ("adult", "group")]
CROSS = ("sex", "age", "group")
PRIOR = np.einsum(
    "i,j,k->ijk", [0.5, 0.5], [0.25, 0.3, 0.28, 0.17], [0.7, 0.2, 0.1]
).ravel()
BLOCKS = 400


def blocks(seed: int = 5) -> Any:
    """Blocks of one to nine people, whose records are draws from the prior."""
    source = np.random.default_rng(seed)
    sizes = source.integers(1, 10, BLOCKS)
    return np.array([source.multinomial(size, PRIOR) for size in sizes])


TRUTH = blocks()


def exact(**options: Any) -> attacks.Reconstruction:
    shown = attacks.tables(TRUTH, TABLES, attributes=ATTRIBUTES, recodes=RECODES)
    return attacks.reconstruction(
        shown, TRUTH, attributes=ATTRIBUTES, recodes=RECODES, prior=PRIOR, **options
    )


def noisy(rho: float, seed: int, **options: Any) -> attacks.Reconstruction:
    """Gaussian noise on every cell with μ = √(2ρ) under replacement; the attacker knows
    how many people live in each block.
    """
    source = np.random.default_rng(seed)
    scale = 1 / math.sqrt(rho)
    shown = np.rint(TRUTH + source.normal(0, scale, TRUTH.shape))
    return attacks.reconstruction(
        {CROSS: shown, (): TRUTH.sum(axis=1)},
        TRUTH,
        attributes=ATTRIBUTES,
        noise={CROSS: scale, (): 0},
        prior=PRIOR,
        guarantee=GaussianDP(math.sqrt(2 * rho)),
        **options,
    )


def test_exact_tables_rebuild_most_small_blocks() -> None:
    found = exact()
    assert found.blocks == BLOCKS
    assert found.share > 0.7
    assert found.guessed < 0.1
    assert 0.4 < found.verified <= found.share
    assert found.exact[found.unique].all()
    assert found.matched > found.matched_by_chance
    assert found.bound is None
    assert found.allowed() is None


def test_a_block_of_one_person_is_rebuilt() -> None:
    truth = np.zeros((2, 24), int)
    truth[0, 17] = 1
    shown = attacks.tables(truth, TABLES, attributes=ATTRIBUTES, recodes=RECODES)
    found = attacks.reconstruction(shown, truth, attributes=ATTRIBUTES, recodes=RECODES)
    assert found.records(0) == [("m", "18–39", "c")]
    assert found.records(1) == []
    assert found.solutions == (1, 1)
    assert (found.share, found.verified, found.blocks) == (1, 1, 1)


def test_tables_that_contradict_rebuild_nobody() -> None:
    shown = {"sex": [[1, 0]], "age": [[0, 2, 0, 0]]}
    found = attacks.reconstruction(shown, TRUTH[:1], attributes=ATTRIBUTES)
    assert found.solutions == (0,)
    assert found.records(0) is None
    assert (found.share, found.matched) == (0, 0)
    assert "No table agrees for 1 of the blocks" in str(found)


@chance(1e-8)
@pytest.mark.parametrize("rho", [0.005, 0.05, 0.5, 2.0])
@pytest.mark.parametrize("others", [False, True])
def test_noisy_tables_rebuild_no_more_than_the_guarantee_allows(
    rho: float, others: bool
) -> None:
    """Blocks are independent here, so that the share lies six standard errors of a
    share at the bound above it with probability 1e-9.
    """
    found = noisy(rho, 7, others=others)
    assert found.bound is not None
    spread = math.sqrt(found.bound * (1 - found.bound) / found.blocks)
    assert found.share <= found.bound + 6 * spread
    allowed = found.allowed(1e-6)
    assert allowed is not None
    assert found.bound <= allowed


def chances(tables: Any) -> Any:
    """The logarithms of the chances of tables by the prior, up to their sizes."""
    logs = np.array([math.lgamma(count + 1) for count in range(20)])
    return (tables * np.log(PRIOR) - logs[tables]).sum(axis=1)


@chance(1e-9)
def test_the_attack_does_not_fail_because_it_is_weak() -> None:
    """With little noise it rebuilds everything; whoever knows all others finds far
    more than by guessing where the guarantee allows it; with much noise it guesses.
    """
    assert noisy(200.0, 7).share > 0.99
    assert noisy(200.0, 7, others=True).share > 0.99
    known = noisy(2.0, 7, others=True)
    # Seven standard errors below what was seen: the unknown person is a draw.
    assert known.share > 1.5 * known.guessing
    blind = noisy(1e-9, 7)
    assert chances(blind.rebuilt) == pytest.approx(chances(blind.guesses))


@chance(1e-9)
def test_a_claim_that_is_too_strong_is_exceeded() -> None:
    """A release at ρ = 20 that claims ε = 0.1."""
    found = noisy(20.0, 7, others=True)
    claimed = attacks.Reconstruction(
        found.over, found.truth, found.rebuilt, PRIOR, guarantee=PureDP(0.1)
    )
    assert claimed.bound is not None
    assert claimed.bound == pytest.approx(math.exp(0.1) * found.guessing, rel=0.01)
    assert found.share > claimed.bound + 6 * found.standard_error


def test_the_bound_is_that_of_a_gaussian() -> None:
    found = noisy(0.5, 7)
    normal = NormalDist()
    assert found.guessing == pytest.approx(0.5 * 0.3 * 0.7)
    assert found.bound == pytest.approx(normal.cdf(normal.inv_cdf(0.105) + 1))


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5, 1.0])
def test_the_bound_of_concentrated_privacy_has_a_closed_form(rho: float) -> None:
    found = attacks.Reconstruction(
        exact().over, TRUTH, TRUTH, PRIOR, guarantee=ZeroConcentratedDP(rho)
    )
    length = math.log(1 / found.guessing)
    closed = math.exp(-((math.sqrt(length) - math.sqrt(rho)) ** 2))
    assert found.bound == pytest.approx(closed, rel=0.03)


def test_the_guess_of_a_block_is_the_likeliest_one() -> None:
    found = exact()
    draws = np.random.default_rng(2).multinomial(2, PRIOR, 20_000)
    seen, times = np.unique(draws, axis=0, return_counts=True)
    pair = found.guesses[TRUTH.sum(axis=1) == 2][0]
    frequent = times[(seen == pair).all(axis=1)][0]
    assert frequent > times.max() - 6 * math.sqrt(times.max())


def test_words_and_pictures() -> None:
    found = noisy(0.5, 7)
    assert "of blocks at most, if records are independent" in str(found)
    assert "Only one table" not in str(found)
    assert "allowed" in found.plot().svg()
    assert "Only one table" in str(exact())
    assert "allowed" not in exact().plot().svg()


def groups(picture: Any) -> list[tuple[float, float]]:
    """The dots of the attack."""
    return [(one.x, one.y) for one in picture.shapes if isinstance(one, Dot)]


def test_a_picture_groups_blocks() -> None:
    """One block of 9 people among 59 of 3 is no spike of its own."""
    truth = np.zeros((60, 24), int)
    truth[:, 0] = 3
    truth[59, 0] = 9
    found = attacks.reconstruction(
        {(): truth.sum(axis=1)}, truth, attributes=ATTRIBUTES, prior=PRIOR
    )
    assert len(groups(found.plot())) == 2
    assert "60 blocks, in groups of 60 or more" in found.plot().svg()
    many = exact().plot()
    assert 10 <= len(groups(many)) <= 18
    assert "400 blocks, in groups of" in many.svg()


@pytest.mark.parametrize(
    ("share", "plain", "finer"),
    [
        (0, "0 %", "0.0 %"),
        (1, "100 %", "100.0 %"),
        (0.00213, "0.2 %", "0.2 %"),
        (0.0000213, "0.002 %", "0.002 %"),
        (0.0051, "1 %", "0.5 %"),
        (0.413, "41 %", "41.3 %"),
        (0.997, "above 99.5 %", "99.7 %"),
        (0.99999, "above 99.5 %", "above 99.95 %"),
    ],
)
def test_shares_are_not_rounded_to_nothing(
    share: float, plain: str, finer: str
) -> None:
    assert percent(share) == plain
    assert percent(share, 1) == finer


def test_a_small_share_is_written() -> None:
    found = exact()
    rebuilt = found.guesses.copy()
    rebuilt[:, 0] += 1
    rebuilt[0] = TRUTH[0]
    rare = attacks.Reconstruction(found.over, TRUTH, rebuilt, PRIOR)
    assert rare.share == 1 / BLOCKS
    assert "attack: 0.2 %" in rare.plot().svg()


def test_nobody_lives_anywhere() -> None:
    truth = np.zeros((3, 24), int)
    found = attacks.reconstruction({(): [0, 0, 0]}, truth, attributes=ATTRIBUTES)
    assert (found.blocks, found.share, found.verified, found.guessed) == (0, 0, 0, 0)
    assert "0 blocks" in str(found)
    assert found.plot().svg()
    known = attacks.reconstruction(
        {(): [0, 0, 0]}, truth, attributes=ATTRIBUTES, others=True
    )
    assert (known.rebuilt == 0).all()
    for noise in (None, 1.0):
        none = attacks.reconstruction(
            {(): []}, np.zeros((0, 24)), attributes=ATTRIBUTES, noise=noise
        )
        assert "0 blocks" in str(none)
        assert none.plot().svg()


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"published": []}, "published"),
        ({"published": {"sex": [[1, 2, 3]]}}, "published"),
        ({"published": {"sex": np.full((BLOCKS, 2), 0.5)}}, "published"),
        ({"published": {"sex": np.full((BLOCKS, 2), np.nan)}}, "published"),
        ({"published": {"sex": np.full((BLOCKS, 2), -1)}}, "published"),
        ({"noise": -1}, "noise"),
        ({"noise": {"age": 1}}, "noise"),
        ({"noise": "x"}, "noise"),
        ({"noise": [1]}, "noise"),
        ({"noise": {3: 1}}, "noise"),
        ({"published": {"sex": "x"}}, "published"),
        ({"published": {"sex": [[1, 2], [3]]}}, "published"),
        ({"published": {"sex": np.full((BLOCKS, 2), 1e300)}}, "published"),
        ({"published": {3: [1]}}, "published"),
        ({"prior": "x"}, "prior"),
        ({"guarantee": 1.0}, "guarantee"),
        ({"prior": [1]}, "prior"),
        ({"prior": np.full(24, 0.5)}, "prior"),
        ({"prior": np.full(24, np.nan)}, "prior"),
    ],
)
def test_bad_questions(change: dict[str, Any], argument: str) -> None:
    plain: dict[str, Any] = {
        "published": {"sex": TRUTH.reshape(-1, 2, 12).sum(axis=2)},
        "truth": TRUTH,
        "attributes": ATTRIBUTES,
    }
    with pytest.raises(ArgumentError) as refused:
        attacks.reconstruction(**{**plain, **change})
    assert refused.value.argument == argument
