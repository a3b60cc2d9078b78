"""Dither turns sensitive data into answers that are safe to publish, with differential
privacy.

Everything public is here and is loaded when it is first used; `import dither` itself
needs the standard library only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dither._version import __version__
from dither.terminal import adapt

if TYPE_CHECKING:
    from dither.dataset import Dataset
    from dither.errors import (
        AccountFrozen,
        ArgumentError,
        BudgetExceeded,
        CollectorError,
        DeviceError,
        DitherError,
        EngineFailed,
        LedgerError,
        MachineFailed,
        MissingExtra,
        NoConversion,
        QueryError,
        UnitMismatch,
    )
    from dither.ledger import Account, Budget, Ledger, Policy, Receipt
    from dither.mechanisms import (
        AboveThreshold,
        ContinualCount,
        Cube,
        Exponential,
        Gaussian,
        Geometric,
        KeyThreshold,
        Ladder,
        Laplace,
        NoisyMax,
        PartitionSelection,
        PermuteAndFlip,
        QuantileExponential,
        RandomizedResponse,
        SmoothSensitivity,
        TopK,
        Tree,
        TreeMechanism,
        exponential,
        gaussian,
        geometric,
        laplace,
        randomized_response,
    )
    from dither.privacy import (
        ROW,
        ApproxDP,
        BoundedRange,
        Composed,
        FixedSizeSampled,
        GaussianDP,
        LaplaceDP,
        MetricDP,
        PoissonSampled,
        PureDP,
        Relation,
        RenyiDP,
        Unit,
        ZeroConcentratedDP,
        compose,
    )
    from dither.query import count, histogram, mean, quantile, variance
    from dither.query import sum as sum
    from dither.query.catalogue.model import Catalogue
    from dither.query.examples import example
    from dither.query.magic import load_ipython_extension
    from dither.query.open import open as open
    from dither.query.preview import Preview
    from dither.release import Release
    from dither.table import TableRelease

_HOMES = {
    "dither.dataset": ("Dataset",),
    "dither.errors": (
        "AccountFrozen",
        "ArgumentError",
        "BudgetExceeded",
        "CollectorError",
        "DeviceError",
        "DitherError",
        "EngineFailed",
        "LedgerError",
        "MachineFailed",
        "MissingExtra",
        "NoConversion",
        "QueryError",
        "UnitMismatch",
    ),
    "dither.ledger": ("Account", "Budget", "Ledger", "Policy", "Receipt"),
    "dither.mechanisms": (
        "AboveThreshold",
        "ContinualCount",
        "Cube",
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
        "TopK",
        "Tree",
        "TreeMechanism",
        "exponential",
        "gaussian",
        "geometric",
        "laplace",
        "randomized_response",
    ),
    "dither.privacy": (
        "ROW",
        "ApproxDP",
        "BoundedRange",
        "Composed",
        "FixedSizeSampled",
        "GaussianDP",
        "LaplaceDP",
        "MetricDP",
        "PoissonSampled",
        "PureDP",
        "Relation",
        "RenyiDP",
        "Unit",
        "ZeroConcentratedDP",
        "compose",
    ),
    "dither.query": ("count", "histogram", "mean", "quantile", "sum", "variance"),
    "dither.query.catalogue.model": ("Catalogue",),
    "dither.query.examples": ("example",),
    "dither.query.magic": ("load_ipython_extension",),
    "dither.query.open": ("open",),
    "dither.query.preview": ("Preview",),
    "dither.release": ("Release",),
    "dither.table": ("TableRelease",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
# Modules, reached as attributes: dither.audit.mechanism, dither.explain.epsilon
_ROOMS = (
    "audit",
    "explain",
    "learn",
    "local",
    "science",
)

# `from dither import *` brings no `open` and no `sum`: they would hide Python's own.
# `dither.open` is there as ever.
__all__ = [
    "ROW",
    "AboveThreshold",
    "Account",
    "AccountFrozen",
    "ApproxDP",
    "ArgumentError",
    "BoundedRange",
    "Budget",
    "BudgetExceeded",
    "Catalogue",
    "CollectorError",
    "Composed",
    "ContinualCount",
    "Cube",
    "Dataset",
    "DeviceError",
    "DitherError",
    "EngineFailed",
    "Exponential",
    "FixedSizeSampled",
    "Gaussian",
    "GaussianDP",
    "Geometric",
    "KeyThreshold",
    "Ladder",
    "Laplace",
    "LaplaceDP",
    "Ledger",
    "LedgerError",
    "MachineFailed",
    "MetricDP",
    "MissingExtra",
    "NoConversion",
    "NoisyMax",
    "PartitionSelection",
    "PermuteAndFlip",
    "PoissonSampled",
    "Policy",
    "Preview",
    "PureDP",
    "QuantileExponential",
    "QueryError",
    "RandomizedResponse",
    "Receipt",
    "Relation",
    "Release",
    "RenyiDP",
    "SmoothSensitivity",
    "TableRelease",
    "TopK",
    "Tree",
    "TreeMechanism",
    "Unit",
    "UnitMismatch",
    "ZeroConcentratedDP",
    "__version__",
    "compose",
    "count",
    "example",
    "exponential",
    "gaussian",
    "geometric",
    "histogram",
    "laplace",
    "load_ipython_extension",
    "mean",
    "quantile",
    "randomized_response",
    "variance",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"dither.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'dither' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, *_ROOMS, "__version__"])


adapt()
