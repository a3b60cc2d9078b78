"""From a tally of noisy Bloom filters to the shares of candidate strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.estimates import discoveries
from dither.local.rappor import bloom
from dither.local.rappor.oracle import Rappor
from dither.local.rappor.regression import (
    Fitted,
    Model,
    linear_algebra,
    shares_of,
)
from dither.privacy.numbers import confidence_level, whole

__all__ = ["Decoded", "Judged", "decode"]

UNEXPLAINED = 0.3
"""If one string with this share or more seems to be missing, nothing is marked: what it
adds to the bits of others is not noise.
"""

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Judged:
    """A χ² statistic, its degrees of freedom, and how often chance exceeds it."""

    statistic: float
    degrees: int
    p_value: float


@dataclass(frozen=True, eq=False)
class Decoded:
    """What a tally says about candidates.

    `estimate` is unbiased and may be negative; `standard_error`, `p_value` and `found`
    belong to it. `frequency` is the constrained estimate: not negative, one in sum
    together with the share of other strings, and closer to the true value.

    `other` is the share of strings that are not on the list. `fit` tests whether
    candidates and evenly spread other strings explain all bits; if not, standard
    errors are larger, as if one string of share `unexplained` were missing from the
    list. `balance` tests whether cohorts are equally large, and drops nothing.
    `influence` is by how many messages one liar's message moves each estimate at
    most.
    """

    names: tuple[Any, ...]
    messages: int
    frequency: Reals
    estimate: Reals
    covariance: Reals
    p_value: Reals
    found: NDArray[np.bool_]
    influence: Reals
    fit: Judged
    balance: Judged
    unexplained: float

    @property
    def standard_error(self) -> Reals:
        return np.sqrt(np.diag(self.covariance))

    @property
    def other(self) -> float:
        return float(1 - self.estimate.sum())

    @property
    def other_error(self) -> float:
        return float(np.sqrt(max(self.covariance.sum(), 0.0)))

    def detection_limit(self, rate: float = 0.05) -> float:
        """The share that every candidate would be found at four times in five."""
        normal = NormalDist()
        reach = normal.inv_cdf(1 - rate / len(self.names)) + normal.inv_cdf(0.8)
        return min(float(reach * self.standard_error.max()), 1.0)

    def ends(self, confidence: float = 0.95) -> tuple[Reals, Reals]:
        """Ends between which each true share lies with this probability."""
        level = float(confidence_level("confidence", confidence))
        margin = NormalDist().inv_cdf((1 + level) / 2) * self.standard_error
        return self.estimate - margin, self.estimate + margin


def decode(
    oracle: Rappor,
    counts: Whole,
    candidates: Sequence[object],
    *,
    periods: int = 1,
    rate: float = 0.05,
) -> Decoded:
    """The share of each candidate among all messages of a tally.

    `periods` is how often a device can have answered: what is kept does not average
    out over its messages. Of the candidates that are `found`, a share of `rate` is
    expected to be nobody's (Benjamini & Hochberg 1995).
    """
    names = tuple(candidates)
    table = _table(oracle, counts)
    items = _items(oracle, names)
    model = _model(oracle, table, items, whole("periods", periods, "pass 1 or more"))
    _check_design(model, names)
    shares, plain, fitted, missing = shares_of(model)
    covariance = _finite(model, shares, fitted)
    p_value = _p_values(fitted.shares, covariance)
    return Decoded(
        names=names,
        messages=int(table[:, 0].sum()),
        frequency=shares,
        estimate=fitted.shares,
        covariance=covariance,
        p_value=p_value,
        found=discoveries(p_value, float(confidence_level("rate", rate)))
        & (missing**0.5 < UNEXPLAINED),
        influence=_influence(model, shares, fitted),
        fit=_judged(plain.misfit, model.equations - len(names)),
        balance=_balance(table[:, 0], periods),
        unexplained=missing**0.5,
    )


def _table(oracle: Rappor, counts: Whole) -> Whole:
    if oracle.items:
        raise ArgumentError(
            "oracle",
            "has a declared domain and needs no decoding; use tally.estimate()",
        )
    found = np.asarray(counts)
    if found.size != oracle.cells or found.dtype.kind not in "iu":
        raise ArgumentError("counts", f"must be an array of {oracle.cells} integers")
    table = found.reshape(oracle.cohorts, oracle.bits + 1).astype(np.int64)
    if (table < 0).any() or (table[:, 1:] > table[:, :1]).any():
        raise ArgumentError(
            "counts",
            "are not those of a tally: a bit has more ones than there are messages; "
            "pass the counts of a whole tally",
        )
    if not table[:, 0].any():
        raise ArgumentError("tally", "has no messages yet; collect some first")
    return table


def _items(oracle: Rappor, names: tuple[Any, ...]) -> NDArray[Any]:
    if not names:
        raise ArgumentError(
            "candidates", "are empty; pass the strings that may be popular"
        )
    texts: dict[bytes, Any] = {}
    for name in names:
        text = bloom.text_of(oracle.family, name)
        if text in texts:
            raise ArgumentError(
                "candidates",
                f"contain {name!r:.40} twice (in Unicode form NFC); remove one of them",
            )
        texts[text] = name
    return oracle.encode(list(texts))


def _model(oracle: Rappor, table: Whole, items: NDArray[Any], periods: int) -> Model:
    """Cohorts without messages carry no information, and are left out."""
    heard = np.flatnonzero(table[:, 0])
    filters = np.empty((len(heard), oracle.bits, len(items)))
    for row, cohort in enumerate(heard):
        packed = oracle.filters(items, np.full(len(items), cohort))
        bits = np.unpackbits(packed, axis=1, count=oracle.bits, bitorder="little")
        filters[row] = bits.T
    held, null = oracle.rates
    sizes = table[heard, 0].astype(np.float64)
    seen = (table[heard, 1:] / sizes[:, None] - null) / (held - null)
    unset = 1 - 1 / oracle.bits
    neither = 1 - 2 / oracle.bits
    return Model(
        filters,
        seen,
        sizes,
        oracle.noise,
        periods,
        usual=1 - unset**oracle.hashes,
        both=1 - 2 * unset**oracle.hashes + neither**oracle.hashes,
    )


def _check_design(model: Model, names: tuple[Any, ...]) -> None:
    if len(names) >= model.equations:
        raise ArgumentError(
            "candidates",
            f"the {len(names):,} candidates are too many for the {model.equations:,} "
            "bits of cohorts that sent messages; pass fewer, or use more cohorts or "
            "bits",
        )
    design = model.centred.reshape(model.equations, -1)
    upper, order = linear_algebra().linalg.qr(design, mode="r", pivoting=True)
    sizes = abs(np.diag(upper))
    same = np.flatnonzero(sizes <= 1e-9 * sizes[0])
    if same.size:
        name = names[order[same[0]]]
        raise ArgumentError(
            "candidates",
            f"the candidate {name!r:.40} cannot be distinguished from others, which "
            "together set the same bits; leave it out, or use more cohorts or bits",
        )


def _finite(model: Model, shares: Reals, fitted: Fitted) -> Reals:
    """The covariance for the shares among these messages, which are not drawn from
    anything: what chance would add to the shares themselves is taken off.
    """
    drawn = np.diag(shares) - np.outer(shares, shares)
    finite = fitted.covariance - model.periods * drawn / model.sizes.sum()
    # the difference is a covariance; rounding may not make it negative
    least = 1e-9 * np.diag(fitted.covariance)
    np.fill_diagonal(finite, np.maximum(np.diag(finite), least))
    return np.asarray(finite)


def _p_values(estimate: Reals, covariance: Reals) -> Reals:
    standard = estimate / np.sqrt(np.diag(covariance))
    return np.asarray(linear_algebra().special.ndtr(-standard))


def _influence(model: Model, shares: Reals, fitted: Fitted) -> Reals:
    """The worst message has a one exactly where that moves the estimate up, or down."""
    null = float(model.noise.said[1])
    weights = fitted.weights.reshape(len(shares), *model.seen.shape)
    expected = null + model.gain * model.ones(shares)
    ups = np.where(weights > 0, weights * (1 - expected), -weights * expected)
    downs = np.where(weights > 0, weights * expected, -weights * (1 - expected))
    worst = np.maximum(ups.sum(axis=2), downs.sum(axis=2))
    share = model.sizes.sum() / model.sizes
    return np.asarray((worst * share).max(axis=1) / model.gain)


def _judged(statistic: float, degrees: int) -> Judged:
    p_value = float(linear_algebra().special.chdtrc(degrees, statistic))
    return Judged(statistic, degrees, p_value)


def _balance(sizes: Whole, periods: int) -> Judged:
    """Cohorts are drawn once for each device, whose messages then fall together."""
    if len(sizes) == 1:
        return Judged(0.0, 0, 1.0)
    expected = sizes.sum() / len(sizes)
    statistic = float(((sizes - expected) ** 2).sum() / expected / periods)
    return _judged(statistic, len(sizes) - 1)
