from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local import bits as packing
from dither.local.rappor.oracle import Rappor
from dither.local.thresholds import chance as share_of
from dither.local.thresholds import loss
from dither.local.words import FRESH, ONE, Keyed
from tests.chance import chance

QUARTER = ONE // 4


class Queue:
    """Words in a prepared order."""

    def __init__(self, *parts: NDArray[np.uint8]) -> None:
        joined = np.concatenate([part.reshape(-1) for part in parts])
        self._left = joined.view(np.uint32)

    def take(self, count: int) -> NDArray[np.uint32]:
        taken, self._left = self._left[:count], self._left[count:]
        return taken.copy()


def small(bits: int = 3, hashes: int = 1, cohorts: int = 1, **changed: Any) -> Rappor:
    numbers = {
        "flip": 1_200_000_001,
        "sent_one": 3_100_000_003,
        "sent_zero": 900_000_007,
    }
    return Rappor(
        0, cohorts=cohorts, bits=bits, hashes=hashes, family="murmur32",
        **(numbers | changed),
    )  # fmt: skip


def basic(items: int, **changed: Any) -> Rappor:
    numbers = {
        "flip": 700_000_001,
        "sent_one": 3_300_000_003,
        "sent_zero": 1_100_000_007,
    }
    bits = items if items > 2 else 1
    return Rappor(
        items, cohorts=1, bits=bits, hashes=1, family="identity", **(numbers | changed)
    )


def filters_of(oracle: Rappor, cohort: int) -> set[tuple[int, ...]]:
    """Every filter that some item has."""
    if oracle.items:
        items: NDArray[Any] = np.arange(oracle.items)
    else:
        items = oracle.encode([b"s:%d" % n for n in range(400)])
    rows = oracle.filters(items, np.full(len(items), cohort))
    unpacked = np.unpackbits(rows, axis=1, count=oracle.bits, bitorder="little")
    return {tuple(row) for row in unpacked.tolist()}


def patterns(bits: int) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=bits))


def kept_law(oracle: Rappor, held: tuple[int, ...]) -> list[Fraction]:
    flip = share_of(oracle.flip)
    return [
        math.prod(
            (1 - flip if a == b else flip for a, b in zip(held, kept, strict=True))
        )
        for kept in patterns(oracle.bits)
    ]


def fresh_law(oracle: Rappor, kept: tuple[int, ...]) -> list[Fraction]:
    rates = (share_of(oracle.sent_zero), share_of(oracle.sent_one))
    return [
        math.prod(
            rates[a] if b else 1 - rates[a] for a, b in zip(kept, said, strict=True)
        )
        for said in patterns(oracle.bits)
    ]


def message_law(oracle: Rappor, held: tuple[int, ...]) -> list[Fraction]:
    fresh = [fresh_law(oracle, kept) for kept in patterns(oracle.bits)]
    kept = kept_law(oracle, held)
    return [
        sum((a * row[said] for a, row in zip(kept, fresh, strict=True)), Fraction(0))
        for said in range(len(fresh))
    ]


def largest_loss(laws: list[list[Fraction]]) -> float:
    pairs = itertools.permutations(laws, 2)
    ratios = (a / b for one, other in pairs for a, b in zip(one, other, strict=True))
    return loss(max(ratios))


ORACLES = [
    *(
        small(bits, hashes, cohorts)
        for bits in (3, 4)
        for hashes in (1, 2)
        for cohorts in (1, 2)
    ),
    small(sent_zero=2_000_000_000),
    basic(2),
    basic(3),
    basic(4),
    Rappor.at(bits=4, hashes=2, cohorts=2, epsilon=1, for_ever=3),
    Rappor.at(3, epsilon=0.5, for_ever=2),
    Rappor.at(2, epsilon=1, for_ever=1.5),
]


@pytest.mark.parametrize("oracle", ORACLES, ids=str)
def test_the_largest_loss_of_any_two_items_is_the_derived_one(oracle: Rappor) -> None:
    once, kept = [], []
    for cohort in range(oracle.cohorts):
        held = filters_of(oracle, cohort)
        once.append(largest_loss([message_law(oracle, one) for one in held]))
        kept.append(largest_loss([kept_law(oracle, one) for one in held]))
    assert max(once) == oracle.epsilon
    assert max(kept) == oracle.epsilon_for_ever


