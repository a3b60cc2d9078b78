"""Hospitals that trust no server: each trains inside with noise of its own, and shares
only noisy updates.
"""

from dither.learn.hospitals.averaging import average
from dither.learn.hospitals.hospital import Hospital
from dither.learn.hospitals.joint import joint
from dither.learn.hospitals.member import Member
from dither.learn.hospitals.previewing import JointPreview
from dither.learn.hospitals.release import JointRelease, Participation
from dither.learn.hospitals.training import preview, train
from dither.learn.hospitals.update import Update

__all__ = [
    "Hospital",
    "JointPreview",
    "JointRelease",
    "Member",
    "Participation",
    "Update",
    "average",
    "joint",
    "preview",
    "train",
]
