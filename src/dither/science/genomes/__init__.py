"""Genotypes of people, over a declared panel of variants.

One person touches every variant, so the cost of an answer grows with the panel: choose
it, and the clusters, from public knowledge and declare them.
"""

from dither.science.genomes.frequencies import PERSON, frequencies
from dither.science.genomes.releases import Frequencies

__all__ = ["PERSON", "Frequencies", "frequencies"]
