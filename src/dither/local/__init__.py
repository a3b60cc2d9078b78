"""Nobody is trusted: devices randomize their answers, and only sums mean anything.

A task says what devices are asked and with which probabilities; a client answers it on
the device; a tally adds messages up; an estimate says how frequent each value is.
"""

from dither.local.build import task
from dither.local.choose import Choice, choose
from dither.local.client import Client, Sent
from dither.local.compare import Comparison, Needed, compare, needed
from dither.local.domain import Domain
from dither.local.frequencies import Frequencies
from dither.local.parcels import parcel
from dither.local.shuffling import shuffled
from dither.local.signing import SigningKey
from dither.local.tally import Tally
from dither.local.task import Task
from dither.local.wire import Messages

__all__ = [
    "Choice",
    "Client",
    "Comparison",
    "Domain",
    "Frequencies",
    "Messages",
    "Needed",
    "Sent",
    "SigningKey",
    "Tally",
    "Task",
    "choose",
    "compare",
    "needed",
    "parcel",
    "shuffled",
    "task",
]
