"""Answers as google/rappor's published clients make them, and their reports as tallies.

For collections that already run on that protocol; a task of Dither's own promises more.
Its kept noise is a function of the device's secret and of the Bloom filter alone. So a
secret is for one task, with one set of parameters: `Client.of` derives it.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.rappor.calibration import thresholds_of
from dither.local.rappor.oracle import Rappor
from dither.local.words import FRESH
from dither.privacy.numbers import fraction

__all__ = ["Client", "Protocol", "Read", "read"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

MOST_BITS = {"python": 32, "c++": 32, "java": 937}
"""A byte of one digest, or of one request to a generator, decides each kept bit."""
SHORTEST = {"python": 32, "c++": 32, "java": 48}
"""Bytes of a secret. Google's own Python and C++ clients take any."""
MOST_COHORTS = 128  # of Java's assignment


@dataclass(frozen=True)
class Protocol:
    """Google's parameters, and which of its clients ("python", "c++" or "java") reads
    them: each rounds f to seven bits in its own way, up, down or to the nearest.
    """

    bits: int = 16
    hashes: int = 2
    cohorts: int = 64
    f: float = 0.5
    p: float = 0.5
    q: float = 0.75
    client: str = "python"

    def __post_init__(self) -> None:
        if self.client not in MOST_BITS:
            raise ArgumentError("client", f"must be one of {', '.join(MOST_BITS)}")
        most = MOST_BITS[self.client]
        if not isinstance(self.bits, int) or not 2 <= self.bits <= most:
            raise ArgumentError("bits", f"must be from 2 to {most} for this client")
        _ = self.oracle  # which checks everything else

    @property
    def noisy(self) -> int:
        """Number of values out of 128 that replace a bit by a coin."""
        share = fraction("f", self.f)
        if not 0 <= share <= 1:
            raise ArgumentError("f", "must be a probability from 0 to 1")
        if self.client == "python":
            return math.ceil(share * 128)
        if self.client == "c++":  # a float of 32 bits, cut off
            return int(np.float32(self.f) * 128)
        return math.floor(share * 128 + fraction("half", 0.5))

    @property
    def oracle(self) -> Rappor:
        """The oracle that has this protocol's messages: ε follows from the rounded f."""
        _, one, zero = thresholds_of(0, *self._fresh())
        family = "md5-uint16" if self.client == "java" else "md5-byte"
        return Rappor(
            0,
            cohorts=self.cohorts,
            bits=self.bits,
            hashes=self.hashes,
            family=family,
            flip=self.noisy << 24,
            sent_one=one,
            sent_zero=zero,
        )

    def _fresh(self) -> tuple[float, float]:
        """p and q. The client in C++ compares bytes, so it cuts both to eight bits."""
        if self.client != "c++":
            return self.p, self.q
        p, q = (fraction(name, getattr(self, name)) for name in ("p", "q"))
        return math.floor(p * 256) / 256, math.floor(q * 256) / 256


