"""How a device answers so that its message says little about it, and what many such
messages say together.
"""

from dither.local.oracles.hadamard import HadamardResponse
from dither.local.oracles.hashing import LocalHashing
from dither.local.oracles.loloha import Loloha
from dither.local.oracles.mean import BinaryMean, HybridMean, Mean, OneBitMean
from dither.local.oracles.oracle import Longitudinal, Oracle, Randomizer
from dither.local.oracles.response import KAryResponse
from dither.local.oracles.sampled import Sampled
from dither.local.oracles.sketch import CountMeanSketch, HadamardSketch
from dither.local.oracles.subset import SubsetSelection
from dither.local.oracles.unary import LongitudinalUnary, Unary

__all__ = [
    "BinaryMean",
    "CountMeanSketch",
    "HadamardResponse",
    "HadamardSketch",
    "HybridMean",
    "KAryResponse",
    "LocalHashing",
    "Loloha",
    "Longitudinal",
    "LongitudinalUnary",
    "Mean",
    "OneBitMean",
    "Oracle",
    "Randomizer",
    "Sampled",
    "SubsetSelection",
    "Unary",
]
