"""A search costs what its theorem says, shows the best run only, and refuses before
it charges.
"""

from __future__ import annotations

import logging
import pickle
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer, log_loss, roc_auc_score

from dither import ArgumentError, Budget, Unit, audit
from dither.learn import GaussianNB, GridSearch, LogisticRegression, Ridge
from dither.learn.estimators import fallback
from dither.learn.estimators.data import Declared, Rows, source_of
from dither.learn.estimators.repeating import Way
from dither.learn.estimators.scoring import STEPS, Aside, Public, in_places
from dither.learn.estimators.spending import Spending
from dither.privacy import ROW, ApproxDP, GaussianDP, PureDP, RenyiDP
from dither.privacy.repetition import repeated, repeated_approx
from tests.chance import chance

MADE = np.random.default_rng(3)  # allowed: made-up data
INPUTS = MADE.uniform(0, 1, size=(200, 3))
LABELS = (INPUTS[:, 0] > INPUTS[:, 1]).astype(int)
GRID = {"max_iter": [2, 5, 10, 20, 30, 40]}
UNITS = (100, 20_000, 50_000, 1_000_000)


def model(**more: Any) -> LogisticRegression:
    return LogisticRegression(bounds=(0, 1), classes=(0, 1), **more)


def settled(**words: Any) -> Any:
    """The plan of a search, which is made before anything is charged."""
    words = {"estimator": model(), "grid": GRID} | words
    return GridSearch(**words)._asked(source_of(INPUTS, LABELS, None)).plan


@pytest.mark.parametrize("eta", [1.0, 0.0])
def test_runs_of_pure_cost_make_up_the_total(eta: float) -> None:
    plan = settled(epsilon=1, eta=eta)
    assert plan.way.repetitions.mean == pytest.approx(12)
    found = repeated(PureDP(plan.way.run.epsilon), plan.way.repetitions)
    assert isinstance(found, PureDP)
    assert plan.guarantee == found
    assert 0.999 < found.epsilon <= 1
    assert plan.way.run.epsilon >= 1 / (2 + eta)


def test_runs_of_gaussian_cost_make_up_the_total() -> None:
    plan = settled(epsilon=1, delta=1e-6)
    run = GaussianDP(plan.way.run.mu)
    assert plan.guarantee == repeated_approx(run, plan.way.repetitions, 1e-6)
    assert isinstance(plan.guarantee, ApproxDP)
    assert 0.999 < plan.guarantee.epsilon <= 1
    budget = Budget(3.0, 1e-6)
    plan = settled(epsilon=1, budget=budget)
    assert isinstance(plan.guarantee, RenyiDP)
    assert 0.999 < plan.guarantee.epsilon_at(1e-6) <= 1
    assert plan.guarantee == repeated(GaussianDP(plan.way.run.mu), plan.way.repetitions)


def test_a_share_of_an_account_buys_no_more_than_that() -> None:
    for unit in (ROW, Unit("row", "replace")):  # type: ignore[arg-type]
        budget = Budget(3.0, 1e-6, unit=unit)
        search = GridSearch(model(), GRID, share=0.25, budget=budget)
        found = search.fit(INPUTS, LABELS).release_
        assert found.guarantee.unit.relation == unit.relation
        cost = budget.terms.cost(found.guarantee).loss / budget.terms.loss_cap
        assert 0.24 < cost <= 0.25


def test_few_candidates_are_all_run() -> None:
    """Two fits of ε/2 leave more to each than a theorem about any number of them."""
    plan = settled(grid={"max_iter": [2, 5]}, epsilon=1)
    assert plan.way.repetitions is None
    assert plan.way.run.epsilon == 0.5
    assert plan.guarantee == PureDP(1.0)
    each = settled(repetitions="each", epsilon=1, delta=1e-6)
    assert isinstance(each.guarantee, GaussianDP)
    assert each.guarantee.epsilon_at(1e-6) == pytest.approx(1)
    assert each.way.run.mu == pytest.approx(each.guarantee.mu / 6**0.5)
    alone = settled(grid={"max_iter": [2]}, epsilon=1)
    assert alone.way.run.epsilon == 1.0
    assert each.way.draw() == list(range(6))


def test_one_charge_up_front_for_all_runs() -> None:
    budget = Budget(1.0)
    search = GridSearch(model(), GRID, epsilon=0.6, budget=budget)
    search.fit(INPUTS, LABELS)
    assert budget.holds(search.release_.receipt)
    assert budget.affords(PureDP(0.4))
    assert not budget.affords(PureDP(0.401))
    assert search.release_.guarantee.epsilon <= 0.6


