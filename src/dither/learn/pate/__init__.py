"""PATE: teachers learn from private records, each from its own units, and vote with noise
on the labels of public inputs; a student learns from these labels.

It needs scikit-learn: run `pip install '.[learn]'` in the checkout of Dither, or install
a wheel with `[learn]` after its path. Teachers and students may be modules of PyTorch.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from dither.errors import MissingExtra

if TYPE_CHECKING:
    from dither.learn.pate.display import Display
    from dither.learn.pate.labelling import label, label_votes, preview
    from dither.learn.pate.previewing import VotePreview
    from dither.learn.pate.release import VoteRelease
    from dither.learn.pate.torch_models import TorchClassifier
    from dither.learn.pate.votes import Counts
    from dither.learn.pate.voting import ConfidentGNMax, GNMax, NoisyMax

_HOMES = {
    "display": ("Display",),
    "labelling": ("label", "label_votes", "preview"),
    "previewing": ("VotePreview",),
    "release": ("VoteRelease",),
    "torch_models": ("TorchClassifier",),
    "votes": ("Counts",),
    "voting": ("ConfidentGNMax", "GNMax", "NoisyMax"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ConfidentGNMax",
    "Counts",
    "Display",
    "GNMax",
    "NoisyMax",
    "TorchClassifier",
    "VotePreview",
    "VoteRelease",
    "label",
    "label_votes",
    "preview",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dither.learn.pate' has no attribute {name!r}")
    if importlib.util.find_spec("sklearn") is None:
        raise MissingExtra("scikit-learn", "learn")
    module = importlib.import_module(f"dither.learn.pate.{_HOME[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