@dataclass(frozen=True)
class Client:
    """One device that answers by google's protocol.

    Guarantee: `protocol.oracle.epsilon` for one report, and its `epsilon_for_ever` for
    all reports about one value; pure, for replacing that value.
    Why: `Rappor`, at the f that the client rounds to.
    Assumes: HMAC-SHA256 is a pseudorandom function; the secret is used for this
    protocol and this question only. Values whose filters are equal share their kept
    noise, so a device's several values are protected together only while their
    filters differ.
    """

    protocol: Protocol
    secret: bytes = field(repr=False)
    name: str = ""
    cohort: int = -1

    def __post_init__(self) -> None:
        shortest = SHORTEST[self.protocol.client]
        if not isinstance(self.secret, bytes) or len(self.secret) < shortest:
            raise ArgumentError("secret", f"must be at least {shortest} random bytes")
        if self.cohort == -1:
            drawn = cohort_of(self.protocol.client, self.secret, self.protocol.cohorts)
            object.__setattr__(self, "cohort", drawn)
        if not 0 <= self.cohort < self.protocol.cohorts:
            raise ArgumentError("cohort", "must be below the number of cohorts")

    @classmethod
    def of(cls, secret: bytes, protocol: Protocol, name: str) -> Self:
        """The device's client for one question: a secret of its own, from the device's
        secret, the name of the question and all of the protocol.
        """
        if not isinstance(secret, bytes) or len(secret) < 32:
            raise ArgumentError("secret", "must be at least 32 random bytes")
        parts = [name.encode(), repr(protocol).encode()]
        message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        own = hmac.new(secret, b"google/rappor" + message, hashlib.sha512).digest()
        return cls(protocol, own, name)

    def answer(self, word: str) -> tuple[int, str]:
        """A report about a word: cohort and bits, the highest first. The bits have
        fresh noise each time; a report that was not received is sent again as it is.
        """
        oracle = self.protocol.oracle
        items = oracle.encode([_word(word)])
        (held,) = oracle.filters(items, np.array([self.cohort]))
        return self.answer_bits(int.from_bytes(held.tobytes(), "little"))

    def answer_bits(self, held: int) -> tuple[int, str]:
        """A report about a filter of one's own making, such as one bit for a choice."""
        oracle, bits = self.protocol.oracle, self.protocol.bits
        if not 0 <= held < 1 << bits:
            raise ArgumentError(
                "held", f"must be a whole number of at most {bits} bits"
            )
        kept = self.permanent(held).to_bytes((bits + 7) // 8, "little")
        row = np.frombuffer(kept, np.uint8).reshape(1, -1)
        seeds = np.array([self.cohort])
        record = oracle.instant(row, seeds, FRESH)[0, -row.shape[1] :]
        said = int.from_bytes(record.tobytes(), "little")
        return self.cohort, f"{said:0{bits}b}"

    def permanent(self, held: int) -> int:
        """The kept answer to a filter. It never leaves the device."""
        bits = self.protocol.bits
        noise = noise_of(
            self.protocol.client, self.secret, self.name.encode(), held, bits
        )
        return kept_bits(held, noise, self.protocol.noisy)


def _word(word: str) -> bytes:
    try:
        return word.encode()
    except (UnicodeEncodeError, AttributeError):
        raise ArgumentError(
            "word", "must be a string without unpaired surrogates"
        ) from None


def kept_bits(held: int, noise: bytes, noisy: int) -> int:
    """A byte decides a bit: its upper seven bits whether it is replaced, and its lowest
    bit by what.
    """
    kept = 0
    for place, byte in enumerate(noise):
        bit = byte & 1 if byte >> 1 < noisy else held >> place & 1
        kept |= bit << place
    return kept


def noise_of(client: str, secret: bytes, name: bytes, held: int, bits: int) -> bytes:
    """The bytes that each client draws for a filter. Python's knows no name."""
    if client == "java":
        return _java(secret, name, held, bits)
    prefix = b"\x01" + name if client == "c++" else b""
    message = prefix + held.to_bytes(4, "big")
    return hmac.new(secret, message, hashlib.sha256).digest()[:bits]


def cohort_of(client: str, secret: bytes, cohorts: int) -> int:
    """The cohort that a client takes from its secret. Python's is told its cohort; here
    it takes the one of C++.
    """
    if client == "java":
        drawn = int.from_bytes(_generated(secret + b"\x00", 4), "big", signed=True)
        return abs(drawn) % MOST_COHORTS & (cohorts - 1)
    digest = hmac.new(secret, b"", hashlib.sha256).digest()
    return int.from_bytes(digest[:4], "little") & (cohorts - 1)


def _java(secret: bytes, name: bytes, held: int, bits: int) -> bytes:
    """Java seeds a generator with the secret and 20 bytes: a one, and a digest of the
    question's name, a zero, the filter's bytes up to its last one, and 20 bytes again.
    """
    filled = held.to_bytes((held.bit_length() + 7) // 8, "little")
    message = name + b"\x00" + filled + b"\x01" + bytes(19)
    digest = hashlib.sha256(message).digest()
    return _generated(secret + b"\x01" + digest[:19], bits)


def _generated(seed: bytes, count: int) -> bytes:
    """The first bytes of HMAC_DRBG with SHA-256 (NIST SP 800-90A, 10.1.2)."""
    key, value = bytes(32), b"\x01" * 32
    for step in (b"\x00", b"\x01"):
        key = hmac.new(key, value + step + seed, hashlib.sha256).digest()
        value = hmac.new(key, value, hashlib.sha256).digest()
    out = b""
    while len(out) < count:
        value = hmac.new(key, value, hashlib.sha256).digest()
        out += value
    return out[:count]


@dataclass(frozen=True, eq=False)
class Read:
    """Reports as a tally: what `decode` takes, and how many were not usable.

    The integers have the order of google's own file of counts: for each cohort the
    number of reports, then the ones at each bit, the lowest first.
    """

    counts: Whole
    rejected: int


def read(oracle: Rappor, reports: Iterable[Any]) -> Read:
    """Tally reports: pairs of a cohort and a string of bits, the highest first."""
    rows, rejected = [], 0
    for report in reports:
        row = _row(oracle, report)
        rejected += row is None
        if row is not None:
            rows.append(row)
    joined = np.frombuffer(b"".join(rows), np.uint8)
    records = joined.reshape(len(rows), oracle.record)
    return Read(oracle.tally(records), rejected)


def _row(oracle: Rappor, report: Any) -> bytes | None:
    """A report as a record of ours; None if no client could have sent it."""
    try:
        cohort, text = report
        number = int(cohort)
        known = len(text) == oracle.bits and not set(text) - {"0", "1"}
    except (TypeError, ValueError):
        return None
    if not known or not 0 <= number < oracle.cohorts:
        return None
    size = (oracle.bits + 7) // 8
    head = bytes([number]) if oracle.cohorts > 1 else b""
    return head + int(text, 2).to_bytes(size, "little")
