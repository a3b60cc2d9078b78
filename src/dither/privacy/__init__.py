"""What is promised: units, guarantees, their conversions, composition, amplification
and calibration.

Mathematics only: no data, no randomness, no files, no clock. Only the standard library
is imported; numpy joins in where a numerical composition is better than every closed
form.

    BoundedRange(ε) ──► PureDP(ε) ──► ApproxDP(ε, 0)            an arrow is a theorem in conversions.py;
          │                │ │ └────► BoundedRange(2ε)          where there is no arrow, .to() refuses
          │ ε²/8           │ │
          ▼                │ └─ μ = 2Φ⁻¹(e^ε/(1+e^ε)) ─► GaussianDP(μ)
    ZeroConcentratedDP(ρ) ◄┘ ε·tanh(ε/2)                     │
          ▲ └──► RenyiDP ◄───────────────────────────────────┤
          │         ▲                        μ²/2            │
          │         └── PoissonSampled, FixedSizeSampled,    │
          │             Declared, Composed                   │
          └──────────────────────────────────────────────────┘
    LaplaceDP(ε) is a PureDP(ε) of which more is known: its own Rényi loss and δ(ε)
    every guarantee ── .approx(δ) ──► ApproxDP(ε(δ), δ)
    ApproxDP(ε, δ) goes where PureDP(ε) goes and carries its δ along
    MetricDP(ε per metre) ── .within(diameter) ──► PureDP(ε·diameter)
    add/remove ── .for_replacement() ──► replace, never back;    one unit ── .for_group(k) ──► k units
    replace ── .for_facts([…]) ──► replace given exact facts, never back
"""

from dither.privacy.amplification import poisson, shuffled
from dither.privacy.calibration import (
    calibrate,
    epsilon_for_error,
    gaussian_sigma,
    laplace_epsilon,
    laplace_scale,
    mu_for_error,
    rho_for_error,
)
from dither.privacy.composite import Composed, PoissonSampled
from dither.privacy.composition import Composition, compose
from dither.privacy.concentrated import GaussianDP, RenyiDP, ZeroConcentratedDP
from dither.privacy.declared import Declared
from dither.privacy.fixed_size import FixedSizeSampled, fixed_size
from dither.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from dither.privacy.guarantees import ApproxDP, BoundedRange, Guarantee, PureDP
from dither.privacy.laplace import LaplaceDP, discrete_laplace_dp
from dither.privacy.metric import MetricDP
from dither.privacy.shuffling import shuffled_numerically
from dither.privacy.training import Run, levels, noise_for, rate_of
from dither.privacy.units import ROW, Relation, Unit

__all__ = [
    "ROW",
    "ApproxDP",
    "BoundedRange",
    "Composed",
    "Composition",
    "Declared",
    "FixedSizeSampled",
    "GaussianDP",
    "Guarantee",
    "LaplaceDP",
    "MetricDP",
    "PoissonSampled",
    "PureDP",
    "Relation",
    "RenyiDP",
    "Run",
    "Unit",
    "ZeroConcentratedDP",
    "calibrate",
    "compose",
    "discrete_laplace_dp",
    "epsilon_for_error",
    "fixed_size",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "gaussian_sigma",
    "laplace_epsilon",
    "laplace_scale",
    "levels",
    "mu_for_error",
    "noise_for",
    "poisson",
    "rate_of",
    "rho_for_error",
    "shuffled",
    "shuffled_numerically",
]
