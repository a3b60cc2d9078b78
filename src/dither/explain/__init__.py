"""What ε means: odds and beliefs, tests, sums of answers, what accuracy costs, and
which promise to take when.

    explain.epsilon(0.5, delta=…, prior=…)   how far a belief can move, how well anybody can notice you
    explain.composition(0.1, 100, delta=…)   what so many answers cost together, by each rule
    explain.tradeoff("count", 10_000)        the error against ε
    explain.definitions()                    pure ε, (ε, δ), zCDP and GDP, local ε

Each result is frozen: numbers in closed form, two `sentences`, a picture (`svg()`),
`print` for a terminal. Nothing here reads data or spends anything.
"""

from dither.explain.belief import AsGaussian, Meaning, epsilon
from dither.explain.explanation import Explanation
from dither.explain.kinds import Definition, Definitions, definitions
from dither.explain.price import Law, Tradeoff, tradeoff
from dither.explain.together import Together, composition

__all__ = [
    "AsGaussian",
    "Definition",
    "Definitions",
    "Explanation",
    "Law",
    "Meaning",
    "Together",
    "Tradeoff",
    "composition",
    "definitions",
    "epsilon",
    "tradeoff",
]
