"""Genotypes of people, over a declared panel of variants.

One person touches every variant, so the cost of an answer grows with the panel: choose
it, and the clusters, from public knowledge and declare them.
"""

from dither.science.genomes.association import chi2, top_snps
from dither.science.genomes.beacon import Answer, Beacon, beacon
from dither.science.genomes.frequencies import PERSON, frequencies
from dither.science.genomes.releases import Frequencies
from dither.science.genomes.statistics import ChiSquares, Chosen

__all__ = [
    "PERSON",
    "Answer",
    "Beacon",
    "ChiSquares",
    "Chosen",
    "Frequencies",
    "beacon",
    "chi2",
    "frequencies",
    "top_snps",
]
