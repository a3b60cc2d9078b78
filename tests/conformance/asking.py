"""Questions from .sql files, and how they are asked of an engine: with Laplace and with
Gaussian noise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dither.dataset import Dataset
from dither.ledger import Account, Budget
from dither.query.catalogue.model import Catalogue
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.protocol import Engine
from dither.query.open import dataset_of
from tests.conformance.world import CATALOGUES, stored

__all__ = ["ENGINES", "Question", "Worlds", "in_turn", "marks_of", "questions"]

FOLDER = Path(__file__).parent / "questions"
WIDE = {"radius": 1e6, "groups": 1000, "values": 1000}
"""So much that nothing is clipped and no key or value is left out."""


def duckdb_engine(catalogue: Catalogue) -> Engine:
    places = {
        table.name: (stored(), f"stored.{table.name}") for table in catalogue.tables
    }
    return DuckDBEngine.of(catalogue, places)


ENGINES: dict[str, Callable[[Catalogue], Engine]] = {"duckdb": duckdb_engine}
"""How each engine comes to hold the tables of `world.stored`; one that cannot be had
here skips its tests by name.
"""
QUICK = {"duckdb"}
"""Engines that are fast enough for the quick run; the others wait for the full one."""

# A new engine is a module `<name>_asking.py` here, with `ENGINES` and perhaps `QUICK`
# of its own.
for path in sorted(Path(__file__).parent.glob("*_asking.py")):
    module = import_module(f"tests.conformance.{path.stem}")
    ENGINES |= module.ENGINES
    QUICK |= getattr(module, "QUICK", set())


def in_turn(
    names: Iterable[str] = ENGINES, quick: Collection[str] = QUICK
) -> list[Any]:
    """Parameters of a test that is about each engine."""
    return [pytest.param(name, marks=marks_of(name, quick)) for name in names]


def marks_of(engine: str, quick: Collection[str] = QUICK) -> list[pytest.MarkDecorator]:
    """Those of a test that asks this engine; one that is not quick waits for the full
    run.
    """
    mark = pytest.mark.engine(engine)
    return [mark] if engine in quick else [mark, pytest.mark.full]


@dataclass(frozen=True)
class Question:
    """A question and the plain SQL whose answer it must have; the same text where it is
    not stated.

    `about` is the relative error that the grid of means and variances may cause;
    `noise` is the only kind that it can be asked with; `stated` are further arguments.
    """

    file: str
    name: str
    sql: str
    plain: str
    about: float | None = None
    noise: str | None = None
    stated: dict[str, Any] = field(default_factory=dict)

    @property
    def world(self) -> str:
        return "survey" if self.file.startswith("survey") else "clinic"

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"


def questions() -> list[Question]:
    """All questions. A file has blocks of a line `-- name`, perhaps a line `--: option
    value …`, the question up to a semicolon, and perhaps the plain SQL up to another.
    """
    return [
        _question(path.stem, block)
        for path in sorted(FOLDER.glob("*.sql"))
        for block in _blocks(path)
    ]


def _blocks(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [block.strip() for block in text.split("\n\n") if block.strip()]


def _question(file: str, block: str) -> Question:
    lines = block.splitlines()
    options = [
        line.removeprefix("--:").split() for line in lines if line.startswith("--:")
    ]
    stated = {
        word: value
        for words in options
        for word, value in zip(words[::2], words[1::2], strict=True)
    }
    about, noise = stated.pop("about", None), stated.pop("noise", None)
    statements = " ".join(line for line in lines if not line.startswith("--")).split(
        ";"
    )
    sql, *others = [statement.strip() for statement in statements if statement.strip()]
    return Question(
        file,
        lines[0].removeprefix("-- "),
        sql,
        others[0] if others else sql,
        None if about is None else float(about),
        noise,
        {word: float(value) for word, value in stated.items()},
    )


class Worlds:
    """Each catalogue, opened in one engine when it is first needed."""

    def __init__(self, engine: str) -> None:
        self._make, self._engines = ENGINES[engine], dict[str, Engine]()

    def under(self, world: str, account: Account, **changed: Any) -> Dataset:
        """The tables under an account, with what is declared of them changed."""
        if world not in self._engines:
            self._engines[world] = self._make(CATALOGUES[world])
        return dataset_of(
            replace(CATALOGUES[world], **changed), self._engines[world], account
        )

    def opened(self, world: str, noise: str, total: float = 1e9) -> Dataset:
        """The tables under an account that makes the planner use this noise, whatever
        is asked.
        """
        delta = 0.0 if noise == "Laplace" else 1e-6
        return self.under(world, Budget(total, delta, unit=CATALOGUES[world].unit))

    def ask(
        self, world: str, noise: str, sql: str, total: float = 1e9, **stated: Any
    ) -> Any:
        """The answer at a cost that hardly needs noise, clipped to nothing unless it is
        stated.
        """
        cost = {"epsilon": 1e6} if noise == "Laplace" else {"rho": 1e7}
        return self.opened(world, noise, total).sql(sql, **{**cost, **WIDE, **stated})

    def close(self) -> None:
        for engine in self._engines.values():
            engine.close()
