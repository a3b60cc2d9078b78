"""The reference is ChaCha20, and its normals are normal."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from tests.chance import chance
from tests.learn.kernels.reference import blocks, normals

Z = 6.2
MANY = 40_000

VECTORS = [
    # key, the counter with the first word of the nonce, the rest of the nonce, block
    (
        bytes(range(32)).hex(),
        1 | 0x09000000 << 32,
        "0000004a00000000",
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    (
        "00" * 32,
        0,
        "0000000000000000",
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
]
"""RFC 8439, section 2.3.2 and appendix A.1, number 1."""


@pytest.mark.parametrize("number", range(len(VECTORS)))
def test_vectors(number: int) -> None:
    key, counter, tail, wanted = VECTORS[number]
    place = np.array([counter], np.uint64)
    found = blocks(bytes.fromhex(key), place, bytes.fromhex(tail))
    assert found[:, 0].tobytes().hex() == wanted


@pytest.mark.parametrize("first", [0, 5, 2**32 - 2, 2**40 + 3])
def test_words_are_those_of_another_implementation(first: int) -> None:
    key = os.urandom(32)  # allowed: any key will do
    numbers = np.arange(first, first + 4, dtype=np.uint64)
    found = blocks(key, numbers)
    for place, words in zip(numbers.tolist(), found.T, strict=True):
        nonce = place.to_bytes(8, "little") + bytes(8)
        cipher = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()
        assert words.tobytes() == cipher.update(bytes(64))


@chance(1e-8)
def test_normals() -> None:
    key = os.urandom(32)  # allowed: any key will do
    drawn = normals(blocks(key, np.arange(MANY, dtype=np.uint64))).astype(np.float64)
    root = math.sqrt(drawn.size)
    assert abs(drawn.mean()) < Z / root
    assert abs((drawn**2).mean() - 1) < Z * math.sqrt(2) / root
    assert abs((drawn**3).mean()) < Z * math.sqrt(15) / root
    assert abs((drawn**4).mean() - 3) < Z * math.sqrt(96) / root
    ranked = np.sort(drawn, axis=None)
    shares = np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in ranked[::37]])
    seen = np.arange(0, drawn.size, 37) / drawn.size
    assert np.abs(shares - seen).max() * root < 3.4  # Kolmogorov
    for one, two in ((drawn[0::2], drawn[1::2]), (drawn[:, 1:], drawn[:, :-1])):
        near = math.sqrt(one.size)
        assert abs((one * two).mean()) * near < Z
        assert abs(((one**2 - 1) * (two**2 - 1)).mean()) * near < 2 * Z


def test_the_tail_reaches_beyond_what_32_bits_would() -> None:
    words = np.zeros((16, 3), np.uint32)
    words[0] = [0, 1, 2**20]
    words[1] = [0, 0, 0]
    largest = normals(words)[0]
    assert np.isfinite(largest).all()
    assert largest.min() > 7.7
    assert largest.max() == pytest.approx(math.sqrt(2 * 65 * math.log(2)))
    assert np.isfinite(normals(np.full((16, 1), 2**32 - 1, np.uint32))).all()
