"""Models trained on private records, with the cost on the account that pays for all other
answers about the same people.

PyTorch is needed: `pip install dither[learn]`.
"""

from __future__ import annotations

import importlib.util

from dither.errors import MissingExtra

if importlib.util.find_spec("torch") is None:
    raise MissingExtra("torch", "learn")

from dither.learn.clipping import Adaptive, Automatic, Flat, PerLayer
from dither.learn.previewing import Preview
from dither.learn.release import ModelRelease
from dither.learn.schedules import Cosine, Linear
from dither.learn.training import preview, train
from dither.learn.validation import Validation
from dither.learn.words import Words

__all__ = [
    "Adaptive",
    "Automatic",
    "Cosine",
    "Flat",
    "Linear",
    "ModelRelease",
    "PerLayer",
    "Preview",
    "Validation",
    "Words",
    "preview",
    "train",
]
