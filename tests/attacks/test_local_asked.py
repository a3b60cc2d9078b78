"""Questions about numbers, attributes and words that were made to deceive."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.client.memo import NONE, Memo, memo_id
from dither.local.oracles import Loloha, OneBitMean, Sampled
from dither.local.task import Task
from dither.local.words import FRESH, ONE
from tests.chance import chance

MEAN = local.task("x", domain=local.Numbers(0, 10), epsilon=1, n=1000)
TREE = local.task(
    "x", domain=local.Numbers(0, 99, ask="distribution"), epsilon=1, n=1000
)
FIELDS = {"age": range(5), "sex": ["f", "m"]}
BOTH = local.task("x", domain=FIELDS, epsilon=1, n=1000)
ONE_OF = local.task("x", domain=range(3), none=False, epsilon=1, n=1000)
WORDS = local.task("x", domain=local.Vocabulary("abc", 4), epsilon=1, n=1000)


def document(task: Task, **lines: Any) -> bytes:
    read = json.loads(task.document)
    for name, value in lines.items():
        changed = read
        *path, last = (int(s) if s.isdigit() else s for s in name.split("__"))
        for step in path:
            changed = changed[step]
        changed[last] = value
    text = json.dumps(read, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


@pytest.mark.parametrize(
    "task", [MEAN, TREE, BOTH, WORDS], ids=lambda task: task.oracle.kind
)
def test_documents_are_read_as_they_were_written(task: Task) -> None:
    read = Task.from_document(document(task))
    assert read == task
    assert read.document == task.document


HASHED = {"kind": "local hashing", "items": 0, "prime": 2, "digits": 1}
HASHED |= {"truth": (1 << 31) + 1}
BITS = {"kind": "longitudinal unary", "items": 0, "kept_one": 1 << 31}
BITS |= {"kept_zero": 2 * 10**9, "sent_one": 1 << 31, "sent_zero": 1 << 30}
WIDE = {"kind": "Hadamard response", "items": 3, "blocks": 1 << 32, "side": 1 << 31}
WIDE |= {"truth": 1}
PART = {"kind": "k-ary response", "items": 6, "truth": 3 << 30}


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        (MEAN, {"domain__low": 0.0}),  # written in another way
        (MEAN, {"domain__high": 1e14}),
        (MEAN, {"domain__step": 0}),
        (MEAN, {"domain__none": True}),
        (MEAN, {"domain__more": 1}),
        (MEAN, {"domain__ask": "variance"}),
        (MEAN, {"oracle": {"kind": "k-ary response", "items": 11, "truth": 3 << 30}}),
        (MEAN, {"oracle__items": 12}),
        (MEAN, {"oracle__truth": ONE - 1}),  # an ε above the promise
        (MEAN, {"oracle__inside": ONE - 1}),
        (MEAN, {"oracle__window": 0}),
        (MEAN, {"oracle__steps": 1 << 20}),
        (MEAN, {"oracle__steps": -1}),
        (TREE, {"domain__branching": 0}),
        (TREE, {"domain__branching": 1}),
        (TREE, {"domain__branching": 1 << 40}),
        (TREE, {"domain__high": 1e12}),
        (BOTH, {"domain__pairs": True}),
        (BOTH, {"domain__attributes": []}),
        (
            BOTH,
            {"domain__attributes": [["age", {"attributes": [], "pairs": False}]] * 2},
        ),
        (BOTH, {"oracle__items": 3}),
        (BOTH, {"oracle__items": 2.0}),
        (BOTH, {"oracle__parts": [PART]}),
        (BOTH, {"oracle__parts": [PART] * 3}),
        (BOTH, {"oracle__parts": [PART] * 100_000}),
        (BOTH, {"oracle__parts": "ab"}),
        (
            BOTH,
            {"oracle__parts__0": {"kind": "sampled", "items": 2, "parts": [PART] * 2}},
        ),
        (BOTH, {"oracle__parts__0__truth": ONE - 1}),
        (BOTH, {"oracle__parts__0__more": 1}),
        (WORDS, {"every": 1}),
        (WORDS, {"domain__step": 0}),
        (WORDS, {"domain__longest": 1 << 30}),
        (WORDS, {"domain__alphabet": "aab"}),
        (WORDS, {"oracle__parts__0__rows": 1 << 27}),
        (WORDS, {"oracle__parts": [HASHED, HASHED]}),  # no device could answer
        (WORDS, {"oracle__parts": [BITS, BITS]}),
        (ONE_OF, {"oracle": WIDE}),
    ],
    ids=lambda lines: ", ".join(lines) if isinstance(lines, dict) else "",
)
def test_a_document_that_is_not_a_question_is_refused(task: Task, lines: Any) -> None:
    with pytest.raises(ArgumentError):
        Task.from_document(document(task, **lines))


def test_a_document_with_half_of_a_letter_is_refused() -> None:
    """Half of a surrogate pair has no bytes to sign."""
    read = json.loads(WORDS.document)
    read["domain"]["alphabet"] = "ab\ud800"
    text = json.dumps(read, sort_keys=True, separators=(",", ":"))
    with pytest.raises(ArgumentError, match="alphabet"):
        Task.from_document(text.encode())


def test_no_pairs_are_made_of_too_many_attributes() -> None:
    """A million attributes would have half a billion times as many pairs."""
    one = {"from": 0, "below": 2, "none": False}
    many = [[str(number), one] for number in range(1000)]
    with pytest.raises(ArgumentError, match="256 attributes"):
        Task.from_document(document(BOTH, domain__attributes=many, domain__pairs=True))


def test_all_hash_functions_together_tell_few_devices_apart() -> None:
    """Each attribute's alone would pass."""
    usual: dict[str, Any] = {"epsilon": 9, "for_ever": 20.0, "every": 1, "n": 9}
    one = Loloha(250, 3, 243, 3 << 30, 3 << 30)
    many = {"a": range(250), "b": range(250)}
    with pytest.raises(ArgumentError, match="would identify the device"):
        local.task("x", domain=many, none=False, oracle=Sampled(2, (one, one)), **usual)
    chosen = local.task("x", domain=many, none=False, **usual)
    assert chosen.oracle.tracking <= 256


