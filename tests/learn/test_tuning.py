"""A search over runs of training: its cost is that of its theorem, only the best run is
shown, and what could be refused is refused before the charge.
"""

from __future__ import annotations

import logging
import math
import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from dither import ArgumentError, Budget, Unit, audit
from dither.errors import BudgetExceeded
from dither.learn import SearchRelease, Validation, search
from dither.learn.grids import drawn
from dither.learn.tuning import Tuning
from dither.learn.validation import STEPS, HeldOut, _ratios
from dither.privacy import ApproxDP, GaussianDP, PureDP, RenyiDP
from dither.privacy.profiles import AnyOf
from dither.privacy.repetition import Repetitions
from dither.privacy.training import Run, rate_of
from tests.chance import at_most, chance
from tests.learn.data import Pairs, model, owned, records

GRID = {"lr": [1e-9, 0.5], "batch": [40, 50]}
RATES = {"lr": [1e-9, 0.5]}
DELTA = 1e-5


def asked(**more: Any) -> dict[str, Any]:
    plain = owned(public=records(seed=2), epsilon=20.0)
    for name in ("noise", "lr", "batch"):
        plain.pop(name)
    return plain | more


def settled(
    grid: Any = GRID,
    repetitions: Any = None,
    eta: float = 1.0,
    scoring: str | None = None,
    **more: Any,
) -> Tuning:
    words = asked(**more)
    return Tuning.of(model(), records(), grid, scoring, repetitions, eta, words)


# What it costs


def sampled_losses(tuning: Tuning, order: int) -> float:
    """The worst Rényi loss of a candidate, by dp-accounting."""
    from dp_accounting import dp_event
    from dp_accounting.rdp import RdpAccountant

    found = []
    for run in set(tuning.way.runs):
        (noise, steps), rate = run.stages[0], float(run.probability)
        step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise))
        event = dp_event.SelfComposedDpEvent(step, steps)
        found.append(RdpAccountant([order]).compose(event)._rdp[0])
    return float(max(found))


def widening(tuning: Tuning, mean: float) -> float:
    """(1 + η)·ln C for a geometric number, with δ of the runs by dp-accounting: the
    smallest C with C ≥ 1 + (mean − 1)·δ(ln C).
    """
    from dp_accounting import dp_event, pld

    known = []
    for run in set(tuning.way.runs):
        (noise, steps), rate = run.stages[0], float(run.probability)
        step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise))
        account = pld.PLDAccountant(value_discretization_interval=1e-3)
        known.append(account.compose(dp_event.SelfComposedDpEvent(step, steps)))
    low, high = 0.0, 10.0
    for _ in range(30):
        slope = (low + high) / 2
        worst = max(float(one.get_delta(slope)) for one in known)
        fits = (mean - 1) * worst <= math.expm1(slope)
        low, high = (low, slope) if fits else (slope, high)
    return 2 * high


def test_the_total_is_that_of_the_theorem() -> None:
    """Computed anew from dp-accounting's losses of the runs, at an order, and as
    (ε, δ).
    """
    tuning = settled(RATES, 4, budget=Budget(60.0, DELTA), batch=50)
    charged = tuning.way.charged
    assert isinstance(charged, RenyiDP)
    assert 19.9 < charged.epsilon_at(DELTA) <= 20
    wide = widening(tuning, 4)
    for order in (4, 8):
        wanted = sampled_losses(tuning, order) + wide + math.log(4) / (order - 1)
        assert charged.renyi(order) == pytest.approx(wanted, rel=5e-3)
    plain = settled(RATES, 4, delta=DELTA, batch=50)
    assert isinstance(plain.way.charged, ApproxDP)
    alone = max(run.guarantee.epsilon_at(DELTA / 4) for run in plain.way.runs)
    assert plain.way.charged.epsilon == pytest.approx(
        alone + widening(plain, 4), rel=5e-3
    )
    assert 19.9 < plain.way.charged.epsilon <= 20


