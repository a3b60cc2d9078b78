"""Noise calibrated to a guarantee.

Each mechanism is a frozen value built from what is promised, with `.guarantee`, `.release(value)` (plain numbers in,
plain numbers out) and `.error(confidence)`, which uses public figures only.
"""

from dither.mechanisms.additive import Additive, Gaussian, Geometric, Laplace
from dither.mechanisms.keys import KeyThreshold
from dither.mechanisms.response import Estimate, RandomizedResponse
from dither.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip
from dither.mechanisms.short import exponential, gaussian, geometric, laplace, randomized_response
from dither.mechanisms.tree import Tree, TreeMechanism

__all__ = [
    "Additive",
    "Estimate",
    "Exponential",
    "Gaussian",
    "Geometric",
    "KeyThreshold",
    "Laplace",
    "NoisyMax",
    "PermuteAndFlip",
    "RandomizedResponse",
    "Tree",
    "TreeMechanism",
    "exponential",
    "gaussian",
    "geometric",
    "laplace",
    "randomized_response",
]
