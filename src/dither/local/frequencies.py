"""How frequent each value is among all devices: a release, with what it takes to judge
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither import frames
from dither.chart import Chart
from dither.errors import ArgumentError
from dither.local.domain import Domain, canonical
from dither.local.estimates import Score, detection_limit, discoveries
from dither.local.hashes import digests
from dither.local.parts import Part, parts, times
from dither.local.rappor.decode import decode
from dither.local.rappor.oracle import Rappor
from dither.release import Release, Source
from dither.wording import UNCHARGED, entitled

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = [
    "Frequencies",
    "Promised",
    "frequencies",
    "nearest_shares",
    "promised",
    "shared_notes",
    "shares",
]

Reals = NDArray[np.float64]

SHOWN = 20  # rows that are printed
BARS = 40


@dataclass(frozen=True, eq=False)
class Promised(Source):
    """A promise to every device: the noise was added there, so no account pays."""

    condition: str = ""

    @property
    def promise(self) -> str:
        return f"{self.guarantee}{self.condition}"

    @property
    def cost(self) -> str:
        return f"{UNCHARGED}; each device adds its own noise"


def _none() -> Any:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Frequencies(Release):
    """The share of devices that hold each value: unbiased estimates, so that one may be
    negative (its interval then begins there), and all together need not make one.

    `found` marks the values that are there beyond chance, with a limited share of
    false ones among them (Benjamini & Hochberg). `detection_limit` is the smallest
    share that is found four times in five. The value None stands for devices with no
    answer, or one outside the domain.
    """

    messages: int = 0
    standard_errors: Reals = field(default_factory=_none)
    p_values: Reals = field(default_factory=_none)
    found: NDArray[np.bool_] = field(default_factory=_none)
    detection_limit: float = 1.0
    whole: bool = True
    nearest: Reals | None = None

    def consistent(self) -> Frequencies:
        """The nearest shares that are not negative and make one together (at most one,
        where the vocabulary is open). Free; no longer unbiased.
        """
        value = self.nearest
        if value is None:
            value = nearest_shares(np.asarray(self.value), whole=self.whole)
        sums = "to 1" if self.whole else "to at most 1"
        note = f"consistent: shares are non-negative and sum {sums}, but are biased"
        notes = (*self.notes, note)
        return replace(self, value=value, notes=notes, limits=(0.0, 1.0))

    def top(self, count: int = SHOWN) -> list[tuple[Any, float, float, float]]:
        """(key, value, low, high) of the most frequent values."""
        rows = self.rows()
        order = np.argsort(-np.asarray(self.value), kind="stable")[:count]
        return [rows[place] for place in order]

    def plot(self, confidence: float = 0.95) -> Chart:
        """Bars of the most frequent values, with their intervals."""
        rows = self.rows(confidence)
        order = np.argsort(-np.asarray(self.value), kind="stable")[:BARS]
        shown = [rows[place] for place in order]
        ends = [(low, high) for _, _, low, high in shown]
        labels = [_label(key) for key, *_ in shown]
        return Chart.of(self.what, labels, [row[1] for row in shown], ends)

    def to_pandas(self) -> Any:
        """A pandas frame: keys, shares, intervals, errors, p-values and flags."""
        return super().to_pandas().assign(**dict(self._columns()))

    def to_polars(self) -> Any:
        """A Polars frame: keys, shares, intervals, errors, p-values and flags."""
        series = frames.package("polars").Series
        return (
            super()
            .to_polars()
            .with_columns(series(name, column) for name, column in self._columns())
        )

    def _columns(self) -> Iterator[tuple[str, Any]]:
        yield "standard_error", self.standard_errors
        yield "p_value", self.p_values
        yield "found", self.found

    def _derived(self, **changes: Any) -> Release:
        kept = {one.name: getattr(self, one.name) for one in fields(Release)}
        return Release(**(kept | {"limits": None} | changes))

    def _lines(self) -> list[str]:
        lines = [
            f"  {_label(key)}: {100 * value:.2f} % ({100 * low:.2f} to {100 * high:.2f})"
            for key, value, low, high in self.top()
        ]
        more = len(self.value) - len(lines)
        title = entitled(f"{self.what}, {self.messages:,} messages")
        return [title, *lines, *([f"  … and {more:,} more"] if more > 0 else [])]


def _label(key: Any) -> str:
    return "(none)" if key is None else str(key)


def nearest_shares(value: Reals, *, whole: bool) -> Reals:
    """The nearest point (Euclidean) with no negative entry and sum one; with sum at most
    one unless `whole`.
    """
    cut = np.maximum(value, 0)
    if not whole and cut.sum() <= 1:
        return cut
    falling = np.sort(value)[::-1]
    over = (np.cumsum(falling) - 1) / np.arange(1, len(value) + 1)
    last = np.flatnonzero(falling > over)[-1]
    shares: Reals = np.maximum(value - over[last], 0)
    return shares


def frequencies(
    tally: Tally, candidates: Sequence[Any] | None, rate: float
) -> Frequencies:
    """The release of a tally that counts the values of a domain, or candidates."""
    domain = tally.task.domain
    assert domain is None or isinstance(domain, Domain)
    keys, items = _wanted(domain, candidates)
    oracle = tally.task.oracle
    if isinstance(oracle, Rappor) and not oracle.items:
        return _decoded(tally, keys, rate)
    whole = domain is not None and candidates is None
    return shares(tally, parts(tally)[0], keys, items, rate, whole=whole)


def shares(
    tally: Tally,
    part: Part,
    keys: tuple[Any, ...],
    items: NDArray[Any],
    rate: float,
    *,
    whole: bool,
    what: str = "",
) -> Frequencies:
    """How frequent some items of one part are."""
    evidence = part.evidence(items)
    score = Score(evidence)
    return Frequencies(
        what=what or tally.task.name,
        value=score.value,
        sources=(promised(tally),),
        spread=score,
        keys=keys,
        notes=_notes(tally, tally.task.oracle.influence),
        messages=part.messages,
        standard_errors=score.errors,
        p_values=score.p_values,
        found=discoveries(score.p_values, rate),
        detection_limit=detection_limit(evidence, len(keys), rate),
        whole=whole,
    )


def _decoded(tally: Tally, keys: tuple[Any, ...], rate: float) -> Frequencies:
    """Bloom filters stand for several strings at once: they are distinguished together."""
    oracle, periods = tally.task.oracle, times(tally)
    assert isinstance(oracle, Rappor)
    found = decode(oracle, tally.counts.sum(axis=0), keys, periods=periods, rate=rate)
    fit = (
        f"other strings: {100 * found.other:.2f} % ± {196 * found.other_error:.2f}; "
        f"fit: χ² = {found.fit.statistic:.0f} of {found.fit.degrees} (p = "
        f"{found.fit.p_value:.2g}); cohorts: p = {found.balance.p_value:.2g}"
    )
    return Frequencies(
        what=tally.task.name,
        value=found.estimate,
        sources=(promised(tally),),
        spread=found,
        keys=keys,
        notes=(fit, *_notes(tally, float(found.influence.max()))),
        messages=tally.messages,
        standard_errors=found.standard_error,
        p_values=found.p_value,
        found=found.found,
        detection_limit=found.detection_limit(rate),
        whole=False,
        nearest=found.frequency,
    )


def promised(tally: Tally) -> Promised:
    """One message promises its ε. Several of a device share what it has kept: they
    promise what its lifetime does.
    """
    task = tally.task
    if times(tally) == 1:
        return Promised(task.once)
    condition = f", whose {task.told_apart} change and return at the same times"
    return Promised(task.lifetime, condition=condition)


def _notes(tally: Tally, influence: float) -> tuple[str, ...]:
    percent = 100 * influence * 100 / tally.messages
    liars = (
        f"100 dishonest devices can change a share by {percent:.3g} percentage points"
    )
    return (liars, *shared_notes(tally))


def shared_notes(tally: Tally) -> tuple[str, ...]:
    """The notes of every release of a tally."""
    notes = []
    if tally.task.every:
        notes.append(tally.task.promise)
    if tally.rejected:
        notes.append(f"left out: {tally.left_out}")
    return tuple(notes)


def _wanted(
    domain: Domain | None, candidates: Sequence[Any] | None
) -> tuple[tuple[Any, ...], NDArray[Any]]:
    """The keys that are estimated, and the oracle's names for them."""
    if domain is None:
        return _candidates(candidates)
    if candidates is None:
        return domain.keys, np.arange(domain.items)
    places = [
        domain.items - 1 if one is None and domain.none else domain.place(one)
        for one in candidates
    ]
    if not places or min(places) < 0:
        raise ArgumentError(
            "candidates",
            "must be values of the task's domain; leave them out to estimate all "
            "values",
        )
    return tuple(candidates), np.array(places, np.int64)


def _candidates(candidates: Sequence[Any] | None) -> tuple[tuple[Any, ...], Any]:
    if isinstance(candidates, str | bytes):
        raise ArgumentError("candidates", "must be a list of values, not one string")
    if candidates is None or not len(candidates):
        raise ArgumentError(
            "candidates",
            "are required for a task without a domain; pass the list of values to look "
            "for",
        )
    texts = [canonical(one) for one in candidates]
    times = Counter(texts)
    for one, text in zip(candidates, texts, strict=True):
        if text is None or times[text] > 1:
            raise ArgumentError(
                "candidates",
                f"contain {one!r:.40}"
                + (
                    " twice; remove one of them"
                    if text
                    else ", which is not a valid value; use strings that are not empty"
                ),
            )
    return tuple(candidates), digests([text for text in texts if text])
