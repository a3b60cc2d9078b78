"""Models that may teach or study: estimators with `fit` and `predict`, modules of
PyTorch, or a function that makes one.
"""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from typing import Any

from dither.errors import ArgumentError

__all__ = ["fresh", "model_of", "packed"]

WAY_OUT = (
    "pass an estimator with fit and predict, a module of PyTorch, or a function that "
    "makes one"
)


def model_of(model: Any) -> Any:
    """A model as `fit` and `predict`, or what makes one."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        from dither.learn.pate.torch_models import TorchClassifier

        return TorchClassifier(model)
    fits = hasattr(model, "fit") and hasattr(model, "predict")
    if not fits and (not callable(model) or hasattr(model, "fit")):
        kind = type(model).__name__
        raise ArgumentError("model", f"cannot be of type {kind}; {WAY_OUT}")
    return model


def fresh(model: Any) -> Any:
    """A copy of an estimator that has learned nothing. Of anything else it is a copy as
    it is: of a module with its weights.
    """
    if not hasattr(model, "get_params") or isinstance(model, type):
        return copy.deepcopy(model) if hasattr(model, "fit") else model
    from sklearn.base import clone

    try:
        return clone(model)
    except Exception:
        raise ArgumentError(
            "model",
            "cannot be copied by scikit-learn's clone; pass a function that makes it",
        ) from None


def packed(value: Any) -> bytes:
    """The model as bytes for another process, also if its class is defined in a
    notebook.
    """
    try:
        found: bytes = _pickler().dumps(value)
    except Exception as error:
        words = str(error).strip().split("\n")[0][:200]
        raise ArgumentError(
            "model",
            f"cannot be sent to another process ({words}); pass a function that makes "
            "it there",
        ) from None
    return found


def _pickler() -> Any:
    """The module that joblib uses, which can pickle classes of notebooks; it moved."""
    for name in ("cloudpickle", "joblib.externals.cloudpickle"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return pickle
