"""Tries to refute a claimed guarantee: of any callable, of a question in SQL, of
everything in this library.

An audit draws from two neighbouring inputs, looks for an event that tells them apart
better than the claim allows, and judges it on fresh draws with a stated false-alarm
rate. It can refute a guarantee, and never proves one.
"""

from dither.audit.commands import command
from dither.audit.finding import Finding
from dither.audit.library import everything
from dither.audit.questions import query
from dither.audit.run_time import RunTime, run_time
from dither.audit.trained import Canaries, training
from dither.audit.trial import mechanism

__all__ = [
    "Canaries",
    "Finding",
    "RunTime",
    "command",
    "everything",
    "mechanism",
    "query",
    "run_time",
    "training",
]
