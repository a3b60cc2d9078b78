"""Limits of participation hold under schedules that try to break them, and what is
decided about a client depends on that client alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from dither.errors import ArgumentError
from dither.learn import federated
from dither.learn.federated import Independent, Participation
from dither.learn.federated.participation import Admission, Phases, Told
from tests.learn.federated.data import number, sent, told

ROUNDS, CLIENTS = 60, 9
RULES = [Participation(*one) for one in ((1, 1), (1, 5), (4, 3), (7, 100), (60, 2))]
MADE = np.random.default_rng(8)  # allowed: made-up schedules
OFTEN = MADE.random((ROUNDS, CLIENTS)) < 0.5
Schedule = Callable[[int], np.ndarray[Any, Any]]
SCHEDULES: dict[str, Schedule] = {
    "everybody always": lambda _: np.arange(CLIENTS),
    "each often": lambda number: np.flatnonzero(OFTEN[number - 1]),
    "thrice in a round": lambda _: np.repeat(np.arange(CLIENTS), 3),
    "nobody knows them": lambda _: np.array([-7, -1, CLIENTS, 10**9, 2]),
    "late": lambda number: np.arange(CLIENTS if number > 40 else 0),
    "one round early": lambda number: np.arange(CLIENTS if number % 6 else 0),
}


def attended(rule: Participation, schedule: Schedule) -> dict[int, list[int]]:
    admission = Admission(rule, CLIENTS)
    found: dict[int, list[int]] = {client: [] for client in range(CLIENTS)}
    for at in range(1, ROUNDS + 1):
        admitted = admission.admit(at, np.asarray(schedule(at), np.intp)).tolist()
        assert len(set(admitted)) == len(admitted)
        for client in admitted:
            found[client].append(at)
    return found


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_limits_hold_whoever_comes(rule: Participation, name: str) -> None:
    for rounds in attended(rule, SCHEDULES[name]).values():
        assert len(rounds) <= rule.times(ROUNDS) <= rule.most
        assert all(b - a >= rule.gap for a, b in pairwise(rounds))


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_whoever_may_come_is_let_in(rule: Participation) -> None:
    found = attended(rule, SCHEDULES["everybody always"])
    assert all(len(rounds) == rule.times(ROUNDS) for rounds in found.values())


@pytest.mark.parametrize("name", SCHEDULES)
def test_nobody_takes_the_place_of_another(name: str) -> None:
    rule, schedule = Participation(4, 3), SCHEDULES[name]
    with_all = attended(rule, schedule)
    for gone in range(CLIENTS):
        without = attended(rule, lambda at, g=gone: schedule(at)[schedule(at) != g])
        assert without.pop(gone) == []
        assert without == {who: when for who, when in with_all.items() if who != gone}


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_without_arrivals_clients_come_evenly_and_keep_the_limits(
    rule: Participation,
) -> None:
    phases = Phases.drawn(rule.period(ROUNDS), CLIENTS)
    offered = [phases(at) for at in range(1, ROUNDS + 1)]
    times = np.bincount(np.concatenate(offered), minlength=CLIENTS)
    assert times.max() <= rule.times(ROUNDS)
    taken = attended(rule, lambda at: offered[at - 1])
    assert [len(one) for one in taken.values()] == times.tolist()


def test_a_run_turns_away_whoever_comes_too_often() -> None:
    seen: list[tuple[str, int]] = []
    at = 0

    def arrivals(now: int) -> Any:
        nonlocal at
        at = now
        yield from ("pushy", "pushy", "stranger", ["no name"], None)
        if now > 4:
            yield "late"
        if now == 6:
            raise RuntimeError

    def client(weights: dict[str, Any], held: str) -> Any:
        seen.append((held, at))
        if held == "pushy" and at == 4:
            raise ValueError("vanished")
        return sent(weights, 1.0)

    clients = {"pushy": "pushy", "late": "late", "silent": "silent"}
    options = told(client=client, arrivals=arrivals, rounds=9, units=3, cohort=1)
    rule = Participation(gap=3, most=2)
    federated.train(number(), clients, **options, participation=rule)
    assert seen == [("pushy", 1), ("pushy", 4), ("late", 5), ("late", 8)]


def test_one_round_of_a_run_moves_as_far_as_was_charged() -> None:
    """All contributions of a client, over all rounds, against what the plan says."""
    clients = {"a": 5.0}
    options = told(rounds=8, units=1, cohort=1, clip=1.0, noise=1e-9, delta=1e-9)
    rule = Participation(gap=2, most=3)
    found = federated.train(
        number(),
        clients,
        **options,
        participation=rule,
        factorization=Independent(),
        arrivals=lambda _: ["a"],
    )
    assert float(found.value.weight.detach()) == pytest.approx(3.0, rel=1e-5)


class Nameless:
    def __hash__(self) -> int:
        raise ValueError


def test_an_odd_name_turns_nobody_else_away() -> None:
    found = Told(lambda _: ["a", Nameless(), "b"], {"a": 0, "b": 1})
    assert found(1).tolist() == [0, -1, 1]


def test_names_that_have_no_hash_are_nobody() -> None:
    asked = Told(lambda _: [{}, "a", "b"], {"a": 0})
    assert asked(1).tolist() == [-1, 0, -1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"arrivals": lambda _: []}, "are not sampled"),
        ({"participation": 3}, "Participation"),
        ({"factorization": Independent()}, "participation="),
        ({"arrivals": [1], "participation": RULES[0]}, "function"),
        (
            {"arrivals": lambda _: [], "participation": RULES[0], "cohort": None},
            "cohort",
        ),
        ({"participation": RULES[0], "noise_schedule": [1.0]}, "leave it out"),
        ({"participation": RULES[0], "factorization": "tree"}, "Banded"),
    ],
)
def test_what_the_sampler_cannot_promise_is_refused(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ArgumentError, match=words):
        federated.train(number(), [1.0], **told(**options))


@pytest.mark.parametrize("bad", [0, -1, 1.5, None, "2", True])
def test_limits_are_whole_numbers(bad: Any) -> None:
    with pytest.raises(ArgumentError):
        Participation(bad, 1)
    with pytest.raises(ArgumentError):
        Participation(1, bad)


def test_a_radius_that_changes_does_not_go_with_correlated_noise() -> None:
    from dither.learn import Adaptive

    options = told(participation=RULES[0], clip=Adaptive())
    with pytest.raises(ArgumentError, match="must not change"):
        federated.train(number(), [1.0], **options)


def test_numbers_come_out_of_a_run_with_correlated_noise() -> None:
    options = told(rounds=5, units=40, cohort=None, epsilon=2.0, noise=None)
    found = federated.train(
        number(), [0.1] * 40, **options, participation=Participation(2, 2)
    )
    assert bool(torch.isfinite(found.value.weight).all())
    assert found.guarantee.epsilon_at(1e-5) == pytest.approx(2.0, rel=1e-6)
