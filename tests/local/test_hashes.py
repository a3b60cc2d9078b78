"""Hashes: published vectors, and collisions exactly as often as chance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dither.local.hashes import Linear, _murmur, digests, places


@pytest.mark.parametrize(
    ("text", "seed", "hashed"),
    [
        # Appleby's MurmurHash3_x86_32, as published in many test suites
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"test", 0, 0xBA6BD213),
        (b"Hello, world!", 0, 0xC0363E43),
        (b"The quick brown fox jumps over the lazy dog", 0, 0x2E4FF723),
    ],
)
def test_murmur(text: bytes, seed: int, hashed: int) -> None:
    assert _murmur(text, seed) == hashed


def test_many_texts_have_the_digests_of_each() -> None:
    texts = [bytes(range(7, 7 + length)) * 2 for length in range(9)] * 20
    texts += [b"\xff" * length for length in range(70)]
    each = np.concatenate([digests([text]) for text in texts])
    assert (digests(texts) == each).all()


def test_many_texts_are_not_hashed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("dither.local.hashes._murmur")
    assert digests([b"p:%d" % number for number in range(1000)]).shape == (1000, 2)


def test_places_are_even_and_independent_of_each_other() -> None:
    found = digests([b"s:%d" % number for number in range(4000)])
    rows = np.arange(64)
    at = places(found[:, None, :], rows[None, :], 16)
    counts = np.bincount(at.reshape(-1), minlength=16)
    assert counts == pytest.approx(np.full(16, 16_000), rel=0.05)
    same = np.mean(at[:2000] == at[2000:])
    assert same == pytest.approx(1 / 16, rel=0.05)


@pytest.mark.parametrize(("prime", "digits"), [(2, 4), (3, 3), (5, 2)])
def test_two_items_collide_under_one_function_in_prime(prime: int, digits: int) -> None:
    linear = Linear(prime, digits)
    functions = np.arange(linear.pool)
    values = [linear.of(functions, np.full(linear.pool, item)) for item in functions]
    for one, other in combinations(values, 2):
        assert (one == other).sum() * prime == linear.pool


@pytest.mark.parametrize(("prime", "digits"), [(2, 6), (3, 4), (7, 2), (53, 2)])
def test_the_transform_gives_the_sums(prime: int, digits: int) -> None:
    linear = Linear(prime, digits)
    counts = np.random.default_rng(1).integers(0, 1000, (linear.pool, prime))
    items = linear.pool - 1
    assert 2 * items > prime
    found = linear.supports(counts, items)
    assert (found == linear._looked_up(counts, items)).all()
