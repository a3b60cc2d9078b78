"""Unlisted words: devices send prefixes, and the server extends those that are
frequent.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.domain import canonical_text
from dither.local.hashes import digests
from dither.local.words import Words

__all__ = ["END", "NOTHING", "Vocabulary"]

END = "\0"  # behind a word that is shorter than what is asked for
NOTHING = b"n:"  # no answer
LONGEST, LETTERS = 64, 4096
FIRST = 1 << 18  # prefixes that can be looked for without knowing any


@dataclass(frozen=True)
class Vocabulary:
    """Words of at most `longest` letters of an alphabet, in Unicode's form NFC; any other
    text is no answer. Each device answers for one length of prefix: `step` letters,
    twice as many, and so on until the whole word.
    """

    alphabet: str
    longest: int = 12
    step: int = 2

    def __post_init__(self) -> None:
        if not isinstance(self.alphabet, str) or not self._letters_are_apart():
            raise ArgumentError(
                "alphabet",
                f"must be a string of 2 to {LETTERS:,} different letters in Unicode "
                "form NFC",
            )
        for name, most in (("longest", LONGEST), ("step", LONGEST)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise ArgumentError(name, f"must be a whole number from 1 to {most}")
        if not self.step < self.longest:
            raise ArgumentError("step", "must be below longest")
        if (len(self.alphabet) + 1) ** self.step > FIRST:
            raise ArgumentError(
                "step", "is too large for the number of letters; pass step=1"
            )

    def __str__(self) -> str:
        return f"words of up to {self.longest} of {len(self.alphabet)} letters"

    def _letters_are_apart(self) -> bool:
        letters = self.alphabet
        plain = canonical_text(letters) == b"s:" + letters.encode(errors="replace")
        apart = 1 < len(letters) == len(set(letters)) <= LETTERS
        return plain and apart and END not in letters

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The letters of a prefix in each part; the last one is the whole word."""
        return (*range(self.step, self.longest, self.step), self.longest)

    @property
    def sizes(self) -> tuple[int, ...]:
        return (0,) * len(self.lengths)

    @property
    def different(self) -> int:
        return 1  # answered once

    def word(self, value: object) -> str | None:
        """The word in its form NFC; None where it is none."""
        if not isinstance(value, str) or len(value) > 4 * self.longest:
            return None
        text = unicodedata.normalize("NFC", value)
        known = set(text) <= self._letters
        return text if known and 0 < len(text) <= self.longest else None

    @cached_property
    def _letters(self) -> frozenset[str]:
        return frozenset(self.alphabet)

    def prefix(self, word: str, part: int) -> str:
        """What a part sees of a word; a word that has ended says so."""
        length = self.lengths[part]
        return word[:length] if len(word) >= length else word + END

    def extended(self, prefix: str, part: int) -> Iterator[str]:
        """What a part may see of words of which the part before saw this."""
        if prefix.endswith(END):
            yield prefix
            return
        room = self.lengths[part] - len(prefix)
        found = _endings(prefix, self.alphabet, room)
        yield from (one for one in found if one != END)  # no word is empty

    def known(self, prefix: str) -> bytes:
        return b"p:" + prefix.encode()

    def places(self, values: Any, words: Words) -> NDArray[Any]:  # noqa: ARG002
        """The digests of each word's prefixes; each is computed once."""
        if isinstance(values, str | bytes):
            raise ArgumentError("values", "must be a list of words, not one string")
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        found = [self.word(value) for value in listed]
        numbers = {word: number for number, word in enumerate(dict.fromkeys(found))}
        table = np.stack(
            [
                digests([self._text(word, part) for word in numbers])
                for part in range(len(self.lengths))
            ],
            axis=1,
        )
        return table[[numbers[word] for word in found]]

    def _text(self, word: str | None, part: int) -> bytes:
        return NOTHING if word is None else self.known(self.prefix(word, part))

    def answer(self, value: object, part: int) -> tuple[bytes | None, int]:
        word = self.word(value)
        return (None if word is None else self.known(self.prefix(word, part))), -1

    def nothing(self, part: int) -> int | None:  # noqa: ARG002
        return None

    def name(self, part: int, item: int) -> str:
        raise AssertionError((part, item))  # sketches have no items to name

    def written(self) -> dict[str, Any]:
        return {
            "alphabet": self.alphabet,
            "longest": self.longest,
            "step": self.step,
        }


def _endings(prefix: str, alphabet: str, room: int) -> Iterator[str]:
    """All that may follow in so much room: a word may end on the way."""
    if room == 0:
        yield prefix
        return
    yield prefix + END
    for letter in alphabet:
        yield from _endings(prefix + letter, alphabet, room - 1)