@pytest.mark.full
def test_candidates_cost_about_the_same() -> None:
    tuning = settled(
        {"lr": [0.5], "batch": [20, 100], "epochs": [1, 4]}, 6, epochs=None
    )
    alone = [run.guarantee.epsilon_at(1e-7) for run in tuning.way.runs]
    assert min(alone) > 0.98 * max(alone)
    assert max(alone) < 20


@pytest.mark.full
def test_few_candidates_run_once_each() -> None:
    tuning = settled({"lr": [0.1, 0.5], "batch": [50]}, "each", delta=DELTA)
    assert tuning.way.repetitions is None
    assert tuning.way.draw() == [0, 1]
    (noise, steps), rate = tuning.way.runs[0].stages[0], tuning.way.runs[0].rate
    twice = Run(rate, ((noise, 2 * steps),)).guarantee.epsilon_at(DELTA)
    assert 19.5 < twice <= 20
    assert tuning.way.charged.epsilon_at(DELTA) == pytest.approx(twice, rel=1e-6)
    cheaper = settled({"lr": [0.1, 0.5], "batch": [50]}, delta=DELTA)
    assert cheaper.way.runs[0].stages[0][0] <= noise * 1.1


@pytest.mark.parametrize("mean", [2, 6])
def test_the_law_of_the_best_run_by_brute_force(mean: int) -> None:
    """Two sampled steps on a grid of outputs: the best of a geometric number of them, in
    every order of scores, shows no more than AnyOf of the runs promises.
    """
    from dither.privacy.repetition import Repetitions, repeated_approx

    run = Run(rate_of(1, 3), ((1.0, 1),))
    rate, ends = float(run.probability), np.linspace(-6, 7, 400)
    far = np.diff(stats.norm.cdf(ends - 1))
    without = np.diff(stats.norm.cdf(ends))
    laws = (1 - rate) * without + rate * far, without
    repetitions = Repetitions.of_mean(mean, 1.0)
    said = repeated_approx(AnyOf([run.guarantee]), repetitions, 1e-4)
    ratio = np.argsort(laws[0] / laws[1])
    for order in (ratio, ratio[::-1], np.arange(len(ratio))):
        p, q = (_best(law[order] / law.sum(), 1 / mean) for law in laws)
        for first, second in ((p, q), (q, p)):
            shown = np.maximum(first - math.exp(said.epsilon) * second, 0).sum()
            assert shown <= 1e-4
    plain = run.guarantee.epsilon_at(1e-4)
    p, q = (_best(law[ratio] / law.sum(), 1 / mean) for law in laws)
    assert np.maximum(p - math.exp(plain) * q, 0).sum() > 1e-4  # one run's claim fails


def _best(law: Any, gamma: float) -> Any:
    """f(a) = γa/(1 − (1 − γ)a) is the chance that all runs are at most a."""
    reached = np.concatenate([[0.0], np.cumsum(law)])
    return np.diff(gamma * reached / (1 - (1 - gamma) * reached))


# One charge


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_one_charge_for_all_runs(relation: str) -> None:
    budget = Budget(80.0, DELTA, unit=Unit("row", relation))  # type: ignore[arg-type]
    words = asked(budget=budget, epsilon=30.0, batch=50)
    found = search(model(), records(), RATES, repetitions=3, **words)
    assert isinstance(found, SearchRelease)
    assert budget.holds(found.receipt)
    assert found.guarantee.unit.relation == relation
    number = found.receipt.number  # type: ignore[union-attr]
    assert budget.stored(f"training {number}, weights") == f"sha256 {found.digest}"
    assert found.best_params["lr"] in GRID["lr"]
    assert found.history.epsilons[-1] <= 30
    assert found.best_score == found.history[-1].accuracy
    assert "the run time is not protected" in str(found)


@pytest.mark.full
def test_a_share_buys_no_more_than_that() -> None:
    for accounting in ("renyi", "gdp"):
        budget = Budget(60.0, DELTA, accounting=accounting)
        tuning = settled(budget=budget, epsilon=None, share=0.5)
        cost = budget.terms.cost(tuning.way.charged)
        taken = max(
            cost.loss / budget.terms.loss_cap, cost.delta / budget.terms.delta_cap
        )
        assert 0.45 < taken <= 0.5