@pytest.mark.parametrize("oracle", ORACLES, ids=str)
def test_the_largest_distance_of_any_two_items_is_the_derived_one(
    oracle: Rappor,
) -> None:
    most = Fraction(0)
    for cohort in range(oracle.cohorts):
        laws = [message_law(oracle, one) for one in filters_of(oracle, cohort)]
        for one, other in itertools.combinations(laws, 2):
            pairs = zip(one, other, strict=True)
            most = max(most, sum((abs(a - b) for a, b in pairs), Fraction(0)) / 2)
    assert oracle.distance == pytest.approx(float(most), rel=1e-12)
    assert oracle.distance >= most


@pytest.mark.parametrize("hashes", [1, 2])
def test_messages_have_exactly_the_stated_law(hashes: int) -> None:
    """Every combination of random bytes at quarters, through the code itself."""
    oracle = small(3, hashes, flip=QUARTER, sent_one=3 * QUARTER, sent_zero=QUARTER)
    bytes_ = np.array([32, 96, 160, 224], np.uint8)
    choices = np.array(list(itertools.product(bytes_, repeat=9)), np.uint8)
    rows = len(choices)

    def drawn(part: int) -> NDArray[np.uint8]:
        padded = np.zeros((rows, 8), np.uint8)
        padded[:, :3] = choices[:, 3 * part : 3 * part + 3]
        return padded

    for text in (b"s:a", b"s:b"):
        items = np.repeat(oracle.encode([text]), rows, axis=0)
        cohort = np.zeros((rows, 4), np.uint8)
        words = Queue(cohort, drawn(0), drawn(1), drawn(2))
        found = Counter(oracle.randomize(items, words)[:, 0].tolist())
        (held,) = oracle.filters(items[:1], np.zeros(1, np.int64))
        bits = tuple(int(held[0]) >> place & 1 for place in range(3))
        law = message_law(oracle, bits)
        for said, share in zip(patterns(3), law, strict=True):
            number = sum(bit << place for place, bit in enumerate(said))
            assert Fraction(found[number], rows) == share


def histories(values: int) -> Iterator[tuple[int, int]]:
    return itertools.product(range(values), repeat=2)


def two_messages(
    oracle: Rappor, held: list[tuple[int, ...]], history: tuple[int, int]
) -> list[Fraction]:
    """The law of two messages: equal values share their flips, others do not, even
    where their filters are equal.
    """
    first, second = history
    if first != second:
        one, other = (message_law(oracle, held[value]) for value in history)
        return [a * b for a in one for b in other]
    fresh = [fresh_law(oracle, kept) for kept in patterns(oracle.bits)]
    law = kept_law(oracle, held[first])
    size = len(fresh)
    return [
        sum((law[k] * fresh[k][a] * fresh[k][b] for k in range(size)), Fraction(0))
        for a in range(size)
        for b in range(size)
    ]


def losses(laws: list[tuple[bool, list[Fraction]]]) -> dict[tuple[bool, bool], float]:
    """The largest loss between histories that stay or change."""
    most: dict[tuple[bool, bool], Fraction] = {}
    for (stays, one), (other_stays, other) in itertools.permutations(laws, 2):
        ratio = max(a / b for a, b in zip(one, other, strict=True))
        key = (stays, other_stays)
        most[key] = max(most.get(key, Fraction(1)), ratio)
    return {key: loss(ratio) for key, ratio in most.items()}


@pytest.mark.parametrize("oracle", [small(3, 1), small(3, 2), basic(3)], ids=str)
def test_two_messages_of_one_device(oracle: Rappor) -> None:
    """Histories that change at the same times: ε for ever for each value. Others: the
    first message loses ε once, the second what fresh noise alone hides.
    """
    held = sorted(filters_of(oracle, 0))[:3]
    held.append(held[0])  # another value with the same filter
    laws = [(a == b, two_messages(oracle, held, (a, b))) for a, b in histories(4)]
    found = losses(laws)
    assert found[True, True] <= oracle.epsilon_for_ever
    assert found[False, False] <= 2 * oracle.epsilon_for_ever
    mixed = max(found[True, False], found[False, True])
    assert mixed <= oracle.epsilon + oracle.epsilon_instant