def test_a_gaussian_account_pays_for_pure_runs_or_for_each() -> None:
    account = Budget(30.0, 1e-6, accounting="gdp")
    for repetitions in (20, "each"):
        search = GridSearch(
            model(), GRID, epsilon=1, budget=account, repetitions=repetitions
        )
        search.fit(INPUTS, LABELS)
    assert isinstance(search.release_.guarantee, GaussianDP)


def test_only_the_best_run_is_shown() -> None:
    search = GridSearch(model(), GRID, epsilon=5, delta=1e-6).fit(INPUTS, LABELS)
    shown = {name for name in vars(search) if name.endswith("_")}
    assert shown == {
        "best_estimator_",
        "best_params_",
        "best_score_",
        "release_",
        "declared_",
        "n_features_in_",
    }
    best = search.best_estimator_
    assert best.max_iter == search.best_params_["max_iter"] in GRID["max_iter"]
    assert best.release_ is search.release_
    assert search.score(INPUTS, LABELS) == best.score(INPUTS, LABELS)
    assert (search.predict(INPUTS) == best.predict(INPUTS)).all()
    assert search.predict_proba(INPUTS).shape == (200, 2)
    assert is_classifier(search)
    assert "the run time is not protected" in str(search.release_)
    with pytest.raises(ArgumentError, match="do not have intervals"):
        search.release_.interval()


@chance(1e-8)
def test_runs_are_drawn_at_random() -> None:
    plan = settled(epsilon=1)
    drawn = [plan.way.draw() for _ in range(300)]
    assert {len(one) for one in drawn} >= {1, 2, 3}
    assert min(len(one) for one in drawn) == 1
    share = np.bincount(np.concatenate(drawn), minlength=6) / sum(map(len, drawn))
    assert share == pytest.approx(np.full(6, 1 / 6), abs=0.07)


def scored(value: Any) -> Any:
    return lambda estimator, *_: value(estimator)


def test_the_best_score_wins_and_failures_lose() -> None:
    def score(estimator: Any) -> float:
        if estimator.max_iter == 40:
            raise RuntimeError("boom")
        return float("nan") if estimator.max_iter == 30 else estimator.max_iter

    search = GridSearch(
        model(),
        GRID,
        epsilon=1,
        public=(INPUTS, LABELS),
        scoring=scored(score),
        repetitions="each",
    ).fit(INPUTS, LABELS)
    assert search.best_params_ == {"max_iter": 20}
    assert search.best_score_ == 20
    search.set_params(scoring=scored(lambda _: 1)).fit(INPUTS, LABELS)
    assert search.best_params_ == {"max_iter": 2}  # the first of equals


@chance(2e-8)
def test_public_rows_cost_nothing_and_fits_see_all_units() -> None:
    seen: list[int] = []
    plan = settled(epsilon=1, public=(INPUTS[:20], LABELS[:20]))
    assert plan.guarantee.epsilon == pytest.approx(1, rel=1e-3)

    class Spy:
        guarantee = plan.run

        def fit(self, rows: Rows) -> Any:
            seen.append(len(rows))
            return plan.plans[0].fit(rows)

    for share, held in ((None, 200), (0.5, None)):
        words: dict[str, Any] = {"validation": share} if share else {}
        words |= {"public": (INPUTS[:20], LABELS[:20])} if share is None else {}
        one = settled(epsilon=1, **words)
        seen.clear()
        from dataclasses import replace

        spied = replace(one, plans=(Spy(),) * 6)
        spied.fit(source_of(INPUTS, LABELS, None).read(None, one.declared))
        assert (
            set(seen) == {200} if held else len(set(seen)) == 1 and 60 < seen[0] < 140
        )


@chance(1e-8)
def test_a_poisson_number_may_be_none() -> None:
    search = GridSearch(
        model(), GRID, epsilon=9, delta=1e-6, repetitions=2, eta="poisson"
    )
    for _ in range(130):  # it is in 1 of 7
        search.fit(INPUTS, LABELS)
        if search.best_estimator_ is None:
            break
    assert search.best_estimator_ is None
    assert "no run" in str(search.release_)
    with pytest.raises(NotFittedError):
        search.predict(INPUTS)


# Private scores


class Line:
    """A model whose prediction is a function of a row."""

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > 0.5).astype(int)


def aside(classes: bool = True, rows: int = 1) -> Aside:
    low, high = np.zeros(1), np.ones(1)
    named, target = ((0, 1), None) if classes else (None, (0.0, 1.0))
    declared = Declared(low, high, named, target, rows=rows)
    return Aside(declared, Spending(ROW, epsilon=1.0), 0.5)


