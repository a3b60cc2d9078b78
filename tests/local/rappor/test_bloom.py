from __future__ import annotations

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.local import hashes
from dither.local.rappor import bloom

WORDS = ("apple", "banana", "carrot")


def test_bytes_of_md5_are_what_the_python_client_hashes() -> None:
    """google/rappor, hash_candidates_test.py: places count from 1, cohort by cohort."""
    published = (
        (5, 1, 26, 26, 38, 34, 63, 62),
        (12, 14, 28, 24, 37, 34, 62, 49),
        (4, 12, 25, 21, 48, 38, 61, 54),
    )
    items = bloom.items_of("md5-byte", [word.encode() for word in WORDS], 4, 2, 16)
    shifted = items + 16 * np.arange(4)[:, None] + 1
    assert shifted.reshape(3, 8).tolist() == [list(row) for row in published]


@pytest.mark.parametrize(
    ("word", "cohort", "bits"),
    [
        ("Whizbang", 0, 0b000010000100),
        ("Whizbang", 3, 0b000011000000),
        ("Xyzzy", 0, 0b001001000000),
        ("Thud", 0, 0b000000110000),
    ],
)
def test_pairs_of_bytes_are_what_the_java_client_hashes(
    word: str, cohort: int, bits: int
) -> None:
    """google/rappor, EncoderTest.java."""
    items = bloom.items_of("md5-uint16", [word.encode()], 4, 2, 12)
    (row,) = bloom.filters("md5-uint16", items, np.array([cohort]), 2, 12)
    assert int.from_bytes(row.tobytes(), "little") == bits


def test_ours_is_a_row_of_the_shared_hashes_for_each_cohort_and_hash() -> None:
    digests = hashes.digests([b"s:a", b"s:b"])
    found = bloom.places("murmur32", digests, np.array([3, 1]), 2, 100)
    rows = np.array([[6, 7], [2, 3]])
    assert (found == hashes.places(digests[:, None], rows, 100)).all()


def test_both_hashes_may_fall_into_one_byte_or_one_bit() -> None:
    items = np.array([[[3, 5]], [[7, 7]]])
    rows = bloom.filters("md5-byte", items, np.array([0, 0]), 2, 9)
    assert rows.tolist() == [[0b101000, 0], [0b10000000, 0]]


def test_declared_items_have_a_bit_each_or_share_one() -> None:
    none = np.zeros(3, np.int64)
    rows = bloom.filters("identity", np.array([0, 8, 3]), none, 1, 9)
    assert rows.tolist() == [[1, 0], [0, 1], [8, 0]]
    shared = bloom.filters("identity", np.array([0, 1, 0]), none, 1, 1)
    assert shared.tolist() == [[0], [1], [0]]


def test_our_texts_are_normal_and_google_s_are_as_typed() -> None:
    composed, typed = "caf\u00e9", "cafe\u0301"
    assert bloom.text_of("murmur32", typed) == b"s:" + composed.encode()
    assert bloom.text_of("md5-byte", typed) == typed.encode()
    assert bloom.text_of("murmur32", None) == b"n:"


def test_google_s_hashes_are_not_taken_from_digests() -> None:
    digests = hashes.digests([b"s:a", b"s:b"])
    with pytest.raises(ArgumentError, match="for Google's clients"):
        bloom.filters("md5-byte", digests, np.zeros(2, np.int64), 2, 16)


@pytest.mark.parametrize("family", ["murmur32", "md5-byte"])
@pytest.mark.parametrize("value", ["\ud83c", 1.5, b"text"])
def test_what_is_no_value_is_refused(family: str, value: object) -> None:
    with pytest.raises(ArgumentError, match="is not a"):
        bloom.text_of(family, value)