def test_messages_times_epsilon_once_is_no_bound() -> None:
    """Kept noise is no fresh noise: it shows whether an answer changed."""
    oracle = basic(4)
    held = sorted(filters_of(oracle, 0))
    laws = [(a == b, two_messages(oracle, held, (a, b))) for a, b in histories(4)]
    assert losses(laws)[True, False] > 2 * oracle.epsilon


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4])
@pytest.mark.parametrize("items", [0, 2, 10])
@pytest.mark.parametrize("more", [1.01, 2, 3])
def test_calibration_keeps_both_promises_and_wastes_little(
    epsilon: float, items: int, more: float
) -> None:
    oracle = Rappor.at(items, epsilon=epsilon, for_ever=more * epsilon)
    assert epsilon * (1 - 1e-6) <= oracle.epsilon <= epsilon
    assert more * epsilon * (1 - 1e-4) <= oracle.epsilon_for_ever <= more * epsilon


@pytest.mark.parametrize("items", [0, 10])
def test_calibration_is_as_good_as_one_layer_of_optimal_noise(items: int) -> None:
    """With room between the two ε: the variance of OUE at ε / hashes."""
    oracle = Rappor.at(items, epsilon=1, for_ever=3)
    held, null = oracle.rates
    each = math.exp(1 / oracle.hashes)
    best = 4 * each / (each - 1) ** 2
    assert null * (1 - null) / (held - null) ** 2 == pytest.approx(best)


@pytest.mark.parametrize(
    ("stated", "once", "for_ever"),
    [
        ({"bits": 16, "cohorts": 64, "p": 0.5, "q": 0.75, "f": 0.5}, 1.0743, 4.3944),
        ({"p": 0.39, "q": 0.61, "f": 0.45}, 0.9728, 4.9471),
        ({"p": 0.225, "q": 0.775, "f": 0}, 4.9471, math.inf),
        ({"bits": 32, "hashes": 1, "p": 0.25, "q": 0.75, "f": 0.5}, 1.0217, 2.1972),
    ],
)
def test_published_parameters_lose_what_is_published(
    stated: dict[str, Any], once: float, for_ever: float
) -> None:
    oracle = Rappor.of(**stated)
    assert oracle.epsilon == pytest.approx(once, abs=6e-5)
    assert oracle.epsilon_for_ever == pytest.approx(for_ever, abs=6e-5)


def test_a_device_s_words_are_drawn_in_the_written_order() -> None:
    oracle = small(12, 2, 4)
    items = oracle.encode([b"s:a"])
    words = Keyed(b"device")
    cohort = int(words.take(1)[0]) % 4
    rows = [packing.biased(words, t, 1, 12)[0] for t in (oracle.flip, oracle.sent_one)]
    rows.append(packing.biased(words, oracle.sent_zero, 1, 12)[0])
    (held,) = oracle.filters(items, np.array([cohort]))
    kept = held ^ rows[0]
    said = (rows[1] & kept) | (rows[2] & ~kept)
    (record,) = oracle.randomize(items, Keyed(b"device"))
    assert record.tolist() == [cohort, *said.tolist()]


def test_tally_counts_messages_and_ones_of_each_cohort() -> None:
    oracle = small(12, 2, 4)
    items = np.repeat(oracle.encode([b"s:a", b"s:b"]), 500, axis=0)
    records = oracle.randomize(items, FRESH)
    counts = oracle.tally(records).reshape(4, 13)
    ones = np.unpackbits(records[:, 1:], axis=1, count=12, bitorder="little")
    for cohort in range(4):
        here = records[:, 0] == cohort
        assert counts[cohort, 0] == here.sum()
        assert (counts[cohort, 1:] == ones[here].sum(axis=0)).all()
    halves = oracle.tally(records[:300]) + oracle.tally(records[300:])
    assert (halves == counts.reshape(-1)).all()
    assert oracle.cells == halves.size
    assert oracle.tally(records[:0]).tolist() == [0] * oracle.cells


def test_impossible_messages_are_not_valid() -> None:
    oracle = small(12, 2, 4)
    rows = [[3, 255, 15], [4, 0, 0], [0, 0, 16], [0, 0, 0]]
    assert oracle.valid(np.array(rows, np.uint8)).tolist() == [True, False, False, True]
    assert oracle.record == 3
    plain = small(8)
    assert plain.valid(np.array([[255], [0]], np.uint8)).all()
    assert plain.record == 1


