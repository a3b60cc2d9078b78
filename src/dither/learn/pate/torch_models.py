"""Modules of PyTorch as classifiers, trained in a plain way: for teachers, whose votes
get the noise, and for students, whose labels have it already.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dither.errors import ArgumentError
from dither.learn.encoding import Keyed, keyed
from dither.noise import random_words
from dither.privacy.numbers import positive, whole

__all__ = ["TorchClassifier"]


class TorchClassifier:
    """A module of PyTorch with `fit` and `predict`; it gives a score for each class.

    It is trained by Adam on mini-batches, **without privacy**: as a teacher, or as a
    student on released labels. `classes` are the declared ones where it is left out.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        classes: Sequence[Any] | None = None,
        epochs: int = 20,
        batch: int = 32,
        lr: float = 1e-3,
    ) -> None:
        if not isinstance(module, nn.Module):
            raise ArgumentError("module", "must be a torch.nn.Module")
        self.module = module
        self.classes = None if classes is None else tuple(classes)
        self.epochs = whole("epochs", epochs, "pass the number of epochs, such as 20")
        self.batch = whole(
            "batch", batch, "pass the number of rows per step, such as 32"
        )
        self.lr = positive("lr", lr, "pass a rate such as 1e-3")

    def for_classes(self, classes: Sequence[Any]) -> Self:
        """A fresh copy whose scores are of these classes."""
        found = copy.copy(self)
        found.module = copy.deepcopy(self.module)
        found.classes = tuple(classes) if self.classes is None else self.classes
        return found

    def fit(self, X: Any, y: Any) -> Self:
        """Train on rows whose label is one of the classes."""
        inputs, targets = _tensor(X), torch.from_numpy(self._keys.numbers(y))
        known = targets >= 0
        inputs, targets = inputs[known], targets[known]
        if not len(targets):
            raise ArgumentError(
                "y", "has no row of a declared class; check classes= and the labels"
            )
        optimizer = torch.optim.Adam(self.module.parameters(), lr=self.lr)
        self.module.train()
        for _ in range(self.epochs):
            for part in _batches(len(targets), self.batch):
                optimizer.zero_grad()
                scores = self.module(inputs[part])
                loss = nn.functional.cross_entropy(scores, targets[part])
                torch.autograd.backward(loss)
                optimizer.step()
        self.module.eval()
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the highest score."""
        with torch.no_grad():
            scores = self.module(_tensor(X))
        if scores.ndim != 2 or scores.shape[1] != self._keys.width:
            raise ArgumentError(
                "module", "must return one score for each class; change its last layer"
            )
        found: NDArray[Any] = np.asarray(self._keys.keys)[scores.argmax(dim=1).numpy()]
        return found

    @property
    def _keys(self) -> Keyed:
        if self.classes is None:
            raise ArgumentError("classes", "are missing; pass all possible labels")
        return keyed("classes", self.classes)


def _tensor(values: Any) -> Tensor:
    return torch.as_tensor(np.asarray(values), dtype=torch.float32)


def _batches(count: int, size: int) -> Iterator[Tensor]:
    order = np.argsort(random_words(2 * count).view(np.uint64))
    for start in range(0, count, size):
        yield torch.from_numpy(order[start : start + size])
