"""Models trained on private records, with the cost on the account that pays for all other
answers about the same people.

`train` needs PyTorch, and the estimators scikit-learn: `pip install dither[learn]`.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from dither.errors import MissingExtra

if TYPE_CHECKING:
    from dither.learn.clipping import Adaptive, Automatic, Flat, PerLayer
    from dither.learn.estimators import (
        PCA,
        ExplainableBoostingClassifier,
        GaussianNB,
        GridSearch,
        KMeans,
        LinearRegression,
        LogisticRegression,
        RandomForestClassifier,
        Ridge,
        StandardScaler,
        make_pipeline,
    )
    from dither.learn.previewing import Preview
    from dither.learn.release import ModelRelease
    from dither.learn.schedules import Cosine, Linear
    from dither.learn.training import preview, train
    from dither.learn.validation import Validation
    from dither.learn.words import Words

_TORCH = {
    "dither.learn.clipping": ("Adaptive", "Automatic", "Flat", "PerLayer"),
    "dither.learn.previewing": ("Preview",),
    "dither.learn.release": ("ModelRelease",),
    "dither.learn.schedules": ("Cosine", "Linear"),
    "dither.learn.training": ("preview", "train"),
    "dither.learn.validation": ("Validation",),
    "dither.learn.words": ("Words",),
}
_ESTIMATORS = {
    "dither.learn.estimators": (
        "ExplainableBoostingClassifier",
        "GaussianNB",
        "GridSearch",
        "KMeans",
        "LinearRegression",
        "LogisticRegression",
        "PCA",
        "RandomForestClassifier",
        "Ridge",
        "StandardScaler",
        "make_pipeline",
    ),
}
# What each module needs, which not everybody has installed
_NEEDS = dict.fromkeys(_TORCH, "torch") | dict.fromkeys(_ESTIMATORS, "sklearn")
_PACKAGES = {"torch": "torch", "sklearn": "scikit-learn"}
_HOME = {
    name: module for module, names in (_TORCH | _ESTIMATORS).items() for name in names
}

__all__ = [
    "PCA",
    "Adaptive",
    "Automatic",
    "Cosine",
    "ExplainableBoostingClassifier",
    "Flat",
    "GaussianNB",
    "GridSearch",
    "KMeans",
    "Linear",
    "LinearRegression",
    "LogisticRegression",
    "ModelRelease",
    "PerLayer",
    "Preview",
    "RandomForestClassifier",
    "Ridge",
    "StandardScaler",
    "Validation",
    "Words",
    "make_pipeline",
    "preview",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dither.learn' has no attribute {name!r}")
    module = _HOME[name]
    needed = _NEEDS[module]
    if importlib.util.find_spec(needed) is None:
        raise MissingExtra(_PACKAGES[needed], "learn")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