def test_what_a_message_says() -> None:
    assert small(12, 2, 4).describe(np.array([3, 5, 8], np.uint8)) == (
        "cohort 3, bits 0, 2, 11 of 12"
    )
    assert basic(4).describe(np.array([0b1010], np.uint8)) == "{1}, {3}"
    assert basic(2).describe(np.array([1], np.uint8)) == "{1}"


def test_permanent_parameters_leave_out_fresh_noise() -> None:
    oracle = small()
    other = small(sent_one=oracle.sent_one - 1)
    assert oracle.permanent_parameters == other.permanent_parameters
    assert oracle.permanent_parameters != small(flip=1).permanent_parameters


@chance(2e-8)
@pytest.mark.parametrize("items", [2, 5])
@pytest.mark.parametrize("periods", [1, 3])
def test_evidence_of_a_declared_domain(items: int, periods: int) -> None:
    """Unbiased, with the stated variance, also where devices repeat kept answers."""
    oracle = basic(items)
    held = np.repeat(np.arange(items), [30, 50, 20, 0, 0][:items])
    seeds = np.zeros(len(held), np.int64)
    found = np.arange(items)
    seen = []
    for _ in range(1500):
        kept = oracle.permanent(oracle.memo_keys(held, seeds), FRESH)
        sent = [oracle.instant(kept, seeds, FRESH) for _ in range(periods)]
        counts = oracle.tally(np.concatenate(sent))
        about = oracle.evidence(counts, periods * len(held), periods, found)
        seen.append(about.counts)
    true = periods * np.bincount(held, minlength=items)
    variance = (about.null + about.slope * true) / about.gain**2
    error = np.mean(seen, axis=0) - true
    assert (abs(error) < 6 * np.sqrt(variance / len(seen))).all()
    assert np.var(seen, axis=0) == pytest.approx(variance, rel=0.24)


def test_values_with_equal_filters_have_noise_of_their_own() -> None:
    oracle = small(3, 1)
    items = oracle.encode([b"s:%d" % n for n in range(9)])
    seeds = np.zeros(9, np.int64)
    held, keys = oracle.filters(items, seeds), oracle.memo_keys(items, seeds)
    assert len(np.unique(held, axis=0)) < 9
    assert len(np.unique(keys, axis=0)) == 9
    assert len(np.unique(oracle.memo_keys(items[:1].repeat(4, 0), np.arange(4)))) > 4


def test_bloom_filters_need_candidates() -> None:
    oracle = small()
    with pytest.raises(ArgumentError, match="candidates"):
        oracle.evidence(np.zeros(4, np.int64), 0, 1, oracle.encode([b"s:a"]))


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"cohorts": 512}, "cohorts"),
        ({"cohorts": 3}, "cohorts"),
        ({"bits": 1}, "bits"),
        ({"hashes": 4}, "hashes"),
        ({"hashes": 0}, "hashes"),
        ({"flip": ONE // 2}, "flip"),
        ({"flip": 0, "sent_zero": 0}, "flip"),
        ({"sent_one": 1000, "sent_zero": 1000}, "sent_one"),
        ({"bits": 9, "sent_one": ONE, "sent_zero": 0}, "sent_one"),
    ],
)
def test_parameters_that_cannot_be(changed: dict[str, int], argument: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        small(**changed)  # type: ignore[arg-type]
    assert raised.value.argument == argument


def test_forms_that_cannot_be() -> None:
    numbers = {"flip": 1000, "sent_one": 3000, "sent_zero": 1000}
    with pytest.raises(ArgumentError, match="identity"):
        Rappor(3, cohorts=1, bits=3, hashes=1, family="murmur32", **numbers)
    with pytest.raises(ArgumentError, match="must be the number of items"):
        Rappor(3, cohorts=1, bits=2, hashes=1, family="identity", **numbers)
    with pytest.raises(
        ArgumentError, match=r"hashes must be 1 .*, and so must cohorts"
    ):
        Rappor(3, cohorts=2, bits=3, hashes=1, family="identity", **numbers)
    with pytest.raises(ArgumentError, match="one of murmur32"):
        Rappor(0, cohorts=1, bits=3, hashes=1, family="sha1", **numbers)
    with pytest.raises(ArgumentError, match="above epsilon"):
        Rappor.at(epsilon=1, for_ever=1)
