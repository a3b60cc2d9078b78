"""Keys, memos and answers: what is kept apart, and what is shared."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from dither.local.client.memo import (
    LONGEST,
    NONE,
    Answer,
    Memo,
    framed,
    memo_id,
    permanent_digest,
)
from dither.local.domain import canonical
from dither.local.oracles import HadamardSketch, KAryResponse, Loloha


def test_frames_tell_lists_apart():
    assert framed(b"ab", b"") == b"\0\0\0\2ab\0\0\0\0"
    lists = [(b"ab", b"c"), (b"a", b"bc"), (b"abc",), (b"", b"abc"), (b"abc", b"")]
    assert len({framed(*parts) for parts in lists}) == len(lists)


def test_a_key_is_an_hmac_of_all_that_it_belongs_to(make):
    task = make(attribute="mood")
    memo = Memo.of(task, b"secret", b"salt")
    parts = (b"salt", b"mood", permanent_digest(task), b"permanent", b"s:x")
    whole = hmac.new(b"secret", framed(*parts), hashlib.sha256).digest()
    assert memo.key("permanent", b"s:x") == whole


def test_every_part_of_a_key_counts(make):
    task = make()
    memo = Memo.of(task, b"secret", b"salt")
    others = [
        replace(memo, secret=b"other"),
        replace(memo, salt=b"other"),
        replace(memo, attribute="other"),
        replace(memo, permanent=b"other"),
    ]
    keys = {one.key("seed") for one in (memo, *others)}
    keys |= {memo.key("once"), memo.key("seed", b"")}
    assert len(keys) == 7


def test_secrets_are_not_shown(make):
    assert "hidden" not in repr(Memo.of(make(), b"hidden", b"hidden"))


def test_what_a_memo_depends_on(make):
    oracle = Loloha.at(5, 1, 2)
    task = make(attribute="x", oracle=oracle)
    same = [
        replace(task, name="other"),
        replace(task, version=2),
        replace(task, distinct=4),
        replace(task, expires=date(2029, 1, 1)),
        replace(task, oracle=replace(oracle, sent=oracle.sent - 1)),
    ]
    assert {memo_id(one) for one in same} == {memo_id(task)}
    other = [
        replace(task, attribute="y"),
        replace(task, oracle=replace(oracle, kept=oracle.kept - 1)),
        make(attribute="x", oracle=oracle, domain=["🎉", "👍", "❤️", "other"]),
        make(attribute="x", oracle=oracle, domain=["👍", "🎉", "❤️", "😂"]),
        make(
            attribute="x",
            oracle=oracle,
            domain=["🎉", "👍", "❤️", "😂", "x"],
            none=False,
        ),
    ]
    assert len({memo_id(one) for one in (task, *other)}) == 6


def test_a_task_that_is_answered_once_has_its_own_memo(make):
    once = {"every": None, "for_ever": None, "distinct": 1, "attribute": "x"}
    once |= {"oracle": KAryResponse.at(5, 1)}
    ids = {
        memo_id(make("one", **once)),
        memo_id(make("two", **once)),
        memo_id(make("one", starts=date(2027, 4, 1), **once)),
        memo_id(make("one", **(once | {"every": "day", "for_ever": 1}))),
    }
    assert len(ids) == 4
    assert memo_id(make("one", minimum=7, **once)) in ids


def test_answers_are_values_of_the_domain_or_none(make):
    task = make(domain=["é", 1, True])
    assert Answer.of(task, "e\u0301") == Answer("s:é".encode(), 0)
    assert Answer.of(task, np.int64(1)) == Answer(b"i:1", 1)
    assert Answer.of(task, np.True_) == Answer(b"b:1", 2)
    for value in ("1", 2, False, None, 1.0, b"\xc3\xa9"):
        assert Answer.of(task, value) == NONE


def test_answers_of_an_open_vocabulary_are_texts_of_some_length(make):
    once = {"every": None, "for_ever": None, "distinct": 1, "domain": None}
    task = make(oracle=HadamardSketch.at(1), **once)
    longest = "x" * (LONGEST - 2)
    assert Answer.of(task, longest) == Answer(b"s:" + longest.encode())
    assert Answer.of(task, f"{longest}x") == NONE
    assert Answer.of(task, 7) == Answer(b"i:7")
    assert Answer.of(task, "") == NONE


def test_whole_numbers_have_canonical_bytes_up_to_a_length():
    """Python refuses to write much longer ones."""
    assert canonical(2**1024 - 1) == b"i:%d" % (2**1024 - 1)
    assert canonical(2**1024) is None
    assert canonical(-(10**5000)) is None


@pytest.mark.parametrize("none", [True, False])
def test_equal_inputs_give_equal_records(make, none):
    task = make(none=none)
    memo = Memo.of(task, b"secret", b"salt")
    for value in ("🎉", None):
        answer = Answer.of(task, value)
        records = {memo.record(task, answer, 3, 1).tobytes() for _ in range(3)}
        assert len(records) == 1


def test_noise_differs_between_periods_slots_values_and_tasks(make):
    """Records of 25 bytes: two equal ones would be chance, once in a lifetime."""
    task = make(domain=range(200), none=False, oracle="longitudinal unary")
    other = replace(task, minimum=77)
    memo = Memo.of(task, b"secret", b"salt")
    asked = [(task, 1, 0, 0), (task, 2, 0, 0), (task, 1, 1, 0), (task, 1, 0, 1)]
    records = {
        memo.record(one, Answer.of(one, value), period, slot).tobytes()
        for one, value, period, slot in [*asked, (other, 1, 0, 0)]
    }
    assert len(records) == 5
    kept = memo.permanent_answer(task, Answer.of(task, 1))
    assert np.array_equal(kept, memo.permanent_answer(other, Answer.of(other, 1)))