def test_too_small_an_account_is_not_charged() -> None:
    budget = Budget(5.0, DELTA)
    data = Pairs()
    example = (torch.zeros(4), torch.tensor(0))
    words = asked(budget=budget, example=example, batch=50)
    with pytest.raises(BudgetExceeded):
        search(model(), data, RATES, repetitions=3, **words)
    assert budget.affords(PureDP(5.0))
    assert data.read == 0


def broken(parameters: Any, lr: float) -> Any:
    class Late(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            if any(bool(one["steps"] > 2) for one in self.param_groups):
                raise OSError("power")
            for one in self.param_groups:
                one["steps"] += 1
            return super().step(closure)

    made = Late(parameters, lr=lr)
    for one in made.param_groups:
        one["steps"] = 0
    return made


def test_a_crash_leaves_the_charge() -> None:
    budget = Budget(60.0, DELTA)
    words = asked(budget=budget, optimizer=broken, lr=0.1, batch=50)
    with pytest.raises(OSError, match="power"):
        search(model(), records(), {"clip": [0.5, 1.0]}, repetitions=3, **words)
    assert not budget.affords(PureDP(60.0))


def test_a_run_that_fails_loses() -> None:
    words = asked(delta=DELTA, lr=1e-9, batch=50)
    grid = {"optimizer": [broken, torch.optim.SGD]}
    found = search(model(), records(), grid, repetitions="each", **words)
    assert found.best_params == {"optimizer": torch.optim.SGD}


# What is shown


@pytest.mark.full
def test_nothing_of_the_runs_is_printed(capfd: Any) -> None:
    loud: list[int] = []

    def noisy(outputs: Any, targets: Any) -> Any:
        if loud:
            print("a step")
            warnings.warn("a step", stacklevel=1)
            logging.getLogger("mine").error("a step")
        return nn.functional.cross_entropy(outputs, targets)

    tuning = settled(repetitions="each", loss=noisy, delta=DELTA)
    capfd.readouterr()
    loud.append(1)
    from dither.learn.silence import muted

    with muted():
        tuning.best([0, 1], None)
    assert capfd.readouterr() == ("", "")
    assert logging.root.manager.disable == 0


def test_no_bar_counts_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr("dither.progress._silent", lambda *one: told.append(one))
    search(model(), records(), RATES, repetitions=3, **asked(delta=DELTA, batch=50))
    assert told == []


class Drawing(torch.optim.SGD):
    """An optimizer that draws, and notes what."""

    drawn: ClassVar[list[float]] = []

    def step(self, closure: Any = None) -> Any:
        self.drawn.append(float(torch.rand(1)))
        return super().step(closure)


def test_what_runs_draw_does_not_count_them() -> None:
    """From a seeded generator the second run would draw what follows the first one's
    numbers: it would be another mechanism, and the generator would tell how many there
    were.
    """
    tuning = settled(
        {"clip": [1.0]}, 2, optimizer=Drawing, lr=0.1, batch=50, delta=DELTA
    )
    after, drawn = [], []
    for chosen in ([0], [0, 0, 0]):
        torch.manual_seed(1)  # allowed: a caller's own seed
        Drawing.drawn.clear()
        tuning.best(chosen, None)
        drawn.append(tuple(Drawing.drawn))
        after.append(float(torch.rand(1)))
    assert after[0] == after[1]
    assert not set(drawn[0]) & set(drawn[1])


def test_runs_begin_with_the_same_rate() -> None:
    """Schedulers write into a rate that is a tensor; each run has its own."""
    rate = torch.tensor(1.0)
    made = partial(torch.optim.SGD, lr=rate)
    falling = partial(torch.optim.lr_scheduler.ExponentialLR, gamma=0.5)
    words: dict[str, Any] = {"optimizer": made, "scheduler": falling}
    tuning = settled({"clip": [1.0]}, 2, batch=50, delta=DELTA, **words)
    for _ in range(2):
        assert tuning.best([0, 0], None).epochs[0].lr == 0.125
    assert rate == 1


def test_records_are_read_once() -> None:
    tuning = settled(repetitions="each", delta=DELTA)
    reads: list[int] = []
    real = tuning.ready

    class Spy(Tuning):
        def ready(self, number: int) -> Any:
            from dataclasses import replace

            made = real(number)
            source = replace(
                made.source,
                read=lambda receipt: reads.append(1) or made.source.read(receipt),
            )
            return replace(made, source=source)

    Spy(**vars(tuning)).best([0, 1, 2, 3], None)
    assert len(reads) == 1


@pytest.mark.full
def test_the_best_on_public_data_wins() -> None:
    tuning = settled(repetitions="each", epsilon=500, delta=DELTA)
    best = tuning.best([0, 2, 1, 3], None)
    assert tuning.candidates[best.number].params["lr"] == 0.5
    assert best.score == best.epochs[-1].accuracy
    by_loss = settled(repetitions="each", scoring="loss", epsilon=500, delta=DELTA)
    best = by_loss.best([0, 1, 2, 3], None)
    assert by_loss.candidates[best.number].params["lr"] == 0.5
    assert best.rank == -best.score


@pytest.mark.full
def test_private_scores_are_part_of_the_cost_and_taken_once() -> None:
    words: dict[str, Any] = {"public": None, "delta": DELTA}
    held = Validation(0.25, noise=0.5)
    tuning = settled(repetitions=4, validation=held, **words)
    beside = [run.beside.mu for run in tuning.way.runs if run.beside is not None]
    assert beside == pytest.approx([2.0] * 4)
    assert tuning.way.charged.epsilon <= 20
    found = search(
        model(), records(), GRID, repetitions=3, **asked(validation=held, **words)
    )
    assert [one.validation_accuracy is None for one in found.history] == [True, False]
    assert found.best_score == found.history[-1].validation_accuracy


@pytest.mark.full
def test_the_interval_of_the_best_score_holds_for_all_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    widths: list[float] = []

    def ratios(one: float, other: float, width: float) -> tuple[float, float, float]:
        widths.append(width)
        return _ratios(one, other, width)

    monkeypatch.setattr("dither.learn.validation._ratios", ratios)
    held = Validation(0.25, noise=2)
    words: dict[str, Any] = {"public": None, "delta": DELTA, "validation": held}
    noise = held.mechanism(Unit("owner"))
    for repetitions, runs in ((50, 50), ("each", 4)):
        settled(repetitions=repetitions, **words).best([0], None)
        reach = noise.error(1 - 0.025 / runs, integer=True) / STEPS
        assert widths.pop() == pytest.approx(reach, rel=1e-6)


def best_of(held: HeldOut, runs: int) -> Any:
    """The luckiest of so many measurements of a model that is always wrong."""
    sums = np.array([0, 50 * STEPS], np.int64)
    return max((held._figure(sums) for _ in range(runs)), key=lambda one: one.value)


@chance(1e-8)
@pytest.mark.parametrize("corrected", [True, False])
def test_the_interval_of_the_best_score_holds_the_truth(corrected: bool) -> None:
    """200 searches of 40 runs on average: at most 1 in 20 may miss. The interval of a
    single run misses often.
    """
    repetitions = Repetitions.of_mean(40.0, 1.0)
    nothing: Any = None
    held = HeldOut(
        Validation(0.25, noise=5.0),
        *[nothing] * 6,
        Unit("owner"),
        1,
        torch.device("cpu"),
        runs=repetitions.mean if corrected else 1.0,
    )
    found = [best_of(held, len(drawn(1, repetitions))) for _ in range(200)]
    missed = sum(one.low > 0 for one in found)
    # of a single run, 66 are expected
    assert missed <= at_most(200, 0.05, 1e-8) if corrected else missed > 25


def test_a_function_makes_the_models() -> None:
    def make(width: int) -> nn.Module:
        return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))

    words = asked(delta=DELTA, lr=0.5, batch=50)
    found = search(make, records(), {"width": [3, 5]}, **words)
    assert found.value[0].out_features == found.best_params["width"]


