"""Every attack by its name, as `dither attack` runs it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dither.audit.attacks.attack import Attack
from dither.errors import ArgumentError

__all__ = ["ATTACKS", "Listed", "run"]

TABLE = ("table", "columns", "secret", "k", "diversity", "edges", "epsilon")


@dataclass(frozen=True)
class Listed:
    """One attack: what it does, the function that runs it, and what may be chosen."""

    words: str
    module: str
    function: str
    options: tuple[str, ...]

    def run(self, **options: Any) -> Attack:
        """Run it on bundled or made-up data, or on the table that is given."""
        home = importlib.import_module(f"dither.audit.attacks.{self.module}")
        found: Attack = getattr(home, self.function)(**options)
        return found


def _own(name: str, words: str, *options: str) -> Listed:
    """An attack in a module of its name."""
    return Listed(words, name, name, options)


ATTACKS: Mapping[str, Listed] = {
    "homogeneity": _own(
        "homogeneity", "a k-anonymous table whose classes share a secret", *TABLE
    ),
    "background": _own(
        "background",
        "a k-anonymous table, by an attacker who can exclude secrets",
        *TABLE,
    ),
    "linkage": _own(
        "linkage",
        "a table without names, by a few known columns",
        "table",
        "columns",
        "epsilon",
    ),
    "differencing": _own(
        "differencing", "two counts whose difference is one person", "epsilon", "tries"
    ),
    "averaging": _own(
        "averaging", "noisy answers, asked for again and again", "epsilon", "tries"
    ),
    "subsets": _own(
        "subsets", "counts of subsets, solved for a secret column", "people", "epsilon"
    ),
    "blocks": Listed(
        "tables of census blocks, solved for their people",
        "studies",
        "census_blocks",
        ("rho", "blocks"),
    ),
    "membership": Listed(
        "frequencies of a study, by an attacker who knows a genome",
        "studies",
        "frequencies",
        ("epsilon", "people", "variants"),
    ),
    "low-bits": _own(
        "low_bits", "noise of floats, by its last bits", "epsilon", "tries"
    ),
    "exceptions": _own(
        "exceptions", "a question that fails for one row", "epsilon", "tries"
    ),
    "timing": _own("timing", "a question that is slow for one row", "tries"),
}


def run(name: str, **options: Any) -> Attack:
    """Run an attack by its name."""
    if name not in ATTACKS:
        listed = ", ".join(ATTACKS)
        raise ArgumentError(
            "name", f"{name!r:.40} is not an attack; name one of: {listed}"
        )
    wrong = next((one for one in options if one not in ATTACKS[name].options), None)
    if wrong is not None:
        taken = ", ".join(ATTACKS[name].options)
        raise ArgumentError(wrong, f"is not an argument of {name}; pass only {taken}")
    return ATTACKS[name].run(**options)
