"""A linear classifier before its choice: what columns say of each class, and what is
added for each class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dither.learn.estimators.base import Fitted, labels
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.fallback import Fallback
from dither.learn.estimators.sums import along

__all__ = ["Line"]


@dataclass(frozen=True)
class Line:
    """Slopes of columns that go from -1 to 1, with a row for each class, and two numbers
    for each class: `offset` belongs to the evidence of the columns, `base` does not.
    """

    slopes: Reals
    offset: Reals
    base: Reals

    def evidence(self, inputs: Reals) -> Reals:
        """Evidence of the columns of each row, added up column by column."""
        return along(2 * inputs - 1, self.slopes) + self.offset

    def fitted(
        self,
        rows: Rows,
        fallback: Fallback,
        declared: Declared,
        steps: int,
        note: str,
    ) -> Fitted:
        """Coefficients in the units of the data, after the choice."""
        assert declared.classes is not None
        chosen = fallback.choose(rows, self.base, self.evidence(rows.inputs))
        coef = chosen.scale * self.slopes * (2 / declared.span)
        middle = (declared.low + declared.high) / 2
        intercept = chosen.base + chosen.scale * self.offset - coef @ middle
        if len(declared.classes) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        found = {
            "coef_": coef,
            "intercept_": intercept,
            "classes_": labels(declared.classes),
            "n_iter_": steps,
        }
        value = np.hstack([intercept[:, None], coef])
        return Fitted(found, value, notes=(note, *chosen.notes))