@pytest.mark.parametrize("classes", [True, False])
def test_one_unit_moves_a_score_as_far_as_noise_is_made_for(classes: bool) -> None:
    plan, moved = aside(classes), []
    values, targets = [0.0, 0.4, 1.0], [0, 1] if classes else [0.0, 0.3, 1.0]
    for first, second in product(product(values, targets), repeat=2):
        with_it = rows_of([first, second])
        change = plan.exact(Line(), with_it) - plan.exact(Line(), rows_of([first]))
        moved.append(np.abs(change).sum())
    assert max(moved) == plan.most == plan.noise.sensitivity
    assert plan.most == (1 if classes else STEPS)


def rows_of(pairs: Any, weights: Any = None, owners: Any = None) -> Rows:
    inputs = np.array([[one[0]] for one in pairs])
    targets = np.array([one[1] for one in pairs])
    held = np.ones(len(pairs), np.int64) if weights is None else np.array(weights)
    return Rows(inputs, targets, held, owners)


@chance(1e-8)
def test_a_unit_is_on_one_side() -> None:
    owners = np.repeat(np.arange(50), 4)
    rows = rows_of([(0.1, 0)] * 200, owners=owners)
    seen, kept = aside(rows=4).split(rows)
    assert kept is not None
    assert seen.owners is not None
    assert kept.owners is not None
    assert not set(seen.owners) & set(kept.owners)
    assert len(seen) + len(kept) == 200
    assert 20 < len(kept) < 180
    none = aside().split(
        rows_of([]).__class__(np.zeros((0, 1)), np.zeros(0), np.zeros(0, np.int64))
    )
    assert len(none[0]) == 0


def test_rows_are_predicted_in_places_of_their_own() -> None:
    many = MADE.uniform(size=(1000, 1))
    shapes: set[Any] = set()

    def predict(block: Any) -> Any:
        shapes.add(block.shape)
        return block[:, 0] * 2

    assert (in_places(predict, many) == many[:, 0] * 2).all()
    assert len(shapes) == 1
    assert in_places(predict, many[:0]).shape == (0,)


@chance(1e-8)
def test_a_private_score_says_how_good_the_best_is() -> None:
    search = GridSearch(model(), GRID, epsilon=50, delta=1e-6).fit(INPUTS, LABELS)
    assert search.best_score_ == pytest.approx(search.score(INPUTS, LABELS), abs=0.15)
    line = Ridge(bounds=(0, 1), y_bounds=(0, 1))
    tuned = GridSearch(line, {"alpha": [0.1, 10.0]}, epsilon=50, delta=1e-6)
    assert 0.5 < tuned.fit(INPUTS, LABELS).best_score_ < 1.2


