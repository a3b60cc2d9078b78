"""What several messages of one device say together: exact distributions of the real
code, every random decision enumerated.

Decisions are known by the key they are drawn from, so noise is shared exactly where
the device shares it. `KEPT`, `ONCE`, … are ratios of probabilities, e^ε, as fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local import bits, domain
from dither.local.client import memo as memos
from dither.local.client.memo import Memo
from dither.local.oracles import (
    KAryResponse,
    Loloha,
    LongitudinalUnary,
    OneBitMean,
    Sampled,
    loloha,
    mean,
    response,
    sampled,
    unary,
)
from dither.local.rappor import oracle as rappor
from dither.local.rappor.oracle import Rappor
from dither.local.thresholds import loss
from dither.local.words import ONE, Words

Law = dict[tuple[bytes, ...], Fraction]


@dataclass
class Decisions:
    """One path through the random decisions of a device, and how likely it is."""

    given: list[int]
    made: list[tuple[int, int]] = field(default_factory=list)
    known: dict[tuple[bytes, int], int] = field(default_factory=dict)
    chance: Fraction = Fraction(1)

    def decide(self, place: tuple[bytes, int], chances: list[Fraction]) -> int:
        if place not in self.known:
            number = len(self.made)
            choice = self.given[number] if number < len(self.given) else 0
            self.made.append((choice, len(chances)))
            self.known[place] = choice
            self.chance *= chances[choice]
        return self.known[place]

    def next(self) -> list[int] | None:
        """The decisions that lead to the path after this one."""
        path = list(self.made)
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        if not path:
            return None
        return [choice for choice, _ in path[:-1]] + [path[-1][0] + 1]


class Stream:
    """Words of a key that are decided instead of drawn."""

    def __init__(self, key: bytes, decisions: Decisions) -> None:
        self.key, self.decisions, self.number = key, decisions, 0

    def decide(self, chances: list[Fraction]) -> int:
        self.number += 1
        return self.decisions.decide((self.key, self.number), chances)


def coins(words: Stream, threshold: int, count: int):
    assert count == 1
    heads = Fraction(threshold, ONE)
    return np.array([words.decide([heads, 1 - heads]) == 0])


def below(words: Stream, bound: int, count: int):
    assert count == 1
    return np.array([words.decide([Fraction(1, bound)] * bound)])


def biased(words: Stream, threshold: int, rows: int, size: int):
    assert rows == 1
    drawn = [coins(words, threshold, 1)[0] for _ in range(size)]
    return np.packbits([drawn], axis=1, bitorder="little")


@pytest.fixture(autouse=True)
def decided(monkeypatch):
    monkeypatch.setattr(bits, "biased", biased)
    for module in (response, loloha, unary, rappor, mean, sampled, memos, domain):
        for name, stand_in in (("coins", coins), ("below", below)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, stand_in)


class Enumerated(Memo):
    """A memo whose words are decisions."""

    decisions: Decisions

    def words(self, purpose: str, *parts: bytes) -> Words:
        return Stream(self.key(purpose, *parts), self.decisions)


Asked = list[tuple[local.Task, object]]


def law(asked: Asked, kind: type[Memo] = Enumerated) -> Law:
    """The joint distribution of the messages of one device: a task and a value for
    each period.
    """
    found: Counter[tuple[bytes, ...]] = Counter()
    given: list[int] | None = []
    while given is not None:
        decisions = Decisions(given)
        said = []
        for period, (task, value) in enumerate(asked):
            memo = kind.of(task, b"secret", b"salt")
            object.__setattr__(memo, "decisions", decisions)
            record = memo.record(task, memo.answer(task, value), period, 0)
            said.append(record.tobytes())
        found[tuple(said)] += decisions.chance
        given = decisions.next()
    assert sum(found.values()) == 1
    return dict(found)


def worst(one: Law, other: Law) -> Fraction | None:
    """The largest ratio of two probabilities; None if it is infinite."""
    if any(said not in other for said in one):
        return None
    return max(one[said] / other[said] for said in one)


def pattern(history: tuple[object, ...]) -> list[int]:
    """When a history changes, and to what it goes back: each answer by its first use."""
    return [history.index(value) for value in history]


def pairs(
    task: local.Task, values: list[object], length: int
) -> Iterator[tuple[tuple[object, ...], tuple[object, ...], Fraction | None]]:
    histories = list(product(values, repeat=length))
    laws = [law([(task, value) for value in history]) for history in histories]
    for one, first in zip(histories, laws, strict=True):
        for other, second in zip(histories, laws, strict=True):
            yield one, other, worst(first, second)


def task_of(oracle, values=("a", "b"), *, none=True, **changes):
    settings = {"domain": values, "none": none, "epsilon": 49, "for_ever": 49}
    settings |= {"distinct": len(values), "every": "day", "n": 1000, "oracle": oracle}
    settings |= {"starts": date(2027, 3, 1)}
    return local.task("t", **(settings | changes))


def part(share: float) -> int:
    return round(share * ONE)


def response_ratio(threshold: int, outcomes: int) -> Fraction:
    share = Fraction(threshold, ONE)
    return share * (outcomes - 1) / (1 - share)


HASHED = Loloha(3, 2, 4, part(0.6), part(0.95))
PLAIN = Loloha(3, 3, 1, part(0.6), part(0.7))
LOLOHAS = {"hashed": HASHED, "plain": PLAIN}


@pytest.mark.parametrize("oracle", LOLOHAS.values(), ids=LOLOHAS)
def test_one_message_loses_epsilon_once(oracle):
    task = task_of(oracle)
    found = [ratio for _, _, ratio in pairs(task, ["a", "b", None], 1)]
    assert loss(max(found)) == pytest.approx(oracle.epsilon, rel=1e-9)
    assert loss(max(found)) <= oracle.epsilon


@pytest.mark.parametrize("oracle", LOLOHAS.values(), ids=LOLOHAS)
@pytest.mark.parametrize("length", [2, 3])
def test_changes_at_the_same_times_cost_each_value_once(oracle, length):
    """Also where two values are hashed to the same place."""
    task = task_of(oracle)
    kept = response_ratio(oracle.kept, oracle.values)
    values = ["a", "b", None] if length == 2 else ["a", None]
    for one, other, ratio in pairs(task, values, length):
        if pattern(one) == pattern(other):
            assert ratio <= kept ** len(set(one))
            assert loss(ratio) <= task.lifetime.epsilon


@pytest.mark.parametrize("oracle", LOLOHAS.values(), ids=LOLOHAS)
def test_other_changes_cost_the_noise_of_each_message(oracle):
    task = task_of(oracle)
    instant = response_ratio(oracle.sent, oracle.values)
    assert loss(instant) == pytest.approx(oracle.epsilon_instant)
    for _, _, ratio in pairs(task, ["a", "b", None], 2):
        assert ratio <= instant**2


def test_nothing_less_is_promised_to_other_changes():
    """A device that goes from one value to another, against one that stays: two
    messages say more than twice what one of them says, and more than two values may
    ever cost. So the promise names the noise of each message, and nothing smaller.
    """
    task = task_of(HASHED)
    moved, stayed = (law([(task, "a"), (task, now)]) for now in ("b", "a"))
    lost = loss(worst(moved, stayed))
    assert lost > 2 * HASHED.epsilon
    assert lost > 2 * HASHED.epsilon_for_ever
    assert lost <= 2 * HASHED.epsilon_instant
    assert f"ε = {HASHED.epsilon_instant:.4g} for each message" in task.promise


def test_the_page_of_proofs_has_the_right_example():
    task = task_of(Loloha(2, 2, 1, part(0.6), part(0.95)), none=False)
    moved, stayed = (law([(task, "a"), (task, now)]) for now in ("b", "a"))
    assert loss(worst(moved, stayed)) == pytest.approx(1.99, abs=0.005)
    found = (task.oracle.epsilon, task.oracle.epsilon_for_ever)
    assert found == pytest.approx((0.364, 0.405), abs=5e-4)
    assert task.oracle.epsilon_instant == pytest.approx(2.94, abs=0.005)


@pytest.mark.parametrize("name", ["kept", "sent"])
def test_no_layer_says_the_truth_least(name):
    """Two such layers would have an ε of their own, and each of them none: what is
    kept would look free.
    """
    with pytest.raises(ArgumentError, match=name):
        replace(HASHED, **{name: part(0.1)})
    with pytest.raises(ArgumentError):
        replace(HASHED, kept=part(0.1), sent=part(0.1))


class ByHash(Enumerated):
    """A memo whose permanent noise belongs to the hash value, not to the value."""

    def permanent_answer(self, task, answer):
        seeds = self.seeds(task)
        hashed = task.oracle._hashed(self.item(task, answer), seeds)
        words = self.words("permanent", bytes(hashed))
        return response.respond(task.oracle.kept, task.oracle.values, hashed, words)


def test_noise_for_each_hash_value_would_break_the_promise():
    """Both histories change at the same time. Under a function that takes only one of
    the changes to another hash value, they change at different times.
    """
    task = task_of(HASHED)
    histories = ([(task, "a"), (task, now)] for now in ("b", None))
    assert loss(worst(*(law(one, ByHash) for one in histories))) > (
        2 * HASHED.epsilon_for_ever
    )


BOOLEAN = Rappor(2, 1, 1, 1, "identity", part(0.2), part(0.9), part(0.3))


def test_boolean_rappor_costs_each_value_once_or_the_noise_of_each_message():
    task = task_of(BOOLEAN, none=False)
    kept = Fraction(ONE, BOOLEAN.flip) - 1
    instant = Fraction(ONE - BOOLEAN.sent_zero, ONE - BOOLEAN.sent_one)
    assert loss(kept) == pytest.approx(BOOLEAN.epsilon_for_ever)
    assert loss(instant) == pytest.approx(BOOLEAN.epsilon_instant)
    for length in (2, 3):
        for one, other, ratio in pairs(task, ["a", "b"], length):
            assert ratio <= instant**length
            if pattern(one) == pattern(other):
                assert ratio <= kept ** len(set(one))


def test_kept_bits_cost_their_value_once():
    """Two messages about one value lose less than it may lose for ever."""
    oracle = LongitudinalUnary(2, ONE // 2, part(0.2), part(0.9), part(0.1))
    task = task_of(oracle, values=["a"])
    held, none = (law([(task, value)] * 2) for value in ("a", None))
    lost = loss(worst(held, none))
    assert oracle.epsilon < lost <= oracle.epsilon_for_ever
    # two answers have bits of their own, in both places
    ratio = Fraction(oracle.sent_one, oracle.sent_zero)
    assert loss(ratio**2) == pytest.approx(oracle.epsilon_instant)


BINARY = KAryResponse(2, part(0.75))
TERNARY = KAryResponse(3, part(0.6))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_kept_response_costs_each_value_once(length):
    """Exactly: its messages show the kept answers."""
    task = task_of(TERNARY)
    kept = response_ratio(TERNARY.truth, 3)
    found: dict[int, list[Fraction]] = {}
    for one, other, ratio in pairs(task, ["a", "b", None], length):
        if pattern(one) == pattern(other):
            found.setdefault(len(set(one)), []).append(ratio)
    for distinct, ratios in found.items():
        # with all three values used, two histories are permutations of each other
        assert max(ratios) <= kept**distinct
        assert max(ratios) == kept**distinct or distinct == 3
        assert loss(max(ratios)) <= task.lifetime.epsilon


def test_a_change_of_a_kept_response_can_be_seen_for_sure():
    task = task_of(TERNARY)
    moved, stayed = (law([(task, "a"), (task, now)]) for now in ("b", "a"))
    assert worst(moved, stayed) is None
    assert TERNARY.epsilon_instant == float("inf")
    assert "nothing: that an answer changed can be seen with certainty" in task.promise


def test_without_none_other_values_are_an_answer_with_noise_of_its_own():
    """Two values and "none": three kept answers, as the reservation has it."""
    task = task_of(BINARY, none=False)
    assert task.values == 3
    kept = response_ratio(BINARY.truth, 2)
    for one, other, ratio in pairs(task, ["a", "b", None], 2):
        if pattern(one) == pattern(other):
            assert ratio <= kept ** len(set(one))
    alone = law([(task, None)])
    assert set(alone.values()) == {Fraction(1, 2)}


# two tasks on one attribute


def both(first, second, history):
    """A history that both tasks are asked about in every period."""
    return [(task, value) for value in history for task in (first, second)]


def test_tasks_that_differ_in_instantaneous_noise_share_one_cost():
    """Four messages about two values, through two tasks: two kept answers."""
    quiet = task_of(HASHED, attribute="x")
    loud = replace(quiet, name="loud", oracle=replace(HASHED, sent=part(0.8)))
    assert memos.memo_id(quiet) == memos.memo_id(loud)
    kept = response_ratio(HASHED.kept, 2)
    histories = [("a", "a"), ("a", "b"), ("b", None), (None, None)]
    laws = [law(both(quiet, loud, history)) for history in histories]
    for one, first in zip(histories, laws, strict=True):
        for other, second in zip(histories, laws, strict=True):
            if pattern(one) == pattern(other):
                assert worst(first, second) <= kept ** len(set(one))


def test_tasks_with_different_permanent_noise_cost_both():
    """Exactly: the second task's noise is independent of the first one's."""
    one = task_of(BINARY, none=False, attribute="x")
    two = replace(one, name="two", oracle=KAryResponse(2, part(0.9)))
    assert memos.memo_id(one) != memos.memo_id(two)
    ratio = worst(law(both(one, two, "a")), law(both(one, two, "b")))
    both_kept = (response_ratio(task.oracle.truth, 2) for task in (one, two))
    assert ratio == np.prod(list(both_kept))


class Shared(Enumerated):
    """A memo that forgets the permanent parameters: one stream for all rates."""

    def words(self, purpose, *parts):
        word = self.decisions.decide((purpose.encode() + b"".join(parts), 0), REGIONS)
        return Fixed(BOUNDS[word])


class Fixed:
    """The same word for ever."""

    def __init__(self, word: int) -> None:
        self.word = word


BOUNDS = [0, part(0.75), part(0.9)]  # a word in each region that two rates tell apart
REGIONS = [
    Fraction(end - start, ONE)
    for start, end in zip(BOUNDS, [*BOUNDS[1:], ONE], strict=True)
]


def test_one_stream_under_two_rates_would_tell_the_value_for_sure(monkeypatch):
    """A word between two thresholds is a truth under one rate and a lie under the
    other: only one value can have said that.
    """

    def fixed(words, threshold, count):
        return np.array([words.word < threshold] * count)

    monkeypatch.setattr(response, "coins", fixed)
    monkeypatch.setattr(response, "below", lambda *_: np.array([0]))
    one = task_of(BINARY, none=False, attribute="x")
    two = replace(one, name="two", oracle=KAryResponse(2, part(0.9)))
    laws = [law(both(one, two, value), Shared) for value in "ab"]
    assert worst(*laws) is None


# numbers: the side of a threshold is kept, not the number

SIDES = OneBitMean(3, part(0.7), part(0.8))
STEPS = [0, 1, 2, None]


def number_task():
    numbers = local.Numbers(0, 2, 1)
    return task_of(SIDES, domain=numbers)


def sides(history: tuple[object, ...], threshold: int) -> tuple[object, ...]:
    return tuple(one if one is None else one > threshold for one in history)


def alike(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether sides change and return at the same times, whatever the threshold is."""
    return all(
        pattern(sides(one, threshold)) == pattern(sides(other, threshold))
        for threshold in (0, 1)
    )


