"""Shares of strings from the bits of their Bloom filters: least squares with the
covariance that the randomizer has (docs/proofs/rappor.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import MissingExtra
from dither.local.rappor.calibration import Rates

__all__ = ["Fitted", "Model", "linear_algebra", "shares_of"]

Reals = NDArray[np.float64]

ROUNDS = 2  # variances come from a fit, and the fit from variances


def linear_algebra() -> Any:
    """scipy, with the parts that are used here."""
    try:
        import scipy.linalg
        import scipy.optimize
        import scipy.special
    except ImportError:
        raise MissingExtra("scipy", "accounting") from None
    return scipy


@dataclass(frozen=True, eq=False)
class Model:
    """Shares of ones at each bit of each cohort, less the noise's, as a sum of Bloom
    filters: seen = filters · shares, less what a string of no list sets on average.

    `filters` is cohorts × bits × candidates. A string that is not on the list sets a
    bit with probability `usual`, and two bits with probability `both`.
    """

    filters: Reals
    seen: Reals
    sizes: Reals
    noise: Rates
    periods: int
    usual: float
    both: float

    @property
    def equations(self) -> int:
        return self.seen.size

    @cached_property
    def centred(self) -> Reals:
        return self.filters - self.usual

    @property
    def gain(self) -> float:
        held, null = self.noise.said
        return float(held - null)

    def ones(self, shares: Reals) -> Reals:
        """Rate at which each bit is set before any noise, if strings have these shares."""
        return np.clip(self.usual + self.centred @ shares, 0.0, 1.0)

    def covariances(self, shares: Reals, missing: float = 0.0) -> Reals:
        """The covariance of `seen`, cohort by cohort.

        Noise is independent from bit to bit. Which strings fall into a cohort is
        chance as well, and links the bits of a string. Strings that are not on the
        list link theirs: `missing` is the sum of their squared shares.
        """
        noise = self._noise(self.ones(shares)) / self.sizes[:, None]
        centre = self.centred @ shares
        drawn = (self.centred * shares) @ self.centred.transpose(0, 2, 1)
        drawn -= centre[:, :, None] * centre[:, None, :]
        drawn += max(1 - shares.sum(), 0.0) * self.unlisted
        spread = self.periods * drawn / self.sizes[:, None, None]
        return np.asarray(spread + missing * self.unlisted + _diagonal(noise))

    def _noise(self, ones: Reals) -> Reals:
        held, null = (float(rate) for rate in self.noise.said)
        repeated = (self.periods - 1) * self.noise.fixed
        mixed = ones * held * (1 - held) + (1 - ones) * null * (1 - null)
        return np.asarray((mixed + repeated) / self.gain**2)

    @cached_property
    def unlisted(self) -> Reals:
        """The covariance of the bits that one unknown string sets."""
        bits = self.seen.shape[1]
        out = np.full((bits, bits), self.both - self.usual**2)
        np.fill_diagonal(out, self.usual * (1 - self.usual))
        return out


def _diagonal(rows: Reals) -> Reals:
    return rows[:, :, None] * np.eye(rows.shape[1])


@dataclass(frozen=True, eq=False)
class Fitted:
    """Generalized least squares: unconstrained shares, their covariance, and the
    matrix that makes shares from what is seen.
    """

    shares: Reals
    covariance: Reals
    weights: Reals
    misfit: float


def solved(model: Model, covariances: Reals) -> Fitted:
    scipy = linear_algebra()
    design, target, roots = _whitened(model, covariances)
    basis, upper = scipy.linalg.qr(design, mode="economic")
    inverse = scipy.linalg.solve_triangular(upper, np.eye(len(upper)))
    shares = inverse @ (basis.T @ target)
    residual = target - design @ shares
    return Fitted(
        shares,
        inverse @ inverse.T,
        _unwhitened(inverse @ basis.T, roots),
        float(residual @ residual),
    )


def _whitened(model: Model, covariances: Reals) -> tuple[Reals, Reals, list[Reals]]:
    """Design and target in units of their standard deviations, and the roots that did
    it.
    """
    scipy = linear_algebra()
    target = model.seen - model.usual
    roots = [np.linalg.cholesky(one) for one in covariances]
    design, targets = [], []
    for root, part, aim in zip(roots, model.centred, target, strict=True):
        both = np.column_stack([part, aim])
        done = scipy.linalg.solve_triangular(root, both, lower=True)
        design.append(done[:, :-1])
        targets.append(done[:, -1])
    return np.concatenate(design), np.concatenate(targets), roots


def _unwhitened(weights: Reals, roots: list[Reals]) -> Reals:
    scipy = linear_algebra()
    bits = len(roots[0])
    parts = [
        scipy.linalg.solve_triangular(
            root, weights[:, bits * i : bits * (i + 1)].T, lower=True, trans="T"
        ).T
        for i, root in enumerate(roots)
    ]
    return np.concatenate(parts, axis=1)


def constrained(model: Model, covariances: Reals) -> Reals:
    """The shares with the least misfit among those that are not negative and sum to
    one at most.

    What the sum leaves is the share of strings that are not on the list: a column of
    zeros, as columns are centred. On the simplex, design · w − target = C · w with
    C = design − target · 1ᵀ. For every scale s > 0, the z ≥ 0 with the least
    |C z|² + s² (1ᵀz − 1)² is a multiple of the best w, so no penalty has to be large.
    """
    scipy = linear_algebra()
    design, target, _ = _whitened(model, covariances)
    padded = np.column_stack([design, np.zeros(len(design))])
    aimed = padded - target[:, None]
    upper = scipy.linalg.qr(aimed, mode="r")[0][: aimed.shape[1]]
    scale = np.linalg.norm(upper) / np.sqrt(aimed.shape[1])
    rows = np.vstack([upper, np.full(aimed.shape[1], scale)])
    goal = np.zeros(len(rows))
    goal[-1] = scale
    found, _ = scipy.optimize.nnls(rows, goal, maxiter=100 * rows.shape[1])
    return np.asarray(found[:-1] / found.sum())


def shares_of(model: Model) -> tuple[Reals, Fitted, Fitted, float]:
    """Constrained shares; the fit if nothing were missing from the list, and with what
    seems to be missing; and how much that is.
    """
    candidates = model.filters.shape[2]
    shares = np.zeros(candidates)
    for _ in range(ROUNDS):
        shares = constrained(model, model.covariances(shares))
    plain = solved(model, model.covariances(shares))
    missing = _missing(model, shares, plain)
    if not missing:
        return shares, plain, plain, 0.0
    covariances = model.covariances(shares, missing)
    shares = constrained(model, covariances)
    return shares, plain, solved(model, covariances), missing


def _missing(model: Model, shares: Reals, plain: Fitted) -> float:
    """The sum of squared shares of unlisted strings that makes the misfit as large as
    its degrees of freedom (Mandel & Paule 1970); zero if it is not larger.
    """
    degrees = model.equations - len(shares)
    if plain.misfit <= degrees:
        return 0.0
    known = model.covariances(shares)

    def excess(missing: float) -> float:
        return _misfit(model, known + missing * model.unlisted) - degrees

    noise = float(np.mean(known.diagonal(axis1=1, axis2=2)))
    one = model.usual * (1 - model.usual)  # what a missing string adds to a bit
    high = (plain.misfit / degrees - 1) * noise / one
    while excess(high) > 0:
        high *= 2
    search = linear_algebra().optimize.brentq
    return float(search(excess, 0.0, high, xtol=1e-3 * high, rtol=1e-3))


def _misfit(model: Model, covariances: Reals) -> float:
    """The least sum of squares alone: the last corner of a triangle."""
    design, target, _ = _whitened(model, covariances)
    both = np.column_stack([design, target])
    upper = linear_algebra().linalg.qr(both, mode="r", check_finite=False)[0]
    corner = len(upper[0]) - 1
    return float(upper[corner, corner] ** 2)
