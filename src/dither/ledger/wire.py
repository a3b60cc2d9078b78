"""Guarantees and log lines as text: what is stored, hashed and exported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dither.errors import LedgerError
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    Guarantee,
    PoissonSampled,
    PureDP,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
)

__all__ = ["Entry", "canonical", "from_json", "to_json"]

_SIMPLE: dict[str, tuple[type[Guarantee], tuple[str, ...]]] = {
    "pure": (PureDP, ("epsilon",)),
    "approximate": (ApproxDP, ("epsilon", "delta")),
    "bounded range": (BoundedRange, ("epsilon",)),
    "zero-concentrated": (ZeroConcentratedDP, ("rho", "delta")),
    "gaussian": (GaussianDP, ("mu", "delta")),
}
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_NAMES = {kind: name for name, (kind, _) in _SIMPLE.items()}


def to_json(guarantee: Guarantee) -> dict[str, Any]:
    """A guarantee as plain data."""
    unit = {"unit": guarantee.unit.name, "relation": str(guarantee.unit.relation)}
    match guarantee:
        case PoissonSampled():
            steps = {"rate": guarantee.rate, "steps": guarantee.steps, "mu": guarantee.of.mu}
            return {"kind": "poisson sampled", **steps, **unit}
        case RenyiDP():
            losses = [[order, loss] for order, loss in guarantee.losses]
            return {"kind": "renyi", "losses": losses, "delta": guarantee.delta, **unit}
        case Composed():
            return {"kind": "composed", "parts": [to_json(part) for part in guarantee.parts], **unit}
    name = _NAMES.get(type(guarantee))
    if name is None:
        raise LedgerError(f"a {type(guarantee).__name__} cannot be written to a book")
    return {"kind": name, **{field: getattr(guarantee, field) for field in _SIMPLE[name][1]}, **unit}


def from_json(data: Mapping[str, Any]) -> Guarantee:
    """The guarantee that `to_json` wrote."""
    unit = Unit(data["unit"], data["relation"])
    match data["kind"]:
        case "poisson sampled":
            return PoissonSampled(data["rate"], GaussianDP(data["mu"], unit=unit), data["steps"])
        case "renyi":
            return RenyiDP(dict(data["losses"]), data["delta"], unit=unit)
        case "composed":
            return Composed([from_json(part) for part in data["parts"]])
    kind, fields = _SIMPLE[data["kind"]]
    return kind(*(data[field] for field in fields), unit=unit)


def canonical(data: Any) -> str:
    """The one way to write data as text, so that its hash is the same everywhere."""
    return _ENCODER.encode(data)


@dataclass(frozen=True)
class Entry:
    """One line of the log. Its hash covers everything in it and the hash of the line before."""

    seq: int
    time: str
    kind: str
    account: str
    body: Mapping[str, Any]
    hash: str

    @classmethod
    def after(cls, seq: int, previous: str, time: str, kind: str, account: str, body: Mapping[str, Any]) -> Entry:
        return cls(seq, time, kind, account, body, digest(previous, seq, time, kind, account, canonical(body)))

    def follows(self, previous: str) -> bool:
        text = canonical(self.body)
        return self.hash == digest(previous, self.seq, self.time, self.kind, self.account, text)


def digest(previous: str, seq: int, time: str, kind: str, account: str, body: str) -> str:
    """Fields are written as a JSON list, so that no two lines have the same text."""
    return hashlib.sha256(canonical([previous, seq, time, kind, account, body]).encode()).hexdigest()
