"""Every trainer and estimator, on six made-up people and the same less one who lies far
from all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dither.audit.science_catalogue import Asked
from dither.privacy import PureDP

__all__ = ["learn"]

INPUTS = np.array(
    [[0.4, 0.5], [0.6, 0.4], [0.5, 0.6], [0.4, 0.4], [0.6, 0.6], [0.5, 0.5]]
)
LABELS, TARGETS = np.arange(6) % 2, INPUTS.sum(axis=1)
FAR = np.vstack([INPUTS, [[1.0, 1.0]]]), np.append(LABELS, 1), np.append(TARGETS, 0.0)
PEOPLE = INPUTS, LABELS, TARGETS
COST: dict[str, Any] = {"epsilon": 1.0, "delta": 0.0, "bounds": (0, 1)}
CLASSES: dict[str, Any] = {"classes": (0, 1)}
PUBLIC = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1])


def _fitted(make: Callable[[], Any], target: int, data: Any) -> Any:
    model = make()
    return model.fit(data[0], data[target]) if target else model.fit(data[0])


def _numbers(names: str, model: Any) -> Any:
    """The published parts of a fit."""
    return np.concatenate([np.ravel(getattr(model, one)) for one in names.split()])


def _probabilities(model: Any) -> Any:
    """The model's prediction for the person who is far away, and for one who is not."""
    return np.ravel(model.predict_proba(np.array([[1.0, 1.0], [0.5, 0.5]])))


def _estimators() -> Iterator[Asked]:
    from dither import learn

    few = {"max_iter": 2}
    listed: tuple[tuple[Any, dict[str, Any], int, str], ...] = (
        (learn.StandardScaler, {}, 0, "mean_ scale_"),
        (learn.PCA, {"n_components": 1}, 0, "components_"),
        (learn.KMeans, {"n_clusters": 2, "max_iter": 1}, 0, "cluster_centers_"),
        (learn.LinearRegression, {"y_bounds": (0, 2)}, 2, "coef_ intercept_"),
        (learn.Ridge, {"y_bounds": (0, 2)}, 2, "coef_ intercept_"),
        (learn.LogisticRegression, CLASSES | few, 1, "coef_ intercept_"),
        (learn.GaussianNB, CLASSES, 1, "theta_ var_"),
    )
    for made, more, target, names in listed:
        make = partial(made, **(COST | more))
        fit, shown = partial(_fitted, make, target), partial(_numbers, names)
        yield Asked(f"learn.{made.__name__}", fit, PEOPLE, FAR, shown)
    trees: tuple[tuple[Any, dict[str, Any]], ...] = (
        (learn.RandomForestClassifier, {"n_estimators": 1, "max_depth": 2}),
        (learn.ExplainableBoostingClassifier, {"max_bins": 2, "max_rounds": 1}),
    )
    for made, more in trees:
        make = partial(made, **(COST | CLASSES | more))
        fit = partial(_fitted, make, 1)
        yield Asked(f"learn.{made.__name__}", fit, PEOPLE, FAR, _probabilities)


def _together() -> Iterator[Asked]:
    from dither import learn

    def piped() -> Any:
        half = COST | {"epsilon": 0.5}
        model = learn.LogisticRegression(**half, **CLASSES, max_iter=2)
        return learn.make_pipeline(learn.StandardScaler(**half), model)

    fit = partial(_fitted, piped, 1)
    yield Asked(
        "learn.make_pipeline",
        fit,
        PEOPLE,
        FAR,
        _probabilities,
        claimed=PureDP(1.0),
    )

    def searched() -> Any:
        model = learn.LogisticRegression(bounds=(0, 1), **CLASSES)
        grid = {"max_iter": [1, 2]}
        return learn.GridSearch(model, grid, epsilon=1.0, delta=0.0, public=PUBLIC)

    fit = partial(_fitted, searched, 1)
    yield Asked("learn.GridSearch", fit, PEOPLE, FAR, _probabilities)


def _line() -> Any:
    """A model whose weights are all 0."""
    import torch

    model = torch.nn.Linear(2, 1)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    return model


def _tensors(data: Any) -> tuple[Any, Any]:
    import torch

    inputs = torch.tensor(data[0], dtype=torch.float32)
    return inputs, torch.tensor(data[2], dtype=torch.float32)[:, None]


def _weights(release: Any) -> Any:
    parts = [one.detach().numpy().ravel() for one in release.value.parameters()]
    return np.concatenate(parts)


