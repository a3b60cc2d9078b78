"""Dither turns sensitive data into answers that are safe to publish, with differential privacy.

Everything public is here and is loaded when it is first used; `import dither` itself needs the standard library only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dither._version import __version__

if TYPE_CHECKING:
    from dither.dataset import Dataset
    from dither.errors import (
        AccountFrozen,
        ArgumentError,
        BudgetExceeded,
        DitherError,
        LedgerError,
        MissingExtra,
        NoConversion,
        UnitMismatch,
    )
    from dither.ledger import Account, Budget, Ledger, Policy, Receipt
    from dither.mechanisms import (
        Exponential,
        Gaussian,
        Geometric,
        Laplace,
        NoisyMax,
        PermuteAndFlip,
        RandomizedResponse,
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
        GaussianDP,
        PoissonSampled,
        PureDP,
        Relation,
        RenyiDP,
        Unit,
        ZeroConcentratedDP,
        compose,
    )
    from dither.query import count, histogram, mean, quantile, sum, variance
    from dither.release import Release

_HOMES = {
    "dither.dataset": ("Dataset",),
    "dither.errors": (
        "AccountFrozen",
        "ArgumentError",
        "BudgetExceeded",
        "DitherError",
        "LedgerError",
        "MissingExtra",
        "NoConversion",
        "UnitMismatch",
    ),
    "dither.ledger": ("Account", "Budget", "Ledger", "Policy", "Receipt"),
    "dither.mechanisms": (
        "Exponential",
        "Gaussian",
        "Geometric",
        "Laplace",
        "NoisyMax",
        "PermuteAndFlip",
        "RandomizedResponse",
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
        "GaussianDP",
        "PoissonSampled",
        "PureDP",
        "Relation",
        "RenyiDP",
        "Unit",
        "ZeroConcentratedDP",
        "compose",
    ),
    "dither.query": ("count", "histogram", "mean", "quantile", "sum", "variance"),
    "dither.release": ("Release",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ROW",
    "Account",
    "AccountFrozen",
    "ApproxDP",
    "ArgumentError",
    "BoundedRange",
    "Budget",
    "BudgetExceeded",
    "Composed",
    "Dataset",
    "DitherError",
    "Exponential",
    "Gaussian",
    "GaussianDP",
    "Geometric",
    "Laplace",
    "Ledger",
    "LedgerError",
    "MissingExtra",
    "NoConversion",
    "NoisyMax",
    "PermuteAndFlip",
    "PoissonSampled",
    "Policy",
    "PureDP",
    "RandomizedResponse",
    "Receipt",
    "Relation",
    "Release",
    "RenyiDP",
    "Unit",
    "UnitMismatch",
    "ZeroConcentratedDP",
    "__version__",
    "compose",
    "count",
    "exponential",
    "gaussian",
    "geometric",
    "histogram",
    "laplace",
    "mean",
    "quantile",
    "randomized_response",
    "sum",
    "variance",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dither' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
