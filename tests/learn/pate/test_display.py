"""The display: published bounds, sensitivity by brute force, and what its noise costs."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special, stats

from dither import Budget, audit
from dither.errors import ArgumentError
from dither.learn import pate
from dither.learn.pate import display
from dither.learn.pate.bounds import (
    confident_table,
    gnmax_bound,
    gnmax_table,
    log_miss,
)
from dither.learn.pate.display import (
    Display,
    _moves,
    _states,
    smooth_loss,
    smooth_sensitivity,
)
from dither.privacy import ROW, PureDP, RenyiDP


def published(log_q: float, sigma: float, order: float) -> float:
    """Theorem 6 of Papernot et al. 2018, with logarithms of probabilities as they are
    written there.
    """
    variance, q = sigma**2, math.exp(log_q)
    mu2 = math.sqrt(variance * math.log(1 / q))
    mu1 = mu2 + 1
    loss1, loss2 = mu1 / variance, mu2 / variance
    valid = (
        mu1 > order
        and mu2 > 1
        and q < 1
        and q * math.exp(loss2) < 1
        and q
        <= math.exp((mu2 - 1) * loss2) / (mu1 / (mu1 - 1) * mu2 / (mu2 - 1)) ** mu2
    )
    if not valid:
        return order / variance
    a = (1 - q) / (1 - (q * math.exp(loss2)) ** ((mu2 - 1) / mu2))
    b = math.exp(loss1) / q ** (1 / (mu1 - 1))
    total = (1 - q) * a ** (order - 1) + q * b ** (order - 1)
    return min(order / variance, math.log(total) / (order - 1))


@pytest.mark.parametrize("sigma", [2.0, 20.0, 40.0, 100.0])
@pytest.mark.parametrize("order", [1.5, 4.0, 20.0])
def test_the_bound_is_the_published_one(sigma: float, order: float) -> None:
    for log_q in (-0.2, -1.0, -4.0, -9.0, -20.0, -60.0):
        found = gnmax_bound(log_q, sigma, order)
        assert found == pytest.approx(published(log_q, sigma, order), rel=1e-9)
    assert gnmax_bound(-60.0, 40.0, 4.0) < 0.1 * 4.0 / 40.0**2  # it is of use


def test_the_probability_is_never_below_the_published_one() -> None:
    for counts in ([20, 3, 1], [9, 9, 2], [10, 0, 0], [5, 5, 5]):
        top, *rest = counts
        gaps = np.array([top - one for one in rest])
        tails = stats.norm.logsf(gaps, scale=math.sqrt(2) * 3.0)
        union = min(special.logsumexp(tails), math.log(1 - 1 / 3))
        assert log_miss(int(gaps.min()), 3.0, 3) >= union - 1e-12


def answers(counts: Any, sigma: float) -> np.ndarray[Any, Any]:
    """The law of GNMax's winner, by integration over the winner's noise."""

    def one(place: int) -> float:
        rest = [count for other, count in enumerate(counts) if other != place]

        def density(x: float) -> float:
            below = [stats.norm.cdf((x - other) / sigma) for other in rest]
            return float(
                stats.norm.pdf((x - counts[place]) / sigma) / sigma * np.prod(below)
            )

        ends = min(counts) - 9 * sigma, max(counts) + 9 * sigma
        return float(integrate.quad(density, *ends, epsabs=1e-13, limit=200)[0])

    found = np.array([one(place) for place in range(len(counts))])
    return found / found.sum()


FULL = pytest.mark.full


@pytest.mark.parametrize(
    "counts",
    [
        (14, 1, 0),
        pytest.param((9, 6, 0), marks=FULL),
        pytest.param((12, 0, 3), marks=FULL),
    ],
)
def test_the_bound_holds_for_all_that_a_teacher_can_do(counts: tuple[int, ...]) -> None:
    sigma, order = 2.0, 3.0
    here = answers(counts, sigma)
    top = sorted(counts, reverse=True)
    bound = gnmax_table(sum(counts), sigma, 3, order)[top[0] - top[1]]
    for lost, won in product(range(-1, 3), repeat=2):
        moved = list(counts)
        if lost >= 0:
            moved[lost] -= 1
        if won >= 0:
            moved[won] += 1
        if min(moved) < 0:
            continue
        there = answers(moved, sigma)
        total = float((here**order * there ** (1 - order)).sum())
        assert math.log(total) / (order - 1) <= bound * (1 + 1e-9) + 1e-9


def rounded(counts: Any, sigma: float) -> np.ndarray[Any, Any]:
    """The law of the winner with rounded noise, of which the first of equals wins."""
    edges = np.arange(-30, 60) - 0.5
    laws = [np.diff(stats.norm.cdf((edges - count) / sigma)) for count in counts]
    below = [np.cumsum(law) - law for law in laws]
    found = [
        math.prod(
            (below[other] + laws[other] * (other > place)) if other != place else law
            for other in range(len(counts))
        ).sum()
        for place, law in enumerate(laws)
    ]
    return np.array(found)


@pytest.mark.parametrize("sigma", [0.5, 0.8, 1.5])
def test_the_bound_holds_for_noise_that_is_rounded(sigma: float) -> None:
    """Ties go to the first class, also where another one leads."""
    order = 1.5
    table = gnmax_table(20, sigma, 2, order)
    for lead in range(1, 9):
        here = rounded((0, lead), sigma)
        assert math.log(here[0]) <= log_miss(lead, sigma, 2)
        there = rounded((1, lead - 1), sigma)
        total = float((here**order * there ** (1 - order)).sum())
        assert math.log(total) / (order - 1) <= table[lead] * (1 + 1e-6) + 1e-9


def test_the_table_of_tests_and_answers_is_never_above_the_charge() -> None:
    voting = pate.ConfidentGNMax(
        threshold=12, answers=9, sigma_threshold=6.0, sigma=3.0
    )
    table = Display(order=4).table(voting, 20, 3)
    assert table.max() <= 4 / (2 * 6.0**2) + 4 / 3.0**2 + 1e-12
    assert table.min() < 0.2 * table.max()
    alone = confident_table(np.zeros(21), 12, 6.0, 4.0)
    assert alone.max() <= 4 / (2 * 6.0**2)
    assert (np.diff(gnmax_table(30, 3.0, 3, 4.0)) <= 0).all()


def histograms(teachers: int, classes: int) -> list[tuple[int, ...]]:
    found = product(range(teachers + 1), repeat=classes)
    return [one for one in found if sum(one) <= teachers]


def neighbours(counts: tuple[int, ...], teachers: int) -> list[tuple[int, ...]]:
    found = []
    for lost, won in product(range(-1, len(counts)), repeat=2):
        moved = list(counts)
        if lost >= 0:
            moved[lost] -= 1
        if won >= 0:
            moved[won] += 1
        if min(moved) >= 0 and sum(moved) <= teachers:
            found.append(tuple(moved))
    return found


@pytest.mark.parametrize("kind", ["gnmax", "confident"])
def test_smooth_sensitivity_by_brute_force(kind: str) -> None:
    """All votes of five teachers on three classes: it covers every step, and changes by
    no more than e^β from neighbour to neighbour.
    """
    teachers, beta = 5, 0.3
    voting: Any = pate.GNMax(sigma=0.8)
    if kind == "confident":
        voting = pate.ConfidentGNMax(
            threshold=3, answers=1, sigma_threshold=1.0, sigma=0.8
        )
    bounds = Display(order=2).table(voting, teachers, 3)
    table = np.ceil(bounds / bounds.max() * 2**20).astype(np.int64)
    assert table.max() > 1.5 * table.min()
    every = histograms(teachers, 3)
    state = {one: _states(np.array([one]), table.shape) for one in every}
    value = {one: int(table[state[one]].sum()) for one in every}
    smooth = {
        one: smooth_sensitivity(table, state[one], beta, teachers) for one in every
    }
    for one in every:
        for other in neighbours(one, teachers):
            assert abs(value[one] - value[other]) <= smooth[one]
            assert smooth[one] <= math.exp(beta) * smooth[other] * (1 + 1e-12)


def test_smooth_sensitivity_of_several_queries_adds_up() -> None:
    table = np.array([[9, 7, 4, 0, 0, 0]], np.int64)
    zeros = np.zeros(2, np.int64)
    both = smooth_sensitivity(table, (zeros, np.array([2, 5])), 0.1, 5)
    assert both >= max(table.max() - 4, 4) + 0
    alone = smooth_sensitivity(table, (zeros[:1], np.array([2])), 0.1, 5)
    assert both >= alone


def divergence(order: float, shift: float, here: float, there: float) -> float:
    """Of two Gaussians, by integration."""

    def part(x: float) -> float:
        p = stats.norm.logpdf(x, 0, here)
        q = stats.norm.logpdf(x, shift, there)
        return math.exp(order * p + (1 - order) * q)

    wide = 400 * max(here, there)
    return math.log(integrate.quad(part, -wide, wide, limit=2000)[0]) / (order - 1)


@pytest.mark.parametrize(
    ("order", "beta"), [(2, 0.01), (8, 0.02), (20, 0.01), (20, 0.02)]
)
def test_the_noise_of_a_display_costs_what_integration_says(
    order: float, beta: float
) -> None:
    sigma = 5.0
    worst = 0.0
    for t in np.linspace(-beta, beta, 9):
        # the values differ by the smaller of both sensitivities at most
        shift = min(1.0, math.exp(t))
        found = divergence(order, shift, sigma, sigma * math.exp(t))
        worst = max(worst, found)
        assert found <= smooth_loss(order, beta, sigma) + 1e-9
    assert worst == pytest.approx(smooth_loss(order, beta, sigma), rel=0.02)


def test_the_published_cost_is_below_the_divergence_near_its_end() -> None:
    """At β = 0.49 / order, the usual choice of the published code, its formula states
    less than the two Gaussians differ by.
    """
    order, sigma = 20.0, 5.0
    beta = 0.49 / order
    stated = order * math.exp(2 * beta) / sigma**2
    stated += (-0.5 * math.log(1 - 2 * order * beta) + beta * order) / (order - 1)
    true = divergence(order, math.exp(-beta), sigma, sigma * math.exp(-beta))
    assert true > 2 * stated
    assert smooth_loss(order, beta, sigma) == pytest.approx(true, rel=1e-6)


VOTES = np.array([[0] * 6] * 19 + [[1] * 6], np.int64)


def test_a_display_is_charged_with_the_votes_and_before_them() -> None:
    budget = Budget(3.0, 1e-6)
    asked: dict[str, Any] = {"teachers": 20, "voting": pate.GNMax(sigma=20.0)}
    plain = pate.preview(queries=6, classes=2, budget=budget, **asked)
    shown = pate.preview(
        queries=6, classes=2, budget=budget, display=Display(), **asked
    )
    assert shown.share is not None
    assert plain.share is not None
    assert shown.share > plain.share
    assert "shown with noise" in str(shown)
    release = pate.label_votes(
        VOTES, classes=[0, 1], budget=budget, display=Display(), **asked
    )
    assert release.display is not None
    assert 0 <= release.display.value <= shown.epsilon
    assert release.display.receipt is release.receipt
    assert float(budget.spent) == pytest.approx(shown.share, rel=1e-6)
    with pytest.raises(ArgumentError):
        release.display.interval()


def test_without_agreement_a_display_shows_no_more_than_the_charge() -> None:
    votes = np.tile(np.arange(20) % 2, (6, 1)).T
    found = pate.label_votes(
        votes,
        classes=[0, 1],
        teachers=20,
        voting=pate.GNMax(sigma=3.0),
        delta=1e-6,
        display=Display(sigma=0.01),
    )
    assert found.display is not None
    (promise,) = pate.GNMax(sigma=3.0).promises(6, ROW)
    assert found.display.value <= promise.epsilon_at(1e-6)


def test_agreement_shows_less_than_the_charge() -> None:
    votes = np.zeros((1500, 40), np.int64)
    found = pate.label_votes(
        votes,
        classes=[0, 1],
        teachers=1500,
        voting=pate.GNMax(sigma=60.0),
        delta=1e-6,
        display=Display(order=20),
    )
    assert found.display is not None
    (promise,) = pate.GNMax(sigma=60.0).promises(40, ROW)
    floor = RenyiDP({20.0: 1e-15}).epsilon_at(1e-6)
    assert floor <= found.display.value < 0.9 * promise.epsilon_at(1e-6)


@pytest.mark.parametrize(
    ("budget", "voting", "display", "words"),
    [
        (Budget(3.0, 1e-6, accounting="gdp"), pate.GNMax(), Display(), "display"),
        (Budget(3.0), pate.NoisyMax(), Display(), "display"),
        (Budget(3.0, 1e-6), pate.GNMax(), Display(beta=0.2), "beta"),
    ],
)
def test_a_display_that_nobody_can_count_is_refused(
    budget: Budget, voting: Any, display: Display, words: str
) -> None:
    with pytest.raises(ArgumentError, match=f"^{words}"):
        pate.preview(
            queries=5,
            teachers=9,
            voting=voting,
            display=display,
            share=0.5,
            budget=budget,
        )
    assert budget.spent == 0


@pytest.mark.parametrize(
    "wrong", [{"sigma": 0}, {"order": 1}, {"beta": -1}, {"sigma": math.nan}]
)
def test_a_bad_display_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ArgumentError):
        Display(**wrong)


VOTING = pate.GNMax(sigma=0.8)
SHOWN = Display(sigma=4.0, beta=0.01, order=2)


def shown(counts: Any) -> float:
    """Not held below what the votes promise, which would hide most of it."""
    return SHOWN.release(VOTING, counts, 10, PureDP(1e6), 1e-6)


def local(table: Any, states: Any, beta: float, teachers: int) -> float:  # noqa: ARG001
    """The sensitivity at the data alone, which a neighbour may not have."""
    return float(next(iter(_moves(table, teachers)))[states].sum())


def steps() -> list[float]:
    table = SHOWN.table(VOTING, 10, 2)
    moved = next(iter(_moves(np.ceil(table * 2**30).astype(np.int64), 10)))
    return [float(one) for one in moved[0]]


def test_the_audit_accepts_a_display_and_refutes_local_sensitivity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the scale is the local sensitivity, one vote changes it, and shows."""
    seen = steps()
    ratios = [one / max(other, 1.0) for one, other in pairwise(seen)]
    lead = int(np.argmax(ratios))
    assert ratios[lead] > 30
    a, b = (np.array([[lead + more, 0]]) for more in (0, 1))
    claim = SHOWN.guarantee(ROW).approx(1e-3)
    found = audit.mechanism(shown, a, b, claimed=claim, draws=1000)
    assert not found.refuted, found
    monkeypatch.setattr(display, "smooth_sensitivity", local)
    found = audit.mechanism(shown, a, b, claimed=claim, draws=1000)
    assert found.refuted, found
