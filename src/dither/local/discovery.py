"""Unlisted words, found by extending frequent prefixes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dither.local.estimates import Score, detection_limit, discoveries
from dither.local.evidence import Evidence, sampled
from dither.local.frequencies import Frequencies, promised, shared_notes
from dither.local.hashes import digests
from dither.local.oracles.sketch import Sketch
from dither.local.parts import Part, parts
from dither.local.vocabulary import END, NOTHING, Vocabulary
from dither.release import Ends

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["discover"]

Reals = NDArray[np.float64]

PROMISING = 2.0  # standard errors above nothing that a prefix is followed from
FOLLOWED = 100  # prefixes that are followed at most, unless more are there for sure
ALARM = 0.05  # how likely one that nobody has is there "for sure"
SURE = 3.0  # standard errors below what is followed that a lost prefix may be
NO_WORD = ""  # listed first everywhere: devices without a word send one text, too
FAR = 10.0  # standard errors within which the ends of an interval are looked for
NORMAL = NormalDist()


@dataclass(frozen=True)
class Selected:
    """Where the shares of found words lie. A word is found because its estimate is above
    `bar`; so each end is the share at which so high an estimate has its probability
    among those above the bar (a normal law that is cut there).
    """

    value: Reals
    error: Reals
    bar: Reals

    def ends(self, confidence: float) -> Ends:
        tail = (1 - confidence) / 2
        low, high = (self._end(chance) for chance in (tail, 1 - tail))
        return np.clip(low, 0, self.value), np.clip(high, self.value, 1)

    def _end(self, chance: float) -> Reals:
        """By halving: the higher the share, the more likely a high estimate."""
        low, high = (self.value + sign * FAR * self.error for sign in (-1, 1))
        for _ in range(50):
            middle = (low + high) / 2
            above = [_tail((at - middle) / self.error) for at in (self.value, self.bar)]
            likely = above[0] >= chance * above[1]
            low, high = np.where(likely, low, middle), np.where(likely, middle, high)
        return high


def _tail(heights: Reals) -> Reals:
    """Probability that a normal variable is above these."""
    return np.array([math.erfc(one / math.sqrt(2)) / 2 for one in heights.tolist()])


def discover(tally: Tally, words: Vocabulary, rate: float) -> Frequencies:
    """The release of a tally whose task asks for words."""
    found = parts(tally)
    prefixes, lost = [NO_WORD, *words.extended("", 0)], 0.0
    for number, part in enumerate(found[:-1]):
        evidence = _evidence(part, words, prefixes, lost)
        best, weakest = _followed(prefixes, evidence)
        lost = max(lost, weakest)
        longer = (words.extended(prefix, number + 1) for prefix in best)
        prefixes = [NO_WORD, *(one for several in longer for one in several)]
    evidence = _evidence(found[-1], words, prefixes, lost)
    return _frequencies(tally, evidence, prefixes, rate)


def _evidence(
    part: Part, words: Vocabulary, prefixes: list[str], lost: float
) -> Evidence:
    """The evidence of a part about prefixes, if no other has more than a share of
    `lost`.
    """
    assert isinstance(part.oracle, Sketch)
    texts = [words.known(one) if one else NOTHING for one in prefixes]
    most = lost * part.messages
    found = part.oracle.among(part.counts, part.messages, digests(texts), most)
    return sampled(found, part.everyone, part.periods)


def _followed(prefixes: list[str], evidence: Evidence) -> tuple[list[str], float]:
    """The prefixes that stand out, best first, and the largest share of one that is not
    followed.
    """
    errors = np.sqrt(evidence.null)
    heights = (evidence.above / errors)[1:]
    order = np.argsort(-heights, kind="stable")
    sure = NORMAL.inv_cdf(1 - ALARM / len(heights)) if len(heights) else 0.0
    most = max(FOLLOWED, np.count_nonzero(heights >= sure))
    followed = order[:most][heights[order[:most]] >= PROMISING]
    weakest = float(heights[followed[-1]]) if len(followed) == most else PROMISING
    share = (weakest + SURE) * float(errors.max()) / evidence.gain / evidence.messages
    return [prefixes[place + 1] for place in followed], min(share, 1.0)


def _frequencies(
    tally: Tally, evidence: Evidence, prefixes: list[str], rate: float
) -> Frequencies:
    """The words that occur beyond chance, among all that were looked for."""
    score, among = Score(evidence), len(prefixes) - 1
    chosen = 1 + np.flatnonzero(discoveries(score.p_values[1:], rate))
    chosen = chosen[np.argsort(-score.value[chosen], kind="stable")]
    percent = 100 * tally.task.influence * 100 / tally.messages
    notes = (
        f"{len(chosen):,} of {among:,} candidate words were found",
        f"100 dishonest devices can change a share by {percent:.3g} percentage points",
    )
    value, error = score.value[chosen], score.errors[chosen]
    bar = _bar(evidence, chosen, rate * len(chosen) / max(among, 1))
    return Frequencies(
        what=tally.task.name,
        value=value,
        sources=(promised(tally),),
        spread=Selected(value, error, bar),
        keys=tuple(prefixes[place].removesuffix(END) for place in chosen),
        notes=(*notes, *shared_notes(tally)),
        messages=tally.messages,
        standard_errors=error,
        p_values=score.p_values[chosen],
        found=np.ones(len(chosen), np.bool_),
        detection_limit=detection_limit(evidence, max(among, 1), rate),
        whole=False,
    )


def _bar(evidence: Evidence, chosen: NDArray[np.intp], alarm: float) -> Reals:
    """The share from which on a word was found."""
    shift, chance = evidence.doubt
    z = NORMAL.inv_cdf(1 - max(alarm - chance, 1e-12)) if len(chosen) else 0.0
    above: Reals = shift + z * np.sqrt(evidence.null[chosen])
    return above / evidence.gain / evidence.messages
