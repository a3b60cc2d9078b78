"""Votes: what a unit can move, what noise costs, and that an audit refutes less."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from dp_accounting import ComposedDpEvent, GaussianDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dither import audit
from dither.errors import ArgumentError
from dither.learn.pate import ConfidentGNMax, GNMax, NoisyMax
from dither.learn.pate.votes import counted
from dither.noise import rounded_gaussian
from dither.privacy import ROW, GaussianDP, PureDP, ZeroConcentratedDP
from tests.chance import chance

CONFIDENT = ConfidentGNMax(threshold=6, answers=2, sigma_threshold=5.0, sigma=3.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_what_one_teacher_can_move(classes: int) -> None:
    """All votes of three teachers in a query, and all that one of them can do instead."""
    said = range(-1, classes)
    far: dict[str, float] = dict.fromkeys(("each", "l1", "l2", "most", "lead"), 0.0)
    for others in product(said, repeat=2):
        for one, other in product(said, repeat=2):
            lines = [np.array([[*others, vote]], np.int16).T for vote in (one, other)]
            a, b = (counted(line, classes)[0] for line in lines)
            top = [np.sort(each)[::-1] for each in (a, b)]
            far["each"] = max(far["each"], np.abs(a - b).max())
            far["l1"] = max(far["l1"], np.abs(a - b).sum())
            far["l2"] = max(far["l2"], float(((a - b) ** 2).sum()))
            far["most"] = max(far["most"], abs(a.max() - b.max()))
            leads = [line[0] - line[1] for line in top]
            far["lead"] = max(far["lead"], abs(leads[0] - leads[1]))
    assert far == {"each": 1, "l1": 2, "l2": 2, "most": 1, "lead": 2}


@pytest.mark.parametrize(("queries", "sigma"), [(1, 3.0), (640, 40.0), (8500, 100.0)])
@pytest.mark.parametrize("order", [2, 8, 33])
def test_gnmax_costs_its_closed_form(queries: int, sigma: float, order: int) -> None:
    (promise,) = GNMax(sigma=sigma).promises(queries, ROW)
    assert promise.renyi(order) == pytest.approx(queries * order / sigma**2, rel=1e-12)
    assert promise.renyi(order) >= queries * order / sigma**2


def test_confident_gnmax_costs_its_closed_form() -> None:
    voting = ConfidentGNMax(threshold=200, answers=286, sigma_threshold=150, sigma=40)
    (promise,) = voting.promises(640, ROW)
    for order in (2, 8, 33):
        wanted = 640 * order / (2 * 150**2) + 286 * order / 40**2
        assert wanted <= promise.renyi(order) <= wanted * (1 + 1e-12)
    fewer, _ = (next(voting.promises(count, ROW)).renyi(2) for count in (100, 640))
    assert fewer == pytest.approx(100 * 2 / (2 * 150**2) + 100 * 2 / 40**2)


def test_costs_are_those_of_another_accountant_and_never_below() -> None:
    voting = ConfidentGNMax(threshold=200, answers=286, sigma_threshold=150, sigma=40)
    (promise,) = voting.promises(640, ROW)
    event = ComposedDpEvent(
        [
            SelfComposedDpEvent(GaussianDpEvent(150), 640),
            SelfComposedDpEvent(GaussianDpEvent(40 / math.sqrt(2)), 286),
        ]
    )
    tight = PLDAccountant().compose(event).get_epsilon(1e-5)
    loose = RdpAccountant().compose(event).get_epsilon(1e-5)
    assert promise.epsilon_at(1e-5) == pytest.approx(tight, rel=2e-3)
    assert promise.epsilon_at(1e-5) < loose
    exact = math.sqrt(640 / 150**2 + 2 * 286 / 40**2)
    assert promise.epsilon_at(1e-5) >= GaussianDP(exact * (1 - 1e-12)).epsilon_at(1e-5)


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_noisy_max_costs_its_closed_forms(noise: str) -> None:
    pure, concentrated, gaussian = NoisyMax(epsilon=0.1, noise=noise).promises(50, ROW)
    assert isinstance(pure, PureDP)
    assert pure.epsilon == 5.0
    assert isinstance(concentrated, ZeroConcentratedDP)
    wanted = 50 * 0.1**2 / (8 if noise == "gumbel" else 2)
    assert concentrated.rho == pytest.approx(wanted, rel=1e-12)
    assert isinstance(gaussian, GaussianDP)
    assert gaussian.delta_at(0.1) <= 50  # it is finite and holds for one query too
    assert gaussian.mu > 0.1 * math.sqrt(50)


@pytest.mark.parametrize("mu", [0.01, 0.3, 2.0])
def test_noise_for_a_cost_costs_no_more(mu: float) -> None:
    for voting in (GNMax(), ConfidentGNMax(threshold=5, answers=70)):
        solved = voting.for_mu(200, mu)
        assert solved.squared_mu(200) <= mu**2 * (1 + 1e-15)
        assert solved.squared_mu(200) >= mu**2 * (1 - 1e-12)


def test_it_stops_after_the_last_answer_that_was_paid_for() -> None:
    counts = np.tile(np.array([[90, 5, 5]]), (50, 1))
    voting = ConfidentGNMax(threshold=50, answers=7, sigma_threshold=1, sigma=1)
    found = voting.answer(counts)
    assert found.tolist() == [0] * 7 + [-1] * 43


def test_only_queries_that_agree_are_answered() -> None:
    counts = np.array([[90, 5, 5], [34, 33, 33], [5, 5, 90]])
    voting = ConfidentGNMax(threshold=70, answers=3, sigma_threshold=1, sigma=1)
    assert voting.answer(counts).tolist() == [0, -1, 2]


def test_of_equal_counts_the_first_class_wins() -> None:
    found = GNMax(sigma=2.0**-20).answer(np.array([[1, 3, 3], [0, 0, 0]]))
    assert found.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: GNMax(sigma=0.0), "sigma"),
        (lambda: GNMax(sigma=-1.0), "sigma"),
        (lambda: GNMax(sigma=math.nan), "sigma"),
        (lambda: ConfidentGNMax(threshold=5, answers=0), "answers"),
        (lambda: ConfidentGNMax(threshold=5, answers=-3), "answers"),
        (lambda: ConfidentGNMax(threshold=0, answers=3), "threshold"),
        (lambda: ConfidentGNMax(threshold=math.inf, answers=3), "threshold"),
        (lambda: ConfidentGNMax(threshold=5, answers=3, sigma=1), "sigma"),
        (lambda: ConfidentGNMax(threshold=5, answers=3, tests=1.0), "tests"),
        (lambda: NoisyMax(epsilon=0), "epsilon"),
        (lambda: NoisyMax(epsilon=1e300), "epsilon"),
        (lambda: NoisyMax(noise="uniform"), "noise"),
    ],
)
def test_a_bad_question_is_refused(make: Callable[[], Any], argument: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument}"):
        make()


# Audits

A, B = np.array([4, 4]), np.array([5, 3])
"""One vote moved from one class to the other."""
DRAWS = 20_000


def lines(voting: Any, queries: int) -> Callable[[Any, int], Any]:
    """So many independent votes on the same query, repeated."""

    def draw(counts: Any, size: int) -> Any:
        every = [voting.answer(np.tile(counts, (queries, 1))) for _ in range(size)]
        return np.array(every)

    return draw


def gnmax(sigma: float) -> Callable[[Any, int], Any]:
    voting = GNMax(sigma=sigma)
    return lambda counts, size: voting.answer(np.tile(counts, (size, 1)))


@chance(2e-8)
def test_gnmax_is_accepted_at_its_claim_and_refuted_at_half_of_its_noise() -> None:
    (claim,) = GNMax(sigma=1.0).promises(1, ROW)
    found = audit.mechanism(
        gnmax(1.0), A, B, claimed=claim, draws=DRAWS, confidence=1 - 1e-8
    )
    assert not found.refuted, found
    # with less noise the winner changes little by noise, and nearly always by votes
    found = audit.mechanism(
        gnmax(0.5), A, B, claimed=claim, draws=DRAWS, confidence=1 - 1e-8
    )
    assert found.refuted, found


@chance(2e-8)
@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_noisy_max_is_accepted_at_its_claim(noise: str) -> None:
    voting = NoisyMax(epsilon=1.0, noise=noise)
    draw = lambda counts, size: voting.answer(np.tile(counts, (size, 1)))  # noqa: E731
    found = audit.mechanism(
        draw, A, B, claimed=PureDP(1.0), draws=DRAWS // 4, confidence=1 - 1e-8
    )
    assert not found.refuted, found


@chance(2e-8)
def test_noisy_max_at_half_of_its_noise_is_refuted() -> None:
    voting = NoisyMax(epsilon=2.0, noise="exponential")
    draw = lambda counts, size: voting.answer(np.tile(counts, (size, 1)))  # noqa: E731
    found = audit.mechanism(
        draw, [9, 9], [10, 8], claimed=PureDP(1.0), draws=6000, confidence=1 - 1e-8
    )
    assert found.refuted, found


HIGH, LOW = np.array([6, 0]), np.array([5, 1])
"""Whose largest counts lie at the threshold and below it."""


@chance(2e-8)
def test_confident_gnmax_is_accepted_at_its_claim() -> None:
    (claim,) = CONFIDENT.promises(3, ROW)
    draw = lines(CONFIDENT, 3)
    found = audit.mechanism(
        draw, HIGH, LOW, claimed=claim, draws=4000, confidence=1 - 1e-8
    )
    assert not found.refuted, found


def bare(counts: Any, size: int) -> Any:
    """The threshold is compared with the largest count itself."""
    passed = np.full(size, counts.max() >= 6)
    winners = (counts + rounded_gaussian(3.0, (size, 2))).argmax(axis=1)
    return np.where(passed, winners, -1)


@chance(2e-8)
def test_a_largest_count_without_noise_is_refuted() -> None:
    (claim,) = CONFIDENT.promises(3, ROW)
    found = audit.mechanism(
        bare, HIGH, LOW, claimed=claim, draws=1000, confidence=1 - 1e-8
    )
    assert found.refuted, found


@chance(2e-8)
def test_paying_for_answers_alone_is_refuted() -> None:
    """Whoever charges only what was answered pays nothing where nothing is."""
    voting = ConfidentGNMax(threshold=6, answers=40, sigma_threshold=0.7, sigma=1000.0)
    answered_none = GaussianDP(0.05)
    draw = lines(voting, 4)
    found = audit.mechanism(
        draw, HIGH, LOW, claimed=answered_none, draws=4000, confidence=1 - 1e-8
    )
    assert found.refuted, found
    (claim,) = voting.promises(4, ROW)
    found = audit.mechanism(
        draw, HIGH, LOW, claimed=claim, draws=4000, confidence=1 - 1e-8
    )
    assert not found.refuted, found
