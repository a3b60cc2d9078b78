"""Models trained on private records, with the cost on the account that pays for all other
answers about the same people. Training noise is float arithmetic: unlike that of other
answers, it is not exact, and the low bits of weights are not covered. The sums, the noise
and PyTorch's kernels are trusted to be as accurate as floats are. Estimators and the votes
of teachers (PATE) are in this package too, and their noise is exact, on integers.

`train` needs PyTorch, and the estimators need scikit-learn. Run `pip install '.[learn]'`
in the checkout of Dither, or install a wheel with `[learn]` after its path.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from dither.errors import MissingExtra

if TYPE_CHECKING:
    from dither.learn import federated as federated
    from dither.learn import hospitals as hospitals
    from dither.learn import pate as pate
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
    from dither.learn.tuning import SearchRelease, search
    from dither.learn.validation import Validation
    from dither.learn.words import Words

_TORCH = {
    "dither.learn.clipping": ("Adaptive", "Automatic", "Flat", "PerLayer"),
    "dither.learn.previewing": ("Preview",),
    "dither.learn.release": ("ModelRelease",),
    "dither.learn.schedules": ("Cosine", "Linear"),
    "dither.learn.training": ("preview", "train"),
    "dither.learn.tuning": ("SearchRelease", "search"),
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
_FOLDERS = {"federated": "torch", "hospitals": "torch", "pate": "sklearn"}
"""Folders with names of their own, and what they need."""
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
    "SearchRelease",
    "StandardScaler",
    "Validation",
    "Words",
    "make_pipeline",
    "preview",
    "search",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME and name not in _FOLDERS:
        raise AttributeError(f"module 'dither.learn' has no attribute {name!r}")
    module = _HOME.get(name, f"dither.learn.{name}")
    needed = _FOLDERS.get(name) or _NEEDS[module]
    if importlib.util.find_spec(needed) is None:
        raise MissingExtra(_PACKAGES[needed], "learn")
    found = importlib.import_module(module)
    value = found if name in _FOLDERS else getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_FOLDERS])
