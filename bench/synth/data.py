"""Made-up tables: one shaped like a census of income, one with hidden classes.

Neither is a tree. In the first, income hangs on six columns at once, and two columns
that are not measured together still share causes. In the second, every column hangs on
a class that the table does not hold, so that every pair is dependent and none is more
than another. Rows are drawn column by column; nothing is taken from real people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science import synth

__all__ = ["Table", "classes", "people"]

Codes = NDArray[np.int32]
Reals = NDArray[np.float64]

PEOPLE = 48_842
FIRST_AGE, LAST_AGE = 17, 91
HOURS = 5
"""The width of a bin of working hours."""
WIDTHS = {
    "age": LAST_AGE - FIRST_AGE,
    "workclass": 8,
    "education": 16,
    "marital": 7,
    "occupation": 15,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "hours": 20,
    "country": 41,
    "income": 2,
}
REGIONS = 12


@dataclass(frozen=True)
class Table:
    """A table by its codes: the place of each value among those declared."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def cells(self) -> float:
        """How many rows could differ: the size of the whole domain."""
        return float(np.prod(np.array(self.sizes, np.float64)))

    @property
    def domain(self) -> synth.Domain:
        """What is declared: every value of every column."""
        declared: dict[str, Any] = {
            name: [label(name, code) for code in range(size)]
            for name, size in zip(self.names, self.sizes, strict=True)
        }
        if "age" in declared:
            ages = list(range(FIRST_AGE, LAST_AGE + 1))
            declared["age"] = synth.numbers(edges=ages, whole=True)
            edges = [HOURS * number for number in range(WIDTHS["hours"] + 1)]
            declared["hours"] = synth.numbers(edges=edges, whole=True)
        return synth.Domain(declared, provenance="the generator's own code")

    def columns(self) -> dict[str, Any]:
        """The table as it would be held: numbers and words."""
        found: dict[str, Any] = {}
        for place, (name, size) in enumerate(zip(self.names, self.sizes, strict=True)):
            codes = self.codes[:, place]
            if name == "age":
                found[name] = codes + FIRST_AGE
            elif name == "hours":
                found[name] = codes * HOURS + 2
            else:
                words = np.array([label(name, code) for code in range(size)], object)
                found[name] = words[codes]
        return found

    def part(self, rows: slice) -> Table:
        return Table(self.names, self.sizes, self.codes[rows])


def label(name: str, code: int) -> str:
    return f"{name} {code}"