# Before the charge


@pytest.mark.parametrize(
    ("grid", "words", "said"),
    [
        ({"lr": []}, {}, "candidates"),
        ([], {}, "candidates"),
        ({"units": [1]}, {}, "cannot be searched"),
        ({"epsilon": [1, 2]}, {}, "cannot be searched"),
        ({"lr": [0.1]}, {"lr": 0.5}, "in the grid"),
        (GRID, {"public": None}, "exactly one of public"),
        (GRID, {"validation": Validation(0.2, noise=5)}, "exactly one of public"),
        (GRID, {"callbacks": [print]}, "callbacks"),
        (GRID, {"checkpoint": "run.pt"}, "checkpoint"),
        (GRID, {"noise": 1.0}, "noise"),
        (GRID, {"rho": 1.0}, "rho"),
        (GRID, {"epsilon": None}, "epsilon"),
        (GRID, {"epsilon": -1}, "epsilon"),
        (GRID, {"epsilon": 1e-9}, "epsilon"),
        ({"lr": [0.1], "batch": [50, 0]}, {}, "batch"),
        ({"lr": [0.1, -1.0]}, {"batch": 50}, "optimizer|lr"),
        ({"clip": [1.0, "x"]}, {"batch": 50, "lr": 0.1}, "clip"),
        (GRID, {"scoring": "roc"}, "scoring"),
        (GRID, {"repetitions": "all"}, "repetitions"),
        (GRID, {"repetitions": 1}, "repetitions"),
        (GRID, {"eta": "poisson"}, "eta"),
    ],
)
def test_what_is_no_search_is_refused_before_the_charge(
    grid: Any, words: Any, said: str
) -> None:
    budget = Budget(60.0, DELTA)
    with pytest.raises(ArgumentError, match=said):
        search(model(), records(), grid, **asked(budget=budget, **words))
    assert budget.affords(PureDP(60.0))


