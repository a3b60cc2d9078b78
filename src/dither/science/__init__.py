"""The data of a field, and its own questions: graphs, maps, genomes,
trials, censuses, synthetic tables.

Each field has its own unit, and takes what its people hold. What is public (vertices,
boxes, panels, groups) is declared, with where it comes from, and never read off the
data.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dither.science import census, genomes, graphs, maps, synth, trials

__all__ = ["census", "genomes", "graphs", "maps", "synth", "trials"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module 'dither.science' has no attribute {name!r}")
    return importlib.import_module(f"dither.science.{name}")


def __dir__() -> list[str]:
    return list(__all__)
