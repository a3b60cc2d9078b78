"""Attacks that succeed on exact answers and fail on releases.

Each is a function that an owner of data runs on what is to be published, with the true
data at hand. What it returns is about real people: it is not a release, and not for
publishing.
"""

from dither.audit.attacks.blocks import reconstruction
from dither.audit.attacks.genotypes import Markers, Membership, markers, membership
from dither.audit.attacks.people import tables
from dither.audit.attacks.rebuilt import Reconstruction
from dither.audit.attacks.roc import Roc

__all__ = [
    "Markers",
    "Membership",
    "Reconstruction",
    "Roc",
    "markers",
    "membership",
    "reconstruction",
    "tables",
]
