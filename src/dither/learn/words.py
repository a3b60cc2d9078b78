"""Documents as numbers of words, by a vocabulary that is declared and never read off
the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import punctuation
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dither.errors import ArgumentError
from dither.items import items_of
from dither.privacy.numbers import whole

__all__ = ["PADDING", "UNKNOWN", "Words"]

PADDING, UNKNOWN = 0, 1
KNOWN = 2
"""The number of the first word."""
MANY, LONGEST = 1 << 24, 1 << 16
TRUTHS = ("true", "false")
AROUND = punctuation + "“”‘’«»…–—"


@dataclass(frozen=True)
class Words:
    """How a column of texts is read: its first `length` words, in lower case and without
    punctuation around them, each as its place in a public `vocabulary`.

    The first word of the vocabulary is number 2. A word that is not in it is 1, and 0
    fills up short texts, so `nn.Embedding(len(words), 32, padding_idx=0)` fits. A value
    that is no text, or a number or a truth by itself, has no words. Calling it gives the
    tensor of some public texts.
    """

    vocabulary: tuple[str, ...]
    length: int

    def __init__(self, vocabulary: Iterable[str], length: int) -> None:
        way_out = 'pass public words, such as ["pain", "fever"]'
        if isinstance(vocabulary, str | bytes | Mapping | Tensor):
            raise ArgumentError("vocabulary", f"must be a list of words; {way_out}")
        words = tuple(vocabulary)
        if not words or not all(isinstance(one, str) for one in words):
            raise ArgumentError("vocabulary", f"must be a list of words; {way_out}")
        odd = next((one for one in words if list(_split(one)) != [one.lower()]), None)
        if odd is not None:
            raise ArgumentError(
                "vocabulary",
                f"{odd!r:.40} in the vocabulary is not a single word, so it would "
                f"never be found; {way_out}",
            )
        words = tuple(one.lower() for one in words)
        if len(set(words)) < len(words) or len(words) > MANY:
            raise ArgumentError(
                "vocabulary",
                f"must have each word once, and at most {MANY:,} words; drop the "
                "others",
            )
        most = whole(
            "length",
            length,
            "pass the number of words to read per document, such as 64",
        )
        if most > LONGEST:
            raise ArgumentError(
                "length", f"must be at most {LONGEST:,}; pass a smaller number of words"
            )
        object.__setattr__(self, "vocabulary", words)
        object.__setattr__(self, "length", most)

    def __len__(self) -> int:
        """Number of numbers, with those of unknown words and of padding."""
        return len(self.vocabulary) + KNOWN

    def __repr__(self) -> str:
        return f"Words({len(self.vocabulary):,} words, length={self.length})"

    def __str__(self) -> str:
        return f"{self.length} words of {len(self.vocabulary):,}"

    def __call__(self, texts: Any) -> Tensor:
        held = [texts] if isinstance(texts, str) else texts
        return torch.from_numpy(self.read(held))

    def read(self, column: Any) -> NDArray[np.int64]:
        """The words of each value, by itself."""
        items = items_of(column)
        found = np.full((len(items), self.length), PADDING, np.int64)
        for line, item in enumerate(items):
            numbers = [self._places.get(word, UNKNOWN) for word in self._first(item)]
            found[line, : len(numbers)] = numbers
        return found

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.vocabulary, KNOWN)}

    def _first(self, item: Any) -> list[str]:
        pairs = zip(range(self.length), _split(_text(item)), strict=False)
        return [word for _, word in pairs]


def _text(item: Any) -> str:
    """The text of a value. A number or a boolean by itself is not a document, whatever
    its type: one odd value in a column may have turned all numbers into strings, all
    booleans into numbers, or the reverse.
    """
    if isinstance(item, bytes):
        item = bytes.decode(item, "utf-8", "replace")
    if not isinstance(item, str):
        return ""
    text = str.__str__(item)
    if text.strip().lower() in TRUTHS:
        return ""
    try:
        float(text)
    except ValueError:
        return text
    return ""


def _split(text: str) -> Iterator[str]:
    for one in text.lower().split():
        word = one.strip(AROUND)
        if word:
            yield word