def test_a_number_that_stays_costs_what_is_kept():
    task, kept = number_task(), response_ratio(SIDES.kept, 2)
    for one, other, ratio in pairs(task, STEPS, 2):
        if len(set(one)) == len(set(other)) == 1:
            assert ratio <= kept
            assert loss(ratio) <= SIDES.epsilon_for_ever


@pytest.mark.parametrize("length", [1, 2, 3])
def test_sides_that_change_at_the_same_times_cost_each_side_once(length):
    task, kept = number_task(), response_ratio(SIDES.kept, 2)
    compared = 0
    for one, other, ratio in pairs(task, STEPS if length < 3 else [0, 2, None], length):
        if alike(one, other):
            compared += one != other
            most = max(len(set(sides(one, threshold))) for threshold in (0, 1))
            assert ratio <= kept**most
            assert loss(ratio) <= task.lifetime.epsilon
    assert compared > 4


def test_other_sides_cost_the_noise_of_each_message():
    """A number that moves a little for one device, and a lot for another, changes at
    the same times; its sides do not.
    """
    task, instant = number_task(), response_ratio(SIDES.sent, 2)
    for _, _, ratio in pairs(task, STEPS, 2):
        assert ratio <= instant**2
    moved, stayed = (law([(task, 0), (task, now)]) for now in (2, 1))
    assert loss(worst(moved, stayed)) <= 2 * SIDES.epsilon_instant
    assert "rounded answers" in task.promise
    assert task.values == 3


