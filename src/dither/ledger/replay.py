"""The replay key, which is equal for equal questions: the second one is answered from
the ledger, at no cost (rule R19).
"""

from __future__ import annotations

import hashlib

from dither._version import __version__
from dither.ledger.entry import canonical

__all__ = ["replay_key"]


def replay_key(
    *, plan: str, dataset: str, version: str, scope: str, catalogue: str = ""
) -> str:
    """The key of a release: the same plan on the same dataset version, in the same
    scope, by the same code.

    `version` is a counter or a random tag that the curator sets on public events, never
    a hash of the content: that would tell whether the data changed. `catalogue` is the
    version of what is declared about the data.
    """
    parts = {
        "plan": plan,
        "dataset": dataset,
        "version": version,
        "scope": scope,
        "catalogue": catalogue,
    }
    return hashlib.sha256(canonical(parts | {"code": __version__}).encode()).hexdigest()