STEP: dict[str, Any] = {"noise": 3.0, "clip": 0.1, "batch": 3, "lr": 0.1}
"""A noisy step on half of six people."""


def _trained() -> Iterator[Asked]:
    import torch

    from dither import learn

    loss = torch.nn.functional.mse_loss
    six: dict[str, Any] = {"owner": "row", "units": 6, "loss": loss, "epochs": 1}

    def trained(clip: Any, data: Any) -> Any:
        asked = six | STEP | {"clip": clip, "delta": 1e-3}
        return learn.train(_line(), _tensors(data), **asked)

    ways = {
        "": 0.1,
        ", adaptive": learn.Adaptive(radius=0.1, count_noise=6.0),
        ", automatic": learn.Automatic(radius=0.1),
    }
    for words, clip in ways.items():
        ask = partial(trained, clip)
        yield Asked("learn.train", ask, PEOPLE, FAR, _weights, words)

    def searched(data: Any) -> Any:
        rates: dict[str, Any] = {"epsilon": 2.0, "clip": 0.1, "batch": 3}
        asked = six | rates | {"delta": 1e-3, "public": _tensors(PEOPLE)}
        return learn.search(_line(), _tensors(data), {"lr": [0.1, 0.2]}, **asked)

    yield Asked("learn.search", searched, PEOPLE, FAR, _weights)


def _voted() -> Iterator[Asked]:
    """Five teachers and two queries, and the same after one teacher has changed its
    vote.
    """
    from dither.learn import pate

    votes, others = np.zeros((5, 2), np.int64), np.zeros((5, 2), np.int64)
    others[0] = 1
    ways = {
        ", Laplace": pate.NoisyMax(),
        ", Gaussian": pate.GNMax(),
        ", above a threshold": pate.ConfidentGNMax(threshold=4, answers=1),
    }

    def labels(release: Any) -> Any:
        """The label of each query, or -1 if it has no label."""
        found = np.full(2, -1)
        found[release.places] = release.labels
        return found

    for words, voting in ways.items():
        ask = partial(
            pate.label_votes,
            teachers=5,
            classes=(0, 1),
            voting=voting,
            epsilon=1.0,
            delta=1e-3,
        )
        yield Asked("learn.pate.label_votes", ask, votes, others, labels, words)


def _federated() -> Iterator[Asked]:
    """Each person is a client."""
    import torch

    from dither.learn import federated

    asked: dict[str, Any] = {
        "loss": torch.nn.functional.mse_loss,
        "rounds": 2,
        "units": 6,
        "rows": 1,
        "clip": 0.1,
        "local_lr": 0.1,
        "noise": 3.0,
        "delta": 1e-3,
    }
    once = {"participation": federated.Participation(gap=1, most=2)}
    ways: dict[str, dict[str, Any]] = {
        ", sampled": {"cohort": 3},
        ", banded noise": once | {"factorization": federated.Banded(2)},
        ", tree of noise": once | {"factorization": federated.Tree()},
    }

    def trained(way: dict[str, Any], data: Any) -> Any:
        inputs, targets = _tensors(data)
        ids = np.arange(len(inputs))
        pair = (inputs, targets)
        return federated.train(_line(), pair, owner=ids, **(asked | way))

    for words, way in ways.items():
        ask = partial(trained, way)
        yield Asked("learn.federated.train", ask, PEOPLE, FAR, _weights, words)


def _hospitals() -> Iterator[Asked]:
    """One hospital, whose account is made again for each draw."""
    import torch

    from dither.learn import hospitals
    from dither.ledger import Budget
    from dither.privacy import Unit

    def trained(data: Any) -> Any:
        unit = Unit("patient")
        held = hospitals.Hospital(
            "north",
            _tensors(data),
            owner=np.arange(len(data[0])),
            units=6,
            rows=1,
            budget=Budget(100.0, 1e-3, unit=unit),
        )
        asked: dict[str, Any] = {"loss": torch.nn.functional.mse_loss}
        asked |= STEP | {"rounds": 2, "steps": 1}
        return hospitals.train(_line(), [held], **asked)

    yield Asked("learn.hospitals.train", trained, PEOPLE, FAR, _weights)


def learn() -> Iterator[Asked]:
    """Every function of the learn room that releases a model."""
    yield from _estimators()
    yield from _together()
    yield from _trained()
    yield from _voted()
    yield from _federated()
    yield from _hospitals()