def test_a_device_answers_one_part_for_ever():
    """Both messages are about the same attribute, and lose what one attribute does."""
    oracle = Sampled(2, (PLAIN, Loloha(3, 3, 1, part(0.6), part(0.7))))
    fields = {"page": ["a", "b"], "sex": ["f", "m"]}
    task = task_of(oracle, fields, distinct=2)
    kept = response_ratio(PLAIN.kept, 3)
    values = [{"page": "a", "sex": "f"}, {"page": "b", "sex": "m"}]
    laws = [law([(task, value), (task, value)]) for value in values]
    assert all(said[0][0] == said[1][0] for found in laws for said in found)
    assert worst(*laws) <= kept
    changes = [
        law([(task, one), (task, other)]) for one, other in (values, values[::-1])
    ]
    assert worst(*changes) <= kept**2
    # drawn anew each time, both attributes would be told
    fresh = [law([(task, value), (task, values[0])]) for value in values]
    assert worst(*fresh) <= response_ratio(PLAIN.sent, 3) ** 2


FAINT = Loloha(2, 2, 1, part(0.51), part(0.95))


def test_rows_that_change_at_the_same_times_may_have_answers_that_do_not():
    """One device changes its page, the other its sex, both on the second day. Whoever
    is asked for the page sees one answer change, and the other stay.
    """
    fields = {"page": ["a", "b"], "sex": ["f", "m"]}
    task = task_of(Sampled(2, (FAINT, FAINT)), fields, none=False, distinct=2)
    start = {"page": "a", "sex": "f"}
    one, other = (
        law([(task, start), (task, start | change)])
        for change in ({"page": "b"}, {"sex": "m"})
    )
    lost = loss(worst(one, other))
    assert task.lifetime.epsilon < lost <= 2 * task.oracle.epsilon_instant
    assert "against everyone whose answers to every question change" in task.promise


