"""Several answers: the totals of `explain.composition` against `dither.compose` and
closed forms.
"""

from __future__ import annotations

import json
import math

import pytest

from dither import explain
from dither.errors import ArgumentError
from dither.privacy import PureDP, compose, composition
from dither.privacy.optimal import repeated_epsilon

from . import pictures


@pytest.mark.parametrize(
    ("epsilon", "answers"), [(0.1, 5), (0.01, 1000), (0.5, 40), (2.0, 3), (0.1, 1)]
)
def test_totals_are_those_of_compose(epsilon: float, answers: int) -> None:
    found = explain.composition(epsilon, answers, delta=1e-6)
    ours = compose([PureDP(epsilon)] * answers, 1e-6, tight=False)
    assert found.basic == pytest.approx(answers * epsilon)
    if answers > 1:
        assert found.advanced == pytest.approx(ours.candidates[composition.ADVANCED])
        assert found.concentrated == pytest.approx(
            ours.candidates[composition.CONCENTRATED]
        )
        assert found.gaussian == pytest.approx(ours.candidates[composition.GAUSSIAN])
    assert found.best == pytest.approx(ours.epsilon, rel=2e-3)


def test_textbook_claim_9() -> None:
    """Advanced composition is worse for few answers: 1.23 against 0.5."""
    found = explain.composition(0.1, 5, delta=1e-6)
    closed = math.sqrt(2 * 5 * math.log(1e6)) * 0.1 + 5 * 0.1 * math.expm1(0.1)
    assert found.advanced == pytest.approx(closed)
    assert (round(found.basic, 3), round(closed, 2)) == (0.5, 1.23)
    assert (
        "1.229, which is worse" in found.sentences[1]
        or "1.228, which is worse" in found.sentences[1]
    )
    assert found.best <= found.basic


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.01, 1e-6), (0.1, 1e-6), (0.1, 1e-3), (0.5, 1e-9), (0.69, 1e-6)],
)
def test_when_advanced_composition_pays(epsilon: float, delta: float) -> None:
    first = explain.composition(epsilon, 1, delta=delta).advanced_pays_from
    assert first is not None
    before, after = (
        explain.composition(epsilon, k, delta=delta) for k in (first - 1, first)
    )
    assert before.advanced is not None
    assert after.advanced is not None
    assert before.advanced >= before.basic
    assert after.advanced < after.basic


def test_from_ln_2_on_it_never_pays() -> None:
    found = explain.composition(0.7, 10**6, delta=1e-6)
    assert found.advanced_pays_from is None
    assert found.advanced is not None
    assert found.advanced > found.basic
    assert found.best < found.basic
    assert "never pays" in found.sentences[1]
    assert "best known rule says" in found.sentences[1]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("answers", [1000, 1001, 20_000, 10**6, 10**9])
def test_the_best_total_is_not_below_what_is_lost_on_average(
    epsilon: float, answers: int
) -> None:
    found = explain.composition(epsilon, answers, delta=1e-6)
    assert answers * epsilon * math.tanh(epsilon / 2) <= found.best <= found.basic


@pytest.mark.parametrize(
    ("epsilon", "answers"), [(0.001, 20_000), (0.1, 10**6), (1e-6, 10**7)]
)
def test_many_answers_have_their_exact_total(epsilon: float, answers: int) -> None:
    found = explain.composition(epsilon, answers, delta=1e-6)
    assert found.best == pytest.approx(repeated_epsilon(epsilon, answers, 1e-6))
    assert found.concentrated is not None
    assert found.best < 0.995 * found.concentrated


def test_one_answer_is_not_added() -> None:
    assert (
        explain.composition(0.1, 1)
        .sentences[0]
        .startswith("One answer of ε = 0.1 costs ε = 0.1:")
    )


def test_without_a_delta_only_the_sum_is_known() -> None:
    found = explain.composition(0.5, 4)
    assert (found.advanced, found.concentrated, found.gaussian, found.best) == (
        None,
        None,
        None,
        2.0,
    )
    assert found.advanced_pays_from is None
    assert "Without a δ" in found.sentences[1]
    assert len(found.rows) == 2


def test_nothing_adds_up_to_nothing() -> None:
    found = explain.composition(0, 100, delta=1e-6)
    assert (found.basic, found.advanced, found.best) == (0, 0, 0)
    assert "cost nothing" in found.sentences[1]


@pytest.mark.parametrize("epsilon", [0, 1e-12, 0.01, 0.69, 1, 50, 1e6, 1e300])
@pytest.mark.parametrize("answers", [1, 7, 1000, 10**15])
@pytest.mark.parametrize("delta", [0, 1e-9])
def test_every_total_can_be_shown(epsilon: float, answers: int, delta: float) -> None:
    found = explain.composition(epsilon, answers, delta=delta)
    assert "nan" not in str(found)
    assert len(found.sentences) == 2
    assert json.loads(found.to_json())["basic"] == (
        found.basic if math.isfinite(found.basic) else None
    )
    pictures.check(found)


def test_the_picture_names_its_lines() -> None:
    texts = pictures.words(pictures.check(explain.composition(0.1, 50, delta=1e-6)))
    assert {"sum (basic)", "advanced, at δ = 1e-06", "best known"} <= set(texts)


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ((-1, 2, 0), "epsilon"),
        ((math.nan, 2, 0), "epsilon"),
        ((True, 2, 0), "epsilon"),
        ((1, 0, 0), "answers"),
        ((1, 2.5, 0), "answers"),
        ((1, True, 0), "answers"),
        ((1, 10**16, 0), "answers"),
        ((1, 2, 1), "delta"),
        ((1, 2, -1), "delta"),
    ],
)
def test_what_cannot_be_added(given: tuple[float, int, float], argument: str) -> None:
    epsilon, answers, delta = given
    with pytest.raises(ArgumentError) as refused:
        explain.composition(epsilon, answers, delta=delta)
    assert refused.value.argument == argument


def test_without_a_delta_the_picture_shows_what_one_would_save() -> None:
    said = pictures.words(pictures.check(explain.composition(0.1, 100)))
    assert "best known, if a δ of 1e-06 is allowed" in said
    found = pictures.words(pictures.check(explain.composition(0.1, 100, delta=1e-9)))
    assert "best known" in found