# Before the charge


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"grid": {"max_iter": []}}, "candidates"),
        ({"grid": []}, "candidates"),
        ({"grid": {"alpha": [1]}}, "not a parameter"),
        ({"grid": {"epsilon": [1, 2]}}, "the same for all"),
        ({"grid": {"bounds": [(0, 1)]}}, "the same for all"),
        ({"grid": {"max_iter": "abc"}}, "must be a list"),
        ({"grid": 5}, "dict of lists"),
        ({"grid": {"max_iter": [10, 0]}}, "max_iter"),
        ({"grid": {"max_iter": list(range(1, 1500))}}, "candidates"),
        ({"estimator": model(epsilon=1)}, "must be passed to the search"),
        (
            {"estimator": LogisticRegression(bounds=(0, 1), classes=(1,))},
            "two labels or more",
        ),
        ({"estimator": LogisticRegression(classes=(0, 1))}, "bounds"),
        ({"estimator": "x"}, "does not fit with privacy"),
        ({"repetitions": 1}, "mean from 2"),
        ({"repetitions": "all"}, "must be a number"),
        ({"eta": -1}, "eta"),
        ({"validation": 0}, "validation"),
        ({"validation": 0.2, "public": (INPUTS, LABELS)}, "validation"),
        ({"public": INPUTS}, "pair"),
        ({"public": (INPUTS[:, :2], LABELS)}, "3 columns"),
        ({"public": (INPUTS[:0], LABELS[:0])}, "3 columns"),
        ({"scoring": print}, "public"),
        ({"scoring": 5, "public": (INPUTS, LABELS)}, "function"),
        ({"scoring": "acuracy", "public": (INPUTS, LABELS)}, "did you mean 'accuracy'"),
        ({"scoring": "r2", "public": None}, "public"),
        ({"scoring": "roc_auc", "public": (INPUTS[:1], LABELS[:1])}, "roc_auc"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_what_is_no_search_is_refused_before_the_charge(words: Any, said: str) -> None:
    budget = Budget(1.0)
    asked = {"estimator": model(), "grid": GRID, "epsilon": 1} | words
    with pytest.raises(ArgumentError, match=said):
        GridSearch(**asked, budget=budget).fit(INPUTS, LABELS)
    assert budget.affords(PureDP(1.0))


def test_copies_hold_no_account() -> None:
    budget = Budget(2.0)
    search = GridSearch(model(), GRID, epsilon=1, budget=budget)
    again = clone(search).set_params(several_fits=True)
    assert again.fit(INPUTS, LABELS).budget is budget
    again = pickle.loads(pickle.dumps(search.fit(INPUTS, LABELS)))
    assert (again.predict(INPUTS) == search.predict(INPUTS)).all()
    with pytest.raises(ArgumentError, match="left out"):
        again.fit(INPUTS, LABELS)
    with pytest.raises(NotFittedError):
        GridSearch(model(), GRID, epsilon=1).predict(INPUTS)


# What an audit finds

SMALL = (np.full((3, 1), 0.4), np.array([0, 1, 1]))
WITH = (np.vstack([SMALL[0], [[1.0]]]), np.append(SMALL[1], 0))


def highest(estimator: Any, *_: Any) -> float:
    return float(estimator.coef_[0, 0])


def searching(bounds: Any) -> Any:
    """A search that is settled once, as a function of data."""
    search = GridSearch(
        LogisticRegression(bounds=bounds, classes=(0, 1)),
        {"max_iter": [1, 2, 3, 4]},
        epsilon=1,
        public=SMALL,
        scoring=highest,
        repetitions=3,
    )
    asked = search._asked(source_of(*SMALL, None))

    def one(data: Any) -> Any:
        rows = source_of(*data, None).read(None, asked.declared)
        best = asked.plan.fit(rows).attributes["best_estimator_"]
        return best.coef_[0, 0]

    assert asked.plan.guarantee.epsilon <= 1
    return one


@pytest.mark.full
@chance(1e-8)
def test_the_claim_is_not_refuted() -> None:
    fine = searching((0, 1))
    found = audit.mechanism(
        fine, WITH, SMALL, claimed=PureDP(1.0), draws=1000, confidence=1 - 1e-8
    )
    assert not found.refuted, found


@chance(1e-8)
def test_bounds_read_off_the_data_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "DOUBT", 1e12)  # else slopes are often 0
    by_bounds = {
        float(data[0].max()): searching((0.4 - 1e-9, data[0].max() + 1e-9))
        for data in (WITH, SMALL)
    }

    def one(data: Any) -> Any:
        return by_bounds[float(data[0].max())](data)

    found = audit.mechanism(
        one, WITH, SMALL, claimed=PureDP(1.0), draws=400, confidence=1 - 1e-8
    )
    assert found.refuted, found


@chance(2e-8)
def test_a_fixed_number_of_runs_is_refuted() -> None:
    """The best of always 5 runs shows more than the theorem of a random number
    says.
    """
    way = settled(epsilon=1).way
    one = float(way.run.epsilon)
    high = np.exp(one) / (1 + np.exp(one))

    def best(size_of: Any) -> Any:
        def drawn(secret: bool, size: int) -> Any:
            chance = high if secret else 1 - high
            counts = np.array([size_of() for _ in range(size)])
            none = (1 - chance) ** counts
            return (MADE.uniform(size=size) >= none).astype(int)

        return drawn

    claimed = PureDP(1.0)
    way_out = best(lambda: len(way.draw()))
    fine = audit.mechanism(
        way_out, True, False, claimed=claimed, draws=3000, confidence=1 - 1e-8
    )
    fixed = audit.mechanism(
        best(lambda: 5), True, False, claimed=claimed, draws=20_000, confidence=1 - 1e-8
    )
    assert not fine.refuted
    assert fixed.refuted
    assert isinstance(way, Way)


def test_public_labels_are_read_as_private_ones_are() -> None:
    text = LABELS.astype(str)
    search = GridSearch(model(), GRID, epsilon=20, public=(INPUTS, text))
    assert search.fit(INPUTS, LABELS).best_score_ > 0.5
    budget = Budget(1.0)
    with pytest.raises(ArgumentError, match="no row with a declared target"):
        GridSearch(
            model(), GRID, epsilon=1, public=(INPUTS, LABELS + 7), budget=budget
        ).fit(INPUTS, LABELS)
    assert budget.affords(PureDP(1.0))