def test_numbers_that_change_at_the_same_times_may_have_levels_that_do_not():
    numbers = local.Numbers(0, 3, 1, ask="distribution", branching=2)
    leaves = replace(FAINT, items=4, values=4, kept=part(0.26))
    oracle = Sampled(2, (FAINT, leaves))
    task = task_of(oracle, domain=numbers, distinct=2)
    near, far = (law([(task, 0), (task, now)]) for now in (1, 3))
    assert loss(worst(far, near)) > task.lifetime.epsilon
    assert "answers to every question" in task.promise


def test_numbers_on_the_same_side_of_one_threshold_may_be_apart_under_another():
    """Under the lowest threshold, both numbers change sides. Under the others, one."""
    numbers = local.Numbers(0, 8, 1)
    oracle = OneBitMean(9, part(0.51), part(0.95))
    task = task_of(oracle, domain=numbers, distinct=2)
    near, far = (law([(task, 0), (task, now)]) for now in (1, 8))
    assert loss(worst(far, near)) > task.lifetime.epsilon
    assert "wherever it is" in task.promise


def test_an_attribute_that_is_not_asked_changes_nothing():
    oracle = Sampled(2, (PLAIN, PLAIN))
    task = task_of(oracle, {"page": ["a", "b"], "sex": ["f", "m"]}, distinct=2)
    stays = {"page": "a", "sex": "f"}
    moves = {"page": "a", "sex": "m"}
    first, second = (law([(task, stays), (task, now)]) for now in (stays, moves))
    for said, chance in first.items():
        if said[0][0] == 0:
            assert second[said] == chance


