"""Labels that teachers gave to public inputs, as a release, and the student who learns
from them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.learn.pate.models import fresh, model_of
from dither.learn.pate.worker import made
from dither.release import Ends, Release
from dither.wording import in_html

__all__ = ["VoteRelease"]


@dataclass(frozen=True, eq=False)
class VoteRelease(Release):
    """Labels of public inputs: `value` has those of the answered ones, in their order.

    `answered` says which of the queries these are. Votes are nowhere in it. `display` is
    the charged ε of the votes on this data, where it was asked for.
    """

    answered: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    classes: tuple[Any, ...] = ()
    inputs: NDArray[Any] | None = field(default=None, repr=False)
    display: Release | None = None

    @property
    def labels(self) -> NDArray[Any]:
        """The labels of the answered queries."""
        found: NDArray[Any] = self.value
        return found

    @property
    def places(self) -> NDArray[np.intp]:
        """The places of the answered queries."""
        return np.flatnonzero(self.answered)

    def student(self, model: Any, inputs: Any = None) -> Any:
        """A model that has learned the answered queries and their labels: a copy of an
        estimator, a `TorchClassifier` around a copy of a module, or what a function
        makes. It costs nothing more, and is as safe to publish as the labels.

        `inputs` are the queries, where only votes were passed.
        """
        held = self.inputs if inputs is None else np.asarray(inputs)
        if held is None or len(held) != len(self.answered):
            raise ArgumentError(
                "inputs", "must be the queries, one for each vote; pass inputs=queries"
            )
        if not len(self.value):
            raise ArgumentError(
                "model",
                "has nothing to learn, because no query was answered; lower the "
                "threshold",
            )
        found = made(fresh(model_of(model)), self.classes)
        found.fit(held[self.answered], self.value)
        return found

    def interval(self, confidence: float = 0.95, *, of: str = "truth") -> Ends:  # noqa: ARG002
        _refuse("interval", "labels do not have intervals; read .labels")

    def __getitem__(self, key: Any) -> Release:
        _refuse("key", "released labels cannot be indexed; read .labels and .places")

    def __bool__(self) -> bool:
        return True

    def rows(self, confidence: float = 0.95) -> list[tuple[Any, Any, Any, Any]]:  # noqa: ARG002
        """(class, how often it was named, None, None) for each class."""
        seen = Counter(np.asarray(self.value).tolist())
        return [(one, seen[one], None, None) for one in self.classes]

    def _lines(self) -> list[str]:
        count, total = len(self.value), len(self.answered)
        lines = [f"labels: {count:,} of {total:,} queries answered"]
        if self.display is not None:
            lines.append(f"ε on this data, with noise: {self.display.value:.4g}")
        return lines

    def __repr__(self) -> str:
        return f"<VoteRelease: {len(self.value):,} of {len(self.answered):,} labels>"

    def _repr_html_(self) -> str:
        return in_html(str(self).splitlines())


def _refuse(argument: str, words: str) -> NoReturn:
    raise ArgumentError(argument, words)
