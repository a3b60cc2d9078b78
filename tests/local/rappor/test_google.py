"""The published test vectors of google/rappor's three clients, and what is built on
them.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math
from typing import Any

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.local.rappor import google
from dither.local.rappor.decode import decode
from dither.local.rappor.oracle import Rappor
from tests.chance import chance

SECRET = bytes(range(48))


def java_secret(name: str) -> bytes:
    return 3 * hashlib.md5(name.encode()).digest()


def held_by(protocol: google.Protocol, word: str, cohort: int) -> int:
    oracle = protocol.oracle
    rows = oracle.filters(oracle.encode([word.encode()]), np.array([cohort]))
    return int.from_bytes(rows.tobytes(), "little")


def test_python() -> None:
    """rappor_test.py, testEncoder: its random numbers are 0, 0.6, 0, 0, 0.6, 0, …"""
    protocol = google.Protocol(16, 2, 64, f=0.5, p=0.5, q=0.75)
    held = held_by(protocol, "abc", 0)
    noise = google.noise_of("python", b"secret", b"", held, 16)
    kept = google.kept_bits(held, noise, protocol.noisy)
    numbers = list(itertools.islice(itertools.cycle([0.0, 0.6, 0.0]), 16))
    zeros = sum((number < 0.5) << place for place, number in enumerate(numbers))
    ones = sum((number < 0.75) << place for place, number in enumerate(numbers))
    assert (zeros & ~kept) | (ones & kept) == 64493


def test_cpp_cohort() -> None:
    """encoder_unittest.cc. Its words cannot be repeated: the name that it hashes with
    them is read from memory that was freed.
    """
    assert google.cohort_of("c++", b"client-secret", 128) == 3


def test_cpp_hashes_a_mark_and_the_name_before_the_filter() -> None:
    message = b"\x01metric-name\x00\x00\x01\x23"
    expected = hmac.new(b"client-secret", message, hashlib.sha256).digest()
    found = google.noise_of("c++", b"client-secret", b"metric-name", 0x123, 32)
    assert found == expected


@pytest.mark.parametrize(("user", "kept"), [("Bar", 0b01110101), ("Baz", 0b11111101)])
def test_java_keeps(user: str, kept: int) -> None:
    """EncoderTest.java, testEncoderEncodeBits_prrMemoizes."""
    noise = google.noise_of("java", java_secret(user), b"Foo", 0b11111101, 8)
    assert google.kept_bits(0b11111101, noise, 32) == kept


def test_java_flips_as_often_as_published() -> None:
    """EncoderTest.java, testEncoderEncodeBits_prrFlipProbability: 10,000 users."""
    counts = np.zeros(8, np.int64)
    for user in range(10_000):
        secret = java_secret(f"User{user}")
        noise = google.noise_of("java", secret, b"Foo", 0b11111101, 8)
        kept = google.kept_bits(0b11111101, noise, 4)
        counts += [kept >> place & 1 for place in range(8)]
    assert counts.tolist() == [9843, 173, 9839, 9831, 9848, 9828, 9834, 9837]


@pytest.mark.parametrize(("user", "cohort"), [("Blotto", 3), ("Bar", 3), ("Bar2", 0)])
def test_java_cohorts(user: str, cohort: int) -> None:
    assert google.cohort_of("java", java_secret(user), 4) == cohort
    large = google.cohort_of("java", java_secret(user), 128)
    assert large & 3 == cohort


@pytest.mark.parametrize(
    ("client", "f", "effective"),
    [
        ("python", 0.45, 0.453125),
        ("python", 0.3, 0.3046875),
        ("java", 0.3, 0.296875),
        ("c++", 0.45, 57 / 128),
        ("c++", 0.5, 0.5),
    ],
)
def test_epsilon_follows_from_the_rounded_f(
    client: str, f: float, effective: float
) -> None:
    protocol = google.Protocol(f=f, client=client)
    assert protocol.noisy / 128 == effective
    flip = effective / 2
    expected = 4 * math.log((1 - flip) / flip)
    assert protocol.oracle.epsilon_for_ever == pytest.approx(expected)


def test_cpp_cuts_p_and_q_to_bytes() -> None:
    oracle = google.Protocol(f=0.5, p=0.39, q=0.61, client="c++").oracle
    assert (oracle.sent_zero, oracle.sent_one) == (99 << 24, 156 << 24)


@chance(1e-8)
def test_reports_of_a_device_have_its_kept_bits_at_the_stated_rates() -> None:
    protocol = google.Protocol(8, 2, 4, f=0.5, p=0.25, q=0.75)
    client = google.Client.of(SECRET, protocol, "home page")
    again = google.Client.of(SECRET, protocol, "home page")
    kept = client.permanent(held_by(protocol, "a", client.cohort))
    assert kept == again.permanent(held_by(protocol, "a", again.cohort))
    said = np.zeros(8)
    for _ in range(2000):
        cohort, bits = client.answer("a")
        assert (cohort, len(bits)) == (client.cohort, 8)
        said += [bit == "1" for bit in reversed(bits)]
    rates = [0.75 if kept >> place & 1 else 0.25 for place in range(8)]
    assert said / 2000 == pytest.approx(rates, abs=0.06)


def test_every_question_and_protocol_has_a_secret_of_its_own() -> None:
    """One noise under two rates would give the filter away."""
    made = [
        google.Client.of(SECRET, google.Protocol(f=f), name).secret
        for f in (0.25, 0.5)
        for name in ("a", "b")
    ]
    assert len(set(made)) == 4


def test_one_secret_under_two_rates_gives_bits_away() -> None:
    """What `Client.of` is for: the kept noise knows neither question nor f. A bit that
    changes with f was replaced at the larger one only: the other answer is the truth.
    """
    held = 0b1
    for start in range(20):
        secret = bytes([start]) * 32
        low, high = (
            google.Client(google.Protocol(f=f), secret).permanent(held)
            for f in (0.02, 0.9)
        )
        assert low != high
        assert not (low ^ high) & (low ^ held)


def test_reports_are_summed_as_google_sums_them() -> None:
    """sum_bits_test.py."""
    oracle = Rappor.of(
        f=0.5, p=0.5, q=0.75, bits=16, hashes=2, cohorts=2, family="md5-byte"
    )
    found = google.read(oracle, [("1", "0000111100001111"), (1, "0000000000111100")])
    expected = [0] * 17 + [2, 1, 1, 2, 2, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]
    assert found.counts.tolist() == expected
    assert found.rejected == 0


@pytest.mark.parametrize(
    "report",
    [
        (2, "0" * 16),
        (-1, "0" * 16),
        (0, "0" * 15),
        (0, "2" * 16),
        (0, "0" * 15 + "_"),
        (0, None),
        (0,),
        ("x", ""),
        None,
    ],
)
def test_reports_of_no_client_are_rejected(report: Any) -> None:
    oracle = Rappor.of(f=0.5, p=0.5, q=0.75, bits=16, cohorts=2, family="md5-byte")
    found = google.read(oracle, [report, (1, "1" * 16)])
    assert (found.rejected, found.counts.sum()) == (1, 17)


@chance(1e-9)
@pytest.mark.parametrize("client", ["python", "c++", "java"])
def test_reports_are_decoded(client: str) -> None:
    protocol = google.Protocol(16, 2, 4, f=0.25, p=0.25, q=0.75, client=client)
    words = ["apple", "caf\u00e9", "cafe\u0301"]
    reports = []
    for device in range(1500):
        secret = hashlib.sha512(b"%d" % device).digest()
        own = google.Client.of(secret, protocol, "fruit")
        reports.append(own.answer(words[min(device % 6, 2)]))
    found = google.read(protocol.oracle, reports)
    decoded = decode(protocol.oracle, found.counts, words)
    truth = np.array([1, 1, 4]) / 6
    assert (abs(decoded.estimate - truth) < 7 * decoded.standard_error).all()
    assert (decoded.standard_error < 0.1).all()


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"bits": 33}, "bits"),
        ({"client": "go"}, "client"),
        ({"cohorts": 3}, "cohorts"),
        ({"f": 1.5}, "f"),
        ({"f": 1.0}, "flip"),
        ({"p": 0.8}, "sent_one"),
        ({"hashes": 17}, "hashes"),
    ],
)
def test_protocols_that_cannot_be(changed: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        google.Protocol(**changed)
    assert raised.value.argument == argument


def test_secrets_must_be_long() -> None:
    with pytest.raises(ArgumentError, match="secret must be at least 32"):
        google.Client(google.Protocol(), b"secret")
    with pytest.raises(ArgumentError, match="secret must be at least 48"):
        google.Client(google.Protocol(client="java"), bytes(47))
    with pytest.raises(ArgumentError, match="secret must be at least 32"):
        google.Client.of(b"secret", google.Protocol(), "a")
    with pytest.raises(ArgumentError, match="cohort"):
        google.Client(google.Protocol(), SECRET, cohort=64)
    assert "secret" not in repr(google.Client(google.Protocol(), SECRET))


def test_words_must_be_text() -> None:
    client = google.Client.of(SECRET, google.Protocol(), "a")
    with pytest.raises(ArgumentError, match="surrogates"):
        client.answer("\ud83c")
    with pytest.raises(ArgumentError, match="16 bits"):
        client.answer_bits(1 << 16)