def test_two_tasks_about_one_threshold_share_one_cost():
    """Four messages about two numbers: two kept sides, and the noise of each."""
    quiet = task_of(SIDES, domain=local.Numbers(0, 2, 1), attribute="x")
    loud = replace(quiet, name="loud", oracle=replace(SIDES, sent=part(0.95)))
    assert memos.memo_id(quiet) == memos.memo_id(loud)
    kept = response_ratio(SIDES.kept, 2)
    instant = response_ratio(SIDES.sent, 2) * response_ratio(loud.oracle.sent, 2)
    histories = [(0, 0), (2, 2), (0, 2), (2, 0), (0, 1), (None, 1)]
    laws = [law(both(quiet, loud, history)) for history in histories]
    for one, first in zip(histories, laws, strict=True):
        for other, second in zip(histories, laws, strict=True):
            ratio = worst(first, second)
            assert ratio <= instant**2
            if alike(one, other):
                assert ratio <= kept ** len(set(one))


def test_answers_to_every_question_that_change_together_cost_each_once():
    """Numbers and values, and none of them, in all rows and histories of two days."""
    number = OneBitMean(2, part(0.7), part(0.8))
    oracle = Sampled(2, (number, Loloha(2, 2, 1, part(0.6), part(0.9))))
    fields = {"number": local.Numbers(0, 1, 1), "sex": ["f", "m"]}
    task = task_of(oracle, fields, none=False, distinct=2)
    rows = list(product((0, 1, None), ("f", "m", None)))
    histories = list(product(rows, repeat=2))
    laws = [
        law([(task, dict(zip(fields, row, strict=True))) for row in history])
        for history in histories
    ]
    kept, instant = response_ratio(part(0.7), 2), response_ratio(part(0.9), 2)
    for one, first in zip(histories, laws, strict=True):
        for other, second in zip(histories, laws, strict=True):
            ratio = worst(first, second)
            assert ratio <= instant**2
            columns = list(
                zip(zip(*one, strict=True), zip(*other, strict=True), strict=True)
            )
            if all(pattern(a) == pattern(b) for a, b in columns):
                assert ratio <= kept ** max(len(set(a)) for a, _ in columns)
