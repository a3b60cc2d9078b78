"""The estimators of this library and of scikit-learn, and private constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import cluster, decomposition, ensemble, linear_model, naive_bayes
from sklearn.preprocessing import StandardScaler

import dither
from bench.fitting.data import CLASSED, NUMBERED, Data
from bench.scripts.estimators_parts import COMPONENTS
from dither import learn
from dither.mechanisms import PermuteAndFlip

__all__ = ["ALONE", "DELTA", "MODELS", "constant", "ours", "plain"]

DELTA = 1e-5
MODELS = {
    "LogisticRegression": CLASSED,
    "GaussianNB": CLASSED,
    "RandomForestClassifier": CLASSED,
    "ExplainableBoostingClassifier": CLASSED,
    "LinearRegression": NUMBERED,
    "Ridge": NUMBERED,
    "KMeans": CLASSED,
    "PCA": (*CLASSED, "diabetes"),
    "StandardScaler": (*CLASSED, "diabetes"),
}
"""Each with the sets it is tried on."""
ALONE = ("ExplainableBoostingClassifier", "Ridge")
"""What diffprivlib does not have."""


def ours(model: str, data: Data, units: int, epsilon: float | None, **how: Any) -> Any:
    """With the number of rows declared: diffprivlib takes it for public too."""
    given: dict[str, Any] = {"bounds": (-1, 1), "units": units, "epsilon": epsilon}
    if model == "KMeans":
        given["n_clusters"] = data.classes
    elif model == "PCA":
        given["n_components"] = COMPONENTS
    elif model in ("LinearRegression", "Ridge"):
        given["y_bounds"] = (-1, 1)
    elif model != "StandardScaler":
        given["classes"] = range(data.classes)
    return getattr(learn, model)(**given, **how)


def plain(model: str, data: Data) -> Any:
    """scikit-learn's, without privacy."""
    return {
        "LogisticRegression": lambda: linear_model.LogisticRegression(max_iter=1000),
        "GaussianNB": naive_bayes.GaussianNB,
        "RandomForestClassifier": lambda: ensemble.RandomForestClassifier(20),
        "ExplainableBoostingClassifier": lambda: (
            ensemble.HistGradientBoostingClassifier(
                max_iter=30, interaction_cst="no_interactions", early_stopping=False
            )
        ),
        "LinearRegression": linear_model.LinearRegression,
        "Ridge": linear_model.Ridge,
        "KMeans": lambda: cluster.KMeans(data.classes, n_init=3),
        "PCA": lambda: decomposition.PCA(COMPONENTS),
        "StandardScaler": StandardScaler,
    }[model]()


@dataclass(frozen=True)
class Same:
    """What is the same for every row."""

    value: Any

    def predict(self, inputs: Any) -> Any:
        return np.full(len(inputs), self.value)


@dataclass(frozen=True)
class Guess:
    """Directions, means and deviations that need no rows: the first columns, the middle
    of the bounds, and an even spread between them.
    """

    width: int

    @property
    def components_(self) -> Any:
        return np.eye(self.width)[:COMPONENTS]

    @property
    def mean_(self) -> Any:
        return np.zeros(self.width)

    @property
    def scale_(self) -> Any:
        return np.full(self.width, 1 / np.sqrt(3))


def constant(model: str, data: Data, targets: Any, epsilon: float) -> Any:
    """The majority class by a private choice, or a private mean; for the rest what
    needs no rows.
    """
    if model == "KMeans":
        return Same(0)
    if model in ("PCA", "StandardScaler"):
        return Guess(data.inputs.shape[1])
    if data.classed:
        counts = np.bincount(targets, minlength=data.classes)
        chosen = PermuteAndFlip(sensitivity=1, epsilon=epsilon, monotone=True)
        return Same(int(chosen.release(counts)))
    return Same(float(dither.mean(targets, bounds=(-1, 1), epsilon=epsilon).value))