def test_a_function_that_makes_no_model_is_refused() -> None:
    words = asked(delta=DELTA, lr=0.5, batch=50)
    with pytest.raises(ArgumentError, match="cannot be made"):
        search(model, records(), {"width": [3]}, **words)
    with pytest.raises(ArgumentError, match="Module"):
        search(lambda width: width, records(), {"width": [3]}, **words)


# What an audit finds


def releasing(count_of: Any, mu: float) -> Any:
    """The best of runs that each show a noisy number, of which a unit moves the middle by
    μ.
    """

    def drawn(there: bool, size: int) -> Any:
        made = np.random.default_rng()  # allowed: the number of runs is under test
        found = np.full(size, -np.inf)
        counts = np.array([count_of(there) for _ in range(size)])
        for turn in range(counts.max(initial=0)):
            one = made.normal(mu * there, size=size)
            found = np.where(turn < counts, np.maximum(found, one), found)
        return np.rint(64 * found)  # low bits of floats tell more than a Gaussian does

    return drawn


@pytest.mark.full
@chance(2e-8)
def test_an_audit_accepts_the_claim_and_refutes_cheats() -> None:
    """All units in one step, so a run is one Gaussian release."""
    tuning = settled(
        {"lr": [0.1, 0.2, 0.3, 0.4]}, 4, batch=200, epochs=1, epsilon=2.0, delta=DELTA
    )
    (noise, steps) = tuning.way.runs[0].stages[0]
    assert steps == 1
    mu, claimed = 1 / noise, tuning.way.charged
    assert isinstance(claimed, ApproxDP)

    def audited(count_of: Any, claim: Any) -> Any:
        made = releasing(count_of, mu)
        return audit.mechanism(
            made, True, False, claimed=claim, draws=20_000, confidence=1 - 1e-8
        )

    def honest(_: bool) -> int:
        return len(tuning.way.draw())

    def looking(there: bool) -> int:
        return 12 if there else 1

    assert not audited(honest, claimed).refuted
    assert audited(looking, claimed).refuted
    one_run = GaussianDP(mu)
    assert audited(lambda _: 30, one_run).refuted
