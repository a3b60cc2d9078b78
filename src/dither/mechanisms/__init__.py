"""Noise calibrated to a guarantee.

Each mechanism is a frozen value built from what is promised, with `.guarantee`,
`.release(value)` (plain numbers in, plain numbers out) and `.error(confidence)`, which
uses public figures only.
"""

from dither.mechanisms.additive import Additive, Gaussian, Geometric, Laplace
from dither.mechanisms.continual import ContinualCount, CountStream
from dither.mechanisms.cube import Cube
from dither.mechanisms.keys import KeyThreshold
from dither.mechanisms.ladder import Ladder
from dither.mechanisms.partition import PartitionSelection
from dither.mechanisms.quantile import QuantileExponential
from dither.mechanisms.response import Estimate, RandomizedResponse
from dither.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip
from dither.mechanisms.short import (
    exponential,
    gaussian,
    geometric,
    laplace,
    randomized_response,
)
from dither.mechanisms.smooth import SmoothSensitivity
from dither.mechanisms.sparse import AboveThreshold, ThresholdStream
from dither.mechanisms.topk import TopK
from dither.mechanisms.tree import Tree, TreeMechanism

__all__ = [
    "AboveThreshold",
    "Additive",
    "ContinualCount",
    "CountStream",
    "Cube",
    "Estimate",
    "Exponential",
    "Gaussian",
    "Geometric",
    "KeyThreshold",
    "Ladder",
    "Laplace",
    "NoisyMax",
    "PartitionSelection",
    "PermuteAndFlip",
    "QuantileExponential",
    "RandomizedResponse",
    "SmoothSensitivity",
    "ThresholdStream",
    "TopK",
    "Tree",
    "TreeMechanism",
    "exponential",
    "gaussian",
    "geometric",
    "laplace",
    "randomized_response",
]
