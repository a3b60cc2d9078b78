"""Made-up records, and teachers that misbehave."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MADE = np.random.default_rng(4)  # allowed: made-up data
LABELS = np.arange(120) % 3
INPUTS = np.eye(3)[LABELS] + MADE.normal(0, 0.05, (120, 3))
QUERIES = np.eye(3)[[0, 1, 2, 2, 1]] + MADE.normal(0, 0.05, (5, 3))
NAMED = [0, 1, 2, 2, 1]
MARK = 1.2345e-67
BAD = 9.0
"""An input that makes a teacher misbehave."""


class Nearest:
    """Names the class of the nearest centre. It misbehaves where it is told to, and where
    it sees a bad input.
    """

    def __init__(self, how: str = "") -> None:
        self.how = how

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Nearest:
        self.bad = bool((X == BAD).any())
        if self.bad and self.how == "raises":
            raise ValueError(f"a secret: {X.sum()}")
        if self.bad and self.how == "ends":
            os._exit(3)
        if self.bad and self.how == "sleeps":
            time.sleep(1000)
        if self.bad and self.how == "computes":
            while True:
                pass
        if self.bad and self.how == "prints":
            print("a secret", flush=True)
            print("a secret", file=sys.stderr, flush=True)
            os.write(1, b"a secret")
            raise SystemExit(1)
        self.classes = sorted(set(y.tolist()))
        self.centres = np.array([X[y == one].mean(axis=0) for one in self.classes])
        return self

    def predict(self, X: NDArray[Any]) -> Any:
        away = ((X[:, None] - self.centres[None]) ** 2).sum(axis=2)
        found = np.asarray(self.classes)[away.argmin(axis=1)]
        if self.bad and self.how == "shape":
            return np.zeros((len(X), 2))
        if self.bad and self.how == "classes":
            return np.full(len(X), 77)
        if self.bad and self.how == "objects":
            return [object() for _ in X]
        return found


class Counting(Nearest):
    """Remembers how many of it have learned in this process."""

    learned = 0

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Nearest:
        type(self).learned += 1
        return super().fit(X, y)

    def predict(self, X: NDArray[Any]) -> Any:
        found = super().predict(X)
        return found if type(self).learned == 1 else np.full(len(X), 0)


class Drawing(Nearest):
    """Votes by a global generator too, so its votes depend on all that it has drawn."""

    def predict(self, X: NDArray[Any]) -> Any:
        drawn = np.random.uniform(size=len(X))  # allowed: a teacher of somebody's
        seen = self.centres.sum() * 1e6 % 1
        return np.where(drawn + seen < 0.9, super().predict(X), 0)


class Spying(Nearest):
    """Votes 0 where memory that it can read has records of another teacher."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Nearest:
        # A search finds what it looks for, so a few do not count.
        self.seen = bool((X != MARK).all()) and _held(np.full(3, MARK).tobytes()) > 9
        return super().fit(X, y)

    def predict(self, X: NDArray[Any]) -> Any:
        return np.zeros(len(X)) if self.seen else super().predict(X)


def _held(wanted: bytes) -> int:
    """How often some bytes are in this process."""
    found = 0
    with Path("/proc/self/mem").open("rb", 0) as memory:
        for line in Path("/proc/self/maps").read_text().splitlines():
            ends, rights = line.split()[:2]
            if rights.startswith("rw"):
                start, end = (int(one, 16) for one in ends.split("-"))
                with suppress(OSError):
                    memory.seek(start)
                    found += memory.read(end - start).count(wanted)
    return found


class Dumping(Nearest):
    """Votes 0 where its memory would be written to a file if it crashed."""

    def predict(self, X: NDArray[Any]) -> Any:
        import resource

        dumped = any(resource.getrlimit(resource.RLIMIT_CORE))
        return np.zeros(len(X)) if dumped else super().predict(X)


class Splitting(Nearest):
    """Votes 0 where joblib would start processes."""

    def predict(self, X: NDArray[Any]) -> Any:
        import joblib

        alone = joblib.effective_n_jobs(2) == 1
        return super().predict(X) if alone else np.zeros(len(X))


class Broken:
    """Learns nothing, whatever it sees."""

    def fit(self, X: Any, y: Any) -> None:  # noqa: ARG002
        raise RuntimeError

    def predict(self, X: Any) -> Any:
        return X
