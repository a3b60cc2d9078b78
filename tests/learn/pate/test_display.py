"""The display: published bounds, sensitivity by brute force, and what its noise costs."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, special, stats

from dither import Budget, audit
from dither.errors import ArgumentError
from dither.learn import pate
from dither.learn.pate import display
from dither.learn.pate.bounds import (
    Levels,
    confident_table,
    gnmax_bound,
    gnmax_table,
)
from dither.learn.pate.display import (
    Display,
    _moves,
    _states,
    _widened,
    smooth_loss,
    smooth_sensitivity,
)
from dither.privacy import ROW, PureDP, RenyiDP
from tests.chance import chance


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


def union(counts: Any, sigma: float) -> float:
    """ln q as it is published: a sum over the classes behind the first."""
    top, *rest = counts
    gaps = np.array([top - one for one in rest])
    tails = stats.norm.logsf(gaps, scale=math.sqrt(2) * sigma)
    return float(min(special.logsumexp(tails), math.log(1 - 1 / len(counts))))


def missed(counts: Any, teachers: int, sigma: float) -> float:
    """The bound on ln q of one query."""
    levels = Levels.of(teachers, sigma, len(counts))
    (column,) = levels.columns(np.array([counts]))
    return float(levels.log_misses()[column])


@pytest.mark.parametrize("sigma", [0.7, 3.0, 40.0, 1e9])
@pytest.mark.parametrize(
    "counts", [[20, 3, 1], [9, 9, 2], [10, 0, 0], [5, 5, 5], [24, 1], [17, 2, 2, 2, 1]]
)
def test_the_probability_is_the_published_one(counts: list[int], sigma: float) -> None:
    """Where ties go to the winner; as a step of the scale rounds it, and never below."""
    exact, found = union(counts, sigma), missed(counts, 25, sigma)
    step = (2 + 24 / sigma) / (8 * sigma)
    assert exact - 1e-12 <= found <= exact + 1.2 * step


def test_each_class_counts_by_its_own_lead() -> None:
    """The smallest lead for all classes gives -3.27 here."""
    ahead = [200, 50, *[0] * 8]
    assert missed(ahead, 250, 40.0) == pytest.approx(-5.18, abs=0.02)
    assert -5.18 <= union(ahead, 40.0) <= missed(ahead, 250, 40.0)
    # Ties go to the first class, so a winner after all others is passed more often.
    assert missed(ahead[::-1], 250, 40.0) == pytest.approx(-5.12, abs=0.02)


@chance(1e-20)
def test_a_display_shows_what_each_class_adds() -> None:
    """By the smallest lead for all classes it was 6.2, a loss of 5.8 at order 20."""
    counts = np.array([[200, 50, *[0] * 8]] * 500)
    quiet = Display(sigma=0.001, order=20)
    found = quiet.release(pate.GNMax(sigma=40.0), counts, 250, PureDP(1e6), 1e-5)
    exact = 500 * published(union(counts[0], 40.0), 40.0, 20.0)
    least = RenyiDP({20.0: exact}).epsilon_at(1e-5)
    assert exact < 1.5
    assert least - 0.01 < found < least + 0.05


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
    levels = Levels.of(sum(counts), sigma, 3)
    (bound,) = gnmax_table(levels, order)[levels.columns(np.array([counts]))]
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


@pytest.mark.parametrize(
    ("teachers", "classes", "sigma"),
    [(9, 2, 0.5), (9, 2, 1.5), (6, 3, 0.8), (5, 4, 0.6)],
)
def test_the_bounds_hold_for_all_votes_and_rounded_noise(
    teachers: int, classes: int, sigma: float
) -> None:
    """Ties go to the first class, also if another one leads."""
    order = 1.5
    every = histograms(teachers, classes)
    levels = Levels.of(teachers, sigma, classes)
    columns = levels.columns(np.array(every))
    misses, table = levels.log_misses()[columns], gnmax_table(levels, order)[columns]
    assert table.min() < 0.1 * order / sigma**2
    laws = {one: rounded(one, sigma) for one in every}
    for one, miss, bound in zip(every, misses, table, strict=True):
        here = laws[one]
        assert 1 - here[np.argmax(one)] <= math.exp(miss) + 1e-12
        for other in neighbours(one, teachers):
            total = float((here**order * laws[other] ** (1 - order)).sum())
            assert math.log(total) / (order - 1) <= bound * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize(
    ("teachers", "classes"), [(12, 2), (7, 3), (5, 4), (4, 5), (1100, 2)]
)
@pytest.mark.parametrize("sigma", [0.4, 2.0, 30.0, 1e12])
def test_one_teacher_moves_a_level_by_the_reach_at_most(
    teachers: int, classes: int, sigma: float
) -> None:
    """All votes of a few teachers, and each way in which one of them changes."""
    levels = Levels.of(teachers, sigma, classes)
    most = 0
    for one in histograms(min(teachers, 12), classes):
        columns = levels.columns(np.array([one, *neighbours(one, teachers)]))
        most = max(most, int(np.abs(columns - columns[0]).max()))
    assert most <= levels.reach
    if classes == 2 and sigma < teachers:
        assert most == levels.reach


@pytest.mark.parametrize(("teachers", "classes"), [(250, 10), (250, 100), (3000, 4)])
def test_no_teacher_moves_a_level_further_than_the_worst_one(
    teachers: int, classes: int
) -> None:
    """The worst leads are t once and 2t + 3/2 otherwise: they move by the reach."""
    levels = Levels.of(teachers, 0.16 * teachers, classes)
    leads = np.arange(1, teachers // 3)
    counts = np.full((len(leads), classes), teachers)
    counts[:, 1] -= leads
    counts[:, 2:] -= 2 * leads[:, None] + np.arange(classes - 2) % 2 + 1
    columns = levels.columns(counts)
    most = np.zeros(len(leads), np.int64)
    for lost, won in product(range(3), repeat=2):
        moved = counts.copy()
        moved[:, lost] -= 1
        moved[:, won] += 1
        most = np.maximum(most, np.abs(levels.columns(moved) - columns))
    assert most.max() <= levels.reach
    assert (most >= levels.reach - 1).all()
    assert most.mean() > levels.reach - 0.5


def test_the_table_of_tests_and_answers_is_never_above_the_charge() -> None:
    voting = pate.ConfidentGNMax(
        threshold=12, answers=9, sigma_threshold=6.0, sigma=3.0
    )
    table = Display(order=4).table(voting, Levels.of(20, 3.0, 3))
    assert table.max() <= 4 / (2 * 6.0**2) + 4 / 3.0**2 + 1e-12
    assert table.min() < 0.2 * table.max()
    alone = confident_table(np.zeros(21), 20, 12, 6.0, 4.0)
    assert alone.max() <= 4 / (2 * 6.0**2)
    assert (np.diff(gnmax_table(Levels.of(30, 3.0, 3), 4.0)) <= 0).all()


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


def largest(
    every: list[tuple[int, ...]], value: Any, beta: float, teachers: int
) -> NDArray[np.float64]:
    """The smallest smooth sensitivity there is, by going through all pairs of votes."""
    votes = np.array([[*one, teachers - sum(one)] for one in every])
    apart = np.abs(votes[:, None] - votes[None]).sum(axis=2) // 2
    moved = np.abs(value[:, None] - value[None])
    local = np.where(apart == 1, moved, 0).max(axis=1)
    return np.asarray((np.exp(-beta * apart) * local).max(axis=1))


@pytest.mark.parametrize(
    ("kind", "teachers", "classes", "sigma", "beta", "times"),
    [
        ("gnmax", 10, 2, 0.8, 0.3, 2.6),
        ("gnmax", 6, 3, 0.8, 0.3, 2.2),
        ("gnmax", 5, 4, 0.8, 0.3, 2.3),
        ("gnmax", 14, 3, 1.5, 0.01, 1.15),
        ("confident", 8, 2, 0.8, 0.3, 2.0),
        ("confident", 5, 3, 0.8, 0.3, 2.0),
    ],
)
def test_smooth_sensitivity_by_brute_force(
    kind: str, teachers: int, classes: int, sigma: float, beta: float, times: float
) -> None:
    """All votes of a few teachers: it is at least the smallest one there is and not many
    times larger, and changes by no more than e^β from neighbour to neighbour.
    """
    voting: Any = pate.GNMax(sigma=sigma)
    if kind == "confident":
        voting = pate.ConfidentGNMax(
            threshold=3, answers=1, sigma_threshold=1.0, sigma=sigma
        )
    levels = Levels.of(teachers, sigma, classes)
    bounds = Display(order=2).table(voting, levels)
    table = np.ceil(bounds / bounds.max() * 2**20).astype(np.int64)
    assert table.max() > 1.5 * table.min()
    every = histograms(teachers, classes)
    states = _states(np.array(every), levels, len(table))
    value = table[states]
    found = np.array(
        [
            smooth_sensitivity(
                table, (line[None], column[None]), beta, teachers, levels.reach
            )
            for line, column in zip(*states, strict=True)
        ]
    )
    exact = largest(every, value, beta, teachers)
    assert (exact <= found * (1 + 1e-12)).all()
    assert (found <= times * exact).all()
    smooth = dict(zip(every, found, strict=True))
    for one in every:
        for other in neighbours(one, teachers):
            assert smooth[one] <= math.exp(beta) * smooth[other] * (1 + 1e-12)


def test_smooth_sensitivity_of_several_queries_adds_up() -> None:
    table = np.array([[9, 7, 4, 0, 0, 0]], np.int64)
    zeros = np.zeros(2, np.int64)
    both = smooth_sensitivity(table, (zeros, np.array([2, 5])), 0.1, 5, 2)
    assert both >= max(table.max() - 4, 4) + 0
    alone = smooth_sensitivity(table, (zeros[:1], np.array([2])), 0.1, 5, 2)
    assert both >= alone


@pytest.mark.parametrize("reach", [1, 2, 3, 7, 16, 40])
def test_widening_goes_as_far_as_it_should_and_no_further(reach: int) -> None:
    table = np.zeros((5, 30), np.int64)
    table[2, 13] = 1
    lines, columns = np.nonzero(_widened(table, reach))
    ends = max(0, 13 - reach), min(29, 13 + reach)
    assert (lines.min(), lines.max()) == (1, 3)
    assert (columns.min(), columns.max()) == ends
    assert len(lines) == 3 * (ends[1] - ends[0] + 1)


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
    assert "is shown, with noise" in str(shown)
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


def local(table: Any, states: Any, beta: float, teachers: int, reach: int) -> float:  # noqa: ARG001
    """The sensitivity at the data alone, which a neighbour may not have."""
    return float(next(iter(_moves(table, teachers, reach)))[states].sum())


def steps() -> list[float]:
    """The local sensitivity for each lead of the first of two classes."""
    levels = Levels.of(10, 0.8, 2)
    table = np.ceil(SHOWN.table(VOTING, levels) * 2**30).astype(np.int64)
    states = _states(np.array([[lead, 0] for lead in range(11)]), levels, 1)
    moved = next(iter(_moves(table, 10, levels.reach)))
    return [float(one) for one in moved[states]]


@pytest.mark.full
@chance(2e-8)
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
    found = audit.mechanism(shown, a, b, claimed=claim, draws=1000, confidence=1 - 1e-8)
    assert not found.refuted, found
    monkeypatch.setattr(display, "smooth_sensitivity", local)
    found = audit.mechanism(shown, a, b, claimed=claim, draws=1000, confidence=1 - 1e-8)
    assert found.refuted, found
