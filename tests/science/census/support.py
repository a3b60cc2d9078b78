"""Small censuses for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither.science import census
from dither.science.census.planning import Measure

LEVELS = ["state", "county", "block"]
BLOCKS = [
    ("01", "1", "a"),
    ("01", "1", "b"),
    ("01", "2", "a"),
    ("02", "1", "a"),
    ("02", "1", "c"),
]
SEX = {"sex": ["f", "m"]}


def places() -> census.Geography:
    return census.geography(BLOCKS, levels=LEVELS, full=False)


def people(count: int = 40) -> dict[str, list[Any]]:
    """People spread over the blocks in a fixed way."""
    lines = [BLOCKS[(i * i + i // 3) % len(BLOCKS)] for i in range(count)]
    columns = {
        name: [line[place] for line in lines] for place, name in enumerate(LEVELS)
    }
    return {**columns, "sex": ["f" if i % 3 else "m" for i in range(count)]}


def asked(data: Any = None, **more: Any) -> census.Census:
    """A census of them; all that is not stated as usual."""
    stated: dict[str, Any] = {"keys": places(), "rho": 0.5, **more}
    return census.release(people() if data is None else data, **stated)


def counts_of(data: Any) -> dict[tuple[Any, ...], int]:
    """How many people live in each block, counted by hand."""
    lines = list(zip(*(data[name] for name in LEVELS), strict=True))
    return {block: lines.count(block) for block in BLOCKS}


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise switched off, in one test only."""
    monkeypatch.setattr(Measure, "release", lambda _, counts: counts)


def simulated(size: int, count: int, seed: int = 1) -> tuple[Any, dict[str, Any]]:
    """A geography of three levels with `size` blocks, and people in it."""
    drawn = np.random.default_rng(seed)  # allowed: test inputs, not noise
    blocks = [(i // 100, i // 10, i) for i in range(size)]
    where = drawn.integers(0, size, count)
    columns = zip(*(blocks[i] for i in where), strict=True)
    data: dict[str, Any] = dict(zip(LEVELS, map(list, columns), strict=True))
    data["sex"] = drawn.choice(["f", "m"], count).tolist()
    return census.geography(blocks, levels=LEVELS), data
