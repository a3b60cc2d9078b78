"""The release of a run: weights that no private row went through but by noisy sums, and
what is publicly known of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from dither.learn.clipping import Adaptive
from dither.learn.gradients.oracle import trained
from dither.learn.history import History
from dither.learn.release import digest_of
from dither.learn.resuming import key_of
from dither.learn.run.course import Settled
from dither.ledger import Account, Attempt
from dither.ledger.attempts import check_process
from dither.release import Source

__all__ = ["notes_of", "released"]


def released(
    ready: Settled,
    source: Source,
    history: History,
    notes: tuple[str, ...],
    attempt: Attempt | None = None,
) -> dict[str, Any]:
    """The content of a release; the book notes which weights came out."""
    check_process(ready.process)
    weights, own = trained(ready.model), trained(ready.fresh)
    with torch.no_grad():
        for name, one in own.items():
            one.copy_(weights[name])
    digest = digest_of(ready.fresh)
    account, receipt = ready.plan.question.account, source.receipt
    if attempt is not None:
        key = key_of(attempt.receipt, attempt.number)
        attempt.store(key, f"sha256 {digest}")
    elif isinstance(account, Account) and receipt is not None:
        account.store(receipt, key_of(receipt, receipt.number), f"sha256 {digest}")
    return {
        "what": "model",
        "value": ready.fresh,
        "sources": (source,),
        "notes": notes,
        "history": history,
        "delta": ready.plan.delta,
        "digest": digest,
        "reading": ready.source.reading,
    }


def notes_of(
    ready: Settled,
    unit: str,
    *,
    trust: Iterable[str] = (),
    ways: Iterable[str] = (),
    weights: Iterable[str] = (),
    end: Iterable[str] = (),
) -> tuple[str, ...]:
    """The notes of a run: who is trusted, how it ran, how units are weighted, and how it
    ended.
    """
    plan, settings = ready.plan, ready.settings
    declared = (
        "declared"
        if ready.source.dataset is None
        else "the declared population of the dataset"
    )
    said = [
        f"{plan.units:,} {unit}s: {declared}",
        *trust,
        "the starting weights are assumed to be public",
        "the noise is added in floating-point arithmetic",
        *ways,
    ]
    if plan.rows > 1:
        said.append(f"at most {plan.rows} rows of each {unit} are used")
    said += weights
    if isinstance(settings.clip, Adaptive):
        said.append(
            "the clipping norm adapts to a noisy count, which is part of the cost"
        )
    if settings.public is not None:
        said.append("the test data is assumed to be public")
    return (*said, *end, *ready.source.notes)
