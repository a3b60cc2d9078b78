"""The only room that draws randomness: exact noise from a cryptographic byte stream.

Every sampler gives the exact function of ideal uniform bits, whatever the last bits of
`log` do: floats decide where they are provably right, and exact arithmetic with more
random bits decides the rest (docs/proofs/noise.md). Nothing can be seeded.
"""

from dither.noise.cauchy import rounded_cauchy
from dither.noise.counts import poisson_count, truncated_negative_binomial
from dither.noise.cube import discrete_cube
from dither.noise.discrete_gaussian import discrete_gaussian
from dither.noise.gaussian import rounded_gaussian
from dither.noise.grid import Grid
from dither.noise.laplace import discrete_laplace
from dither.noise.law import Law
from dither.noise.planar import planar_laplace
from dither.noise.select import Noise, noisy_argmax
from dither.noise.uniform import (
    bernoulli,
    bernoulli_exp,
    random_words,
    secret_bytes,
    token,
    uniform_integers,
)

__all__ = [
    "Grid",
    "Law",
    "Noise",
    "bernoulli",
    "bernoulli_exp",
    "discrete_cube",
    "discrete_gaussian",
    "discrete_laplace",
    "noisy_argmax",
    "planar_laplace",
    "poisson_count",
    "random_words",
    "rounded_cauchy",
    "rounded_gaussian",
    "secret_bytes",
    "token",
    "truncated_negative_binomial",
    "uniform_integers",
]
