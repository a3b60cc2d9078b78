"""Federated training with client-level privacy at a trusted aggregator, simulated here:
federated averaging of sampled clients, and DP-FTRL where clients cannot be sampled.
"""

from __future__ import annotations

import importlib.util

from dither.errors import MissingExtra

if importlib.util.find_spec("torch") is None:
    raise MissingExtra("torch", "learn")

from dither.learn.federated.factorizations import Banded, Independent, Tree
from dither.learn.federated.participation import Participation
from dither.learn.federated.previewing import Preview
from dither.learn.federated.servers import FedAdam, FedAvg
from dither.learn.federated.training import preview, train
from dither.learn.federated.weighing import Weighted

__all__ = [
    "Banded",
    "FedAdam",
    "FedAvg",
    "Independent",
    "Participation",
    "Preview",
    "Tree",
    "Weighted",
    "preview",
    "train",
]