@pytest.mark.parametrize("epsilon", [0.3, 0.7, 2.3])
def test_each_candidate_once_fits_an_account_of_just_that(epsilon: float) -> None:
    budget = Budget(epsilon)
    few = {"max_iter": [1, 2]}
    GridSearch(model(), few, epsilon=epsilon, budget=budget).fit(INPUTS, LABELS)
    assert not budget.affords(PureDP(1e-6))


def test_a_name_of_a_score_runs_no_code_of_the_caller() -> None:
    search = GridSearch(
        model(),
        GRID,
        epsilon=20,
        public=(INPUTS, LABELS),
        scoring="balanced_accuracy",
    ).fit(INPUTS, LABELS)
    assert 0.5 < search.best_score_ <= 1
    assert "store nothing" not in str(search.release_)
    line = Ridge(bounds=(0, 1), y_bounds=(0, 1))
    words: dict[str, Any] = {"public": (INPUTS, LABELS), "scoring": "r2"}
    tuned = GridSearch(line, {"alpha": [0.1, 10.0]}, epsilon=50, **words)
    assert tuned.fit(INPUTS, LABELS).best_score_ <= 1


def test_pure_noise_is_no_choice_where_it_costs_the_account_far_more() -> None:
    """As for a single fit (rule R16)."""
    account, few = Budget(30.0, 1e-6), {"priors": [None, [0.5, 0.5]]}
    plain = GaussianNB(bounds=(0, 1), classes=(0, 1))
    words: dict[str, Any] = {"epsilon": 1.0, "public": (INPUTS, LABELS)}
    found = GridSearch(plain, few, budget=account, **words).fit(INPUTS, LABELS)
    alone = clone(plain).set_params(epsilon=1.0, budget=account).fit(INPUTS, LABELS)
    taken = [
        account.terms.cost(one.release_.guarantee).loss / account.terms.loss_cap
        for one in (found, alone)
    ]
    assert taken[0] < 1.5 * taken[1]
    free = GridSearch(plain, few, delta=1e-6, **words)
    assert isinstance(free.fit(INPUTS, LABELS).release_.guarantee, PureDP)


THREE = np.digitize(INPUTS[:, 0], [0.33, 0.66])


@pytest.mark.parametrize(
    ("classes", "labels"),
    [((1, 0), LABELS), (("b", "a"), np.array(["a", "b"])[LABELS]), ((2, 0, 1), THREE)],
    ids=["numbers", "texts", "three"],
)
@pytest.mark.parametrize("scoring", ["roc_auc_ovr", "neg_log_loss"])
@pytest.mark.parametrize("kind", [LogisticRegression, GaussianNB])
def test_classes_are_declared_in_any_order(
    classes: Any, labels: Any, scoring: str, kind: Any
) -> None:
    """scikit-learn takes them for sorted: without that, an area of 1 is one of 0."""
    public = (INPUTS, labels)
    plain = kind(bounds=(0, 1), classes=classes, epsilon=500).fit(INPUTS, labels)
    declared, chances = plain.declared_, plain.predict_proba(INPUTS)
    if scoring == "neg_log_loss":
        wanted = -log_loss(labels, chances)
    else:
        some = chances[:, 1] if len(classes) == 2 else chances
        wanted = roc_auc_score(labels, some, multi_class="ovr")
    for one in (scoring, get_scorer(scoring)):
        found = Public.of(public, declared, one).score(plain, None)
        assert found.value == pytest.approx(wanted)


def test_a_function_that_scores_shows_nothing(capfd: Any, caplog: Any) -> None:
    def telling(*_: Any) -> float:
        print("one more run")
        warnings.warn("one more run", stacklevel=1)
        logging.getLogger("mine").error("one more run")
        logging.getLogger("mine").log(logging.CRITICAL + 10, "one more run")
        return 1.0

    search = GridSearch(
        model(), GRID, epsilon=9, public=(INPUTS, LABELS), scoring=telling
    )
    search.fit(INPUTS, LABELS)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records
    assert "store nothing" in str(search.release_)


def test_large_data_sets_fewer_units_aside() -> None:
    shares = [settled(estimator=model(units=n), epsilon=1).scoring.share for n in UNITS]
    assert shares == [0.25, 0.25, 0.1, 0.05]
    assert settled(epsilon=1).scoring.share == 0.25
