"""Words over an alphabet: their prefixes, and how these are extended."""

from __future__ import annotations

import unicodedata
from itertools import product

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.hashes import digests
from dither.local.words import FRESH

SMALL = local.Vocabulary("ab", longest=3, step=2)
ACCENTS = local.Vocabulary("acé", longest=5, step=2)


def all_words(words: local.Vocabulary) -> list[str]:
    lengths = range(1, words.longest + 1)
    return ["".join(one) for n in lengths for one in product(words.alphabet, repeat=n)]


@pytest.mark.parametrize("words", [SMALL, ACCENTS], ids=["small", "accents"])
def test_every_word_is_reached_and_nothing_else(words: local.Vocabulary) -> None:
    seen = [""]
    for part in range(len(words.lengths)):
        seen = [longer for one in seen for longer in words.extended(one, part)]
        assert len(set(seen)) == len(seen)
        assert set(seen) == {words.prefix(word, part) for word in all_words(words)}
    assert {one.removesuffix("\0") for one in seen} == set(all_words(words))


def test_prefixes_of_a_word() -> None:
    assert ACCENTS.lengths == (2, 4, 5)
    assert [ACCENTS.prefix("cac", part) for part in range(3)] == [
        "ca",
        "cac\0",
        "cac\0",
    ]
    assert [ACCENTS.prefix("ca", part) for part in range(3)] == ["ca", "ca\0", "ca\0"]
    assert ACCENTS.prefix("cacaé", 2) == "cacaé"


@pytest.mark.parametrize(
    "value",
    ["", "b", "cacaca", "c a", "A", None, 3, True, b"ca", "\ud800", "c\0", ["ca"]],
)
def test_what_is_no_word_is_no_answer(value: object) -> None:
    assert ACCENTS.word(value) is None
    assert ACCENTS.answer(value, 0) == (None, -1)


def test_accents_count_once_however_they_are_typed() -> None:
    apart = unicodedata.normalize("NFD", "éca")
    assert apart != "éca"
    assert ACCENTS.word(apart) == "éca"


def test_many_words_have_the_digests_of_each() -> None:
    values = ["ca", "caca", None, "ca", "Z"]
    found = ACCENTS.places(np.array(values, object), FRESH)
    assert found.shape == (5, 3, 2)
    for row, value in zip(found, values, strict=True):
        texts = [ACCENTS.answer(value, part)[0] or b"n:" for part in range(3)]
        assert (row == digests(texts)).all()


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ({"alphabet": "a"}, "alphabet"),
        ({"alphabet": "aab"}, "alphabet"),
        ({"alphabet": "ae\u0301"}, "alphabet"),
        ({"alphabet": "a\0"}, "alphabet"),
        ({"alphabet": ["a", "b"]}, "alphabet"),
        ({"longest": 0}, "longest"),
        ({"longest": 65}, "longest"),
        ({"longest": True}, "longest"),
        ({"longest": 2}, "step"),
        ({"step": 0}, "step"),
        ({"alphabet": "".join(map(chr, range(0x4E00, 0x5200))), "step": 2}, "step"),
    ],
    ids=range(11),
)
def test_what_is_no_vocabulary_is_refused(about: dict, named: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        local.Vocabulary(**({"alphabet": "abc", "longest": 5} | about))
    assert named in str(caught.value)


def test_words_are_asked_for_once() -> None:
    with pytest.raises(ArgumentError, match="once"):
        local.task(
            "t", domain=SMALL, epsilon=1, for_ever=2, every="day", n=1000, distinct=2
        )
