"""Guarantees as plain data: what is stored, hashed and exported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.errors import LedgerError
from dither.ledger.neighbours import bare, facts_in, relation_text
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    Declared,
    FixedSizeSampled,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    MetricDP,
    PoissonSampled,
    PureDP,
    Relation,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
)

__all__ = ["from_json", "relation_of", "to_json", "unit_of"]

_SIMPLE: dict[str, tuple[type[Guarantee], tuple[str, ...]]] = {
    "pure": (PureDP, ("epsilon",)),
    "laplace": (LaplaceDP, ("epsilon",)),
    "approximate": (ApproxDP, ("epsilon", "delta")),
    "bounded range": (BoundedRange, ("epsilon",)),
    "zero-concentrated": (ZeroConcentratedDP, ("rho", "delta")),
    "gaussian": (GaussianDP, ("mu", "delta")),
    # For what is written about a release: no account takes it
    "metric": (MetricDP, ("epsilon", "per", "beyond")),
}
_SAMPLED: dict[str, type[PoissonSampled] | type[FixedSizeSampled]] = {
    "poisson sampled": PoissonSampled,
    "fixed-size sampled": FixedSizeSampled,
}
_CHARGED = ("order", "loss", "delta", "epsilon")
_NAMES = {kind: name for name, (kind, _) in _SIMPLE.items()}


def relation_of(unit: Unit) -> str:
    """A unit's relation and its exact facts, as one string."""
    return relation_text(str(unit.relation), unit.given)


def unit_of(name: str, relation: str) -> Unit:
    """The unit that `relation_of` wrote."""
    return Unit(name, Relation(bare(relation)), facts_in(relation))


def to_json(guarantee: Guarantee) -> dict[str, Any]:
    """A guarantee as plain data."""
    unit = {"unit": guarantee.unit.name, "relation": relation_of(guarantee.unit)}
    match guarantee:
        case PoissonSampled() | FixedSizeSampled():
            steps = {
                "rate": guarantee.rate,
                "steps": guarantee.steps,
                "mu": guarantee.of.mu,
            }
            poisson = isinstance(guarantee, PoissonSampled)
            kind = "poisson sampled" if poisson else "fixed-size sampled"
            return {"kind": kind, **steps, **unit}
        case Declared():
            charged = {name: getattr(guarantee, name) for name in _CHARGED}
            of = to_json(guarantee.of)
            return {"kind": "declared", "of": of, **charged, **unit}
        case RenyiDP():
            losses = [[order, loss] for order, loss in guarantee.losses]
            return {"kind": "renyi", "losses": losses, "delta": guarantee.delta, **unit}
        case Composed():
            return {
                "kind": "composed",
                "parts": [to_json(part) for part in guarantee.parts],
                **unit,
            }
    name = _NAMES.get(type(guarantee))
    if name is None:
        raise LedgerError(
            f"a guarantee of the kind {type(guarantee).__name__} cannot be charged to a "
            "ledger; convert it with .approx(delta)"
        )
    return {
        "kind": name,
        **{field: getattr(guarantee, field) for field in _SIMPLE[name][1]},
        **unit,
    }


def from_json(data: Mapping[str, Any]) -> Guarantee:
    """The guarantee that `to_json` wrote."""
    unit = unit_of(data["unit"], data["relation"])
    match data["kind"]:
        case "poisson sampled" | "fixed-size sampled":
            sampled, step = _SAMPLED[data["kind"]], GaussianDP(data["mu"], unit=unit)
            return sampled(data["rate"], step, data["steps"])
        case "declared":
            charged = [data[name] for name in _CHARGED]
            return Declared(from_json(data["of"]), *charged, unit=unit)
        case "renyi":
            return RenyiDP(dict(data["losses"]), data["delta"], unit=unit)
        case "composed":
            return Composed([from_json(part) for part in data["parts"]])
    kind, fields = _SIMPLE[data["kind"]]
    return kind(*(data[field] for field in fields), unit=unit)
