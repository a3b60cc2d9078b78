"""Nobody is trusted: devices randomize their answers, and only sums mean anything.

A task says what devices are asked and with which probabilities; a client answers it on
the device; a tally adds messages up; an estimate says how frequent each value is.
"""

from dither.local.attributes import Attributes
from dither.local.averages import Average, Variance
from dither.local.build import task
from dither.local.choose import Choice, choose
from dither.local.client import Client, Sent
from dither.local.compare import Comparison, Needed, compare, needed
from dither.local.distribution import Distribution
from dither.local.domain import Domain
from dither.local.frequencies import Frequencies
from dither.local.numbers import Numbers
from dither.local.shuffling import shuffled
from dither.local.signing import SigningKey
from dither.local.tally import Tally
from dither.local.task import Task
from dither.local.vocabulary import Vocabulary
from dither.local.wire import Messages

__all__ = [
    "Attributes",
    "Average",
    "Choice",
    "Client",
    "Comparison",
    "Distribution",
    "Domain",
    "Frequencies",
    "Messages",
    "Needed",
    "Numbers",
    "Sent",
    "SigningKey",
    "Tally",
    "Task",
    "Variance",
    "Vocabulary",
    "choose",
    "compare",
    "needed",
    "shuffled",
    "task",
]