def people(n: int = PEOPLE, seed: int = 1, *, region: bool = False) -> Table:
    """People with their work, family and income: 11 columns, and where they live as a
    12th. The domain holds about 1e11 rows.
    """
    random = np.random.default_rng(seed)  # allowed: made-up data, the same every time
    weights = np.random.default_rng(99)  # allowed: made-up data, the same every time
    age = np.clip(FIRST_AGE + random.gamma(2.6, 8.5, n), FIRST_AGE, LAST_AGE - 1)
    sex = (random.random(n) < 0.67).astype(np.int64)
    country = _zipf(random, WIDTHS["country"], n, home=0.9)
    race = _drawn(random, _effects(weights, 41, 5, 1.5)[country] + _tilt(5, 1.6))
    marital = _marital(random, weights, age, sex)
    relationship = _relationship(random, weights, marital, age, sex)
    schooling = _effects(weights, 5, 16, 0.7)[race] + _bump(16, 7 + age / 25, 2.6)
    education = _drawn(random, schooling)
    work = (
        _effects(weights, 16, 15, 1.0)[education] + _effects(weights, 2, 15, 0.9)[sex]
    )
    occupation = _drawn(random, work)
    group = np.minimum((age - FIRST_AGE) // 15, 4).astype(np.int64)
    employer = _effects(weights, 15, 8, 1.1)[occupation]
    employer += _effects(weights, 5, 8, 0.5)[group] + _tilt(8, 0.7)
    workclass = _drawn(random, employer)
    hours = _hours(random, weights, occupation, age, sex)
    income = _income(random, weights, age, education, occupation, marital, hours, sex)
    found = {
        "age": age.astype(np.int64) - FIRST_AGE,
        "workclass": workclass,
        "education": education,
        "marital": marital,
        "occupation": occupation,
        "relationship": relationship,
        "race": race,
        "sex": sex,
        "hours": hours,
        "country": country,
        "income": income,
    }
    sizes = dict(WIDTHS)
    if region:
        near = _effects(weights, 41, REGIONS, 1.0)[country]
        near += _effects(weights, 5, REGIONS, 0.8)[race]
        found["region"] = _drawn(random, near)
        sizes["region"] = REGIONS
    codes = np.stack(list(found.values()), axis=1).astype(np.int32)
    return Table(tuple(found), tuple(sizes[name] for name in found), codes)


def classes(n: int = 30_000, seed: int = 2) -> Table:
    """Nine columns of 2 to 24 values that hang on one of six hidden classes each row."""
    random = np.random.default_rng(seed)  # allowed: made-up data, the same every time
    weights = np.random.default_rng(98)  # allowed: made-up data, the same every time
    sizes = (2, 3, 4, 5, 6, 8, 12, 16, 24)
    hidden = random.choice(6, n, p=weights.dirichlet(np.full(6, 4.0)))
    columns = [
        _drawn(random, np.log(weights.dirichlet(np.full(size, 0.8), 6) + 1e-4)[hidden])
        for size in sizes
    ]
    names = tuple(f"c{number}" for number in range(len(sizes)))
    return Table(names, sizes, np.stack(columns, axis=1).astype(np.int32))


def _drawn(random: np.random.Generator, scores: Reals) -> NDArray[np.int64]:
    """One of the values for each row, with chances that grow with e to its score."""
    chances = np.cumsum(np.exp(scores - scores.max(axis=1, keepdims=True)), axis=1)
    places = random.random((len(scores), 1)) * chances[:, -1:]
    found = (places > chances).sum(axis=1)
    return np.asarray(np.minimum(found, scores.shape[1] - 1))


def _effects(weights: np.random.Generator, a: int, b: int, size: float) -> Reals:
    """How much each of a values speaks for each of b others."""
    return size * weights.standard_normal((a, b))


def _tilt(size: int, by: float) -> Reals:
    """Earlier values are more frequent."""
    return -by * np.log1p(np.arange(size, dtype=np.float64))


def _bump(size: int, middle: Any, width: float) -> Reals:
    gaps = (np.arange(size) - np.asarray(middle)[:, None]) / width
    return np.asarray(-(gaps**2) / 2)


def _zipf(
    random: np.random.Generator, size: int, n: int, home: float
) -> NDArray[np.int64]:
    shares = 1 / np.arange(1.0, size)
    shares = np.append(home, (1 - home) * shares / shares.sum())
    return random.choice(size, n, p=shares)


def _marital(
    random: np.random.Generator, weights: np.random.Generator, age: Reals, sex: Any
) -> NDArray[np.int64]:
    """Never married, married (three ways), parted (two ways), widowed."""
    typical = np.array([22.0, 45, 35, 30, 46, 38, 68])
    rare = np.array([0.0, 0.6, -3.5, -3.0, -0.6, -1.8, -1.4])
    spread = np.array([7.0, 18, 12, 10, 14, 13, 12])
    near = -(((age[:, None] - typical) / spread) ** 2) / 2
    return _drawn(random, near + rare + _effects(weights, 2, 7, 0.3)[sex])


def _relationship(
    random: np.random.Generator,
    weights: np.random.Generator,
    marital: Any,
    age: Reals,
    sex: Any,
) -> NDArray[np.int64]:
    """Husband, wife, own child, alone, with others, other relative."""
    scores = _effects(weights, 7, 6, 0.6)[marital]
    together = (marital >= 1) & (marital <= 3)
    scores[:, 0] += np.where(together & (sex == 1), 5, -5)
    scores[:, 1] += np.where(together & (sex == 0), 5, -5)
    scores[:, 2] += np.where(age < 26, 2.5, -1.5)
    return _drawn(random, scores)


def _hours(
    random: np.random.Generator,
    weights: np.random.Generator,
    occupation: Any,
    age: Reals,
    sex: Any,
) -> NDArray[np.int64]:
    typical = 40 + 4 * weights.standard_normal(15)[occupation] + 3 * sex
    typical = typical - 14 * (age > 66) - 8 * (age < 22)
    full = random.random(len(age)) < 0.45
    drawn = np.where(full, 40, random.normal(typical, 11))
    return np.clip(drawn, 1, 99).astype(np.int64) // HOURS


def _income(
    random: np.random.Generator,
    weights: np.random.Generator,
    age: Reals,
    education: Any,
    occupation: Any,
    marital: Any,
    hours: Any,
    sex: Any,
) -> NDArray[np.int64]:
    """Whether it is high: about one in four."""
    score = 0.38 * (education - 8.0) + 0.9 * weights.standard_normal(15)[occupation]
    score += 1.6 * (marital == 1) + 0.16 * (hours - 8) + 0.4 * sex
    score += -2.4 - ((age - 50) / 20) ** 2
    chances = 1 / (1 + np.exp(-score))
    return np.asarray(random.random(len(age)) < chances, np.int64)
