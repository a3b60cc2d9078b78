"""Attacks that succeed on exact answers and fail on releases.

Each is a function that an owner of data runs on what is to be published, with the true
data at hand. What it returns is about real people: it is not a release, and not for
publishing. `run` runs one by its name, on bundled or made-up data if none is given.
"""

from dither.audit.attacks.anonymized import Anonymized
from dither.audit.attacks.attack import Attack
from dither.audit.attacks.averaging import Averaging, averaging
from dither.audit.attacks.background import Background, background
from dither.audit.attacks.blocks import reconstruction
from dither.audit.attacks.differencing import Differencing, differencing
from dither.audit.attacks.exceptions import Exceptions, exceptions
from dither.audit.attacks.genotypes import Markers, Membership, markers, membership
from dither.audit.attacks.homogeneity import Homogeneity, homogeneity
from dither.audit.attacks.inspection import Inspection, inspection
from dither.audit.attacks.linkage import Linkage, linkage
from dither.audit.attacks.listed import run
from dither.audit.attacks.losses import Losses, losses
from dither.audit.attacks.low_bits import LowBits, low_bits
from dither.audit.attacks.mondrian import anonymize
from dither.audit.attacks.people import tables
from dither.audit.attacks.rates import Rate
from dither.audit.attacks.rebuilt import Reconstruction
from dither.audit.attacks.roc import Roc
from dither.audit.attacks.studies import Blocks, Frequencies, census_blocks, frequencies
from dither.audit.attacks.subsets import Subsets, subsets
from dither.audit.attacks.timing import Timing, timing

__all__ = [
    "Anonymized",
    "Attack",
    "Averaging",
    "Background",
    "Blocks",
    "Differencing",
    "Exceptions",
    "Frequencies",
    "Homogeneity",
    "Inspection",
    "Linkage",
    "Losses",
    "LowBits",
    "Markers",
    "Membership",
    "Rate",
    "Reconstruction",
    "Roc",
    "Subsets",
    "Timing",
    "anonymize",
    "averaging",
    "background",
    "census_blocks",
    "differencing",
    "exceptions",
    "frequencies",
    "homogeneity",
    "inspection",
    "linkage",
    "losses",
    "low_bits",
    "markers",
    "membership",
    "reconstruction",
    "run",
    "subsets",
    "tables",
    "timing",
]
