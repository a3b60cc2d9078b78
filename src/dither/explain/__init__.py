"""What ε means: odds and beliefs, tests, sums of answers, what accuracy costs, and
which promise to take when.

    explain.epsilon(0.5, delta=…, prior=…)   how far a belief can move, how well anybody can notice you
    explain.composition(0.1, 100, delta=…)   what so many answers cost together, by each rule
    explain.tradeoff("count", 10_000)        the error against ε
    explain.plan("count", …)                 ε, people or questions, whichever is left open
    explain.definitions()                    pure ε, (ε, δ), zCDP and GDP, local ε
    explain.deployments()                    ε values that others have published

Each result is frozen: numbers in closed form, two `sentences`, a picture (`svg()`),
`print` for a terminal. Nothing here reads data or spends anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dither.explain.belief import AsGaussian, Meaning, epsilon
from dither.explain.deployments import Deployment, Deployments, deployments
from dither.explain.explanation import Explanation
from dither.explain.kinds import Definition, Definitions, definitions
from dither.explain.price import Law, Tradeoff, tradeoff
from dither.explain.together import Together, composition

if TYPE_CHECKING:
    from dither.explain.planning import Plan, plan

__all__ = [
    "AsGaussian",
    "Definition",
    "Definitions",
    "Deployment",
    "Deployments",
    "Explanation",
    "Law",
    "Meaning",
    "Plan",
    "Together",
    "Tradeoff",
    "composition",
    "definitions",
    "deployments",
    "epsilon",
    "plan",
    "tradeoff",
]


def __getattr__(name: str) -> Any:
    # Only a plan asks mechanisms for their noise; the rest needs no package.
    if name not in ("Plan", "plan"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dither.explain import planning

    return getattr(planning, name)


def __dir__() -> list[str]:
    return sorted(__all__)