def test_a_number_has_two_sides() -> None:
    """With one value told apart, the other side would be sent as "none"."""
    task = local.task(
        "x", domain=local.Numbers(0, 9, 1), epsilon=1, for_ever=2, every="day", n=1000
    )
    assert task.distinct == 2
    with pytest.raises(ArgumentError, match="distinct"):
        task.changed(distinct=1)


def test_a_restored_device_answers_the_same_part_about_another_value() -> None:
    """Whoever puts an old copy of a device back learns of no second attribute."""
    for number in range(20):
        memo = Memo.of(BOTH, b"%d" % number, b"salt")
        parts = {
            int(memo.record(BOTH, memo.answer(BOTH, value), 0, 0)[0, 0])
            for value in ({"age": 1, "sex": "f"}, {"age": 2}, None, 7)
        }
        assert len(parts) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"sex": ["f", "m"], "age": range(5)},
        {"age": range(5), "sex": ["f", "m"], "plan": ["free", "paid"]},
        {"age": range(6), "sex": ["f", "m"]},
    ],
    ids=["turned round", "one more", "another range"],
)
def test_other_questions_about_an_attribute_share_nothing(fields: Any) -> None:
    """A device draws its part anew, and reserves for it: no noise is used twice."""
    usual: dict[str, Any] = {"epsilon": 1, "for_ever": 2, "every": "day", "n": 1000}
    one = local.task("x", domain=FIELDS, attribute="person", **usual)
    other = local.task("y", domain=fields, attribute="person", **usual)
    assert memo_id(one) != memo_id(other)
    quiet = local.task(
        "z", domain=FIELDS, attribute="person", **usual | {"epsilon": 0.5}
    )
    assert memo_id(one) == memo_id(quiet)


def test_a_plain_question_shares_nothing_with_a_part() -> None:
    usual: dict[str, Any] = {"epsilon": 1, "for_ever": 2, "every": "day", "n": 1000}
    whole = local.task("x", domain=FIELDS, attribute="person", **usual)
    part = local.task(
        "y",
        domain=range(5),
        attribute="person",
        oracle=whole.oracle.parts[0],  # type: ignore[attr-defined]
        **usual,
    )
    assert memo_id(whole) != memo_id(part)


@chance(1e-15)
def test_tasks_with_equal_tags_have_noise_of_their_own() -> None:
    """Eight bytes collide after 2^32 documents, minutes of work. With one stream, a
    word between two rates is a truth to one task and a lie to the other: then the one
    that lies less has shown what is kept, for sure.
    """
    loud = Loloha(2, 2, 1, 3 << 30, int(0.9 * ONE))
    quiet = Loloha(2, 2, 1, 3 << 30, int(0.6 * ONE))
    usual: dict[str, Any] = {"epsilon": 9, "for_ever": 9, "every": "day", "n": 1000}
    usual |= {"domain": ["a", "b"], "attribute": "x"}
    one = local.task("one", oracle=loud, none=False, **usual)
    two = local.task("two", oracle=quiet, none=False, **usual)
    assert memo_id(one) == memo_id(two)
    vars(two)["tag"] = one.tag
    shown, hidden = 0, 0
    for number in range(1000):
        memo = Memo.of(one, b"%d" % number, b"salt")
        answer = memo.answer(one, "a")
        kept = memo.permanent_answer(one, answer)[0]
        said, other = (memo.record(task, answer, 0, 0)[0, 0] for task in (one, two))
        if said != other:
            shown, hidden = shown + (said == kept), hidden + (said != kept)
    # of messages that differ, 0.36 say the truth through the first, and 0.06 lie
    assert hidden > 20
    assert shown > hidden


class Trap:
    """Looking at it raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError


@pytest.mark.parametrize(
    "task", [MEAN, TREE, BOTH, WORDS], ids=lambda task: task.oracle.kind
)
@pytest.mark.parametrize(
    "value",
    [Trap(), {"age": Trap()}, [], 1j, "\ud800", {"age": {}}, float("nan")],
    ids=range(7),
)
def test_every_value_has_an_answer_of_the_same_size(task: Task, value: object) -> None:
    memo = Memo.of(task, b"secret", b"salt")
    answer = memo.answer(task, value)
    record = memo.record(task, answer, 0, 0)
    assert answer == NONE
    assert record.shape == (1, task.oracle.record)


@chance(1e-11)
def test_kept_noise_of_a_number_does_not_average_out() -> None:
    """A year of messages about one number: what is learned is one kept side."""
    oracle = OneBitMean.at(11, 1.0, 2.0)
    rng = np.random.default_rng(3)  # allowed: made-up devices
    devices = 2000
    truth = oracle.kept / ONE
    items = rng.choice([0, 10], devices)
    seeds = rng.integers(0, 10, devices)
    kept = oracle.permanent(oracle.memo_keys(items, seeds), FRESH)
    year = np.mean(
        [oracle.instant(kept, seeds, FRESH)[:, 0] for _ in range(365)], axis=0
    )
    right = ((year > 0.5) == (items > 5)).mean()
    assert right == pytest.approx(truth, abs=0.07)  # seven standard deviations
    assert truth < 0.89
