"""What an ε means: numbers, words and picture of `explain.epsilon`."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import numpy as np
import pytest

from dither import explain
from dither.errors import ArgumentError
from dither.explain.belief import MARGIN, Meaning
from dither.privacy import Relation, gaussian_mu

from . import pictures

GRID = [
    {"epsilon": epsilon, "delta": delta, "prior": prior}
    for epsilon in (0, 1e-300, 1e-9, 0.01, 0.5, 1, 8, 700, 1e6, 1.7e308)
    for delta in (0, 1e-300, 1e-6, 0.5, 1 - 1e-12)
    for prior in (1e-300, 0.01, 0.5, 1 - 1e-15)
]


def test_a_pure_epsilon() -> None:
    found = explain.epsilon(0.5)
    assert found.odds_factor == pytest.approx(math.exp(0.5))
    assert found.posterior == pytest.approx(
        (1 / (1 + math.exp(0.5)), math.exp(0.5) / (1 + math.exp(0.5)))
    )
    assert found.outside == 0
    assert found.advantage == found.total_variation == pytest.approx(math.tanh(0.25))
    assert found.guess == pytest.approx((1 + math.tanh(0.25)) / 2)
    assert found.power() == pytest.approx(0.05 * math.exp(0.5))
    assert found.power(0.5) == pytest.approx(1 - 0.5 * math.exp(-0.5))
    assert found.kl == pytest.approx(0.5 * math.tanh(0.25))
    assert found.gaussian is None
    assert found.notes == explain.epsilon(3).notes
    assert len(found.sentences) == 2


def test_textbook_claim_11() -> None:
    """ε = 0.01 multiplies odds by 1.0101: a belief of 0.5 becomes 0.5025, and not 0.51."""
    low, high = explain.epsilon(0.01).posterior
    assert (round(low, 4), round(high, 4)) == (0.4975, 0.5025)
    assert "at most 50.25 %" in explain.epsilon(0.01).sentences[0]


def test_a_prior_moves_both_ways() -> None:
    low, high = explain.epsilon(1, prior=0.01).posterior
    for after, factor in ((low, math.exp(-1)), (high, math.e)):
        assert after / (1 - after) == pytest.approx(0.01 / 0.99 * factor)
    # Always saying no is already better
    assert explain.epsilon(1, prior=0.01).guess == pytest.approx(0.99)


def test_with_a_delta() -> None:
    found = explain.epsilon(1, delta=1e-5)
    assert found.odds_factor == pytest.approx(math.e)
    assert found.posterior[1] == pytest.approx(MARGIN * math.e / (1 + MARGIN * math.e))
    assert found.outside == pytest.approx(1e-5 * (MARGIN + math.exp(-1)) / (MARGIN - 1))
    assert found.advantage == pytest.approx((math.e - 1 + 2e-5) / (math.e + 1))
    assert found.power() == pytest.approx(0.05 * math.e + 1e-5)
    assert found.kl == math.inf
    assert found.gaussian is not None
    assert found.gaussian.mu == gaussian_mu(1, 1e-5)
    assert found.gaussian.kl == pytest.approx(found.gaussian.mu**2 / 2)
    assert found.gaussian.power() < found.power()
    assert found.gaussian.advantage < found.advantage


def test_textbook_claim_4() -> None:
    """δ is neither the chance of a disaster nor of a loss above ε, and the words say
    so.
    """
    found = explain.epsilon(1, delta=1e-6)
    assert found.gaussian is not None
    assert found.gaussian.chance_beyond > 5e-6
    assert (
        "neither the chance of a disaster nor of losing more than ε" in found.notes[1]
    )
    assert "probability of" not in " ".join(found.sentences)


def test_textbook_claim_12() -> None:
    note = explain.epsilon(1).notes[0]
    assert "does not hide facts about everybody" in note
    assert "group privacy" in note


@pytest.mark.parametrize("epsilon", [0, 0.0, np.float64(0)])
def test_textbook_claim_17(epsilon: float) -> None:
    """ε = 0 is perfect privacy and no information."""
    found = explain.epsilon(epsilon, prior=0.3)
    assert found.perfect
    assert found.odds_factor == 1
    assert found.posterior == pytest.approx((0.3, 0.3))
    assert (found.advantage, found.kl, found.guess) == (0, 0, 0.7)
    assert found.power(0.05) == pytest.approx(0.05)
    assert found.sentences[0].startswith("Perfect privacy")
    assert "no information" in found.sentences[1]
    assert ("noise on a count", "none is enough") in found.rows


def test_zero_epsilon_with_a_delta_is_not_perfect() -> None:
    found = explain.epsilon(0, delta=0.01)
    assert not found.perfect
    assert found.advantage == pytest.approx(0.01)
    assert found.gaussian is None
    assert "Perfect" not in str(found)


def test_a_group() -> None:
    one, five = explain.epsilon(1, delta=1e-5), explain.epsilon(1, delta=1e-5, group=5)
    assert five == one.for_group(5)
    assert five.promise == pytest.approx((5, 8.6e-4), rel=0.01)  # textbook claim 10
    assert five.odds_factor == pytest.approx(math.exp(5))
    assert one.gaussian is not None
    assert five.gaussian is not None
    assert five.gaussian.mu == pytest.approx(5 * one.gaussian.mu)
    assert five.gaussian.power() < five.power()
    assert "these 5 records" in five.sentences[0]
    assert "notices them" in five.sentences[1]
    assert "±3.0 (Laplace)" in dict(five.rows)["noise on a count (95 %)"]
    with pytest.raises(ArgumentError, match="δ grows to 1 for a group of 50 people"):
        one.for_group(50)
    assert explain.epsilon(0.3).for_group(5).promise == pytest.approx((1.5, 0))


def test_what_the_record_says_costs_twice_under_add_remove() -> None:
    """Whether the record is there moves by ε; what it says by the ε of replacing it
    (rule R7).
    """
    rows = dict(explain.epsilon(0.5, delta=1e-6).rows)
    assert rows["what the record says"].startswith("ε = 1, δ = 2.649e-06")
    replaced = explain.epsilon(0.5, relation="replace")
    assert replaced.relation is Relation.REPLACE
    assert "what the record says" not in dict(replaced.rows)
    assert "made-up data in place of your record" in replaced.sentences[0]
    assert "made-up" in " ".join(pictures.words(pictures.check(replaced)))
    assert "true ones were used" in replaced.for_group(2).sentences[0]


@pytest.mark.parametrize("given", GRID, ids=str)
def test_every_epsilon_can_be_explained(given: dict[str, float]) -> None:
    found = explain.epsilon(**given)
    low, high = found.posterior
    assert 0 <= low <= found.prior <= high <= 1
    assert 0 <= found.advantage <= 1
    assert max(found.prior, 1 - found.prior) <= found.guess <= 1
    assert 0.05 * (1 - 1e-12) <= found.power() <= 1
    assert 0 <= found.outside <= 1
    assert not re.search(r"\bnan\b", str(found))
    json.loads(found.to_json())
    pictures.check(found)


def test_terminal_notebook_and_data() -> None:
    found = explain.epsilon(0.5, delta=1e-6, prior=0.2)
    shown = str(found)
    assert shown.startswith("ε = 0.5, δ = 1e-06, in plain words\n")
    assert all(len(line) <= 100 for line in shown.splitlines())
    page = found._repr_html_()
    assert found.svg() in page
    assert page.count('<th scope="row">') == len(found.rows)
    data = json.loads(found.to_json())
    assert data["kl"] is None
    assert data["posterior"] == list(found.posterior)
    assert data["gaussian"]["mu"] == gaussian_mu(0.5, 1e-6)
    assert data["sentences"] == list(found.sentences)


def test_results_are_frozen() -> None:
    found = explain.epsilon(0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.epsilon = 1.0  # type: ignore[misc]
    assert found == Meaning(0.5)
    assert hash(found) == hash(Meaning(0.5))


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"epsilon": -0.1}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": np.True_}, "epsilon"),
        ({"epsilon": "0.5"}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 10**400}, "epsilon"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "delta": -1e-9}, "delta"),
        ({"epsilon": 1, "delta": math.nan}, "delta"),
        ({"epsilon": 1, "delta": False}, "delta"),
        ({"epsilon": 1, "prior": 0}, "prior"),
        ({"epsilon": 1, "prior": 1.0}, "prior"),
        ({"epsilon": 1, "prior": 1.5}, "prior"),
        ({"epsilon": 1, "prior": math.nan}, "prior"),
        ({"epsilon": 1, "prior": True}, "prior"),
        ({"epsilon": 1, "group": 0}, "group"),
        ({"epsilon": 1, "group": 1.5}, "group"),
        ({"epsilon": 1, "group": True}, "group"),
        ({"epsilon": 1, "group": 10**16}, "group"),
        ({"epsilon": 1, "relation": "edge"}, "relation"),
    ],
    ids=str,
)
def test_what_cannot_be_explained(given: dict[str, float], argument: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        explain.epsilon(**given)
    assert refused.value.argument == argument
    assert "pass" in refused.value.message


@pytest.mark.parametrize("alarms", [0, 1, -0.1, math.nan, True])
def test_false_positives_lie_between_0_and_1(alarms: float) -> None:
    with pytest.raises(ArgumentError, match="false_positives"):
        explain.epsilon(1).power(alarms)


def test_other_priors() -> None:
    found = explain.epsilon(1)
    assert found.belief(0.2) == explain.epsilon(1, prior=0.2).posterior
    assert (found.belief(0.0), found.belief(1.0)) == ((0.0, 0.0), (1.0, 1.0))
    with pytest.raises(ArgumentError, match="prior"):
        found.belief(math.nan)
