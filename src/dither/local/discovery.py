"""Words that nobody has listed, found by extending frequent prefixes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dither.local.estimates import Score, detection_limit, discoveries
from dither.local.evidence import Evidence
from dither.local.frequencies import Frequencies, promised, shared_notes
from dither.local.hashes import digests
from dither.local.parts import Part, parts
from dither.local.vocabulary import END, Vocabulary
from dither.release import Ends, Spread

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["discover"]

PROMISING = 2.0  # standard errors above nothing that a prefix is followed from
FOLLOWED = 100  # prefixes that are followed at most


@dataclass(frozen=True)
class Selected:
    """Intervals of values that were selected among many: of all intervals shown, as
    large a share is right as if none had been selected (Benjamini & Yekutieli 2005).
    """

    inner: Spread
    among: int
    chosen: NDArray[np.intp]

    def ends(self, confidence: float) -> Ends:
        wrong = (1 - confidence) * len(self.chosen) / max(self.among, 1)
        low, high = self.inner.ends(1 - max(wrong, 1e-12))
        return low[self.chosen], high[self.chosen]


def discover(tally: Tally, words: Vocabulary, rate: float) -> Frequencies:
    """The release of a tally whose task asks for words."""
    found = parts(tally)
    prefixes = list(words.extended("", 0))
    for number, part in enumerate(found[:-1]):
        best = _followed(prefixes, _evidence(part, words, prefixes))
        prefixes = [
            longer for prefix in best for longer in words.extended(prefix, number + 1)
        ]
    return _frequencies(tally, found[-1], words, prefixes, rate)


def _evidence(part: Part, words: Vocabulary, prefixes: Iterable[str]) -> Evidence:
    return part.evidence(digests([words.known(prefix) for prefix in prefixes]))


def _followed(prefixes: list[str], evidence: Evidence) -> list[str]:
    """The prefixes that stand out, best first."""
    heights = evidence.above / np.sqrt(evidence.null)
    order = np.argsort(-heights, kind="stable")[:FOLLOWED]
    return [prefixes[place] for place in order if heights[place] >= PROMISING]


def _frequencies(
    tally: Tally, part: Part, words: Vocabulary, prefixes: list[str], rate: float
) -> Frequencies:
    """The words that are there beyond chance, among all that were looked for."""
    score = Score(_evidence(part, words, prefixes))
    flags = discoveries(score.p_values, rate)
    chosen = np.flatnonzero(flags)
    chosen = chosen[np.argsort(-score.value[chosen], kind="stable")]
    limit = detection_limit(score.evidence, max(len(prefixes), 1), rate)
    percent = 100 * tally.task.influence * 100 / tally.messages
    notes = (
        f"{len(prefixes):,} words were looked for, and {len(chosen):,} found",
        f"a hundred liars move a share by up to {percent:.3g} points of 100",
    )
    return Frequencies(
        what=tally.task.name,
        value=score.value[chosen],
        sources=(promised(tally),),
        spread=Selected(score, len(prefixes), chosen),
        keys=tuple(prefixes[place].removesuffix(END) for place in chosen),
        notes=(*notes, *shared_notes(tally)),
        messages=tally.messages,
        standard_errors=score.errors[chosen],
        p_values=score.p_values[chosen],
        found=flags[chosen],
        detection_limit=limit if math.isfinite(limit) else 1.0,
        whole=False,
    )
