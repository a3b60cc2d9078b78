"""Estimators in scikit-learn's form whose fit is a release: bounds, classes and cost are
declared, and the cost is on the account that pays for all other answers.

They need scikit-learn: run `pip install '.[learn]'` in the checkout of Dither, or install
a wheel with `[learn]` after its path.
"""

from __future__ import annotations

import importlib.util

from dither.errors import MissingExtra

if importlib.util.find_spec("sklearn") is None:
    raise MissingExtra("scikit-learn", "learn")

from dither.learn.estimators.bayes import GaussianNB
from dither.learn.estimators.boosting import ExplainableBoostingClassifier
from dither.learn.estimators.clusters import KMeans
from dither.learn.estimators.components import PCA
from dither.learn.estimators.forest import RandomForestClassifier
from dither.learn.estimators.linear import LinearRegression, Ridge
from dither.learn.estimators.logistic import LogisticRegression
from dither.learn.estimators.pipeline import PrivatePipeline, make_pipeline
from dither.learn.estimators.scaling import StandardScaler
from dither.learn.estimators.search import GridSearch

__all__ = [
    "PCA",
    "ExplainableBoostingClassifier",
    "GaussianNB",
    "GridSearch",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "PrivatePipeline",
    "RandomForestClassifier",
    "Ridge",
    "StandardScaler",
    "make_pipeline",
]
