"""Tries to refute a claimed guarantee: of any callable, of a question in SQL, of
everything in this library.

An audit draws from two neighbouring inputs, looks for an event that tells them apart
better than the claim allows, and judges it on fresh draws with a stated false-alarm
rate. It can refute a guarantee, and never proves one.
"""

from dither.audit.catalogue import everything
from dither.audit.finding import Finding
from dither.audit.questions import query
from dither.audit.trial import mechanism

__all__ = ["Finding", "everything", "mechanism", "query"]
